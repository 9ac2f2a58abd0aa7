"""List comprehensions and generator expressions over few things that are known here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from porter.frontend.scalars import constant_of, integer, truth
from porter.frontend.values import Array, Listed, Range, Value

if TYPE_CHECKING:
    from porter.frontend.evaluate import Evaluator

#: a comprehension has at most so many items
MAX_ITEMS = 32


def listed(ev: Evaluator, node: cst.ListComp | cst.GeneratorExp) -> Listed:
    """The items one by one: what the loops run over, and the conditions, must be known."""
    found = Listed(inner(node.elt) for inner in _runs(ev, node.for_in))
    if len(found) > MAX_ITEMS:
        raise _too_long(ev)
    return found


def _runs(ev: Evaluator, loop: cst.CompFor) -> Iterator[Evaluator]:
    """The names of each run, the innermost loop fastest."""
    for value in _items(ev, ev(loop.iter)):
        inner = type(ev)(ev.b, ev.scope, ev.env | dict(_bound(ev, loop.target, value)))
        if not all(_holds(inner, condition.test) for condition in loop.ifs):
            continue
        if loop.inner_for_in is None:
            yield inner
        else:
            yield from _runs(inner, loop.inner_for_in)


def _items(ev: Evaluator, items: Value) -> tuple[Value, ...]:
    if isinstance(items, Range):
        first, last = items.start.constant, items.stop.constant
        if first is None or last is None or len(range(first, last, items.step)) > MAX_ITEMS:
            raise _too_long(ev)
        return tuple(integer(k) for k in range(first, last, items.step))
    if not isinstance(items, tuple):
        raise ev.b.refuse("PRT902", "a comprehension over what is not a tuple cannot be converted")
    return items


def _too_long(ev: Evaluator) -> Exception:
    return ev.b.refuse(
        "PRT902", "a comprehension over a range that is not short", "fill an array in a loop"
    )


def _bound(ev: Evaluator, target: cst.BaseExpression, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(target, cst.Name):
        yield target.value, value
        return
    items = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
    if not isinstance(value, tuple) or len(items) != len(value):
        raise ev.b.refuse("PRT902", "a comprehension cannot unpack this")
    for element, item in zip(items, value, strict=True):
        yield from _bound(ev, element.value, item)


def _holds(ev: Evaluator, test: cst.BaseExpression) -> bool:
    value = ev.numeric(test)
    known = None if isinstance(value, Array) else constant_of(truth(value))
    if not isinstance(known, bool):
        raise ev.b.refuse(
            "PRT902", "the condition of a comprehension is not known here", "use `np.where`"
        )
    return known
