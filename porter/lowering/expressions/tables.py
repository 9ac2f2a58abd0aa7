"""Dictionaries of the module level: tables that are read with keys known at conversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from porter.ir.scalars import constant_of, number
from porter.lowering.evaluation import Evaluator, is_expr
from porter.resolve.values import NONE, Array, Listed, Table, Text, Value

#: stands for the key of what no dictionary of constants has
_NO_KEY = object()


def table(ev: Evaluator, node: cst.Dict) -> Table:
    """A dictionary whose keys are constants; of two equal keys the last one counts."""
    found: dict[Any, cst.BaseExpression] = {}
    for element in node.elements:
        if not isinstance(element, cst.DictElement):
            raise ev.b.refuse("PRT902", "`**` in a dict cannot be converted", "write it out")
        key = _key(ev, ev(element.key))
        if key is _NO_KEY:
            raise ev.b.refuse("PRT902", "the key of a dict must be a text or a number")
        found[key] = element.value
    return Table(tuple(found), tuple(found.values()), ev)


def table_item(ev: Evaluator, owner: Table, node: cst.Subscript) -> Value:
    """`table[key]`: the value at a key that is known."""
    parts = [e.slice for e in node.slice]
    keys = [ev(p.value) for p in parts if isinstance(p, cst.Index)]
    found = known_key(ev, keys[0] if len(parts) == 1 else tuple(keys))
    if found not in owner.keys:
        raise ev.b.refuse("PRT903", f"the dict has no key {found!r}", "use one of its keys")
    return _at(owner, found)


def table_method(ev: Evaluator, owner: Table, name: str, arguments: Sequence[Value]) -> Value:
    """`table.get(key, default)` and `table.keys()`."""
    if name == "get" and 1 <= len(arguments) <= 2:
        return _got(ev, owner, *arguments)
    if name == "keys" and not arguments:
        return Listed(_value(k) for k in owner.keys)
    raise ev.b.refuse("PRT901", f"`.{name}()` of a dict cannot be converted")


def _value(key: Any) -> Value:
    """A key as a value of the function."""
    if key is None or isinstance(key, str):
        return NONE if key is None else Text(key)
    return tuple(map(_value, key)) if isinstance(key, tuple) else number(key)


def _got(ev: Evaluator, owner: Table, key: Value, default: Value = NONE) -> Value:
    found = known_key(ev, key)
    return _at(owner, found) if found in owner.keys else default


def known_key(ev: Evaluator, key: Value) -> Any:
    """What a key is. Refuses one that is not known at conversion."""
    found = _key(ev, key)
    if found is _NO_KEY:
        ev.b.restarts.must_be_known(key)
        raise ev.b.refuse(
            "PRT902", "the key of a dict is not known at conversion",
            "give the parameter a default: it is converted for that value",
        )  # fmt: skip
    return found


def _at(owner: Table, key: Any) -> Value:
    node = owner.nodes[owner.keys.index(key)]
    value: Value = table(owner.ev, node) if isinstance(node, cst.Dict) else owner.ev(node)
    return value


def _key(ev: Evaluator, value: Value) -> Any:
    """A key as Python's value."""
    if isinstance(value, Text):
        return value.value
    if value is NONE:
        return None
    if isinstance(value, tuple):
        items = tuple(_key(ev, v) for v in value)
        return _NO_KEY if _NO_KEY in items else items
    if not is_expr(value) or isinstance(value, Array):
        return _NO_KEY
    known = constant_of(value)
    return _NO_KEY if known is None else known
