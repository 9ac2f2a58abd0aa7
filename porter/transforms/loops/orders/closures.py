"""Closures in panels: an element gets the terms of many turns at once.

Turn k of the shortest paths of Floyd and Warshall copies column k and row k, and takes for each
element the smaller of itself and the sum of theirs.  So each turn goes through the whole matrix.
In a panel of BLOCK_X turns only the square on the diagonal is done turn by turn.  Then each row
has a thread for its columns of the panel, and each column one for its rows: they keep what each
turn copies.  With these copies all elements get the terms of the panel as one fold (Venkataraman,
Sahni and Mukhopadhyaya, A blocked all-pairs shortest-paths algorithm, 2003).

The copies are those of the turns in order, so the results are the same to the last bit.  An element
of the panel gets its terms twice, which changes nothing: only an extreme, `and` and `or` are taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from porter import ir
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64, WEAK_INT
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.rebuild import map_host
from porter.ir.walk import free_names, rewrite, substitute, walk
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym
from porter.transforms.loops.orders.panels import LAST, TURNS

#: what gives the same if a term is given twice, and its fold; of truth values in the second line
_FOLDS = {"minimum": "min", "maximum": "max",
          "or": "any", "and": "all", "bor": "any", "band": "all"}  # fmt: skip


def closures_in_panels(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The host's loops, those that close a relation in panels."""
    if context.alone:
        return body
    aliases = Aliases.of(body, context.buffers)

    def change(s: ir.Stmt) -> list[ir.Stmt] | None:
        found = _closure(s, context, aliases) if isinstance(s, ir.For) else None
        return None if found is None else found.statements()

    return map_host(body, change)


def _closure(loop: ir.For, context: Context, aliases: Aliases) -> _Closure | None:
    """What a turn does, if it is that."""
    if loop.step != 1 or has_data((loop.lo, loop.hi)):
        return None
    made = [s.buffer.name for s in loop.body if isinstance(s, ir.Alloc)]
    writes = [s for s in loop.body if isinstance(s, ir.Write)]
    if len(made) != 2 or len(writes) != 3 or len(loop.body) != 5:
        return None
    k, main = sym(loop.index, True), writes[-1]
    copies = {w.buffer: w for w in writes[:2]}
    if copies.keys() != set(made) or len(main.axes) != 2 or main.mask or main.combine:
        return None
    i, j = (sym(a.name, True) for a in main.axes)
    shape = context.buffers[main.buffer].shape
    whole = all(not a.lo.terms and a.hi == n for a, n in zip(main.axes, shape, strict=False))
    if main.index != (i, j) or not whole or len(aliases.with_others({main.buffer})) > 1:
        return None
    sides: dict[str, int] = {}
    for name, w in copies.items():
        if len(w.axes) != 1 or w.axes[0].lo.terms or w.index != (sym(w.axes[0].name, True),):
            return None
        own = sym(w.axes[0].name, True)
        read = w.body.index if isinstance(w.body, ir.Load) and w.body.buffer == main.buffer else ()
        if read not in ((own, k), (k, own)):
            return None
        sides[name] = read.index(own)
    own_element = ir.Load(main.buffer, (i, j), main.body.dtype)
    match main.body:
        case ir.Op(op, (first, term)) if op in _FOLDS and first == own_element:
            pass
        case ir.Op(op, (term, last)) if op in _FOLDS and last == own_element:
            pass
        case _:
            return None
    loads = {e for e in walk(term) if isinstance(e, ir.Load)}
    wanted = {ir.Load(n, ((i, j)[side],), context.buffers[n].dtype) for n, side in sides.items()}
    plain = not any(isinstance(e, (ir.Reduce, ir.Draw)) for e in walk(term))
    if loads != wanted or {*sides.values()} != {0, 1} or loop.index in free_names(term):
        return None
    if not plain or term.dtype != main.body.dtype or has_data((*shape,)):
        return None
    if (_FOLDS[op] in ("any", "all")) != (term.dtype.kind == "b"):
        return None
    return _Closure(loop, main, op, term, {side: n for n, side in sides.items()}, context)


@dataclass
class _Closure:
    """A turn: `op` of each element and the `term` of its row's copy and its column's."""

    loop: ir.For
    main: ir.Write
    op: str
    term: ir.Expr
    copies: dict[int, str]
    context: Context

    def statements(self) -> list[ir.Stmt]:
        """The loop over panels, and the turns after the last of them."""
        loop, context = self.loop, self.context
        origin = ir.Origin(loop.origin.span)
        n, panel, first = (context.fresh(word) for word in ("panels", "panel", "start"))
        self.start = Poly.atom(Integer(first, True))
        self.end = self.start + TURNS
        shape = context.buffers[self.main.buffer].shape
        #: for each axis, what turns have copied of it, with a column or a row for each turn
        self.kept: dict[int, ir.Buffer] = {}
        for side, name in self.copies.items():
            size = (shape[side], TURNS) if side == 0 else (TURNS, shape[side])
            dtype = replace(context.buffers[name].dtype, weak=False)
            made = ir.Buffer(context.fresh(f"{name}_panel"), size, dtype)
            context.buffers[made.name] = made
            self.kept[side] = made
        most = reduce(minimum, shape, loop.hi)
        count = ir.Value(maximum((most - loop.lo - LAST) // TURNS, 0), WEAK_INT)
        start = ir.Value(loop.lo + sym(panel, True) * TURNS, WEAK_INT)
        text = "each panel: its square, its columns and its rows, then all elements"
        panels = Poly.atom(Integer(n, True))
        body = (
            ir.Let(first, start, origin), self._square(), self._lines(0), self._lines(1),
            self._all(),
        )  # fmt: skip
        return [
            *(ir.Alloc(b, origin) for b in self.kept.values()),
            ir.Let(n, count, origin),
            ir.For(panel, Poly(), panels, 1, body, ir.Origin(origin.span, text)),
            replace(loop, lo=loop.lo + panels * TURNS),
        ]

    def _copy(self, side: int, at: Poly, turn: Poly) -> ir.Write:
        """What a turn copies of a row (side 0) or of a column."""
        name, dtype = self.main.buffer, self.main.body.dtype
        place = (at, turn) if side == 0 else (turn, at)
        return ir.Write(
            self.kept[side].name, (), self._kept(side, at, turn - self.start),
            ir.Load(name, place, dtype), self.main.origin,
        )  # fmt: skip

    @staticmethod
    def _kept(side: int, at: Poly, turn: Poly) -> tuple[Poly, Poly]:
        return (at, turn) if side == 0 else (turn, at)

    def _term(self, i: Poly, j: Poly, turn: Poly) -> ir.Expr:
        """The term of an element in a turn of the panel."""
        places = dict(zip((a.name for a in self.main.axes), (i, j), strict=True))

        def change(e: ir.Expr) -> ir.Expr | None:
            for side, name in self.copies.items():
                if isinstance(e, ir.Load) and e.buffer == name:
                    return ir.Load(
                        self.kept[side].name, self._kept(side, (i, j)[side], turn), e.dtype
                    )
            return None

        return substitute(rewrite(self.term, change), places)

    def _update(self, i: Poly, j: Poly, term: ir.Expr) -> ir.Write:
        """An element with a term."""
        own = ir.Load(self.main.buffer, (i, j), self.main.body.dtype)
        body = ir.Op(self.op, (own, term), own.dtype)
        origin = replace(self.main.origin, looped=True)
        return ir.Write(self.main.buffer, (), (i, j), body, origin)

    def _square(self) -> ir.Stmt:
        """The turns as they were, for elements whose coordinates are turns of the panel."""
        loop, origin = self.loop, self.main.origin
        turn, *names = (self.context.fresh(word) for word in (loop.index, "i", "j", "p", "q"))
        k, (i, j, p, q) = sym(turn, True), (sym(n, True) for n in names)
        axes = [ir.Axis(n, self.end, self.start) for n in names]
        both = self._update(p, q, self._term(p, q, k - self.start))
        stages = (
            ir.Stage((axes[0],), (self._copy(0, i, k),), origin),
            ir.Stage((axes[1],), (self._copy(1, j, k),), origin),
            ir.Stage((axes[2], axes[3]), (both,), origin),
        )
        return ir.For(turn, self.start, self.end, 1, stages, loop.origin)

    def _lines(self, side: int) -> ir.Stmt:
        """Rows beside the square (side 0) or columns (side 1): a thread for each of them."""
        shape, origin = self.context.buffers[self.main.buffer].shape, self.main.origin
        line, turn, other = (self.context.fresh(w) for w in ("line", self.loop.index, "c"))
        at, k, c = (sym(n, True) for n in (line, turn, other))
        i, j = (at, c) if side == 0 else (c, at)
        update = self._update(i, j, self._term(i, j, k - self.start))
        inner = ir.For(other, self.start, self.end, 1, (update,), origin)
        turns = ir.For(turn, self.start, self.end, 1, (self._copy(side, at, k), inner), origin)
        before, behind = (
            ir.Op(op, (ir.Value(at, INT64), ir.Value(end, INT64)), BOOL)
            for op, end in (("lt", self.start), ("ge", self.end))
        )
        outside = ir.Op("or", (before, behind), BOOL)
        return ir.Stage(
            (ir.Axis(line, shape[side]),), (ir.If(outside, (turns,), (), origin),), origin
        )

    def _all(self) -> ir.Stmt:
        """All elements get the terms of the panel."""
        axes, names = self.context.fresh_axes(self.main.axes)
        i, j = (names[a.name] for a in self.main.axes)
        turn = self.context.fresh("k")
        dtype = self.main.body.dtype
        term = self._term(i, j, sym(turn, True))
        fold = ir.Reduce(_FOLDS[self.op], (ir.Axis(turn, TURNS),), term, dtype)
        return replace(self._update(i, j, fold), axes=axes, origin=self.main.origin)
