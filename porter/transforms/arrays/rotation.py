"""Arrays that each iteration of a host loop makes are allocated once, before the loop.

`u = new` keeps the array of one iteration for the next.  What `u` was before is needed by nobody
then, and its memory can be stored into: two arrays change places (ping-pong).  Where the first one
is the caller's, or more than one variable keeps an array, spare ones take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, indices, makes, uses
from porter.ir.walk import statements

Body = tuple[ir.Stmt, ...]
Loop = ir.For | ir.While
Move = tuple[str, str]


def rotate_arrays(body: Body, context: Context) -> Body:
    """The pass: arrays that an iteration makes and a variable keeps for the next ones."""
    if context.values:
        return body  # there is no memory to take turns
    return _Rotation(body, context).block(body)


class _Rotation:
    def __init__(self, body: Body, context: Context) -> None:
        self.body, self.context = body, context
        self.aliases = Aliases.of(body, context.buffers)
        self.moves = [m for s in statements(body) if isinstance(s, ir.Bind) for m in _moves(s)]

    def block(self, body: Body) -> Body:
        """The statements of the host, inner loops first."""
        done: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.If):
                s = replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
            elif isinstance(s, (ir.For, ir.While)):
                s = replace(s, body=self.block(s.body))
                made = {n for x in done for n in makes(x)}
                for alloc in [x for x in s.body if isinstance(x, ir.Alloc)]:
                    keepers = self._keepers(alloc, s)
                    if keepers:
                        allocations, s = self._turned(alloc, s, len(keepers), made)
                        done += allocations
            done.append(s)
        return tuple(done)

    def _turned(
        self, alloc: ir.Alloc, loop: Loop, keepers: int, made: set[str]
    ) -> tuple[list[ir.Alloc], Loop]:
        """The allocations that stand before the loop now, and the loop."""
        name = alloc.buffer.name
        kept = next((v, a) for v, a in self.moves if a == name)
        spares: list[ir.Buffer] = []
        if keepers == 1 and kept[0] in made and self._swaps(kept[0], alloc.buffer):
            turn = [kept, (name, kept[0])]
        else:
            spares = [self._spare(alloc.buffer) for _ in range(keepers)]
            ring = [name, *(b.name for b in spares)]
            turn = [kept, *zip(ring, [*ring[1:], name], strict=True)]
        body = tuple(_with_turn(s, kept, turn) for s in loop.body if s is not alloc)
        return [alloc, *(ir.Alloc(b, alloc.origin) for b in spares)], replace(loop, body=body)

    def _keepers(self, alloc: ir.Alloc, loop: Loop) -> set[str]:
        """The variables that keep arrays of earlier iterations; none if it is not certain which.

        Each is bound once in an iteration, so that none keeps an array for more iterations than
        there are variables.
        """
        name = alloc.buffer.name
        inside = [s for s in statements(loop.body) if isinstance(s, ir.Bind)]
        moves = [m for s in inside for m in _moves(s)]
        keepers: set[str] = set()
        while more := {v for v, a in moves if a in keepers | {name}} - keepers:
            keepers |= more
        arrays = keepers | {name}
        always = all(s in loop.body for s in inside if arrays.intersection(s.names))
        once = len([v for v, _ in moves if v in keepers]) == len(keepers)
        own = [m for m in self.moves if name in m] == [m for m in moves if name in m]
        first = len([m for m in moves if name in m]) == 1 and name not in keepers
        varying = defs_in(loop.body).scalars | indices(loop)
        constant = not any(p.names() & varying for p in alloc.buffer.shape)
        certain = always and once and own and first and constant
        if certain and self._ends_there(name, loop) and not _given_away(arrays, loop.body):
            return keepers
        return set()

    def _ends_there(self, name: str, loop: Loop) -> bool:
        """Whether an array is used in this loop only, up to where a variable is bound to it."""

        def users(body: Sequence[ir.Stmt]) -> int:
            return sum(name in uses(s).arrays for s in statements(tuple(body)))

        *_, last = (s for s in loop.body if users([s]))
        return isinstance(last, ir.Bind) and users(loop.body) == users(self.body)

    def _swaps(self, variable: str, new: ir.Buffer) -> bool:
        """Whether the first array of a variable is its own, and like those of the iterations."""
        mine = self.context.buffers[variable]
        shared = {n for pair in self.aliases.pairs if variable in pair for n in pair}
        others = [m for m in self.moves if variable in m and m != (variable, new.name)]
        return (
            (mine.shape, mine.dtype) == (new.shape, new.dtype)
            and shared <= {variable, new.name}
            and not others
            and not _given_away({variable}, self.body)
        )

    def _spare(self, like: ir.Buffer) -> ir.Buffer:
        spare = replace(like, name=self.context.fresh(f"{like.name}_spare"))
        self.context.buffers[spare.name] = spare
        return spare


def _moves(bind: ir.Bind) -> Iterator[Move]:
    """Each variable with the array that it is bound to."""
    return zip(bind.names, bind.buffers, strict=True)


def _given_away(names: set[str], body: Body) -> bool:
    """Whether a statement of the host may keep one of the arrays."""
    hosts = [s for s in statements(body) if isinstance(s, ir.Host)]
    return any(array in names for s in hosts for text, array in s.arrays if text in s.itself)


def _with_turn(s: ir.Stmt, kept: Move, turn: Sequence[Move]) -> ir.Stmt:
    """The statement that binds the array, with what takes turns beside it."""
    if not isinstance(s, ir.Bind) or kept not in _moves(s):
        return s
    moves = [*(m for m in _moves(s) if m != kept), *turn]
    return replace(s, names=tuple(v for v, _ in moves), buffers=tuple(a for _, a in moves))
