"""A fill of an array and a store into a part of it are one stage with a branch."""

from __future__ import annotations

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.aliases import read_by_another_name
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.rebuild import rename_axes
from porter.ir.walk import jumps, walk
from porter.ir.weights import is_trivial
from porter.sizes.polynomial import Poly
from porter.transforms.fusion.joining import with_neighbours


def merge_fills(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """`out = zeros(...)` followed by `out[1:-1] = ...` is one stage with a branch."""
    aliases = Aliases.of(body, context.buffers)
    return with_neighbours(body, lambda fill, region: filled(fill, region, aliases))


def filled(fill: ir.Stage, region: ir.Stage, aliases: Aliases) -> ir.Stage | None:
    """The fill's stage with the region's statements where the region is."""
    whole = fill.body[0] if len(fill.body) == 1 else None
    if not isinstance(whole, ir.Write) or whole.checked or whole.combine:
        return None
    if whole.index != symbols(fill.axes) or len(region.axes) != len(fill.axes):
        return None
    if not is_trivial(whole.body) and not isinstance(whole.body, ir.Load):
        return None
    found = list(accesses(region.body))
    places = {a.index for a in found if a.buffer == whole.buffer}
    stored = any(isinstance(s, ir.Write) and s.buffer == whole.buffer for s in region.body)
    if not stored or jumps(region.body):
        return None  # where the region leaves an element out, the fill must stay
    own = {e.buffer for e in walk(whole.body) if isinstance(e, ir.Load)}
    if len(places) != 1 or any(a.write and a.buffer in own for a in found):
        return None
    if any(a.buffer == whole.buffer and not a.write for a in found):
        return None
    if read_by_another_name(found, whole.buffer, aliases):
        return None
    if tuple(a.extent for a in fill.axes) != aliases.buffers[whole.buffer].shape:
        return None
    at: dict[str, Poly] = {}
    tests: list[ir.Expr] = []
    for outer, axis, index in zip(fill.axes, region.axes, next(iter(places)), strict=True):
        shift = index - symbols([axis])[0]
        if shift.names() & {a.name for a in region.axes}:
            return None
        at[axis.name] = symbols([outer])[0] - shift
        tests += _inside(outer, axis.lo + shift, axis.hi + shift)
    inner = tuple(rename_axes(s, at) for s in region.body)
    if any(
        a.write and a.buffer == whole.buffer and a.index != whole.index for a in accesses(inner)
    ):
        return None
    if not tests:
        return None
    cond = tests[0]
    for t in tests[1:]:
        cond = ir.Op("and", (cond, t), BOOL)
    branch = ir.If(cond, inner, (whole,), region.origin)
    return ir.Stage(fill.axes, (branch,), region.origin)


def _inside(whole: ir.Axis, lo: Poly, hi: Poly) -> list[ir.Expr]:
    i = ir.Value(symbols([whole])[0], INT64)
    tests: list[ir.Expr] = []
    if lo != whole.lo:
        tests.append(ir.Op("ge", (i, ir.Value(lo, INT64)), BOOL))
    if hi != whole.hi:
        tests.append(ir.Op("lt", (i, ir.Value(hi, INT64)), BOOL))
    if len(tests) == 2:
        return [ir.Op("and", (tests[0], tests[1]), BOOL)]
    return tests
