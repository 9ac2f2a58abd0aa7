"""Matrix products and their kind: square tiles of both operands in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from porter import ir
from porter.analyses.contractions import contraction, is_fast, vanishes
from porter.analyses.reductions import can_share, reductions
from porter.ir.walk import children, rewrite, walk
from porter.schedule.base import Alternative, Around, Fold, Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.schedules.columns import finish_slots, partial_of
from porter.schedule.steps import comment, element
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import Index, Poly, sym

#: bytes of shared memory that a block has on every GPU; elements of a row of threads' tiles
SHARED, TILE_ELEMENTS = 48 * 1024, 16 * 17
#: operations that are an instruction or two, and how many of them the term of a large tile has at
#: most: its text is repeated for each element of a thread
CHEAP, MOST_OPERATIONS = frozenset({"add", "sub", "mul", "neg", "abs", "maximum", "minimum"}), 4
#: constants of the module: rows or columns of a thread
EACH = {"EACH": 4, "EACH_LARGE": 8}


class Tile(Schedule):
    """A thread for each element of the last two axes; a block loads the tiles that it needs."""

    name = "tile"
    word = "tiled"
    summary = "tiles in shared memory"
    #: the rows and columns of what a block computes
    edges: ClassVar[tuple[str, str]] = ("TILE", "TILE")
    #: its threads along x and y
    block: ClassVar[tuple[str, str]] = ("TILE", "TILE")
    #: what the host asks whether wide tiles of parts of the terms pay
    asks: ClassVar[str] = "_is_medium"
    #: whether a thread's sums are still elements of `results` when it stores them
    apart: ClassVar[bool] = False
    #: the variables of a thread
    words: ClassVar[tuple[str, ...]] = ("tx", "ty", "t", "first_row", "first_column", "first_k")

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A contraction."""
        return bool(_factors(s))

    def alternatives(self, kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
        """Large tiles for large results, and wide ones for those of a size between."""
        (fold,) = kernel.folds
        store = fold.store
        known = [] if store is None else [t for t in LARGE_TILES if t.matches(store, {})]
        if store is None or not known:
            return ()
        *batch, rows, columns = (a.extent for a in kernel.axes)
        large = replace(kernel, schedule=known[0])
        found = Alternative(large, "_is_large", (rows, columns, *batch))
        if not SPLIT_TILE.matches(store, {}):
            return (found,)
        split = replace(kernel, schedule=SPLIT_TILE)
        return found, Alternative(split, self.asks, _sizes(kernel))

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each tile; a leading axis along z."""
        extents = tuple(a.extent for a in kernel.axes)
        down, across = self.edges
        blocks = tuple(zip(reversed(extents), (across, down, "1"), strict=False))
        return (Grid(blocks, self.block, extents),)

    def barriers(self, kernel: Kernel) -> int:
        """Before and after the use of each tile."""
        return 2

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """How tiles are loaded, the term of the sum, and the store."""
        return self.tiles(kernel, writers.writer(kernel), stored=True)

    def tiles(self, kernel: Kernel, w: KernelWriter, *, stored: bool) -> dict[str, object]:
        """The slots of a kernel that has the value `stored`, or leaves what it has summed up."""
        (fold,) = kernel.folds
        ((total, r),) = fold.reductions
        assert fold.store is not None
        parts = contraction(fold.store, r)
        assert parts is not None
        row, column = kernel.axes[-2:]
        for a in (*kernel.axes, *r.axes):
            w.index(a.name)
        n = {word: w.fresh(word) for word in self.words}
        tiles = Operands(w, r.axes[0].name, n)
        zeros = r.op == "sum" and vanishes(r.body, {*parts[0], *parts[1]})
        loads = self.loads(tiles, parts, row.name, column.name)
        if not zeros:
            loads = [load | {"zero": ""} for load in loads]
        with w.slot() as before:
            term = w.fold(replace(r, body=rewrite(r.body, tiles.known.get)), tiles.result or total)
            initial = w.initial(r)
        quoted = Lines([*before, *comment(w, fold.origin)])
        with w.slot() as head:
            store = _stored(w, fold, tiles.result if self.apart else "") if stored else Lines()
        loops = [loop(w, a) for a in (row, column, r.axes[0], *kernel.axes[:-2])]
        rows, columns, depth, *batch = loops
        for each in loops:
            head += each.before
        return {
            "k": w, "n": n, "loads": loads, "head": head, "rows": rows, "columns": columns,
            "batch": batch[0] if batch else None, "depth": depth, "comment": quoted,
            "total": total, "initial": initial, "term": term, "store": store,
            "zeros": zeros, "result": tiles.result, "type": w.shared_type(r.dtype),
        }  # fmt: skip

    def loads(
        self, operands: Operands, factors: tuple[list[ir.Expr], list[ir.Expr]], row: str,
        column: str,
    ) -> list[dict[str, object]]:  # fmt: skip
        """What goes through shared memory: both operands."""
        found = [operands.tile(e, "left", row) for e in factors[0]]
        return found + [operands.tile(e, "right", column) for e in factors[1]]


class WideTile(Tile):
    """A thread for EACH rows and EACH columns: it uses EACH times what it reads of a tile."""

    name = "wide_tile"
    word = "tiled_wide"
    summary = "wide tiles in shared memory, several elements a thread"
    edges = ("WIDE", "WIDE")
    words = (*Tile.words, "r", "c", "results")
    apart = True
    #: how many rows and how many columns a thread has
    each: ClassVar[tuple[str, str]] = ("EACH", "EACH")

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A contraction whose operands have room in shared memory."""
        sizes = [e.dtype.itemsize for e in _factors(s)]
        most = max(EACH[name] for name in self.each)
        return bool(sizes) and sum(sizes) * most * TILE_ELEMENTS <= SHARED

    def alternatives(self, kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
        """It is the one of others."""
        return ()

    def tiles(self, kernel: Kernel, w: KernelWriter, *, stored: bool) -> dict[str, object]:
        """Those of a tile, with the constants of this one."""
        found = super().tiles(kernel, w, stored=stored)
        return found | {"each": self.each, "edges": self.edges}


class LargeTile(WideTile):
    """The same with twice the rows, whose sums have room in a thread's registers.

    A multiprocessor has room for two blocks then: one computes while the other one loads.
    """

    name = "large_tile"
    word = "tiled_large"
    summary = "large tiles in shared memory, many elements a thread"
    edges = ("WIDE_LARGE", "WIDE")
    words = (*WideTile.words, "inside")
    each = ("EACH_LARGE", "EACH")

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A contraction of real numbers whose term is short."""
        factors = _factors(s)
        if not isinstance(s, ir.Write) or not super().matches(s, buffers):
            return False
        (r,) = reductions(s.body)
        between = list(_between(r.body, factors))
        return r.dtype.kind in "iuf" and (
            len(between) <= MOST_OPERATIONS and all(op in CHEAP for op in between)
        )


class SplitTile(WideTile):
    """Blocks share the terms, too: small results of long sums would have few blocks."""

    name = "split_tile"
    word = "tiled_split"
    summary = "wide tiles of parts of the terms, then the parts"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """One matrix, whose elements are numbered together."""
        return len(s.axes) == 2 and not any(a.lo.terms for a in s.axes) and super().matches(
            s, buffers
        )  # fmt: skip

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Blocks of tiles and parts; then a column of parts for each element."""
        sizes = _sizes(kernel)
        guards = tuple(a.extent for a in kernel.axes)
        return Grid(splits=sizes, guards=guards), Grid(splits=sizes, again=True)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The tiles of a part, and the launch that folds the parts."""
        (fold,) = kernel.folds
        ((total, r),) = fold.reductions
        only = replace(fold, value=ir.Local(total, r.dtype), store=None)
        w = writers.writer(replace(kernel, name=f"{kernel.name}_parts", steps=(only,)))
        slots = self.tiles(kernel, w, stored=False)
        partial = w.gives(f"{total}_partial", r.dtype)
        row, column = (w.index(a.name) for a in kernel.axes)
        with w.slot() as before:
            width = w.operand(kernel.axes[-1].extent)
        head = slots["head"]
        assert isinstance(head, Lines)
        place = f"{partial}[cuda.blockIdx.z, {row} * {width} + {column}]"
        slots |= {
            "head": Lines([*head, *before]), "result": slots["result"],
            "store": Lines([f"{place} = {slots['result']}"]),
        }  # fmt: skip
        return slots | finish_slots(kernel, {total: partial_of(partial, r.dtype)}, writers)


#: the best first
LARGE_TILES = (LargeTile(), WideTile())
SPLIT_TILE = SplitTile()


def _stored(w: KernelWriter, fold: Fold, result: str) -> Lines:
    """The lines of the store; where it keeps the element under a condition, nothing is stored.

    A sum that is an element of `results` gets its name first, unless that is all.
    """
    assert fold.store is not None
    ((total, _),) = fold.reductions
    own = ir.Load(fold.store.buffer, fold.store.index, fold.value.dtype)
    cond, value = "", fold.value
    if isinstance(fold.value, ir.Select) and fold.value.other == own:
        cond, value = f"if {w.expr(fold.value.cond)}:", fold.value.then
    text, target = w.expr(value), element(w, fold.store)
    lines = [f"{target} = {text}"]
    if result:
        lines = [f"{target} = {result}"] if text == total else [f"{total} = {result}", *lines]
    return Lines([cond, *(f"    {line}" for line in lines)] if cond else lines)


def _sizes(kernel: Kernel) -> tuple[Poly, ...]:
    """Rows, columns and terms."""
    (depth,) = kernel.reductions[0][1].axes
    return (*(a.extent for a in kernel.axes), depth.extent)


def _factors(s: ir.Write | ir.Stage) -> list[ir.Expr]:
    """The factors of rows and of columns in a contraction; none of other stores."""
    if not isinstance(s, ir.Write) or not can_share(s):
        return []
    found = reductions(s.body)
    lefts, rights = (contraction(s, found[0]) if len(found) == 1 else None) or ([], [])
    return [*lefts, *rights]


def _between(e: ir.Expr, factors: list[ir.Expr]) -> Iterator[str]:
    """The operations of a term outside of its factors."""
    if e in factors:
        return
    if isinstance(e, ir.Op):
        yield e.op
    for child in children(e):
        yield from _between(child, factors)


@dataclass
class Operands:
    """The operands of a kernel: the factors that are `known` are elements of shared memory."""

    w: KernelWriter
    k: str
    n: Mapping[str, str]

    def __post_init__(self) -> None:
        self.known: dict[ir.Expr, ir.Expr] = {}
        n = self.n
        self.result = ""
        if "results" in n:
            place = [n[word] for word in ("r", "c") if word in n]
            self.result = f"{n['results']}[{', '.join(place)}]"

    def tile(self, e: ir.Expr, side: str, own: str) -> dict[str, object]:
        """A tile of an operand, loaded so that neighbouring threads read neighbours in memory."""
        w, n = self.w, self.n
        tile = w.fresh(f"{_array(e)}_tile")
        shared = w.shared_type(e.dtype)
        base, local, part = (
            (n["first_row"], n["ty"], n.get("r"))
            if side == "left"
            else (n["first_column"], n["tx"], n.get("c"))
        )
        first, base = (f"{part}, ", f"{base} + {part} * TILE") if part else ("", base)
        along_k = is_fast(e, own, self.k)
        near, far = (n["ty"], n["tx"]) if along_k else (n["tx"], n["ty"])
        at = f"{local}, {n['t']}" if along_k else f"{n['t']}, {local}"
        self.known[e] = w.stand_in(tile, first + at, e.dtype)
        with w.slot() as before:
            value = w.expr(self.without_sign(e), 1)
            zero = w.expr(ir.Const(0.0 if e.dtype.kind == "f" else 0, e.dtype))
        return {
            "tile": tile, "type": shared, "before": before, "side": side, "value": value,
            "zero": zero, "part": part, "own": w.index(own), "own_at": f"{base} + {near}",
            "k_at": f"{n['first_k']} + {far}",
        }  # fmt: skip

    def strip(self, e: ir.Expr, own: str) -> dict[str, object]:
        """Rows of the left operand, laid out so that neither memory nor its banks are strided."""
        w, n = self.w, self.n
        strip = w.fresh(f"{_array(e)}_strip")
        if is_fast(e, own, self.k):
            shape, at, row, place = "STRIP, DEPTH", "{1}, {0}", n["ty"], n["tx"]
        else:
            shape, at, row = "DEPTH, STRIP", "{0}, {1}", f"{n['tx']} % STRIP"
            place = f"{n['ty']} * (BLOCK_X // STRIP) + {n['tx']} // STRIP"
        self.known[e] = w.stand_in(strip, at.format(n["t"], n["r"]), e.dtype)
        with w.slot() as before:
            value = w.expr(self.without_sign(e), 1)
        return {
            "strip": strip, "shape": shape, "type": w.shared_type(e.dtype), "before": before,
            "value": value, "own": w.index(own), "row": row, "place": place,
            "cell": at.format(n["t"], row),
        }  # fmt: skip

    def without_sign(self, e: ir.Expr) -> ir.Expr:
        """The same with subscripts that are indices of the kernel alone as numbers without a sign:
        Numba tests others for being negative, and the compiler computes each address anew."""

        def subscript(p: Poly) -> Poly:
            if not isinstance(p.symbol, Index):
                return p
            text = f"np.uint64({self.w.poly(p)})"
            self.w.names[f"?{text}"] = text
            return sym(f"?{text}", True)

        def load(x: ir.Expr) -> ir.Expr | None:
            if not isinstance(x, ir.Load) or isinstance(x, ir.Draw):
                return None
            return replace(x, index=tuple(map(subscript, x.index)))

        return rewrite(e, load)


def _array(e: ir.Expr) -> str:
    return next(x.buffer for x in walk(e) if isinstance(x, ir.Load))
