"""Matrix products and their kind: square tiles of both operands in shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.contractions import contraction, is_fast, vanishes
from porter.analyses.reductions import can_share, reductions
from porter.ir.walk import rewrite, walk
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.steps import comment, element
from porter.schedule.writing import KernelWriter, Lines


class Tile(Schedule):
    """A thread for each element of the last two axes; a block loads the tiles that it needs."""

    name = "tile"
    word = "tiled"
    summary = "tiles in shared memory"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A contraction."""
        if not isinstance(s, ir.Write) or not can_share(s):
            return False
        found = reductions(s.body)
        return len(found) == 1 and contraction(s, found[0]) is not None

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each tile; a leading axis along z."""
        extents = tuple(a.extent for a in kernel.axes)
        blocks = tuple(zip(reversed(extents), ("TILE", "TILE", "1"), strict=False))
        return (Grid(blocks, ("TILE", "TILE"), extents),)

    def barriers(self, kernel: Kernel) -> int:
        """Before and behind the use of each tile."""
        return 2

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """How tiles are loaded, the term of the sum, and the store."""
        w = writers.writer(kernel)
        (fold,) = kernel.folds
        ((total, r),) = fold.reductions
        assert fold.store is not None
        parts = contraction(fold.store, r)
        assert parts is not None
        row, column = kernel.axes[-2:]
        for a in (*kernel.axes, *r.axes):
            w.index(a.name)
        n = {word: w.fresh(word) for word in ("tx", "ty", "t", "first_row",
                                              "first_column", "first_k")}  # fmt: skip
        tiles: dict[ir.Expr, ir.Expr] = {}
        zeros = r.op == "sum" and vanishes(r.body, {*parts[0], *parts[1]})
        loads = [_load(w, e, "left", row.name, r.axes[0].name, n, tiles) for e in parts[0]]
        loads += [_load(w, e, "right", column.name, r.axes[0].name, n, tiles) for e in parts[1]]
        if not zeros:
            loads = [load | {"zero": ""} for load in loads]
        with w.slot() as before:
            term = w.fold(replace(r, body=rewrite(r.body, tiles.get)), total)
            initial = w.initial(r)
        quoted = Lines([*before, *comment(w, fold.origin)])
        with w.slot() as head:
            value, target = w.expr(fold.value), element(w, fold.store)
        loops = [loop(w, a) for a in (row, column, r.axes[0], *kernel.axes[:-2])]
        rows, columns, depth, *batch = loops
        for each in loops:
            head += each.before
        return {
            "k": w, "n": n, "loads": loads, "head": head, "rows": rows, "columns": columns,
            "batch": batch[0] if batch else None, "depth": depth, "comment": quoted,
            "total": total, "initial": initial, "term": term, "target": target, "value": value,
            "zeros": zeros,
        }  # fmt: skip


def _load(
    w: KernelWriter, e: ir.Expr, side: str, own: str, k: str, n: Mapping[str, str],
    tiles: dict[ir.Expr, ir.Expr],
) -> dict[str, object]:  # fmt: skip
    """A tile of an operand, loaded so that neighbouring threads read neighbours in memory."""
    load = next(x for x in walk(e) if isinstance(x, ir.Load))
    tile = w.fresh(f"{load.buffer}_tile")
    shared = w.shared_type(e.dtype)
    base = n["first_row"] if side == "left" else n["first_column"]
    local = n["ty"] if side == "left" else n["tx"]
    along_k = is_fast(e, own, k)
    near, far = (n["ty"], n["tx"]) if along_k else (n["tx"], n["ty"])
    tiles[e] = w.stand_in(tile, f"{local}, {n['t']}" if along_k else f"{n['t']}, {local}", e.dtype)
    with w.slot() as before:
        value = w.expr(e, 1)
        zero = w.expr(ir.Const(0.0 if e.dtype.kind == "f" else 0, e.dtype))
    return {
        "tile": tile, "type": shared, "before": before, "side": side, "value": value,
        "zero": zero,
        "own": w.index(own), "own_at": f"{base} + {near}", "k_at": f"{n['first_k']} + {far}",
    }  # fmt: skip
