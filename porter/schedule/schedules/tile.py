"""Matrix products and their kind: square tiles of both operands in shared memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import can_share, known_bounds, reductions
from porter.ir.walk import children, free_names, rewrite, walk
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
        zeros = r.op == "sum" and _vanishes(r.body, {*parts[0], *parts[1]})
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
    along_k = _is_fast(e, own, k)
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


def _vanishes(e: ir.Expr, operands: Set[ir.Expr]) -> bool:
    """Whether a term is zero where the operands are: tiles are filled up with zeros then.

    What else it is made of may be infinite, and infinity times zero is not zero.
    """
    if e in operands:
        return e.dtype.kind in "iuf"
    if isinstance(e, ir.Cast):
        return _vanishes(e.arg, operands)
    if not isinstance(e, ir.Op):
        return False
    match e.op, e.args:
        case (("add" | "sub" | "neg" | "pos" | "abs"), args):
            return all(_vanishes(a, operands) for a in args)
        case "mul", (a, b):
            return any(
                _vanishes(x, operands) and (_vanishes(y, operands) or _is_finite(y))
                for x, y in ((a, b), (b, a))
            )
        case "pow", (a, b):
            return _vanishes(a, operands) and _is_finite(b, above=0)
    return False


def _is_finite(e: ir.Expr, above: float = -math.inf) -> bool:
    """Whether it is a finite number above this one."""
    number = e.value if isinstance(e, ir.Const) else None
    return isinstance(number, (int, float)) and math.isfinite(number) and number > above


def _is_fast(e: ir.Expr, own: str, k: str) -> bool:
    """Whether neighbours along k, rather than along the own index, are neighbours in memory."""
    load = next(x for x in walk(e) if isinstance(x, ir.Load) and k in free_names(x))
    return bool(load.index[-1].coefficient(k)) and not load.index[-1].coefficient(own)


def contraction(s: ir.Write, r: ir.Reduce) -> tuple[list[ir.Expr], list[ir.Expr]] | None:
    """The row and column factors of a reduction over k that depends on both i and j."""
    if len(s.axes) not in (2, 3) or len(r.axes) != 1 or not known_bounds(r):
        return None
    if r.dtype.kind not in "iuf" or r.op not in ("sum", "max", "min"):
        return None
    row, column = s.axes[-2].name, s.axes[-1].name
    k = r.axes[0]
    if (k.lo.names() | k.hi.names()) & {a.name for a in s.axes}:
        return None
    lefts: list[ir.Expr] = []
    rights: list[ir.Expr] = []
    if not _split(r.body, row, column, k, lefts, rights) or not lefts or not rights:
        return None
    return lefts, rights


def _split(
    e: ir.Expr, row: str, column: str, k: ir.Axis, lefts: list[ir.Expr], rights: list[ir.Expr]
) -> bool:
    """Collect the largest parts that read arrays and depend on only one of the two."""
    loads = [x for x in walk(e) if isinstance(x, ir.Load)]
    if not loads:
        return k.name not in free_names(e)
    if any(isinstance(x, ir.Reduce) for x in walk(e)):
        return False
    names = free_names(e)
    if not {row, column} <= names and k.name in names:
        side = lefts if row in names else rights
        if row not in names and column not in names:
            return False
        if e not in side:
            side.append(e)
        return True
    if isinstance(e, ir.Load):
        return False
    return all(_split(c, row, column, k, lefts, rights) for c in children(e))
