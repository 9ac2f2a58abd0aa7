"""A scalar that becomes another one at the end of an iteration: the two change places.

`rho = rho_new` is a launch of one thread.  Where each iteration computes `rho_new` again before it
needs it, its place holds nothing that anyone reads after the copy, and the host exchanges the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.effects import Names, defs, uses, uses_in
from porter.ir.rebuild import map_blocks
from porter.ir.walk import loaded, statements

Body = tuple[ir.Stmt, ...]


def swap_scalars(body: Body, context: Context) -> Body:
    """The pass: copies of scalars at the level of a host loop become exchanges of names."""
    return _swapped(body, body, context)


def _swapped(part: Body, body: Body, context: Context) -> Body:
    result: list[ir.Stmt] = []
    for s in part:
        if isinstance(s, (ir.For, ir.While, ir.If)):
            s = map_blocks(s, lambda b: _swapped(b, body, context))
        if isinstance(s, (ir.For, ir.While)):
            inner = enumerate(s.body)
            s = replace(s, body=tuple(_exchanged(x, k, s, body, context) for k, x in inner))
        result.append(s)
    return tuple(result)


def _copied(s: ir.Stmt) -> tuple[str, str] | None:
    """The scalars (to, from) of a stage that copies one and does nothing else."""
    if not isinstance(s, ir.Stage) or s.axes or len(s.body) != 1:
        return None
    store = s.body[0]
    if not isinstance(store, ir.Write) or store.index or store.mask or store.combine:
        return None
    value = store.body
    return (store.buffer, value.buffer) if isinstance(value, ir.Load) and not value.index else None


def _exchanged(
    s: ir.Stmt, at: int, loop: ir.For | ir.While, body: Body, context: Context
) -> ir.Stmt:
    """The exchange of two names in place of a copy, where that is the same."""
    names = _copied(s)
    if names is None or not _is_last_use(names, at, loop, body, context):
        return s
    to, source = names
    return ir.Bind((to, source), (source, to), s.origin)


def _is_last_use(
    names: tuple[str, str], at: int, loop: ir.For | ir.While, body: Body, context: Context
) -> bool:
    """Whether nobody reads the place that was copied before the next iteration fills it."""
    to, source = (context.buffers[n] for n in names)
    if to.parameter or source.parameter or (to.shape, to.dtype) != (source.shape, source.dtype):
        return False
    if source.name in uses_in(loop.body[at + 1 :]).arrays | uses(loop).arrays:
        return False
    if _users(source.name, loop.body) != _users(source.name, body):
        return False
    # what another statement of the host binds or keeps is left alone
    others = Names.union(f(x) for x in statements(body) if isinstance(x, (ir.Bind, ir.Host))
                         for f in (uses, defs))  # fmt: skip
    if {to.name, source.name} & others.arrays:
        return False
    return _is_filled_first(source.name, loop.body[:at])


def _users(name: str, body: Sequence[ir.Stmt]) -> int:
    return sum(name in uses(s).arrays for s in statements(tuple(body)))


def _is_filled_first(name: str, body: Sequence[ir.Stmt]) -> bool:
    """Whether each way through the statements stores the scalar before it reads it."""
    first = next((s for s in body if name in uses_in((s,)).arrays), None)
    if isinstance(first, ir.Stage) and not first.axes:
        return _is_filled_first(name, first.body)
    if not isinstance(first, ir.Write) or first.buffer != name or first.axes:
        return False
    return first.mask is None and not first.combine and name not in loaded(first.body)
