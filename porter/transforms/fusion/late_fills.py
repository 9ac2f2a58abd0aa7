"""A fill moves to the stage that first uses the array, where the element can stay in a register."""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.walk import jumps
from porter.ir.weights import is_trivial
from porter.transforms.fusion.apart import are_apart
from porter.transforms.fusion.fills import filled
from porter.transforms.fusion.joining import joined, with_neighbours
from porter.transforms.fusion.parts import merged

Body = tuple[ir.Stmt, ...]


def move_fills(body: Body, context: Context) -> Body:
    """Of `px = ...; out = zeros(...)` and a stage that adds to `out`, the zeros join the latter."""
    aliases = Aliases.of(body, context.buffers)
    return with_neighbours(body, lambda a, b: _moved(a, b, aliases))


def _moved(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> tuple[ir.Stage, ir.Stage] | None:
    """Both stages once the second has a fill of the first; None where it has none to move."""
    if jumps(a.body):
        return None  # its `continue` decides which threads come to the fill
    for k, fill in enumerate(a.body):
        own = ir.Stage(a.axes, (fill,), fill.origin)
        rest = replace(a, body=(*a.body[:k], *a.body[k + 1 :]))
        if not rest.body or not isinstance(fill, ir.Write) or not _is_plain(fill):
            continue
        if fill.buffer not in uses_in(b.body).arrays or not are_apart(own, rest, aliases):
            continue
        if exposed_scalars((fill,)) & defs_in(rest.body).scalars:
            continue
        both = joined(own, b, aliases) or filled(own, b, aliases) or merged(own, b, aliases)
        if both is not None:
            return rest, both
    return None


def _is_plain(s: ir.Write) -> bool:
    """Whether it costs next to nothing elsewhere: a number, or an element of another array."""
    plain = s.mask is None and s.combine is None and not s.checked
    return plain and (isinstance(s.body, ir.Load) or is_trivial(s.body))
