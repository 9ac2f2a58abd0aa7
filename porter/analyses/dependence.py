"""Dependences between the iterations of loops, by affine systems over their indices.

Two accesses depend on each other where an integer solution may exist of: both iterations
are in the loops' bounds (triangular ones included) and satisfy the branches around the
accesses, one comes before the other, and the subscripts are equal.  What is not affine
(products of indices, values read from data) is an unknown, so that a wrong answer can only
be "dependent".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from porter import ir
from porter.analyses.accesses import Access
from porter.ir.axes import Range
from porter.ir.effects import axes_of, defs_in, expressions, makes
from porter.ir.recurrences import operands
from porter.ir.walk import children, statements
from porter.sizes.affine import Row, System, combine
from porter.sizes.polynomial import Apply, Data, Monomial, Poly, Symbol

#: branches are told apart as long as no more cases than this come of it
MAX_CASES = 8
Buffers = Mapping[str, ir.Buffer]
Guard = tuple[ir.Expr, bool]
Extra = Callable[["Pair"], None]


@dataclass(frozen=True)
class Site:
    """An access with the loops and branches around it, inside the loop that is asked about."""

    access: Access
    scope: tuple[Range, ...]
    guards: tuple[Guard, ...]
    at: int  # which statement of the body it stands in


def sites(body: Sequence[ir.Stmt]) -> list[Site]:
    """Every access of a loop's body but those of arrays that each iteration makes anew."""
    own = set[str]().union(*map(makes, statements(tuple(body))))
    lets = defs_in(body).scalars
    found = (x for k, s in enumerate(body) for x in _of(s, (), (), lets, k))
    return [x for x in found if x.access.buffer not in own]


def _of(
    s: ir.Stmt, scope: tuple[Range, ...], guards: tuple[Guard, ...], lets: frozenset[str], at: int
) -> Iterator[Site]:
    own = (*scope, *map(Range.of, axes_of(s)))
    mask = s.mask if isinstance(s, ir.Write) else None
    inside = (*guards, (mask, False)) if mask is not None else guards
    if isinstance(s, ir.Write):
        access = Access(s.buffer, s.index, True, lets, s.origin, s.combine)
        yield Site(access, own, inside, at)
    for e in expressions(s):
        for load, ranges, tests in _loads(e, own, guards if e is mask else inside):
            yield Site(Access(load.buffer, load.index, False, lets, s.origin), ranges, tests, at)
    match s:
        case ir.For() | ir.While() | ir.Stage():
            deeper = (*own, Range.of(s)) if isinstance(s, ir.For) else own
            for x in s.body:
                yield from _of(x, deeper, guards, lets, at)
        case ir.If(cond, then, other, _):
            for block, negated in ((then, False), (other, True)):
                for x in block:
                    yield from _of(x, scope, (*guards, (cond, negated)), lets, at)


def _loads(
    e: ir.Expr, scope: tuple[Range, ...], guards: tuple[Guard, ...]
) -> Iterator[tuple[ir.Load, tuple[Range, ...], tuple[Guard, ...]]]:
    if isinstance(e, ir.Load):
        yield e, scope, guards
    if isinstance(e, ir.Reduce):
        for inside in operands(e).values():
            yield from _loads(inside, (*scope, *map(Range.of, e.axes)), guards)
        return
    if isinstance(e, ir.Select):
        yield from _loads(e.cond, scope, guards)
        yield from _loads(e.then, scope, (*guards, (e.cond, False)))
        yield from _loads(e.other, scope, (*guards, (e.cond, True)))
        return
    for child in children(e):
        yield from _loads(child, scope, guards)


# -- affine forms ------------------------------------------------------------------------


@dataclass
class Pair:
    """The system of two accesses: indices of the second carry a prime."""

    system: System = field(default_factory=System)
    variant: set[str] = field(default_factory=set)
    unknown: frozenset[str] = frozenset()
    known: dict[tuple[object, str], str] = field(default_factory=dict)

    def copy(self) -> Pair:
        """The same system, to be added to."""
        return Pair(self.system.copy(), self.variant, self.unknown, dict(self.known))

    def row(self, poly: Poly, prime: str) -> Row:
        """A polynomial as a linear form over the variables of one of the two iterations."""
        total: Row = {}
        for monomial, c in poly.terms:
            total = combine(total, 1, self._term(monomial, prime) if monomial else {"": 1}, c)
        return total

    def _term(self, monomial: Monomial, prime: str) -> Row:
        names = Poly(((monomial, 1),)).names()
        opaque = bool(names & self.unknown) or any(
            isinstance(a, Data) for a in Poly(((monomial, 1),)).atoms()
        )
        if opaque:
            return {self.system.fresh(): 1}
        mine = prime if names & self.variant else ""
        if len(monomial) == 1 and isinstance(monomial[0], Symbol):
            return {self._symbol(monomial[0], mine): 1}
        key = (monomial, mine)
        if key not in self.known:
            self.known[key] = self.system.fresh()
            self._describe(self.known[key], monomial, prime)
        return {self.known[key]: 1}

    def _symbol(self, symbol: Symbol, prime: str) -> str:
        name = symbol.name + prime
        # an index has its bounds; `nonneg` speaks of sizes and of arguments
        if symbol.nonneg and symbol.name not in self.variant and (name, "") not in self.known:
            self.known[name, ""] = name
            self.system.inequalities.append({name: 1})
        return name

    def _describe(self, name: str, monomial: Monomial, prime: str) -> None:
        """What is known of a variable that stands for `//`, `%`, `min`, `max` or a product."""
        own: Row = {name: 1}
        if len(monomial) == 1 and isinstance(monomial[0], Apply):
            atom = monomial[0]
            a, b = (self.row(p, prime) for p in atom.args)
            divisor = atom.args[1].constant
            if atom.op in ("min", "max"):
                for bound in (a, b):
                    low, high = (own, bound) if atom.op == "min" else (bound, own)
                    self.system.at_least(high, low)
                return
            if atom.op in ("//", "%") and divisor is not None and divisor > 0:
                quotient = own if atom.op == "//" else {self.system.fresh(): 1}
                rest = combine(a, 1, quotient, -divisor)
                self.system.at_least(rest, {})
                self.system.at_least({"": divisor - 1}, rest)
                if atom.op == "%":
                    self.system.equal(own, rest)
                return
            if atom.op == "bound":
                self.system.at_least(b, own)
        if all(a.nonneg for a in monomial):
            self.system.at_least(own, {})

    def spread(self, r: Range) -> None:
        """Products `index * size` are a size apart where the index is ahead by one."""
        sign = 1 if r.step > 0 else -1
        for key, first in list(self.known.items()):
            monomial, prime = key
            second = self.known.get((monomial, "'"))
            if prime or second is None or not isinstance(monomial, tuple) or len(monomial) != 2:
                continue
            others = [a for a in monomial if not (isinstance(a, Symbol) and a.name == r.index)]
            if len(others) == 1 and isinstance(others[0], Symbol) and others[0].nonneg:
                if others[0].name not in self.variant:
                    row = {second: sign, first: -sign, others[0].name: -1}
                    self.system.inequalities.append(row)

    def range(self, r: Range, prime: str) -> None:
        """An index lies in its range."""
        i, lo, hi = {r.index + prime: 1}, self.row(r.lo, prime), self.row(r.hi, prime)
        if r.step > 0:
            self.system.at_least(i, lo)
            self.system.at_least(combine(hi, 1, {"": 1}, -1), i)
        else:
            self.system.at_least(lo, i)
            self.system.at_least(i, combine(hi, 1, {"": 1}, 1))
        if abs(r.step) > 1:
            self.system.equal(i, combine(lo, 1, {self.system.fresh(): 1}, r.step))


def never(tests: Sequence[Poly], ranges: Sequence[Range] = ()) -> bool:
    """Whether no indices in their ranges have all of these at 0 or above."""
    pair = Pair()
    for r in ranges:
        pair.range(r, "")
    for e in tests:
        pair.system.at_least(pair.row(e, ""), {})
    return not pair.system.feasible()


# -- branches ----------------------------------------------------------------------------

#: polynomials that are >= 0, or == 0 where marked
Case = tuple[tuple[Poly, bool], ...]
#: what a subscript may be, and what is added to one that counts from the end
Places = list[tuple[Poly, Poly | None]]


def cases_of(cond: ir.Expr, negated: bool) -> list[Case]:
    """A condition in disjunctive form."""
    match cond:
        case ir.Op(op="not", args=(inner,)):
            return cases_of(inner, not negated)
        case ir.Op(op="and" | "or" as op, args=(a, b)):
            first, second = cases_of(a, negated), cases_of(b, negated)
            if (op == "and") == negated:
                return [*first, *second]
            return [(*x, *y) for x in first for y in second]
        case ir.Op(op=op, args=(ir.Value(poly=left), ir.Value(poly=right))) if op in _NEGATED:
            return _comparison(_NEGATED[op] if negated else op, left - right)
    return [()]


_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def _comparison(op: str, gap: Poly) -> list[Case]:
    """`gap op 0`."""
    below, above = (-gap - 1, False), (gap - 1, False)
    cases: dict[str, list[Case]] = {
        "lt": [(below,)], "gt": [(above,)], "le": [((-gap, False),)], "ge": [((gap, False),)],
        "eq": [((gap, True),)], "ne": [(below,), (above,)],
    }  # fmt: skip
    return cases[op]


def _alternatives(site: Site) -> list[Case]:
    found: list[Case] = [()]
    for cond, negated in site.guards:
        more = [(*x, *y) for x in found for y in cases_of(cond, negated)]
        found = more if len(more) <= MAX_CASES else found
    return found


# -- questions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Nest:
    """Loops, outermost first, with the loops around them and the arrays' declarations."""

    loops: tuple[Range, ...]
    around: tuple[Range, ...]
    buffers: Buffers

    def meet(self, first: Site, second: Site, level: int, extra: Extra | None = None) -> bool:
        """Whether the first access of an iteration may meet the second one of a later iteration.

        The iterations agree in the loops outside of `level` and differ in that one; `extra`
        may ask for more.
        """
        places = list(zip(self._places(first), self._places(second), strict=True))
        for cases in product(_alternatives(first), _alternatives(second)):
            if self._solvable(self._begun(first, second, cases, level), places, level, extra):
                return True
        return False

    def _begun(self, first: Site, second: Site, cases: Sequence[Case], level: int) -> Pair:
        """The system of two accesses before their subscripts are equal."""
        pair = Pair(unknown=first.access.variant | second.access.variant)
        for r in self.around:
            pair.range(r, "")
        pair.variant = {r.index for s in (first, second) for r in (*self.loops, *s.scope)}
        for site, prime, case in zip((first, second), ("", "'"), cases, strict=True):
            for r in (*self.loops, *site.scope):
                pair.range(r, prime)
            for poly, equal in case:
                rows = pair.system.equations if equal else pair.system.inequalities
                rows.append(pair.row(poly, prime))
        self._order(pair, level)
        return pair

    def _solvable(
        self, pair: Pair, places: Sequence[tuple[Places, Places]], level: int, extra: Extra | None
    ) -> bool:
        """Whether the subscripts may be equal, the other axes for each way that one may be."""
        if not places:
            if level < len(self.loops):
                pair.spread(self.loops[level])
            if extra is not None:
                extra(pair)
            return pair.system.feasible()
        ways = list(product(*places[0]))
        for (one, wrap), (two, wrapped) in ways:
            made = pair.copy() if len(ways) > 1 else pair
            a, b = self._position(made, one, wrap, ""), self._position(made, two, wrapped, "'")
            made.system.equal(a, b)
            # what is impossible already is not tried with all that the other axes may be
            open_ = len(ways) == 1 or len(places) == 1 or made.system.feasible()
            if open_ and self._solvable(made, places[1:], level, extra):
                return True
        return False

    def _order(self, pair: Pair, level: int) -> None:
        """The second iteration comes after the first, `level` being the first loop to differ."""
        for r in self.loops[:level]:
            pair.system.equal({r.index: 1}, {r.index + "'": 1})
        if level < len(self.loops):
            r = self.loops[level]
            sign = 1 if r.step > 0 else -1
            pair.system.inequalities.append({r.index + "'": sign, r.index: -sign, "": -1})

    def _places(self, site: Site) -> list[Places]:
        """For each axis what the subscript may be; a negative one counts from the end."""
        access = site.access
        shape = self.buffers[access.buffer].shape if access.buffer in self.buffers else ()
        options: list[Places] = []
        for d, p in enumerate(access.index):
            marked = _marked(p)
            if marked is None:
                options.append([(p, None)])
            elif d < len(shape):
                options.append([(marked, Poly()), (marked, shape[d])])
            else:
                options.append([(Poly.atom(Data(None)), None)])
        return options

    @staticmethod
    def _position(pair: Pair, poly: Poly, wrap: Poly | None, prime: str) -> Row:
        row = pair.row(poly, prime)
        if wrap is None:
            return row
        if wrap == Poly():
            pair.system.at_least(row, {})
            return row
        pair.system.at_least({"": -1}, row)
        return combine(row, 1, pair.row(wrap, prime), 1)


def _marked(poly: Poly) -> Poly | None:
    """The subscript under the mark that asks for a check, or None if there is no such mark."""
    if len(poly.terms) == 1 and len(poly.terms[0][0]) == 1 and poly.terms[0][1] == 1:
        atom = poly.terms[0][0][0]
        if isinstance(atom, Data) and isinstance(atom.expr, ir.Value):
            return atom.expr.poly
    return None


def carried(
    loop: ir.For, buffers: Buffers, around: Sequence[Range] = (), only: str | None = None
) -> tuple[Access, Access] | None:
    """Two accesses of different iterations that may meet, one of them a write, or None.

    With `only`, accesses of that array alone are looked at.
    """
    nest = Nest((Range.of(loop),), tuple(around), buffers)
    found = [x for x in sites(loop.body) if only in (None, x.access.buffer)]
    for write in found:
        if not write.access.write:
            continue
        for other in found:
            if other.access.buffer != write.access.buffer or _same_place(write, other, loop.index):
                continue
            if write.access.combine and other.access.combine == write.access.combine:
                continue
            if nest.meet(write, other, 0) or nest.meet(other, write, 0):
                return write.access, other.access
    return None


def _same_place(write: Site, other: Site, index: str) -> bool:
    """Whether a subscript is the loop's index in both: the usual case, seen at once."""
    inner = {r.index for s in (write, other) for r in s.scope} | write.access.variant
    for w, o in zip(write.access.index, other.access.index, strict=True):
        if w == o and w.coefficient(index) and not w.names() & inner:
            if not any(isinstance(a, Data) for a in w.atoms()):
                return True
    return False


__all__ = ["Extra", "Nest", "Pair", "Site", "carried", "cases_of", "sites"]
