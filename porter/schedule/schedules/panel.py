"""Lines that a panel of turns finishes: a thread for each row or column, in shared memory.

Each element of a line needs those before it, and elements of the square of the panel.  So a block
loads the square and its lines, and stores the lines when they are done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.effects import expressions
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import statements, walk
from porter.schedule.base import WARP, Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.schedules.tile import SHARED
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import Integer, Poly, minimum, sym

#: the constant of the module: turns of a panel, and lines of a block
TURNS = Poly.atom(Integer("BLOCK_X", True))


@dataclass(frozen=True)
class Window:
    """What a block has of an array: lines along the axis `at`, or the square of the panel.

    `starts` are the coordinates of the panel's first turn; that of a line is not asked for.
    """

    buffer: str
    at: int | None
    starts: tuple[Poly, Poly]

    def place(self, index: tuple[Poly, ...]) -> tuple[Poly, Poly]:
        """Where an element is in it: the first axis is that of the turns, so that the threads of a
        warp, which have a line each, are neighbours."""
        if self.at is None:
            return index[0] - self.starts[0], index[1] - self.starts[1]
        other = 1 - self.at
        return index[other] - self.starts[other], sym("?tx", True)


class PanelLines(Schedule):
    """A block for BLOCK_X lines: all its threads load and store them, the first warp does them."""

    name = "panel"
    word = "lines"
    summary = "a thread for each line of a panel, in shared memory"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Threads that go through the turns of a panel, each along a line of its own."""
        if not isinstance(s, ir.Stage):
            return False
        windows = _windows(s)
        room = sum(buffers[x.buffer].dtype.itemsize for x in windows) * WARP**2
        return bool(windows) and room <= SHARED

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Blocks of lines."""
        (line,) = kernel.axes
        grid = ((line.extent, "BLOCK_X"),)
        return (Grid(grid, ("BLOCK_X", "STRIP"), (line.extent,), whole=True),)

    def barriers(self, kernel: Kernel) -> int:
        """After the loads and before the stores."""
        return 2

    def remark(self, kernel: Kernel) -> str:
        """That sums of a panel are rounded by themselves."""
        (turns,) = kernel.body
        parts = (e for s in statements((turns,)) for e in _parts(s))
        if not any(isinstance(e, ir.Reduce) and e.op == "sum" for e in parts):
            return ""
        return (
            f"the terms of the turns at line {turns.origin.span.line} are added up before they are "
            "subtracted, so rounded otherwise"
        )

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The windows, how they are loaded and stored, and the turns of a thread."""
        w = writers.writer(kernel)
        (line,), (turns,) = kernel.axes, kernel.body
        assert isinstance(turns, ir.For)
        w.index(line.name)
        places = {word: w.fresh(word) for word in ("tx", "ty", "t", "first")}
        w.names.update({f"?{word}": name for word, name in places.items()})
        lines = loop(w, line)
        windows = _windows(kernel)
        found = [_Shared(w, x, writers.buffers[x.buffer], line, windows[x]) for x in windows]
        with w.inside(), w.slot() as body:
            w.block([_moved(turns, line.name, {x.window: x.buffer for x in found})])
        return {
            "k": w, "n": places, "line": lines, "windows": found, "body": body,
            "stored": [x for x in found if windows[x.window]],
        }  # fmt: skip


class _Shared:
    """A window in shared memory, with the lines that load it, and store it if it is `stored`."""

    def __init__(
        self, w: KernelWriter, window: Window, buffer: ir.Buffer, line: ir.Axis, stored: bool
    ) -> None:
        """A window of an array, which may have fewer lines than another one."""
        self.window = window
        self.type = w.shared_type(buffer.dtype)
        self.buffer = w.fresh(f"{buffer.name}_{'square' if window.at is None else 'lines'}")
        w.keeps(ir.Buffer(self.buffer, (TURNS, TURNS), buffer.dtype))
        tx, t, first = (sym(f"?{word}", True) for word in ("tx", "t", "first"))
        # neighbouring threads have neighbours in memory
        place = (tx, t) if window.at == 0 else (t, tx)
        lines = (first + t, first + tx)
        turns = (window.starts[0] + t, window.starts[1] + tx)
        there = tuple(lines[d] if d == window.at else turns[d] for d in (0, 1))
        here = ir.Load(self.buffer, place, buffer.dtype)
        own = ir.Load(buffer.name, there, buffer.dtype)
        self.load = self._copy(w, own, here)
        self.store = self._copy(w, here, own) if stored else Lines()
        #: whether there is the line whose element a thread loads
        self.inside = ""
        if window.at is not None:
            end = minimum(line.hi, buffer.shape[window.at])
            self.inside = f"{w.poly(lines[window.at])} < {w.operand(end)}"

    @staticmethod
    def _copy(w: KernelWriter, value: ir.Load, to: ir.Load) -> Lines:
        with w.inside(), w.slot() as lines:
            w.block([ir.Write(to.buffer, (), to.index, value, ir.Origin())])
        return lines


def _moved(turns: ir.For, line: str, names: Mapping[Window, str]) -> ir.For:
    """The turns over elements in shared memory, where windows have these names."""
    known = _turns_of(turns)

    def load(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or (own := _window(e.buffer, e.index, line, known)) is None:
            return None
        return ir.Load(names[own], own.place(e.index), e.dtype)

    def stored(s: ir.Stmt) -> ir.Stmt:
        s = map_blocks(s, lambda block: tuple(map(stored, block)))
        if not isinstance(s, ir.Write) or (own := _window(s.buffer, s.index, line, known)) is None:
            return s
        return replace(s, buffer=names[own], index=own.place(s.index))

    moved = map_exprs(stored(turns), load)
    assert isinstance(moved, ir.For)
    return moved


def _window(
    buffer: str, index: tuple[Poly, ...], line: str, known: Mapping[Poly, Poly]
) -> Window | None:
    """The window that an element is in: its coordinates are turns of the panel, or one the line."""
    at = next((d for d, p in enumerate(index) if p == sym(line, True)), None)
    starts = tuple(Poly() if d == at else known.get(p) for d, p in enumerate(index))
    match starts:
        case (Poly() as one, Poly() as other):
            return Window(buffer, at, (one, other))
    return None


def _windows(stage: ir.Stage | Kernel) -> dict[Window, bool]:
    """The windows of a panel's lines, and whether they are stored; none for other statements."""
    match stage.axes, stage.body:
        case (line,), (ir.For(lo=lo, hi=hi, step=1) as turns,) if hi - lo == TURNS:
            if not ((line.lo - hi).is_nonneg() or (lo - line.hi).is_nonneg()):
                return {}
        case _:
            return {}
    known = _turns_of(turns)
    found: dict[Window, bool] = {}
    elsewhere: set[str] = set()
    for a in accesses(turns.body):
        window = _window(a.buffer, a.index, line.name, known)
        if window is not None:
            found[window] = found.get(window, False) or a.write
        elif a.write:
            return {}
        else:
            elsewhere.add(a.buffer)
    stored = [window for window, written in found.items() if written]
    for window in stored:
        # what a thread stores is of its line, and other threads see none of it
        others = [x for x in found if x.buffer == window.buffer and x.at is not None]
        if window.at is None or len(others) > 1 or window.buffer in elsewhere:
            return {}
    return found if stored else {}


def _turns_of(loop: ir.For) -> dict[Poly, Poly]:
    """Coordinates that are turns of the panel, with that of the first turn: the turn of the loop
    and those before it, counted from the loop's start or from the panel's."""
    c = sym(loop.index, True)
    whole = (e for s in statements(loop.body) for e in _parts(s))
    axes = [a for r in whole if isinstance(r, ir.Reduce) for a in r.axes]
    before = [sym(a.name, True) for a in axes if not a.lo.terms and a.hi == c - loop.lo]
    found = {c: loop.lo} | {loop.lo + k: loop.lo for k in before}
    return found | {place - loop.lo: Poly() for place in found}


def _parts(s: ir.Stmt) -> Iterator[ir.Expr]:
    """All that its expressions are made of."""
    for whole in expressions(s):
        yield from walk(whole)
