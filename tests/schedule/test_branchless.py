"""Which conditions of loops have both operands computed: those whose elements are surely there."""

from __future__ import annotations

import pytest

from porter import ir
from porter.dtypes.dtype import BOOL, FLOAT64
from porter.schedule.loops.branchless import branchless
from porter.sizes.polynomial import Dim, Poly, sym

N = Poly.atom(Dim("x", 0))
X = ir.Buffer("x", (N,), FLOAT64, parameter=True)


def loop(lo: Poly, hi: Poly, step: int, index: Poly) -> ir.For:
    """A loop over a condition that reads `x[index]` second."""
    read = ir.Op("gt", (ir.Load("x", (index,), FLOAT64), ir.Const(0.5, FLOAT64)), BOOL)
    test = ir.Op("and", (ir.Local("flag", BOOL), read), BOOL)
    body = ir.If(test, (ir.Let("found", ir.Const(1.0, FLOAT64), ir.Origin()),), (), ir.Origin())
    return ir.For("i", lo, hi, step, (body,), ir.Origin())


@pytest.mark.parametrize(
    ("lo", "hi", "step", "ahead", "changed"),
    [
        (Poly(), N, 1, 0, True),
        (Poly(), N - 1, 1, 1, True),
        (Poly(), N, 1, 1, False),  # the last one is beyond the end
        (Poly(), N + 1, 1, 0, False),
        (N, Poly.of(-1), -1, 0, False),  # begins beyond the end
    ],
)
def test_elements_are_inside_for_all_indices(
    lo: Poly, hi: Poly, step: int, ahead: int, changed: bool
) -> None:
    (made,) = branchless([loop(lo, hi, step, sym("i", True) + ahead)], (), {"x": X})
    assert isinstance(made, ir.For)
    (test,) = (s.cond for s in made.body if isinstance(s, ir.If))
    assert isinstance(test, ir.Op)
    assert test.op == ("band" if changed else "and")
