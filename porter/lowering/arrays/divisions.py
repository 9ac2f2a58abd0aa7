"""Divisions of Python's own numbers by sizes, which may be 0."""

from __future__ import annotations

from porter import ir
from porter.ir.scalars import poly_of
from porter.ir.walk import walk
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import never_negative
from porter.resolve.values import Array
from porter.sizes.polynomial import Data, Poly

#: what Python says for the operators
_SAID = {
    "truediv": "division by zero",
    "floordiv": "integer division or modulo by zero",
    "mod": "integer division or modulo by zero",
}


def test_divisor(b: Builder, op: str, left: Array | ir.Expr, right: Array | ir.Expr) -> None:
    """The host raises ZeroDivisionError where Python does: for a size that is 0.

    NumPy's numbers become infinite then, or no number.
    """
    if op not in _SAID or isinstance(left, Array) or isinstance(right, Array):
        return
    size = poly_of(right)
    if not (left.dtype.weak and right.dtype.weak) or size is None or b.scope.conditional:
        return
    size = b.sizes.resolve(size)
    tested = {n for c in b.scope.conditions for e in walk(c) if isinstance(e, ir.Value)
              for n in e.poly.names()}  # fmt: skip
    if tested & size.names():
        return  # an `if` of the user's asks for it
    read = any(isinstance(a, Data) for a in size.atoms()) or size.names() & b.scope.indices
    if not read and never_negative(b.sizes, size) and not never_negative(b.sizes, size - 1):
        b.sizes.check(ir.Check("index", Poly.of(1), size, _SAID[op], "ZeroDivisionError"))
