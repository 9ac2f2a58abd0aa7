"""Eliminations in panels: an element gets the terms of many turns at once.

Turn k of an elimination finishes row k and column k, and subtracts their product from all that is
left (Gaussian elimination, LU, Cholesky).  So each turn goes through the whole rest.  In a panel of
BLOCK_X turns only the square on the diagonal is done turn by turn.  Then each row below the square
has a thread, and each column beside it: element c gets the terms of the turns before c and is
finished.  All that is left gets one sum over the panel (Golub & Van Loan, Matrix Computations, 4th
ed., section 3.2.11).  The last turns stay as they are, for they have few elements.

What a turn computes for each row, such as the multiple of row k that it subtracts, becomes a column
of an array with an element for each row and each turn of the panel.

It is legal where a turn stores its own row and column, or adds to elements beyond both, and reads
of what it stores just that element, and elements of its own row and column.  These are final then:
no later turn stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from porter import ir
from porter.analyses.dependence import cases_of, never
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, WEAK_INT, DType
from porter.ir.aliasing import Aliases
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.effects import expressions
from porter.ir.rebuild import map_blocks, map_exprs, map_host, rename_axes, variables_as
from porter.ir.walk import free_names, statements, substitute, walk
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym
from porter.transforms.loops.orders.parts import not_negative

#: constants of the module: turns of a panel, and how many are left at the end at least
TURNS, LAST = (Poly.atom(Integer(name, True)) for name in ("BLOCK_X", "LAST_TURNS"))


def in_panels(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The host's loops, those that eliminate in panels."""
    if context.alone:
        return body
    return map_host(body, lambda s: _panels(s, context) if isinstance(s, ir.For) else None)


@dataclass(frozen=True)
class _Update:
    """What a turn stores into elements of an array, for all values of the axes.

    `at` has an element's coordinates, each an axis or the turn; an axis is beyond the turn.
    """

    store: ir.Write
    at: tuple[str, ...]
    ends: Mapping[str, Poly]  # of the axes
    tests: tuple[ir.Expr, ...]


class _Other(Exception):
    """The loop is no elimination."""


def _panels(loop: ir.For, context: Context) -> list[ir.Stmt] | None:
    """The loop over panels; None for other loops."""
    if loop.step != 1 or has_data((loop.lo, loop.hi)):
        return None
    mark = context.mark()
    turn = _Turn(loop, context.fresh("start"), context)
    try:
        updates = [u for s in turn.by_column() for u in turn.updates(s, (), ())]
        if not any(len(set(u.at)) == 2 and turn.adds(u) for u in updates):
            return None
        turn.check(updates)
        return [*turn.made, *_Panel(turn, updates).loops()]
    except _Other:
        context.back_to(mark)
        return None


class _Turn:
    """A turn of the loop: what it stores, and whether it is one of an elimination."""

    def __init__(self, loop: ir.For, first: str, context: Context) -> None:
        """The loop; `first` names the first turn of a panel."""
        self.loop, self.first, self.context = loop, first, context
        self.start = Poly.atom(Integer(first, True))
        self.name, self.k = loop.index, sym(loop.index, True)
        #: a turn's own arrays -> those with a column for each turn of a panel; all of the latter
        self.columns: dict[str, ir.Buffer] = {}
        self.made: list[ir.Alloc] = []

    # -- reading the loop ----------------------------------------------------------------------

    def by_column(self) -> list[ir.Stmt]:
        """The statements, what they have for each row in columns."""
        found: list[ir.Stmt] = []
        for s in self.loop.body:
            if isinstance(s, ir.Alloc):
                name = s.buffer.name
                self.columns[name] = self._column(name, s.buffer.dtype, s.buffer.shape)
            elif isinstance(s, ir.Stage) and len(s.axes) == 1:
                lets = [x.name for x in statements(s.body) if isinstance(x, ir.Let)]
                if len(lets) > len(set(lets)):
                    raise _Other
                found.append(replace(s, body=tuple(self._of_row(s.axes[0], s.body, {}))))
            else:
                found.append(s)
        return [self._in_columns(s) for s in found]

    def _column(self, name: str, dtype: DType, shape: tuple[Poly, ...]) -> ir.Buffer:
        """The array for what a turn has for so many rows from the next one on."""
        rows = sum(shape, self.k + 1)
        if len(shape) != 1 or self.name in rows.names():
            raise _Other
        name = self.context.fresh(f"{name}_panel")
        new = ir.Buffer(name, (rows, TURNS), replace(dtype, weak=False))
        self.context.buffers[name] = new
        self.made.append(ir.Alloc(new, ir.Origin(self.loop.origin.span)))
        return new

    def _of_row(
        self, row: ir.Axis, body: Sequence[ir.Stmt], known: dict[str, ir.Expr]
    ) -> Iterator[ir.Stmt]:
        """The statements of a row's thread, its variables and what it asks of arrays in columns."""
        for s in body:
            s = map_exprs(s, variables_as(known))
            if any(isinstance(e, ir.Local) for whole in expressions(s) for e in walk(whole)):
                raise _Other  # what another branch may have set
            match s:
                case ir.Let(name, value, origin):
                    made, known[name] = self._kept(name, row, value, origin)
                    yield made
                case ir.If(cond, then, (), origin):
                    if any(isinstance(e, ir.Load) for e in walk(cond)):
                        made, cond = self._kept("holds", row, cond, origin)
                        yield made
                    for x in self._of_row(row, then, dict(known)):
                        yield ir.If(cond, (x,), (), origin)
                case _:
                    yield s

    def _kept(
        self, name: str, row: ir.Axis, value: ir.Expr, origin: ir.Origin
    ) -> tuple[ir.Write, ir.Load]:
        """The store of a row's value into its column, and the element."""
        buffer = self._column(name, value.dtype, (row.extent,))
        index = sym(row.name, True) - row.lo + self.k + 1, self.k - self.start
        return (
            ir.Write(buffer.name, (), index, value, origin),
            ir.Load(buffer.name, index, buffer.dtype),
        )

    def _in_columns(self, s: ir.Stmt) -> ir.Stmt:
        """A statement with columns in place of the turn's own arrays."""

        def place(index: tuple[Poly, ...]) -> tuple[Poly, Poly]:
            return index[0] + self.k + 1, self.k - self.start

        def load(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Load) or e.buffer not in self.columns:
                return None
            return ir.Load(self.columns[e.buffer].name, place(e.index), e.dtype)

        def stored(s: ir.Stmt) -> ir.Stmt:
            s = map_blocks(s, lambda block: tuple(map(stored, block)))
            if isinstance(s, ir.Write) and s.buffer in self.columns:
                return replace(s, buffer=self.columns[s.buffer].name, index=place(s.index))
            return s

        return stored(map_exprs(s, load))

    def updates(
        self, s: ir.Stmt, axes: tuple[ir.Axis, ...], tests: tuple[ir.Expr, ...]
    ) -> Iterator[_Update]:
        """The stores of a statement: threads are apart, so each of them has threads of its own."""
        match s:
            case ir.Write(combine=None, checked=False, schedule=None):
                masks = () if s.mask is None else (s.mask,)
                own = replace(s, axes=(), mask=None)
                yield from self._update(own, (*axes, *s.axes), (*tests, *masks))
            case ir.Stage():
                for x in s.body:
                    yield from self.updates(x, (*axes, *s.axes), tests)
            case ir.For(step=1) if axes:
                for x in s.body:
                    yield from self.updates(x, (*axes, ir.Axis(s.index, s.hi, s.lo)), tests)
            case ir.If(orelse=()):
                for x in s.body:
                    yield from self.updates(x, axes, (*tests, s.cond))
            case _:
                raise _Other

    def _update(
        self, store: ir.Write, axes: tuple[ir.Axis, ...], tests: tuple[ir.Expr, ...]
    ) -> Iterator[_Update]:
        """The store with an axis for each coordinate that is not the turn.

        Of an axis that begins with the turn, that element is stored by itself, and first: a thread
        goes through them in order.
        """
        at: list[str] = []
        for d in range(len(store.index)):
            place = store.index[d]
            if place in (self.k, self.k - self.start):
                at.append(self.name)
                continue
            name = self._axis(place, axes)
            ahead = place - sym(name, True)
            store, axes, tests = _moved(store, axes, tests, name, -ahead)
            at.append(name)
        # elements of a matrix, of a row or a column, or a number
        if len(at) > 2 or set(at) - {self.name} != {a.name for a in axes}:
            raise _Other
        first = next((a for a in axes if a.lo == self.k), None)
        if first is not None:
            others = tuple(a for a in axes if a is not first)
            value = {first.name: self.k}
            own = tuple(substitute(t, value) for t in tests)
            yield from self._update(rename_axes(store, value), others, own)
            axes = tuple(replace(a, lo=a.lo + 1) if a is first else a for a in axes)
            yield from self._update(store, axes, tests)
            return
        for a in axes:
            if not (a.lo - self.k - 1).is_nonneg():
                raise _Other
            if a.lo != self.k + 1:
                tests = (*tests, not_negative(sym(a.name, True) - a.lo))
        beyond = [Range(a.name, self.k + 1, a.hi) for a in axes]
        left = _open(tests, [Range.of(self.loop), *beyond])
        if left is None:
            raise _Other
        yield _Update(store, tuple(at), {a.name: a.hi for a in axes}, tuple(left))

    def _axis(self, place: Poly, axes: Sequence[ir.Axis]) -> str:
        """The axis that a coordinate is, apart from what the turn adds to it."""
        found = [a.name for a in axes if a.name in place.names()]
        if len(found) != 1 or place.coefficient(found[0]) != 1 or has_data((place,)):
            raise _Other
        return found[0]

    # -- whether it is legal -------------------------------------------------------------------

    def adds(self, u: _Update) -> bool:
        """Whether it adds to elements beyond the turn's row and column; a number is neither."""
        return bool(u.at) and self.name not in u.at

    def term(self, u: _Update) -> tuple[str, ir.Expr]:
        """What is added to an element, or subtracted."""
        own = ir.Load(u.store.buffer, u.store.index, u.store.body.dtype)
        match u.store.body:
            case ir.Op(op=("add" | "sub") as op, args=(first, term)) if first == own:
                pass
            case ir.Op(op="add" as op, args=(term, last)) if last == own:
                pass
            case _:
                raise _Other
        if own in walk(term) or replace(term.dtype, weak=False) != own.dtype:
            raise _Other
        zero = ir.Const(0.0 if own.dtype.kind in "fc" else 0, own.dtype)
        for t in filter(self.late, u.tests):
            term = ir.Select(t, term, zero, own.dtype)
        return op, term

    def late(self, t: ir.Expr) -> bool:
        """Whether turns answer a test differently, so that it belongs to their terms."""
        return self.name in free_names(t)

    def check(self, updates: Sequence[_Update]) -> None:
        """_Other if it is no elimination: see the text of the module."""
        stored = {u.store.buffer for u in updates}
        touched = stored | {e.buffer for u in updates for e in self._loads(u)}
        aliases = Aliases.of(self.context.program.body, self.context.buffers)
        for a, b in product(stored, touched):
            if a != b and (aliases.meet(a, b) or aliases.given_twice(a, b)):
                raise _Other
        for n, u in enumerate(updates):
            self._check_terms(u)
            for read in self.reads(u, stored):
                later = [w for w in updates[n:] if not self.adds(w)]
                if self._apart(u, read) and any(self._meet(w, read) for w in later):
                    raise _Other

    def _check_terms(self, u: _Update) -> None:
        """What is added is known when the turns of a panel are done, in any order."""
        if any(isinstance(e, ir.Draw) for e in walk(u.store.body)):
            raise _Other
        if self.adds(u):
            _, term = self.term(u)
            if any(isinstance(e, ir.Reduce) for e in walk(term)):
                raise _Other

    @staticmethod
    def _loads(u: _Update) -> list[ir.Load]:
        """The elements that it reads."""
        found = (e for whole in (u.store.body, *u.tests) for e in walk(whole))
        return [e for e in dict.fromkeys(found) if isinstance(e, ir.Load)]

    def reads(self, u: _Update, stored: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The elements of stored arrays that it reads, but for the one that it stores."""
        for e in self._loads(u):
            if e.buffer not in stored or (e.buffer, e.index) == (u.store.buffer, u.store.index):
                continue
            known = {sym(n, True): n for n in (self.name, *u.ends)}
            known[self.k - self.start] = self.name
            names = [known.get(p, "") for p in e.index]
            if self.name not in names or "" in names:
                raise _Other
            yield e.buffer, tuple(names)

    def _apart(self, u: _Update, read: tuple[str, tuple[str, ...]]) -> bool:
        """Whether other threads store what it reads; those of its own store it in its order."""
        return read[1] != u.at

    def _meet(self, w: _Update, read: tuple[str, tuple[str, ...]]) -> bool:
        """Whether the elements of the turn's row or column may be the same."""
        same = [a == self.name for a in w.at] == [a == self.name for a in read[1]]
        return w.store.buffer == read[0] and same


class _Panel:
    """The turns from `start` to `end`, in the order of a panel."""

    def __init__(self, turn: _Turn, updates: Sequence[_Update]) -> None:
        """What a turn stores."""
        self.turn, self.updates, self.context = turn, updates, turn.context
        self.start = turn.start
        self.end = self.start + TURNS

    def loops(self) -> list[ir.Stmt]:
        """The loop over panels, and the turns after the last of them."""
        loop, origin = self.turn.loop, ir.Origin(self.turn.loop.origin.span)
        n, panel = (self.context.fresh(word) for word in ("panels", "panel"))
        most = reduce(minimum, (end for u in self.updates for end in u.ends.values()), loop.hi)
        count = ir.Value(maximum((most - loop.lo - LAST) // TURNS, 0), WEAK_INT)
        start = ir.Value(loop.lo + sym(panel, True) * TURNS, WEAK_INT)
        text = "each panel: its square, the rows below, the columns beside it, then all the rest"
        body = (
            ir.Let(self.turn.first, start, origin),
            *self._square(), *self._lines(1), *self._lines(0), *self._rest(),
        )  # fmt: skip
        panels = Poly.atom(Integer(n, True))
        return [
            ir.Let(n, count, origin),
            ir.For(panel, Poly(), panels, 1, body, ir.Origin(origin.span, text)),
            replace(loop, lo=loop.lo + panels * TURNS),
        ]

    def _square(self) -> Iterator[ir.Stmt]:
        """The turns as they were, for elements whose coordinates are turns of the panel."""
        loop, name = self.turn.loop, self.context.fresh(self.turn.name)
        k = sym(name, True)
        stages: list[ir.Stmt] = []
        for u in self.updates:
            axes = tuple(ir.Axis(n, self.end, k + 1) for n in u.ends)
            moved = {self.turn.name: k}
            body = self._guarded(
                rename_axes(u.store, moved), [substitute(t, moved) for t in u.tests],
                (Range(name, self.start, self.end), *map(Range.of, axes)),
            )  # fmt: skip
            new, names = self.context.fresh_axes(axes)
            if body:
                renamed = tuple(rename_axes(s, names) for s in body)
                stages.append(ir.Stage(new, renamed, u.store.origin))
        yield ir.For(name, self.start, self.end, 1, tuple(stages), loop.origin)

    def _lines(self, at: int) -> Iterator[ir.Stmt]:
        """Rows below the square (`at` is 1) or columns beside it (0): a thread for each.

        Of an element, coordinate `at` is a turn of the panel, and the other one is beyond it.
        """
        found = [u for u in self.updates if len(set(u.at)) == 2 and u.at[1 - at] != self.turn.name]
        adding = [u for u in found if self.turn.adds(u)]
        final = [u for u in found if u.at[at] == self.turn.name]
        if not adding and not final:
            return
        own = (adding or final)[0].at[1 - at]
        line, c = self.context.fresh(own), self.context.fresh("c")
        place = {0: sym(c, True), 1: sym(line, True)}
        most = reduce(maximum, (u.ends[u.at[1 - at]] for u in (*adding, *final)))
        axis = ir.Axis(line, most, self.end)
        ranges = (Range.of(axis), Range(c, self.start, self.end))
        body: list[ir.Stmt] = []
        for u in (*adding, *final):
            names = {u.at[at]: place[0], u.at[1 - at]: place[1]}
            store = u.store
            if self.turn.adds(u):
                store = self._summed(u, place[0] - self.start)
            tests = self._asked(u)
            if most != u.ends[u.at[1 - at]]:
                tests.append(not_negative(u.ends[u.at[1 - at]] - 1 - sym(u.at[1 - at], True)))
            moved = tuple(substitute(t, names) for t in tests)
            inside = self._guarded(rename_axes(store, names), moved, ranges)
            if at and inside and self._reads_columns(u):
                raise _Other
            body += inside
        if body:
            whole = ir.For(c, self.start, self.end, 1, tuple(body), self.turn.loop.origin)
            yield ir.Stage((axis,), (whole,), body[0].origin)

    def _reads_columns(self, u: _Update) -> bool:
        """Whether a row reads columns beside the square, which are done after the rows."""
        stored = {w.store.buffer for w in self.updates}
        return any(to == (self.turn.name, u.at[0]) for _, to in self.turn.reads(u, stored))

    def _rest(self) -> Iterator[ir.Stmt]:
        """All elements beyond the panel get the terms of all its turns."""
        for u in filter(self.turn.adds, self.updates):
            axes = tuple(ir.Axis(n, u.ends[n], self.end) for n in dict.fromkeys(u.at))
            ranges = tuple(map(Range.of, axes))
            tests = _open(self._asked(u), ranges)
            if tests is None:
                continue
            store, cond = self._summed(u, TURNS), _all(tests)
            if cond is not None:
                # threads work on all elements together, and others stay as they are
                own = ir.Load(store.buffer, store.index, store.body.dtype)
                store = replace(store, body=ir.Select(cond, store.body, own, own.dtype))
            new, names = self.context.fresh_axes(axes)
            yield rename_axes(replace(store, axes=new), names)

    def _asked(self, u: _Update) -> list[ir.Expr]:
        """The tests of a store, without those of its terms."""
        return [t for t in u.tests if not (self.turn.adds(u) and self.turn.late(t))]

    def _summed(self, u: _Update, count: Poly) -> ir.Write:
        """The store with the terms of so many turns of the panel."""
        op, term = self.turn.term(u)
        k = self.context.fresh("k")
        each = substitute(term, {self.turn.name: self.start + sym(k, True)})
        dtype = replace(term.dtype, weak=False)
        total = ir.Reduce("sum", (ir.Axis(k, count),), each, dtype)
        own = ir.Load(u.store.buffer, u.store.index, dtype)
        return replace(u.store, body=ir.Op(op, (own, total), dtype))

    @staticmethod
    def _guarded(
        store: ir.Write, tests: Sequence[ir.Expr], ranges: Sequence[Range]
    ) -> list[ir.Write | ir.If]:
        """The store where the tests hold; nothing where they never do."""
        left = _open(tests, ranges)
        if left is None:
            return []
        cond = _all(left)
        return [store if cond is None else ir.If(cond, (store,), (), store.origin)]


def _moved(
    store: ir.Write, axes: tuple[ir.Axis, ...], tests: tuple[ir.Expr, ...], name: str, by: Poly
) -> tuple[ir.Write, tuple[ir.Axis, ...], tuple[ir.Expr, ...]]:
    """The same over an axis that counts from elsewhere: its index is so much more than before."""
    value = {name: sym(name, True) + by}
    ahead = (replace(a, lo=a.lo - by, hi=a.hi - by) if a.name == name else a for a in axes)
    return rename_axes(store, value), tuple(ahead), tuple(substitute(t, value) for t in tests)


def _open(tests: Sequence[ir.Expr], ranges: Sequence[Range]) -> list[ir.Expr] | None:
    """The tests that do not hold anyway; None where they never hold."""
    if never(_polys(tests), ranges):
        return None
    kept = list(dict.fromkeys(tests))
    for t in kept[:]:
        others = [o for o in kept if o is not t]
        if all(never((*_polys(others), *_polys_of(case)), ranges) for case in cases_of(t, True)):
            kept = others
    return kept


def _polys_of(case: Sequence[tuple[Poly, bool]]) -> list[Poly]:
    """What is not negative in a case."""
    return [e for poly, equal in case for e in ((poly, -poly) if equal else (poly,))]


def _polys(tests: Sequence[ir.Expr]) -> list[Poly]:
    """The same for tests that are one case each."""
    cases = [cases_of(t, False) for t in tests]
    return [e for found in cases if len(found) == 1 for e in _polys_of(found[0])]


def _all(tests: Sequence[ir.Expr]) -> ir.Expr | None:
    """All of them in one."""
    if not tests:
        return None
    cond = tests[0]
    for t in tests[1:]:
        cond = ir.Op("and", (cond, t), BOOL)
    return cond
