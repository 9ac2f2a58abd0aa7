"""Scalars that one thread computes move up to the launch whose last thread can compute them."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.analyses.scalar_stages import is_of_scalars
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks
from porter.ir.walk import only_raises
from porter.transforms.fusion.apart import are_apart, makes_room, passes


def raise_scalars(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """`rho_old = rho` moves up to the reduction or the scalars before it, where nothing that it
    passes needs the one or stores into the other.  Launches that it stood between may join.  An
    error that the host raises may come after what no caller sees."""
    aliases = Aliases.of(body, context.buffers)
    return _raised(body, context, aliases)


def _raised(body: Sequence[ir.Stmt], context: Context, aliases: Aliases) -> tuple[ir.Stmt, ...]:
    done: list[ir.Stmt] = []
    for s in body:
        if is_of_scalars(s, context.buffers):
            at = _place(s, done, context, aliases)
            own = [x for x in done[at:] if makes_room(x, s)]
            done[at:] = [*own, s, *(x for x in done[at:] if x not in own)]
        elif isinstance(s, ir.Stage):
            done.append(s)
        else:
            done.append(map_blocks(s, lambda b: _raised(b, context, aliases)))
    return tuple(done)


def _place(s: ir.Stmt, before: Sequence[ir.Stmt], context: Context, aliases: Aliases) -> int:
    """Where it stands: after the last statement that computes scalars, or where it was."""
    for k, other in reversed([*enumerate(before)]):
        scalar = isinstance(other, ir.Write) and not other.axes and other.schedule is not None
        if scalar or is_of_scalars(other, context.buffers):
            return k + 1
        if makes_room(other, s):
            continue
        if not passes(s, other, aliases) and not (
            only_raises(other) and are_apart(s, other, aliases)
        ):
            break
    return len(before)
