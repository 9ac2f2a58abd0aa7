"""Matrix products whose right operand is read along rows: strips of a few rows of the result.

The threads along y of a block share the terms, each with a sum for every row of the strip in its
registers, and add up their shares at the end ("sliced-K" in CUTLASS).  What a thread reads of the
right operand serves all rows, and needs no shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.contractions import contraction, is_fast
from porter.analyses.reductions import reductions
from porter.schedule.base import Kernel
from porter.schedule.schedules.tile import SHARED, Operands, Tile
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Integer, Poly

#: the constant of the module: terms of a sum of which a strip has several at a time
TERMS = Poly.atom(Integer("BLOCK_X", True))
#: elements of a strip of the left operand, and of the shares that a block adds up
STRIP_ELEMENTS, SHARES = 8 * 128, 8 * 8 * 32


def _is_short(terms: Poly) -> bool:
    """Whether a sum has no more terms than threads that would share them have at a time."""
    return terms == TERMS


class Strip(Tile):
    """A block for STRIP rows and BLOCK_X columns; only the left operand is in shared memory."""

    name = "strip"
    word = "strips"
    summary = "strips of rows, the threads of a block share the terms"
    edges = ("STRIP", "BLOCK_X")
    block = ("BLOCK_X", "STRIP")
    asks = "_is_beyond_strips"
    words = (*Tile.words, "r", "part", "column", "stop", "results", "shares")

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A contraction in which neighbouring columns are neighbours in memory, if it has room."""
        if not isinstance(s, ir.Write) or not super().matches(s, buffers):
            return False
        (r,) = reductions(s.body)
        lefts, rights = contraction(s, r) or ([], [])
        own, k = s.axes[-1].name, r.axes[0].name
        bytes_of_lefts = sum(e.dtype.itemsize for e in lefts)
        if _is_short(r.axes[0].extent):
            return False
        room = bytes_of_lefts * STRIP_ELEMENTS + r.dtype.itemsize * SHARES <= SHARED
        return room and not any(is_fast(e, own, k) for e in rights)

    def tiles(self, kernel: Kernel, w: KernelWriter, *, stored: bool) -> dict[str, object]:
        """Those of a tile, the last row and column, and how shares are added up."""
        found = super().tiles(kernel, w, stored=stored)
        (fold,) = kernel.folds
        ((total, r),) = fold.reductions
        n = found["n"]
        assert isinstance(n, dict)
        share = w.stand_in(n["shares"], f"{n['t']}, {n['ty']}, {n['tx']}", r.dtype)
        with w.slot() as before:
            row, column = (w.poly(a.hi - 1) for a in kernel.axes[-2:])
        join = w.fold(replace(r, body=share), total)
        return found | {"last_row": row, "last_column": column, "lasts": before, "join": join}

    def loads(
        self, operands: Operands, factors: tuple[list[ir.Expr], list[ir.Expr]], row: str,
        column: str,
    ) -> list[dict[str, object]]:  # fmt: skip
        """The strips of the left operand; the right one is read where it is used."""
        operands.known |= {e: operands.without_sign(e) for e in factors[1]}
        return [operands.strip(e, row) for e in factors[0]]
