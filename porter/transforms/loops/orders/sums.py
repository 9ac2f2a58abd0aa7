"""Elements that a nest of loops finishes by a sum each, as the source states them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.analyses.dependence import cases_of, never
from porter.analyses.reductions import has_data
from porter.ir.axes import Range
from porter.ir.effects import defs_in
from porter.ir.rebuild import map_exprs, variables_as
from porter.ir.scalars import cast
from porter.ir.walk import loaded, rewrite, substitute, walk
from porter.sizes.polynomial import Poly, sym
from porter.transforms.loops.folds import fold_loop
from porter.transforms.loops.nests import single_store
from porter.transforms.loops.scatter import unmarked_poly


@dataclass(frozen=True)
class Sum:
    """Elements `store.buffer[store.index]` that get a sum of `count` terms, and what follows on.

    They are those of the loops for which all `tests` are not negative; `term` is a function of the
    index `k`.
    """

    loops: tuple[Range, ...]
    tests: tuple[Poly, ...]
    at: int  # the statement of the outer loop that it stands in
    store: ir.Write
    start: ir.Expr | None  # what the terms are added to, if that is not the element itself
    op: str
    k: str
    count: Poly
    term: ir.Expr
    rest: tuple[ir.Write, ...]


def sums_of(loop: ir.For) -> list[Sum] | None:
    """The sums in the body of a loop and in loops in it; None if there is anything else."""
    nest = _Nest(defs_in(loop.body).scalars)
    for at, s in enumerate(loop.body):
        nest.at = at
        if not nest.block((s,), (Range.of(loop),), ()):
            return None
    return [part for s in nest.found for part in _without_negative(s)] or None


def domain(s: Sum) -> tuple[Poly, ...]:
    """What is not negative for the elements of a sum."""
    tests = [*s.tests]
    for r in s.loops:
        tests += [sym(r.index, True) - r.lo, r.hi - 1 - sym(r.index, True)]
    return tuple(tests)


def _without_negative(s: Sum) -> list[Sum]:
    """The sum, with the elements apart whose `range` ends before it begins: they have no terms."""
    fewer = -1 - s.count
    if never((*domain(s), fewer)):
        return [s]
    return [
        replace(s, tests=(*s.tests, s.count)),
        replace(s, tests=(*s.tests, fewer), count=Poly()),
    ]


def is_own(load: ir.Load, store: ir.Write) -> bool:
    """Whether the element is read that is stored."""
    if load.buffer != store.buffer:
        return False
    return [*map(unmarked_poly, load.index)] == [*map(unmarked_poly, store.index)]


@dataclass
class _Nest:
    """The sums that are found in a nest, which assigns `lets`; `values` are those of variables."""

    lets: frozenset[str]
    found: list[Sum] = field(default_factory=list)
    values: dict[str, ir.Expr] = field(default_factory=dict)
    at: int = 0

    def block(
        self, body: Sequence[ir.Stmt], loops: tuple[Range, ...], tests: tuple[Poly, ...]
    ) -> bool:
        """Read statements; False if there is one that is no part of a sum."""
        return all(self._statement(s, loops, tests) for s in body)

    def _statement(self, s: ir.Stmt, loops: tuple[Range, ...], tests: tuple[Poly, ...]) -> bool:
        match s:
            case ir.Let(name, value):
                self.values[name] = rewrite(value, variables_as(self.values))
                return True
            case ir.For():
                folded = fold_loop(s, set(defs_in(s.body).scalars)) or _total(s)
                if folded is not None:
                    return self.block(folded, loops, tests)
                deeper = (*loops, Range.of(s))
                return s.step == 1 and len(loops) == 1 and self.block(s.body, deeper, tests)
            case ir.If(cond, then, other):
                return self._branch(cond, then, other, loops, tests)
            case ir.Write():
                return self._store(map_exprs(s, variables_as(self.values)), loops, tests)
        return False

    def _branch(
        self, cond: ir.Expr, then: Sequence[ir.Stmt], other: Sequence[ir.Stmt],
        loops: tuple[Range, ...], tests: tuple[Poly, ...],
    ) -> bool:  # fmt: skip
        """Both sides of a branch that the indices decide."""
        if any(isinstance(e, (ir.Load, ir.Local, ir.Reduce)) for e in walk(cond)):
            return False
        before = dict(self.values)
        for body, negated in ((then, False), (other, True)):
            for case in cases_of(cond, negated) if body else ():
                more = [p for e, zero in case for p in ((e, -e) if zero else (e,))]
                self.values = dict(before)
                if not more or not self.block(body, loops, (*tests, *more)):
                    return False
            # what a side assigns has another value afterwards
            before = {n: v for n, v in before.items() if n not in defs_in(body).scalars}
        self.values = before
        return True

    def _store(self, store: ir.Write, loops: tuple[Range, ...], tests: tuple[Poly, ...]) -> bool:
        """A store that begins a sum, or that one for the element of the last sum."""
        if store.axes or store.mask is not None or store.combine is not None:
            return False
        places = [unmarked_poly(p) for p in store.index]
        names = {n for p in places for n in p.names()}
        names |= {e.name for e in walk(store.body) if isinstance(e, ir.Local)}
        if names & self.lets or has_data(places):
            return False
        last = self.found[-1] if self.found else None
        if last is not None and (last.loops, last.tests) == (loops, tests):
            if is_own(ir.Load(store.buffer, store.index, store.body.dtype), last.store):
                if not any(isinstance(e, ir.Reduce) for e in walk(store.body)):
                    self.found[-1] = replace(last, rest=(*last.rest, store))
                    self._forget(store.buffer)
                    return True
        new = _sum(store, loops, tests, self.at)
        self.found += [] if new is None else [new]
        self._forget(store.buffer)
        return new is not None

    def _forget(self, buffer: str) -> None:
        """Variables with elements from before a store."""
        self.values = {n: v for n, v in self.values.items() if buffer not in loaded(v)}


def _sum(store: ir.Write, loops: tuple[Range, ...], tests: tuple[Poly, ...], at: int) -> Sum | None:
    """A store of what is made of one sum."""
    adding = {e for e in walk(store.body) if _adds(e)}
    folds = {e for e in walk(store.body) if isinstance(e, ir.Reduce)}
    if len(adding) != 1 or len(folds) != 1:
        return None
    (whole,), (fold,) = adding, folds
    assert isinstance(whole, ir.Op)
    assert isinstance(fold, ir.Reduce)
    start = whole.args[0] if whole.args[1] == fold else whole.args[1]
    if fold.op != "sum" or len(fold.axes) != 1 or fold.dtype != whole.dtype:
        return None
    (axis,) = fold.axes
    if has_data((axis.lo, axis.hi)) or fold in walk(start):
        return None
    begins = None if isinstance(start, ir.Load) and is_own(start, store) else start
    if begins is not None and store.buffer in loaded(begins):
        return None
    rest: tuple[ir.Write, ...] = ()
    if whole != store.body:
        own = ir.Load(store.buffer, store.index, whole.dtype)
        body = rewrite(store.body, lambda e: own if e == whole else None)
        made = sum(e == whole for e in walk(store.body))
        if sum(isinstance(e, ir.Load) and is_own(e, store) for e in walk(body)) > made:
            return None
        rest = (replace(store, body=body),)
    moved = substitute(fold.body, {axis.name: sym(axis.name, True) + axis.lo})
    term = cast(moved, fold.dtype)
    return Sum(loops, tests, at, store, begins, whole.op, axis.name, axis.extent, term, rest)


def _adds(e: ir.Expr) -> bool:
    """Whether an expression is a sum's terms, added to something or subtracted from it."""
    return isinstance(e, ir.Op) and (
        (e.op in ("add", "sub") and isinstance(e.args[1], ir.Reduce))
        or (e.op == "add" and isinstance(e.args[0], ir.Reduce))
    )


def _total(loop: ir.For) -> list[ir.Stmt] | None:
    """`for k: x[i] -= f(k)` as one store of the element with a sum."""
    found = single_store(loop.body) if loop.step == 1 else None
    if found is None:
        return None
    store, _ = found
    if store.mask is not None or store.combine is not None:
        return None
    match store.body:
        case ir.Op("add" | "sub", (ir.Load() as own, term)) if is_own(own, store):
            pass
        case ir.Op("add", (term, ir.Load() as own)) if is_own(own, store):
            pass
        case _:
            return None
    again = any(isinstance(e, ir.Load) and is_own(e, store) for e in walk(term))
    if again or any(loop.index in p.names() for p in store.index):
        return None
    assert isinstance(store.body, ir.Op)
    axis = ir.Axis(loop.index, loop.hi, loop.lo)
    fold = ir.Reduce("sum", (axis,), term, store.body.dtype)
    return [replace(store, body=replace(store.body, args=(own, fold)))]
