"""Arrays of which each thread needs one element are scalar variables of the threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses, users_of
from porter.ir.context import Context
from porter.ir.effects import expressions, makes, uses_in
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import blocks, loaded, rewrite, walk
from porter.sizes.polynomial import Poly


def replace_arrays(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """An array that one kernel writes and reads only at its own index is a local variable."""
    return _replaced(body, context, users_of(body))


def _replaced(
    body: tuple[ir.Stmt, ...], context: Context, users: Mapping[str, int]
) -> tuple[ir.Stmt, ...]:
    gone: set[str] = set()

    def replaced(s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Stage):
            return map_blocks(s, lambda b: _replaced(b, context, users))
        found: dict[str, list[Access]] = {}
        for a in accesses(s.body):
            found.setdefault(a.buffer, []).append(a)
        for name, own in found.items():
            if context.buffers[name].parameter or users[name] != 1 or not _private(s, name, own):
                continue
            s = replace(s, body=as_local(s.body, name, name))
            gone.add(name)
        return s

    body = tuple(map(replaced, body))
    return tuple(s for s in body if not (isinstance(s, ir.Alloc) and makes(s) & gone))


def _private(stage: ir.Stage, name: str, found: list[Access]) -> bool:
    places = {a.index for a in found if a.buffer == name}
    if len(places) != 1 or not any(a.buffer == name and a.write for a in found):
        return False
    if any(a.buffer == name and a.combine for a in found):
        return False
    index = next(iter(places))
    if not all(picks(index, a) for a in stage.axes):
        return False
    first = next(s for s in _scope(stage.body, name) if touches(s, name))
    return surely_writes(first, name)


def picks(index: tuple[Poly, ...], axis: ir.Axis) -> bool:
    """Whether a subscript moves by one with an axis."""
    return any(p.coefficient(axis.name) in (1, -1) for p in index)


def touches(s: ir.Stmt, name: str) -> bool:
    """Whether a statement reads or stores elements of an array."""
    return name in uses_in((s,)).arrays


def _scope(body: Sequence[ir.Stmt], name: str) -> Sequence[ir.Stmt]:
    """The innermost branch or loop that holds all accesses to an array."""
    touching = [s for s in body if touches(s, name)]
    if len(touching) == 1:
        inner = blocks(touching[0])
        used = [block for block in inner if any(touches(s, name) for s in block)]
        if len(used) == 1 and not any(name in loaded(e) for e in expressions(touching[0])):
            return _scope(used[0], name)
    return body


def surely_writes(s: ir.Stmt, name: str) -> bool:
    """Whether a statement stores into an array without reading it, whatever branch it takes."""
    if isinstance(s, ir.Write):
        reads = any(isinstance(e, ir.Load) and e.buffer == name for e in walk(s.body))
        return s.buffer == name and not reads
    if isinstance(s, ir.If) and s.orelse:
        return all(any(surely_writes(x, name) for x in block[:1]) for block in (s.body, s.orelse))
    return False


def as_local(body: tuple[ir.Stmt, ...], name: str, local: str) -> tuple[ir.Stmt, ...]:
    """Statements with a variable in place of the one element of an array that they touch."""

    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(local, e.dtype) if isinstance(e, ir.Load) and e.buffer == name else None

    def convert(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer == name:
            return ir.Let(local, rewrite(s.body, change), s.origin)
        s = map_blocks(s, lambda b: tuple(convert(x) for x in b))
        return map_exprs(s, change)

    return tuple(convert(s) if touches(s, name) else s for s in body)
