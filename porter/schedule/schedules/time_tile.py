"""Several turns of a loop over time in one launch: blocks have tiles of the arrays, and a border.

Each step of a turn stores an element as a function of its neighbours, so what a tile holds for sure
shrinks by their distance.  A border around the tile is used up by the steps of some turns; the
blocks around it compute the same elements once more.  What is read from memory and stored there for
one turn is enough for all of them (overlapped tiling: Krishnamoorthy et al., PLDI 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.effects import nodes_of
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import rewrite, statements
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Integer, Poly, sym

#: the border of a tile in elements, by the number of axes
HALO = {1: "LINE_HALO", 2: "TIME_HALO"}
#: the edges of a tile with its border, and its elements
EDGES = {1: ("LINE_TILE",), 2: ("TIME_ROWS", "TIME_COLUMNS")}
AREA = {1: "LINE_TILE", 2: "TIME_TILE"}


class TimeTile(Schedule):
    """Made of the launches in a loop of the host (`schedule/turns/tiles.py`).

    The body stores the arrays that a turn needs of the one before; the steps are those of turns,
    over the elements that they store.
    """

    name = "time_tile"
    word = "turns"
    summary = "turns of a loop in shared memory, a tile and its border a block"
    once = "a step over the elements of a tile"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """No statement by itself."""
        return False

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each tile."""
        sizes = tuple(a.extent for a in kernel.axes)
        inner = [f"{edge} - 2 * {HALO[len(sizes)]}" for edge in EDGES[len(sizes)]]
        blocks = tuple(zip(sizes[::-1], inner[::-1], strict=True))
        threads = ("THREADS",) if len(sizes) == 1 else ("BLOCK_X", "THREADS // BLOCK_X")
        return (Grid(blocks=blocks, threads=threads, guards=sizes, whole=True),)

    def barriers(self, kernel: Kernel) -> int:
        """One after each step, and one after the tile is loaded."""
        return len(kernel.parts) + 2

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The arrays in tiles, the steps of a turn, and what is stored."""
        w = writers.writer(replace(kernel, steps=()))
        return _Turns(kernel, w, writers.buffers).slots()


def kept(kernel: Kernel) -> list[str]:
    """The arrays of which a turn needs what the one before has stored."""
    bodies = [s.body for s in kernel.body if isinstance(s, ir.Write)]
    return [e.buffer for e in bodies if isinstance(e, ir.Load)]


def stored(kernel: Kernel) -> list[str]:
    """The arrays that steps store into, those first."""
    own = [s.buffer for stage in stages(kernel) for s in writes(stage)]
    return list(dict.fromkeys([*kept(kernel), *own]))


def stages(kernel: Kernel) -> list[ir.Stage]:
    """The steps of a turn."""
    return [s for s in kernel.steps if isinstance(s, ir.Stage)]


def writes(stage: ir.Stage) -> list[ir.Write]:
    """What a step stores."""
    return [s for s in statements(stage.body) if isinstance(s, ir.Write)]


def reach(stage: ir.Stage, names: Sequence[str]) -> int:
    """How far away an element of these arrays is that a step reads."""
    distances = [
        abs((p - sym(a.name, True)).constant or 0)
        for s in statements(stage.body)
        for e in nodes_of(s)
        if isinstance(e, ir.Load) and e.buffer in names
        for p, a in zip(e.index, stage.axes, strict=True)
    ]
    return max(distances, default=0)


def turns(kernel: Kernel) -> Poly:
    """How often a launch does the steps of a turn."""
    names = stored(kernel)
    halo = Poly.atom(Integer(HALO[len(kernel.axes)], True))
    return halo // sum(reach(s, names) for s in stages(kernel))


class _Turns:
    """Writes the kernel: rows and columns count from the corner of a tile with its border.

    A tile is an array of one axis with subscripts that have no sign: Numba tests others for being
    negative, and the compiler computes each address anew.
    """

    def __init__(self, kernel: Kernel, w: KernelWriter, buffers: Mapping[str, ir.Buffer]) -> None:
        self.kernel, self.w, self.buffers = kernel, w, buffers
        self.names = stored(kernel)
        self.own = [w.fresh(word) for word in ("row", "column")[-len(kernel.axes) :]]
        self.at = w.fresh("at") if self.own[1:] else self.own[0]
        self.tiles = {name: w.fresh(f"{name}_tile") for name in self.names}
        for name, tile in self.tiles.items():
            w.keeps(ir.Buffer(tile, buffers[name].shape[:1], buffers[name].dtype))

    def slots(self) -> dict[str, object]:
        """Everything that the template asks for."""
        w, kernel = self.w, self.kernel
        halo, edges = HALO[len(kernel.axes)], EDGES[len(kernel.axes)]
        w.names[halo] = halo
        index = [w.index(a.name) for a in kernel.axes]
        first = [w.fresh(f"first_{name}") for name in self.own]
        tiles = [self._tile(name) for name in self.names]
        steps = [self._step(stage) for stage in stages(kernel)]
        with w.slot() as results:
            w.block([map_exprs(s, self._in_tile) for s in kernel.body])
        return {
            "k": w, "tiles": tiles, "steps": steps, "results": results, "halo": halo,
            "edges": edges, "area": AREA[len(edges)], "at": self.at, "own": self.own,
            "index": index, "first": first,
            "sizes": [w.poly(a.hi) for a in kernel.axes], "edge": w.fresh("edge"),
            "turns": w.poly(turns(kernel)),
        }  # fmt: skip

    def _tile(self, name: str) -> dict[str, object]:
        """An array: its elements, and which of them a step stores before one reads them."""
        w, buffer = self.w, self.buffers[name]
        made = [s for s in stages(self.kernel) if name in [x.buffer for x in writes(s)]]
        whole = [(Poly(), n) for n in buffer.shape]
        own = [(a.lo, a.hi) for a in made[0].axes]
        first = [] if name in kept(self.kernel) else self._tests(own)
        loaded = not first or own != whole
        index = tuple(sym(a.name, True) for a in self.kernel.axes)
        element = w.expr(ir.Load(name, index, buffer.dtype)) if loaded else ""
        return {"element": element, "tile": self.tiles[name], "type": w.shared_type(buffer.dtype),
                "inside": self._tests(whole), "stored": " and ".join(first),
                "loaded": loaded}  # fmt: skip

    def _tests(self, bounds: Sequence[tuple[Poly, Poly]]) -> list[str]:
        """Whether an element is in a domain, by its axes."""
        w = self.w
        pairs = zip(self.kernel.axes, bounds, strict=True)
        return [f"{w.poly(lo)} <= {w.index(a.name)} < {w.poly(hi)}" for a, (lo, hi) in pairs]

    def _step(self, stage: ir.Stage) -> dict[str, object]:
        w = self.w
        with w.slot() as quoted:
            w.comment(stage.origin)
        tests = self._tests([(a.lo, a.hi) for a in stage.axes])
        with w.inside(), w.slot() as body:
            w.block([self._moved(s) for s in stage.body])
        return {"comment": quoted, "reach": reach(stage, self.names), "tests": tests, "body": body}

    def _moved(self, s: ir.Stmt) -> ir.Stmt:
        """A statement that stores into a tile."""
        if isinstance(s, ir.If):
            s = map_blocks(s, lambda body: tuple(map(self._moved, body)))
            return replace(s, cond=rewrite(s.cond, self._in_tile))
        s = map_exprs(s, self._in_tile)
        if isinstance(s, ir.Write):
            return replace(s, buffer=self.tiles[s.buffer], index=self._local(s.index))
        return s

    def _in_tile(self, e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or e.buffer not in self.tiles:
            return None
        return replace(e, buffer=self.tiles[e.buffer], index=self._local(e.index))

    def _local(self, index: Sequence[Poly]) -> tuple[Poly]:
        w, place = self.w, sym("?at", True)
        w.names.update({"?at": self.at, "?row": EDGES[2][1]})
        steps = (sym("?row", True), Poly.of(1))[-len(index) :]
        for p, a, step in zip(index, self.kernel.axes, steps, strict=True):
            place += (p - sym(a.name, True)) * step
        text = f"np.uint64({w.poly(place)})"
        w.names[f"?{text}"] = text
        return (sym(f"?{text}", True),)
