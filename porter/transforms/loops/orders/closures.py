"""Closures in panels: an element gets the terms of many turns at once.

Turn k of the shortest paths of Floyd and Warshall copies column k and row k, and takes for each
element the smaller of itself and the sum of theirs.  So each turn goes through the whole matrix.
In a panel of BLOCK_X turns only the square on the diagonal is done turn by turn.  Then each row
and each column beside it has a thread, which finds what the turns copy of it.  With these copies
all elements get the terms of the panel as one fold (Venkataraman, Sahni and Mukhopadhyaya, A
blocked all-pairs shortest-paths algorithm, 2003).

The copies are those of the turns in order, so the results are the same to the last bit.  Elements
of the square get their terms twice, which changes nothing: only an extreme, `and` and `or` are
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64, WEAK_INT
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, expressions
from porter.ir.rebuild import map_blocks, map_exprs, map_host, rename_axes, rename_variables
from porter.ir.walk import rewrite, statements, walk
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym
from porter.transforms.loops.folds import ordered
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
        return None if found is None else list(_Panels(found, context).statements())

    return map_host(body, change)


@dataclass(frozen=True)
class _Line:
    """What a turn computes for each row (side 0) or each column (side 1): statements of a thread
    with the index `own`, which store into arrays of one axis."""

    side: int
    own: str
    body: tuple[ir.Stmt, ...]


@dataclass(frozen=True)
class _Closure:
    """A turn of a loop: its lines, and what it stores into all elements of a matrix.

    An element becomes the extreme, say, of itself and the `term`, of which NaN is left out with
    `ordered`; `sides` says of which lines each array is.
    """

    loop: ir.For
    lines: tuple[_Line, ...]
    main: ir.Write
    op: str
    term: ir.Expr
    ordered: bool
    sides: dict[str, int]


class _Other(Exception):
    """The loop is no closure."""


def _closure(loop: ir.For, context: Context, aliases: Aliases) -> _Closure | None:
    """What a turn does; None for other loops."""
    if loop.step != 1 or has_data((loop.lo, loop.hi)) or not loop.body:
        return None
    *first, last = loop.body
    try:
        main = _matrix(last, loop, aliases)
        ends = tuple(a.hi for a in main.axes)
        lines = tuple(_line(s, loop, main.buffer, ends) for s in first if not _allocates(s))
        op, term, without_nan = _taken(main)
    except _Other:
        return None
    stored = [(x.buffer, line.side) for line in lines for x in accesses(line.body) if x.write]
    made = {s.buffer.name for s in first if isinstance(s, ir.Alloc)}
    sides = dict(stored)
    # each array is of one line, and all arrays are of this turn
    if len(set(stored)) > len(sides) or sides.keys() != made or {*sides.values()} != {0, 1}:
        return None
    known = {ir.Load(n, main.index[d : d + 1], context.buffers[n].dtype) for n, d in sides.items()}
    for e in walk(term):
        if isinstance(e, (ir.Reduce, ir.Draw, ir.Local)):
            return None
        if isinstance(e, ir.Load) and e not in known:
            return None
    return _Closure(loop, lines, main, op, term, without_nan, sides)


def _matrix(s: ir.Stmt, loop: ir.For, aliases: Aliases) -> ir.Write:
    """The statement, if it stores into all elements of a matrix that no other name means."""
    if not isinstance(s, ir.Write) or len(s.axes) != 2 or s.combine or s.checked:
        raise _Other
    ends = [a.hi for a in s.axes]
    turns = any(loop.index in end.names() for end in ends)
    if turns or has_data(ends) or any(a.lo.terms for a in s.axes):
        raise _Other
    own = tuple(sym(a.name, True) for a in s.axes)
    if s.index != own or len(aliases.with_others({s.buffer})) > 1:
        raise _Other
    return s


def _allocates(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Alloc)


def _line(s: ir.Stmt, loop: ir.For, matrix: str, ends: tuple[Poly, ...]) -> _Line:
    """The statement of rows or of columns, which reads elements of column k or of row k."""
    if not isinstance(s, (ir.Write, ir.Stage)) or len(s.axes) != 1 or s.axes[0].lo.terms:
        raise _Other
    (axis,), body = s.axes, _of_thread(s, ends)
    if not all(isinstance(x, (ir.Write, ir.Let, ir.If)) for x in statements(body)):
        raise _Other
    own, k = sym(axis.name, True), sym(loop.index, True)
    found = list(accesses(body))
    if any(x.index != (own,) if x.write else x.buffer != matrix for x in found):
        raise _Other
    reads = {x.index for x in found if not x.write} - {(k, k)}
    known = [side for side, place in enumerate(((own, k), (k, own))) if reads == {place}]
    if not known or axis.hi != ends[known[0]]:
        raise _Other
    return _Line(known[0], axis.name, body)


def _of_thread(s: ir.Write | ir.Stage, ends: tuple[Poly, ...]) -> tuple[ir.Stmt, ...]:
    """What a thread does; that there are rows and columns, as in each panel, is not tested."""
    if isinstance(s, ir.Stage):
        return s.body
    store = replace(s, axes=(), mask=None)
    if s.mask is None or s.mask in map(_some, ends):
        return (store,)
    return (ir.If(s.mask, (store,), (), s.origin),)


def _some(end: Poly) -> ir.Expr:
    """Whether an axis has any elements."""
    return ir.Op("gt", (ir.Value(end, INT64), ir.Const(0, INT64)), BOOL)


def _taken(main: ir.Write) -> tuple[str, ir.Expr, bool]:
    """How each element takes which term, and whether NaN is left out: an extreme by comparison."""
    own, body, cond = ir.Load(main.buffer, main.index, main.body.dtype), main.body, main.mask
    if isinstance(body, ir.Select) and body.other == own and cond is None:
        cond, body = body.cond, body.then
    if isinstance(cond, ir.Op) and cond.op in ("lt", "gt") and {*cond.args} == {own, body}:
        smaller = (cond.op == "lt") == (cond.args[0] == body)
        return ("minimum" if smaller else "maximum"), body, True
    if cond is None and isinstance(body, ir.Op) and body.op in _FOLDS and len(body.args) == 2:
        terms = [e for e in body.args if e != own]
        whole = (_FOLDS[body.op] in ("any", "all")) == (body.dtype.kind == "b")
        if len(terms) == 1 and whole and terms[0].dtype == body.dtype:
            return body.op, terms[0], False
    raise _Other


class _Panels:
    """The turns from `start` to `end`, in the order of a panel."""

    def __init__(self, closure: _Closure, context: Context) -> None:
        """What a turn does."""
        self.closure, self.context, self.main = closure, context, closure.main
        self.ends = tuple(a.hi for a in self.main.axes)
        self.first = context.fresh("start")
        self.start = Poly.atom(Integer(self.first, True))
        self.end = self.start + TURNS
        #: the arrays of lines -> those with a column or a row for each turn
        self.kept = {n: self._wide(n, side) for n, side in closure.sides.items()}
        dtype = replace(context.buffers[self.main.buffer].dtype, weak=False)
        self.diagonal = ir.Buffer(context.fresh(f"{self.main.buffer}_turns"), (TURNS,), dtype)
        self.asks = any(
            isinstance(e, ir.Load) and self._is_pivot(e)
            for line in closure.lines
            for s in statements(line.body)
            for whole in expressions(s)
            for e in walk(whole)
        )
        if self.asks:
            context.buffers[self.diagonal.name] = self.diagonal

    def _wide(self, name: str, side: int) -> ir.Buffer:
        size = (self.ends[side], TURNS) if side == 0 else (TURNS, self.ends[side])
        dtype = replace(self.context.buffers[name].dtype, weak=False)
        made = ir.Buffer(self.context.fresh(f"{name}_panel"), size, dtype)
        self.context.buffers[made.name] = made
        return made

    def _is_pivot(self, e: ir.Load) -> bool:
        k = sym(self.closure.loop.index, True)
        return e.buffer == self.main.buffer and e.index == (k, k)

    def statements(self) -> Iterator[ir.Stmt]:
        """The loop over panels, and the turns after the last of them."""
        loop, context = self.closure.loop, self.context
        origin = ir.Origin(loop.origin.span)
        n, panel = (context.fresh(word) for word in ("panels", "panel"))
        most = reduce(minimum, self.ends, loop.hi)
        count = ir.Value(maximum((most - loop.lo - LAST) // TURNS, 0), WEAK_INT)
        start = ir.Value(loop.lo + sym(panel, True) * TURNS, WEAK_INT)
        text = "each panel: its square, its columns and its rows, then all elements"
        panels = Poly.atom(Integer(n, True))
        body = (
            ir.Let(self.first, start, origin), self._square(),
            *self._lines(0), *self._lines(1), self._all(),
        )  # fmt: skip
        made = [*self.kept.values(), *([self.diagonal] if self.asks else [])]
        yield from (ir.Alloc(b, origin) for b in made)
        yield ir.Let(n, count, origin)
        yield ir.For(panel, Poly(), panels, 1, body, ir.Origin(origin.span, text))
        yield replace(loop, lo=loop.lo + panels * TURNS)

    def _place(self, name: str, at: Poly, turn: Poly) -> ir.Load:
        """What a line has kept of a turn."""
        kept = self.kept[name]
        index = (at, turn) if self.closure.sides[name] == 0 else (turn, at)
        return ir.Load(kept.name, index, kept.dtype)

    def _of_line(
        self, line: _Line, at: Poly, turn: Poly, element: ir.Expr | None
    ) -> tuple[ir.Stmt, ...]:
        """What a turn computes of a line beside a square that is done, from its `element`; without
        one, of a line of the square."""

        def change(e: ir.Expr) -> ir.Expr | None:
            if element is None or not isinstance(e, ir.Load) or e.buffer != self.main.buffer:
                return None
            if self._is_pivot(e):
                return ir.Load(self.diagonal.name, (turn - self.start,), e.dtype)
            return element

        def stored(s: ir.Stmt) -> ir.Stmt:
            s = map_blocks(s, lambda block: tuple(map(stored, block)))
            if not isinstance(s, ir.Write):
                return s
            place = self._place(s.buffer, at, turn - self.start)
            return replace(s, buffer=place.buffer, index=place.index)

        names = {n: self.context.fresh(n) for n in defs_in(line.body).scalars}
        values = {line.own: at, self.closure.loop.index: turn}
        found = (rename_variables(map_exprs(s, change), names) for s in line.body)
        return tuple(stored(rename_axes(s, values)) for s in found)

    def _kept_term(self, e: ir.Expr, turn: Poly) -> ir.Expr:
        """An expression of an element with what lines have kept of a turn."""

        def change(e: ir.Expr) -> ir.Expr | None:
            if isinstance(e, ir.Load) and e.buffer in self.kept:
                return self._place(e.buffer, e.index[0], turn - self.start)
            return None

        return rewrite(e, change)

    def _update(self, i: Poly, j: Poly, turn: Poly) -> tuple[ir.Stmt, ...]:
        """One element in a turn of the panel."""
        s = self.main
        values = dict(zip((a.name for a in s.axes), (i, j), strict=True))
        values[self.closure.loop.index] = turn
        store: ir.Stmt = replace(
            s, axes=(), mask=None, body=self._kept_term(s.body, turn),
            origin=replace(s.origin, looped=True),
        )  # fmt: skip
        if s.mask is not None:
            store = ir.If(self._kept_term(s.mask, turn), (store,), (), s.origin)
        return (rename_axes(store, values),)

    def _square(self) -> ir.Stmt:
        """The turns as they were, for elements whose coordinates are turns of the panel."""
        loop, origin = self.closure.loop, self.main.origin
        turn = self.context.fresh(loop.index)
        k = sym(turn, True)
        stages: list[ir.Stmt] = []
        if self.asks:
            pivot = ir.Load(self.main.buffer, (k, k), self.diagonal.dtype)
            store = ir.Write(self.diagonal.name, (), (k - self.start,), pivot, origin)
            one = ir.Axis(self.context.fresh("one"), Poly.of(1))
            stages.append(ir.Stage((one,), (store,), origin))
        for line in self.closure.lines:
            own = self.context.fresh(line.own)
            axis = ir.Axis(own, self.end, self.start)
            body = self._of_line(line, sym(own, True), k, None)
            stages.append(ir.Stage((axis,), body, origin))
        names = [self.context.fresh(a.name) for a in self.main.axes]
        axes = tuple(ir.Axis(n, self.end, self.start) for n in names)
        i, j = (sym(n, True) for n in names)
        stages.append(ir.Stage(axes, self._update(i, j, k), origin))
        return ir.For(turn, self.start, self.end, 1, tuple(stages), loop.origin)

    def _lines(self, side: int) -> Iterator[ir.Stmt]:
        """Rows beside the square (side 0) or columns (side 1): a thread for each.

        The element of a turn has the terms of the turns before it; all of them come in the end.
        """
        origin = self.main.origin
        for lo, hi in ((Poly(), self.start), (self.end, self.ends[side])):
            name, turn, known = (
                self.context.fresh(w) for w in ("line", self.closure.loop.index, "element")
            )
            at, k = sym(name, True), sym(turn, True)
            places = (at, k) if side == 0 else (k, at)
            axes = (a.name for a in self.main.axes)
            value = rename_axes(self._folded(k - self.start), dict(zip(axes, places, strict=True)))
            assert isinstance(value, ir.Write)
            local = ir.Local(known, value.body.dtype)
            body = value.body
            if local.dtype.kind in "iu":
                # the first turn has none before it, and no integer is the extreme of nothing
                own_element = ir.Load(value.buffer, value.index, local.dtype)
                later = ir.Op("lt", (ir.Value(self.start, INT64), ir.Value(k, INT64)), BOOL)
                body = ir.Select(later, body, own_element, local.dtype)
            element = ir.Let(known, body, origin)
            own = (x for x in self.closure.lines if x.side == side)
            kept = (s for line in own for s in self._of_line(line, at, k, local))
            turns = ir.For(turn, self.start, self.end, 1, (element, *kept), origin)
            yield ir.Stage((ir.Axis(name, hi, lo),), (turns,), origin)

    def _folded(self, count: Poly) -> ir.Write:
        """The store of an element with the terms of so many turns of the panel."""
        found, s = self.closure, self.main
        turn = self.context.fresh("k")
        k, dtype = self.start + sym(turn, True), found.term.dtype
        term = ordered(found.op, found.term) if found.ordered else found.term
        own = ir.Load(s.buffer, s.index, dtype)
        fold = ir.Reduce(_FOLDS[found.op], (ir.Axis(turn, count),), self._kept_term(term, k), dtype)
        whole = replace(s, axes=(), mask=None, body=ir.Op(found.op, (own, fold), dtype))
        moved = rename_axes(whole, {found.loop.index: k})
        assert isinstance(moved, ir.Write)
        return moved

    def _all(self) -> ir.Stmt:
        """All elements get the terms of the panel."""
        new, names = self.context.fresh_axes(self.main.axes)
        moved = rename_axes(self._folded(TURNS), names)
        assert isinstance(moved, ir.Write)
        return replace(moved, axes=new)
