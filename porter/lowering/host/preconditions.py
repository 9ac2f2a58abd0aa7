"""What the user's own checks of the arguments tell of their sizes.

Behind `if a.shape[0] != b.shape[0]: raise ValueError("...")` the two are equal: nothing else has
to test it, and what the user says is what the caller reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.scalars import poly_of
from porter.ir.walk import walk
from porter.lowering.evaluation import Body
from porter.sizes.polynomial import Poly


def is_first(body: Body, kept: ir.Host) -> bool:
    """Whether a check of sizes and numbers can be made before all else.

    What is computed above it may be left undone where it raises, if nothing of that could raise
    itself or be seen by the caller.
    """
    b = body.b
    above = all(isinstance(s, (ir.Alloc, ir.Def)) or (isinstance(s, ir.Host) and s.first)
                for s in b.out.statements)  # fmt: skip
    parts = [e for _, v in kept.values for e in walk(v)]
    on_device = kept.arrays or any(isinstance(e, (ir.Load, ir.Local)) for e in parts)
    late = any(set(p.names()) & b.sizes.fetched for e in parts if (p := poly_of(e)) is not None)
    nested = b.scope.conditions or b.scope.data_branches or b.scope.in_while or b.out.depth
    return (
        kept.kind is ir.HostKind.CHECK
        and above
        and not (on_device or late or nested or b.sizes.checks)
    )


def learn(body: Body, node: cst.BaseStatement) -> None:
    """Take sizes as equal that a check, which is made first, finds equal."""
    match node:
        case cst.If(test=test):
            holds = False
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            holds = True
        case _:
            return
    b = body.b
    found: list[tuple[Poly, Poly]] = []
    with suppress(Refusal), b.attempt() as undo:
        found = list(_equal(body.ev.condition(test), holds))
        undo()
    for one, other in found:
        b.sizes.same_size(one, other)


def _equal(e: ir.Expr, holds: bool) -> Iterator[tuple[Poly, Poly]]:
    """The sizes that are equal where a condition holds, or where it does not."""
    while isinstance(e, ir.Cast):
        e = e.arg
    if not isinstance(e, ir.Op):
        return
    if e.op == "not":
        yield from _equal(e.args[0], not holds)
    elif e.op == ("and" if holds else "or"):
        for arg in e.args:
            yield from _equal(arg, holds)
    elif e.op == ("eq" if holds else "ne"):
        one, other = map(poly_of, e.args)
        if one is not None and other is not None:
            yield one, other
