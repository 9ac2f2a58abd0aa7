"""What an expression of a caller gives, as far as its kind, dtype and dimensions can be read.

Nothing is executed and NumPy is not imported.  What cannot be told is None.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from porter.dtypes.dtype import KINDS, promote
from porter.inference.numpy_calls import method_call, numpy_call, random_call
from porter.inference.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    Env,
    Value,
    array,
    as_array,
    constant,
    element_of,
    joined,
)
from porter.resolve.globals import CONSTANTS, dtype_named

_DEPTH = 60
_MOST_ITEMS = 64
_FOLDS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


class Evaluator:
    """Evaluates expressions; `names` are what the file's imports mean, by the names they bind."""

    def __init__(self, names: Mapping[str, str], env: Env) -> None:
        self.names, self.env, self.depth = names, env, 0

    def dotted(self, node: ast.expr) -> str:
        """The full name of what an expression means through imports; empty for others."""
        if isinstance(node, ast.Attribute):
            outer = self.dotted(node.value)
            return f"{outer}.{node.attr}" if outer else ""
        if isinstance(node, ast.Name) and node.id not in self.env:
            return self.names.get(node.id, "")
        return ""

    def __call__(self, node: ast.expr | None) -> Value | None:
        """The value of an expression."""
        if node is None or self.depth > _DEPTH:
            return None
        self.depth += 1
        try:
            return self._of(node)
        finally:
            self.depth -= 1

    def _of(self, node: ast.expr) -> Value | None:
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                return self.env.get(name)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return self._sequence(elts, isinstance(node, ast.List))
            case ast.UnaryOp(op=op, operand=inner):
                return self._unary(op, self(inner))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self(left), self(right))
            case ast.Compare(left=left, comparators=[right]):
                both = self._binary(ast.Add(), self(left), self(right))
                return None if both is None else replace(both, dtype="bool", constant=None)
            case ast.IfExp(body=body, orelse=other):
                return joined([self(body), self(other)])
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(self(value), index)
            case ast.Call():
                return self._call(node)
            case ast.ListComp(elt=elt, generators=[one]):
                within = Evaluator(self.names, {**self.env, **self._targets(one)})
                within.depth = self.depth
                item = within(elt)
                return None if item is None else Value("sequence", items=(item,), is_list=True)
        return None

    def _targets(self, one: ast.comprehension) -> dict[str, Value | None]:
        source = self(one.iter)
        if isinstance(one.target, ast.Name):
            ranged = isinstance(one.iter, ast.Call) and ast.unparse(one.iter.func) == "range"
            return {one.target.id: INT if ranged else element_of(source)}
        return {n.id: None for n in ast.walk(one.target) if isinstance(n, ast.Name)}

    def _sequence(self, elts: list[ast.expr], is_list: bool) -> Value | None:
        if any(isinstance(e, ast.Starred) for e in elts):
            return None
        # of a long literal the first elements tell the rank; all of them the dtype
        items = tuple(dict.fromkeys(self(e) for e in elts)) if len(elts) > _MOST_ITEMS else tuple(
            self(e) for e in elts)  # fmt: skip
        return Value("sequence", items=items, is_list=is_list)

    def _unary(self, op: ast.unaryop, value: Value | None) -> Value | None:
        if value is None or value.kind not in ("array", "scalar"):
            return None
        if isinstance(op, ast.Not):
            return BOOL
        number = value.constant
        if isinstance(op, ast.USub) and number is not None and not isinstance(number, bool):
            return replace(value, constant=-number)
        return replace(value, constant=None)

    def _binary(self, op: ast.operator, a: Value | None, b: Value | None) -> Value | None:
        if a is None or b is None or {a.kind, b.kind} - {"array", "scalar", "sequence"}:
            return None
        if a.kind == b.kind == "sequence":
            items = a.items + b.items
            return replace(a, items=items) if isinstance(op, ast.Add) else None
        if "sequence" in (a.kind, b.kind):
            if "array" not in (a.kind, b.kind):
                return a if a.kind == "sequence" and isinstance(op, ast.Mult) else None
            one, two = as_array(a), as_array(b)
            return None if one is None or two is None else self._binary(op, one, two)
        if isinstance(op, ast.MatMult):
            ndim = max(a.ndim, b.ndim) if a.ndim > 1 and b.ndim > 1 else max(a.ndim, b.ndim, 1) - 1
            return array(promote(a.type, b.type).name, ndim)
        dtype = promote(a.type, b.type).name
        if isinstance(op, (ast.Div,)) and KINDS[dtype] in "bui":
            dtype = "float64"
        ndim = max(a.ndim, b.ndim)
        if "array" in (a.kind, b.kind):
            return array(dtype, ndim)
        return Value("scalar", dtype, weak=a.weak and b.weak, constant=_folded(op, a, b))

    def _attribute(self, node: ast.Attribute) -> Value | None:
        full = self.dotted(node)
        owner, _, name = full.rpartition(".")
        if owner in ("numpy", "math") and name in CONSTANTS:
            return replace(FLOAT, constant=CONSTANTS[name])
        if owner == "numpy" and (dtype := dtype_named(name)) is not None:
            return Value("dtype", dtype.name)
        if owner == "numpy" and name == "newaxis":
            return NONE
        value = self(node.value)
        if value is None or value.kind != "array":
            return None
        match node.attr:
            case "T":
                return value
            case "real" | "imag":
                wide = {"complex64": "float32", "complex128": "float64"}
                return array(wide.get(value.dtype, value.dtype), value.ndim)
            case "size" | "ndim":
                return INT
            case "shape":
                return Value("sequence", items=(INT,) * value.ndim)
            case "dtype":
                return Value("dtype", value.dtype)
        return None

    def _subscript(self, value: Value | None, index: ast.expr) -> Value | None:
        if value is None:
            return None
        if value.kind == "sequence":
            return _item(value, self(index) if not isinstance(index, ast.Slice) else index)
        if value.kind != "array":
            return None
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        ndim, picked = value.ndim, 0
        for part in parts:
            if isinstance(part, ast.Slice) or (
                isinstance(part, ast.Constant) and part.value is Ellipsis
            ):
                continue
            given = self(part)
            if given is None:
                return None
            if given.kind == "none":
                ndim += 1
            elif given.kind == "scalar" and KINDS[given.dtype] in "iu":
                ndim -= 1
            else:
                chosen = as_array(given)
                if chosen is None or KINDS[chosen.dtype] not in "biu":
                    return None
                ndim -= chosen.ndim if chosen.dtype == "bool" else 1
                picked = max(picked, 1 if chosen.dtype == "bool" else chosen.ndim)
        ndim += picked
        if ndim == 0:
            return Value("scalar", value.dtype)
        return array(value.dtype, ndim)

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value | None:
        if any(isinstance(a, ast.Starred) for a in node.args):
            return None
        if any(k.arg is None for k in node.keywords):
            return None
        call = Call(self, node)
        full = self.dotted(node.func)
        if full.startswith("numpy."):
            return numpy_call(full.removeprefix("numpy."), call)
        if isinstance(node.func, ast.Name) and node.func.id not in self.env:
            return _builtin(node.func.id, call) if not full else None
        if isinstance(node.func, ast.Attribute) and not full:
            owner = self(node.func.value)
            if owner is not None and owner.kind == "generator":
                return random_call(node.func.attr, call)
            if owner is not None and owner.kind == "array":
                return method_call(owner, node.func.attr, call)
        if full.startswith("math."):
            return FLOAT
        return None


@dataclass(frozen=True)
class Call:
    """The arguments of a call, evaluated when they are asked for."""

    evaluate: Evaluator
    node: ast.Call

    @property
    def count(self) -> int:
        """How many are given by position."""
        return len(self.node.args)

    def given(self, position: int, *names: str) -> bool:
        """Whether an argument is passed."""
        return self._node(position, names) is not None

    def value(self, position: int, *names: str) -> Value | None:
        """An argument by its position (below 0: only by name) or one of its names."""
        return self.evaluate(self._node(position, names))

    def _node(self, position: int, names: tuple[str, ...]) -> ast.expr | None:
        if 0 <= position < len(self.node.args):
            return self.node.args[position]
        return next((k.value for k in self.node.keywords if k.arg in names), None)

    def dtype(self, position: int, default: str) -> str:
        """The dtype that an argument names; empty where it cannot be told."""
        node = self._node(position, ("dtype",))
        if node is None:
            return default
        match node:
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                known = dtype_named(name)
                return known.name if known is not None else ""
        value = self.evaluate(node)
        return value.dtype if value is not None and value.kind == "dtype" else ""

    def ndim(self, position: int, *names: str) -> int | None:
        """The number of dimensions that a shape stands for."""
        value = self.value(position, *names)
        if value is None:
            node = self._node(position, names)
            # one number that is not known is a length all the same, if it is computed as one
            return 1 if isinstance(node, ast.BinOp) else None
        if value.kind == "sequence":
            return len(value.items)
        return 1 if value.kind == "scalar" else None


def _folded(op: ast.operator, a: Value, b: Value) -> Any:
    fold = _FOLDS.get(type(op))
    if fold is None or a.constant is None or b.constant is None:
        return None
    try:
        return fold(a.constant, b.constant)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _item(value: Value, index: Value | ast.Slice | None) -> Value | None:
    if isinstance(index, Value) and isinstance(index.constant, int):
        k = index.constant
        return value.items[k] if -len(value.items) <= k < len(value.items) else None
    return None


def _builtin(name: str, call: Call) -> Value | None:
    match name:
        case "float":
            return FLOAT
        case "int" | "len":
            return INT
        case "bool":
            return BOOL
        case "abs" | "round":
            value = call.value(0)
            return value if value is None or value.kind == "array" else replace(
                value, constant=None)  # fmt: skip
        case "range":
            return Value("sequence", items=(INT,), is_list=True)
        case "list" | "tuple":
            value = call.value(0)
            if value is not None and value.kind == "sequence":
                return replace(value, is_list=name == "list")
    return None
