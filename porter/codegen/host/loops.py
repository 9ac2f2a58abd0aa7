"""The loops of the host that lines are being written in, and what is made once before them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from porter import ir
from porter.codegen.host.base import Lines
from porter.ir.effects import defs
from porter.schedule.nodes import HostLoop, HostWhile, items_of
from porter.sizes.polynomial import Poly


@dataclass(frozen=True)
class Parts:
    """How many blocks share a domain and leave partial results, their grid and their threads.

    With an element for each block the results have the shape `count`; else another `shape`.
    """

    count: str
    blocks: str
    threads: str
    shape: str = ""


@dataclass
class Loop:
    """A loop: where its first line stands, how far that is indented, what its body changes."""

    line: int
    indent: int
    changes: frozenset[str]
    #: parts of domains and the arrays of their results, made before it, by how they are made
    made: dict[tuple[str, ...], tuple[Parts, list[str]]] = field(default_factory=dict)
    #: what counts the blocks of a launch that are done, 0 before each launch, by their groups
    counters: dict[str, str] = field(default_factory=dict)


@dataclass
class Loops:
    """The loops around the current line, outermost first."""

    around: list[Loop] = field(default_factory=list)

    @contextmanager
    def inside(self, loop: HostLoop | HostWhile, lines: Lines) -> Iterator[Loop]:
        """While the loop's body is written; its head comes next."""
        self.around.append(Loop(len(lines.lines), lines.indent, _changes(loop)))
        yield self.around[-1]
        self.around.pop()

    def outside(self, size: Poly) -> Loop | None:
        """The outermost loop that does not change a size."""
        needs = size.names() | {d.array for d in size.dims()}
        found = None
        for loop in reversed(self.around):
            if needs & loop.changes:
                break
            found = loop
        return found

    @contextmanager
    def before(self, loop: Loop, out: Lines) -> Iterator[None]:
        """What is emitted meanwhile stands before the loop."""
        lines, indent = out.lines, out.indent
        out.lines, out.indent = [], loop.indent
        yield
        new, out.lines, out.indent = out.lines, lines, indent
        out.lines[loop.line : loop.line] = new
        for inner in self.around[self.around.index(loop) :]:
            inner.line += len(new)


def _changes(loop: HostLoop | HostWhile) -> frozenset[str]:
    """The names that have another value or another array in each iteration."""
    found: set[str] = {loop.index} if isinstance(loop, HostLoop) else set()
    for item in items_of(loop.body):
        if isinstance(item, HostLoop):
            found.add(item.index)
        elif isinstance(item, (ir.Let, ir.Fetch, ir.Bind, ir.Host, ir.Alloc)):
            made = defs(item)
            found |= made.arrays | made.scalars
    return frozenset(found)
