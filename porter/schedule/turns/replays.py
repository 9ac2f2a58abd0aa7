"""Loops of the host whose turns launch the same each time: a CUDA graph replays them.

A launch from Python takes ten times as long as one of a graph.  So that a replay is the same as the
loop, nothing in a turn may depend on the number of the turn, make an array, or ask for a value.
Arrays may change places, if some turns later they are back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter import ir
from porter.ir.effects import uses_in
from porter.ir.walk import scalars_of
from porter.schedule.base import BlockLoop, BlockStep, Kernel
from porter.schedule.nodes import HostLoop, Launch


@dataclass(frozen=True)
class Replay:
    """What a turn launches, and for each turn until they repeat: the array that each name has, as
    the name that had it at first.  From turn `settled` on, it is that of `period` turns before."""

    kernels: tuple[Kernel, ...]
    turns: tuple[dict[str, str], ...]
    settled: int

    @property
    def period(self) -> int:
        """After so many turns each array is back in its place."""
        return len(self.turns) - self.settled

    @property
    def moved(self) -> list[str]:
        """The names that get another array in a turn."""
        return sorted(n for n in self.turns[0] if any(t[n] != n for t in self.turns))

    def among(self, name: str) -> set[str]:
        """The arrays that a name has in some turn."""
        return {turn.get(name, name) for turn in self.turns}


def replay(loop: HostLoop) -> Replay | None:
    """How a graph replays a loop, if it can."""
    if loop.step != 1 or not all(isinstance(item, (Launch, ir.Bind)) for item in loop.body):
        return None
    launches = [item for item in loop.body if isinstance(item, Launch)]
    kernels = [k for launch in launches for k in _kernels(launch)]
    changes = {n for item in loop.body if isinstance(item, ir.Bind) for n in item.names}
    changes.add(loop.index)
    if not kernels or any(k.draws or changes & sizes_of(k) for k in kernels):
        return None
    if any(loop.index in needs(k) and loop.index != k.turn for k in kernels):
        return None
    turn: dict[str, str] = {}
    for bind in loop.body:
        if isinstance(bind, ir.Bind):
            had = [turn.get(b, b) for b in bind.buffers]
            turn |= dict(zip(bind.names, had, strict=True))
    turns = [{name: name for name in {*turn, *turn.values()}}]
    while (after := {n: turns[-1][turn.get(n, n)] for n in turns[0]}) not in turns:
        turns.append(after)
    return Replay(tuple(kernels), tuple(turns), turns.index(after))


def _kernels(launch: Launch) -> Iterator[Kernel]:
    yield launch.kernel
    yield from (other.kernel for other in launch.alternatives)


def sizes_of(kernel: Kernel) -> set[str]:
    """What the grids of its launches depend on, and so the arrays of partial results."""
    grids = kernel.schedule.launches(kernel)
    sizes = (
        n
        for g in grids
        for n in (*g.guards, *g.shape, *g.columns, *g.splits, *(b for b, _ in g.blocks))
    )
    return {name for n in sizes for name in (*n.names(), *(d.array for d in n.dims()))}


def needs(kernel: Kernel) -> set[str]:
    """The numbers of the host that a launch depends on."""
    stores = [w for f in kernel.folds for w in (f.store, f.kept) if w is not None]
    found = {*uses_in((*kernel.statements, *stores)).scalars}
    for e in kernel.folded():
        found |= scalars_of(e)
    for loop in _loops(kernel.steps):
        found |= loop.lo.names() | loop.hi.names()
    return found


def _loops(steps: Sequence[BlockStep]) -> Iterator[BlockLoop]:
    for step in steps:
        if isinstance(step, BlockLoop):
            yield step
            yield from _loops(step.steps)
