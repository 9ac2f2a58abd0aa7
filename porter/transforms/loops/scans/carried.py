"""What variables of a loop are in each of its iterations, from their values before it.

Each variable that an iteration passes on is a step from its old value to the new one.  Those that
compose are running folds, kept in an array: sums, extremes and truth values (`steps.py`), values
that are held or turned, linear steps (`recurrences.py`), sums within bounds (`bounded.py`),
quotients of linear steps (`quotients.py`), few values (`states.py`), two values that weigh each
other (`second_order.py`).  One variable may read another one, what it was and what it has become,
if that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from porter import ir
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, nodes_of, uses_in
from porter.ir.rebuild import map_exprs
from porter.ir.scalars import cast, constant_of, integer, number, operate
from porter.ir.walk import loaded, rewrite, scalars_of, statements, substitute, walk
from porter.sizes.polynomial import Data, Poly, sym
from porter.transforms.loops.folds import Held, held_value, turned, with_old
from porter.transforms.loops.scans.bounded import bounded
from porter.transforms.loops.scans.elements import Elements
from porter.transforms.loops.scans.quotients import ratio
from porter.transforms.loops.scans.recurrences import linear, running, running_pair
from porter.transforms.loops.scans.second_order import Pair, pair_of
from porter.transforms.loops.scans.single_assignment import Iteration
from porter.transforms.loops.scans.states import machine, stored
from porter.transforms.loops.scans.steps import Folded, folded, simplified


@dataclass(frozen=True)
class Told:
    """What a variable is in each iteration, before it is set there or `done`, and in the end."""

    now: Callable[[bool], ir.Expr]
    last: ir.Let


class Carried:
    """The variables of a loop as running folds, found one after the other."""

    def __init__(self, made: Elements, iteration: Iteration, context: Context) -> None:
        self.made, self.iteration, self.context = made, iteration, context
        self.loop = made.loop
        self.values = iteration.values
        self.defs: list[ir.Stmt] = []
        self.told: dict[str, Told] = {}
        #: what the names of variables that are told stand for: the variable, before or after
        self.known: dict[str, tuple[str, bool]] = {}

    @cached_property
    def here(self) -> Poly:
        """The index of the loop, from 0 on."""
        return sym(self.loop.index, True) - self.loop.lo

    @cached_property
    def written(self) -> frozenset[str]:
        """The arrays that the loop stores into."""
        return defs_in(self.loop.body).arrays

    def find(self) -> bool:
        """Whether all variables are running folds of what depends on the iteration."""
        left = list(self.iteration.olds)
        while left:
            found = next((n for n in left if self._announce(n, left)), None)
            if found is not None:
                left.remove(found)
            else:
                return len(left) == 2 and self._couple(left)
        return True

    def rest(self, after: set[str]) -> tuple[ir.Stmt, ...]:
        """What is left of an iteration without the steps of variables.

        What a subscript depends on has a name.
        """
        kept = self._without_steps(after)
        named = set[str]().union(*map(_in_subscripts, kept)) & self.known.keys()
        lets = [ir.Let(n, self._told(n), self._origin(self.known[n][0])) for n in sorted(named)]

        def now(e: ir.Expr) -> ir.Expr | None:
            return None if isinstance(e, ir.Local) and e.name in named else self._now(e)

        return (*lets, *(map_exprs(s, now) for s in kept))

    def _without_steps(self, after: set[str]) -> list[ir.Stmt]:
        steps = {x.name for x in self.iteration.news.values() if isinstance(x, ir.Local)}
        kept: list[ir.Stmt] = []
        for s in reversed(self.iteration.body):
            read = uses_in(kept).scalars | after
            if not isinstance(s, ir.Let) or (s.name in read and s.name not in steps):
                kept.insert(0, s)
        return kept

    def steps(self) -> list[tuple[str, ir.Expr]]:
        """The step of each variable, in terms of others."""
        return [(n, self._step(n)) for n in self.iteration.olds]

    def _announce(self, name: str, left: Sequence[str]) -> bool:
        """Whether the variable is a running fold, if its step reads no others that are left."""
        step = self._step(name)
        others = {self.iteration.olds[n].name for n in left if n != name}
        if scalars_of(step) & others:
            return False
        old = self.iteration.olds[name]
        step = simplified(step, old)
        ways = (self._held, self._turned, self._folded, self._recurrence, self._states)
        return any(way(name, step, old) for way in ways)

    def _tell(self, name: str, at: Callable[[Poly], ir.Expr]) -> bool:
        """What a variable is after each iteration, by its place from the first one on."""
        length, new = self.loop.hi - self.loop.lo, self.iteration.news[name]
        start = self._start(name)
        before = ir.Select(_is_positive(self.here), at(self.here - 1), start, start.dtype)
        last = ir.Select(_is_positive(length), at(length - 1), start, start.dtype)
        here = self.here
        self.told[name] = Told(
            lambda done: at(here) if done else before, ir.Let(name, last, self._origin(name))
        )
        self.known[self.iteration.olds[name].name] = name, False
        if isinstance(new, ir.Local):
            self.known[new.name] = name, True
        return True

    def _start(self, name: str) -> ir.Expr:
        """What the variable is before the loop."""
        old = self.iteration.olds[name]
        known = self.made.starts.get(name)
        # integers that are added to nothing are not added
        if known is None or isinstance(constant_of(known), float):
            return replace(old, name=name)
        return cast(known, old.dtype)

    def _origin(self, name: str) -> ir.Origin:
        """The statement of the loop that assigns the variable, or the last one with several."""
        body = [s for s in self.loop.body if name in defs_in((s,)).scalars]
        lets = [s for s in statements((body[-1],)) if isinstance(s, ir.Let) and s.name == name]
        return lets[0].origin if len(lets) == 1 else body[-1].origin

    # -- what an iteration reads ----------------------------------------------------------

    def _step(self, name: str) -> ir.Expr:
        """The new value of a variable, with what the names of the iteration stand for."""

        def change(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Local) or e.name in self.known or e.name not in self.values:
                return None
            return rewrite(self.values[e.name], change)

        new = self.iteration.news[name]
        own = self.values.get(new.name, new) if isinstance(new, ir.Local) else new
        return rewrite(own, change)

    def _now(self, e: ir.Expr) -> ir.Expr | None:
        """What a variable that is told is before the iteration or after it."""
        return self._told(e.name) if isinstance(e, ir.Local) and e.name in self.known else None

    def _told(self, known: str) -> ir.Expr:
        name, done = self.known[known]
        return self.told[name].now(done)

    def _free(self, e: ir.Expr) -> ir.Expr | None:
        """The expression in terms of the index alone; None if the loop changes what it reads."""
        if any(old.name in scalars_of(e) for n, old in self.iteration.olds.items()
               if n not in self.told):  # fmt: skip
            return None
        e = rewrite(e, self._now)
        return e if self._is_early(e) else None

    def _is_early(self, *several: ir.Expr) -> bool:
        """Whether it may be computed before the loop, which changes nothing of it by then."""
        loads = (x for e in several for x in walk(e) if isinstance(x, ir.Load))
        early = {*self.made.own, *self.made.starts.values()}
        return all(x in early or x.buffer not in self.written for x in loads)

    # -- the kinds of steps --------------------------------------------------------------

    def _held(self, name: str, step: ir.Expr, old: ir.Local) -> bool:
        """A variable that keeps what an earlier iteration gave it: the last iteration that set it
        is the largest of those so far."""
        held: Held | None = held_value(step, old.name)
        value = None if held is None else self._free(held[1])
        if held is None or value is None:
            return False
        test = None if held[0] is None else self._free(held[0])
        if held[0] is not None and test is None:
            return False
        loop, start = self.loop, self._start(name)
        array = ""
        if test is not None:
            never = ir.Value(Poly.of(-1), INT64)
            term = ir.Select(test, ir.Value(self.here, INT64), never, INT64)
            array = self._running(name, f"{name}_from", "max", term)

        def at(p: Poly) -> ir.Expr:
            if not array:
                return substitute(value, {loop.index: p + loop.lo})
            found = ir.Load(array, (p,), INT64)
            where = loop.lo + Poly.atom(Data(found, nonneg=True, inside=True))
            known = ir.Op("ge", (found, ir.Value(Poly(), INT64)), BOOL)
            return ir.Select(known, substitute(value, {loop.index: where}), start, old.dtype)

        if loaded(value) & self.written:
            # what it holds changes in the loop
            return self._define(name, lambda axis, _: at(symbols([axis])[0]))
        return self._tell(name, at)

    def _turned(self, name: str, step: ir.Expr, old: ir.Local) -> bool:
        """A truth value that turns: it is the old one after an even number of turns."""
        where = turned(step, old)
        test = None if where is None else self._free(where)
        if test is None:
            return False
        array = self._running(name, f"{name}_turns", "sum", cast(test, INT64))
        start = self._start(name)

        def at(p: Poly) -> ir.Expr:
            rest = operate("mod", ir.Load(array, (p,), INT64), number(2))
            odd = operate("eq", rest, number(1))
            if constant_of(start) is None:
                return operate("ne", start, odd)
            return operate("not", odd) if constant_of(start) else odd

        return self._tell(name, at)

    def _folded(self, name: str, step: ir.Expr, old: ir.Local) -> bool:
        """A running fold of terms that depend on the iteration alone."""
        found = folded(step, old)
        term = None if found is None or found.term is None else self._free(found.term)
        if found is None or term is None:
            return False
        term, start = cast(term, old.dtype), self._start(name)
        each = constant_of(term)
        if found.op == "add" and old.dtype.kind == "i" and isinstance(each, int):
            return self._tell(name, lambda p: operate("add", start, integer(each * (p + 1))))
        if not self._is_read(name):
            last = ir.Let(name, self._total(name, found, term), self._origin(name))
            self.told[name] = Told(lambda done: start, last)
            return True
        array = self._running(name, f"{name}_so_far", found.fold, term)

        def at(p: Poly) -> ir.Expr:
            so_far = ir.Load(array, (p,), old.dtype)
            if constant_of(start) == 0 and found.op == "add" and old.dtype.kind in "iu":
                return so_far
            return ir.Op(found.op, (start, so_far), old.dtype)

        return self._tell(name, at)

    def _is_read(self, name: str) -> bool:
        """Whether anything in an iteration but its own step depends on a variable."""
        new = self.iteration.news[name]
        own = {self.iteration.olds[name].name, *([new.name] if isinstance(new, ir.Local) else [])}
        others = [self._step(n) for n in self.iteration.olds if n != name]
        if any(scalars_of(e) & own for e in others):
            return True
        return bool(uses_in(self._without_steps(set())).scalars & own)

    def _total(self, name: str, found: Folded, term: ir.Expr) -> ir.Expr:
        """The fold of a term over the loop, from what it stores into before that."""
        axis = ir.Axis(self.context.fresh(self.loop.index), self.loop.hi, self.loop.lo)
        term = substitute(term, {self.loop.index: symbols([axis])[0]})
        start, strong = self._start(name), replace(term.dtype, weak=False)
        total: ir.Expr = ir.Reduce(found.fold, (axis,), cast(term, strong), strong)
        if found.op in ("maximum", "minimum") and strong.kind != "f":
            total = with_old(found.op, term, start, axis)
        else:
            total = ir.Op(found.op, (start, total), start.dtype)
        if not self.written:
            return total
        made = ir.Let(self.context.fresh(f"{name}_in_the_end"), total, self._origin(name))
        self.defs.append(made)
        return ir.Local(made.name, total.dtype)

    def _running(self, name: str, array: str, fold: str, term: ir.Expr) -> str:
        made = running_fold(self.loop, array, fold, term, self._origin(name), self.context)
        self.defs.append(made)
        return made.name

    def _recurrence(self, name: str, step: ir.Expr, old: ir.Local) -> bool:
        """A step that is linear, bounds a sum, or divides linear ones; of one thread it is the loop
        that it is."""
        if self.context.alone:
            return False
        found = linear(step, old) or bounded(step, old) or ratio(step, old)
        y = ir.Local(self.context.fresh("y_"), old.dtype)
        source = self._free(rewrite(step, lambda e: y if e == old else None))
        parts = None if found is None else found.changed(self._free)
        if source is None or parts is None:
            return False
        written, start = (y, source), self._start(name)
        return self._define(
            name, lambda axis, place: running(axis, parts, written, start, place, self.context)
        )

    def _states(self, name: str, step: ir.Expr, old: ir.Local) -> bool:
        """The composed maps of a variable that takes few values, each of them by the one before."""
        y = ir.Local(self.context.fresh("state_"), old.dtype)
        free = self._free(rewrite(step, lambda e: y if e == old else None))
        if free is None or self.context.alone:
            return False
        start = cast(self.made.starts.get(name, replace(old, name=name)), old.dtype)
        found = machine(free, y, start, self.context.buffers)
        if found is None:
            return False
        self._define(name, partial(found.running, context=self.context))
        made = self.defs[-1]
        if found.failure is not None and isinstance(made, ir.Def):
            self.defs[-1:] = stored(made, self.context)
        return True

    def _couple(self, left: Sequence[str]) -> bool:
        """The recurrence of two variables that weigh each other."""
        olds = [self.iteration.olds[n] for n in left]
        pair = None if self.context.alone else pair_of([self._step(n) for n in left], olds)
        if pair is None:
            return False
        pair = pair.changed(lambda e: rewrite(e, self._now))
        if not self._is_early(*pair.parts, *pair.steps):
            return False
        starts = [self._start(n) for n in left]
        for name, own, of in zip(left, (pair, pair.turned), (1, -1), strict=True):
            self._define(name, partial(self._coupled, own, olds[::of], starts[::of]))
        return True

    def _coupled(
        self, pair: Pair, olds: Sequence[ir.Expr], starts: Sequence[ir.Expr], axis: ir.Axis,
        place: dict[str, Poly],
    ) -> ir.Expr:  # fmt: skip
        return running_pair(axis, pair, olds, starts, place, self.context)

    def _define(self, name: str, made: Callable[[ir.Axis, dict[str, Poly]], ir.Expr]) -> bool:
        """An array with what a variable is after each iteration, made along an axis."""
        loop, context, dtype = self.loop, self.context, self.iteration.olds[name].dtype
        axis = ir.Axis(context.fresh(loop.index), loop.hi - loop.lo)
        buffer = context.buffer(f"{name}_so_far", (axis,), dtype)
        place = {loop.index: symbols([axis])[0] + loop.lo}
        value = made(axis, place)
        self.defs.append(ir.Def(buffer.name, (axis,), buffer.dtype, value, self._origin(name)))
        return self._tell(name, lambda p: ir.Load(buffer.name, (p,), dtype))


def _in_subscripts(s: ir.Stmt) -> set[str]:
    """The variables that subscripts depend on."""
    inside = list(statements((s,)))
    loads = [e for x in inside for e in nodes_of(x) if isinstance(e, ir.Load)]
    every = [x.index for x in inside if isinstance(x, ir.Write)] + [e.index for e in loads]
    data = [a.expr for index in every for p in index for a in p.atoms() if isinstance(a, Data)]
    return set[str]().union(*map(scalars_of, data))


def _is_positive(p: Poly) -> ir.Expr:
    return ir.Op("gt", (ir.Value(p, INT64), ir.Value(Poly(), INT64)), BOOL)


def running_fold(
    loop: ir.For, name: str, fold: str, term: ir.Expr, origin: ir.Origin, context: Context
) -> ir.Def:
    """The running fold of a term over the loop as an array, from the loop's first iteration on."""
    axis = ir.Axis(context.fresh(loop.index), loop.hi - loop.lo)
    k = ir.Axis(context.fresh("k_"), symbols([axis])[0] + 1)
    buffer = context.buffer(name, (axis,), term.dtype)
    body = substitute(term, {loop.index: symbols([k])[0] + loop.lo})
    strong = replace(term.dtype, weak=False)
    total = ir.Reduce(fold, (k,), cast(body, strong), strong)
    return ir.Def(buffer.name, (axis,), strong, total, origin)
