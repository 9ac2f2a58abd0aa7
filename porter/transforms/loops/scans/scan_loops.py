"""Loops that store what they accumulate: running folds written out.

`for i: s += f(i); out[i] = s` is the running sum of f, and then a loop without the sum, whose
iterations are free of each other.  `for i: out[i] = out[i - 1] + f(i)` is the same with the
sum kept in the array.  Only associative operations qualify, and linear steps, which are so in
pairs (`transforms/loops/scans/recurrences.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

from porter import ir
from porter.analyses.obstacles import obstacle
from porter.analyses.scans import neutral
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.rebuild import map_exprs, rename_axes, variables_as
from porter.ir.scalars import cast, number, operate
from porter.ir.walk import loaded, rewrite, scalars_of, statements, substitute, walk
from porter.sizes.polynomial import Data, Poly, sym
from porter.transforms.loops.folds import (
    Held,
    chosen,
    fold_loop,
    held_value,
    running_extremes,
    turned,
    values_in_place,
)
from porter.transforms.loops.nests import cut
from porter.transforms.loops.scans.bounded import bounded, bounding
from porter.transforms.loops.scans.recurrences import (
    element_before,
    keep_apart,
    linear,
    recurrence_in_array,
    running,
    running_pair,
)
from porter.transforms.loops.scans.second_order import Pair, states

#: what can be scanned: an operation, its fold, and the value that it ignores
_FOLDS = {"add": ("sum", 0), "mul": ("prod", 1), "maximum": ("max", None),
          "minimum": ("min", None), "or": ("any", 0), "and": ("all", 1)}  # fmt: skip


def scan_loops(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass, over the loops that stand in no other."""
    result: list[ir.Stmt] = []
    for k, s in enumerate(body):
        found = None
        if isinstance(s, ir.For) and s.step in (1, -1):
            after = exposed_scalars(body[k + 1 :])
            if obstacle(s, after, context) is not None and fold_loop(s, after) is None:
                found = _scanned(s, after, context)
        result += found or [s]
    return tuple(result)


def _scanned(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """Where a line is one thread's, a linear recurrence stays the loop that it is."""
    found: list[ir.Stmt] | None = None
    if loop.step == 1:
        found = _recurrence(loop, context)
    found = found or _accumulators(_upwards(loop), after, context)
    return found or (None if context.alone else recurrence_in_array(loop, after, context))


def _upwards(loop: ir.For) -> ir.For:
    """The loop with an index that counts its iterations, if it runs downwards."""
    if loop.step == 1:
        return loop
    change = {loop.index: loop.lo - sym(loop.index, True)}
    body = tuple(rename_axes(s, change) for s in loop.body)
    return replace(loop, lo=Poly(), hi=loop.lo - loop.hi, step=1, body=body)


# -- accumulated in a variable -------------------------------------------------------------


def _accumulators(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The running folds of all variables that the loop carries, and the loop without them."""
    body = tuple(running_extremes(loop.body))
    loop = replace(loop, body=_joined([*bounding(map(chosen, body))]))
    plain = (ir.Let, ir.Write, ir.If)
    if not all(isinstance(s, plain) for s in statements(loop.body)):
        return None
    carried = [s.name for s in statements(loop.body) if isinstance(s, ir.Let)]
    exposed = exposed_scalars(loop.body) & set(carried)
    if not exposed or any(carried.count(n) > 1 for n in exposed):
        return None
    loop = replace(loop, body=values_in_place(loop.body, exposed, after))
    split = _Split(loop, exposed, context)
    split.couple()
    rest = split.block(loop.body, None)
    if rest is None or split.folded != exposed:
        return None
    new = [replace(loop, body=tuple(rest))] if rest else []
    if new and obstacle(new[0], after - exposed, context) is not None:
        # what is read a few iterations later may be stored in a loop of its own
        new = cut(new[0], after - exposed, context)
        if any(obstacle(part, after - exposed, context) is not None for part in new):
            return None
    inside = list(statements(loop.body))
    for s in (x for x in inside if isinstance(x, ir.Write)):
        for let, read in split.reads:
            place = next(k for k, x in enumerate(inside) if x is let)
            keep_apart(s, read, 1, context, late=any(x is s for x in inside[:place]))
    last = [told.last for name, told in split.running.items() if name in after]
    return [*split.defs, *new, *last]


def _joined(body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """Updates of one variable that follow each other as one: `v *= a; v += b`."""
    result: list[ir.Stmt] = []
    for s in body:
        before = result[-1] if result else None
        if isinstance(s, ir.Let) and isinstance(before, ir.Let) and before.name == s.name:
            value = rewrite(s.value, variables_as({s.name: before.value}))
            result[-1] = replace(s, value=value)
        else:
            result.append(s)
    return tuple(result)


@dataclass(frozen=True)
class Told:
    """What a variable is in each iteration, before it is set there or `done`, and in the end."""

    now: Callable[[bool], ir.Expr]
    last: ir.Let


class _Split:
    """Takes the accumulations out of a loop's body, one after the other."""

    def __init__(self, loop: ir.For, carried: set[str], context: Context) -> None:
        self.loop, self.carried, self.context = loop, carried, context
        self.defs: list[ir.Stmt] = []
        self.folded: set[str] = set()
        self.reads: list[tuple[ir.Let, list[ir.Expr]]] = []
        self.running: dict[str, Told] = {}
        self.steps: dict[str, ir.Expr] = {}
        self.plain: dict[str, ir.Expr] = {}
        self.ahead: set[str] = set()

    @cached_property
    def here(self) -> Poly:
        """The index of the loop."""
        return sym(self.loop.index, True)

    @cached_property
    def written(self) -> frozenset[str]:
        """The arrays that the loop stores into."""
        return defs_in(self.loop.body).arrays

    @cached_property
    def once(self) -> set[str]:
        """The variables that the loop assigns in one place."""
        lets = Counter(s.name for s in statements(self.loop.body) if isinstance(s, ir.Let))
        return {name for name, count in lets.items() if count == 1}

    def couple(self) -> None:
        """The recurrence of two variables that weigh each other."""
        found = None if self.context.alone else states(self.loop.body, self.carried)
        if found is None or any(self._free(e) is None for e in found[1].parts):
            return
        lets, pair = found
        olds = [ir.Local(s.name, s.value.dtype) for s in lets]
        for s, step, own, of in zip(lets, pair.steps, (pair, pair.turned), (1, -1), strict=True):
            self.steps[s.name] = step
            self._define_running(s, partial(self._coupled, own, olds[::of]))

    def _coupled(
        self, pair: Pair, olds: Sequence[ir.Expr], axis: ir.Axis, place: dict[str, Poly]
    ) -> ir.Expr:
        return running_pair(axis, pair, olds, olds, place, self.context)

    def block(self, body: Sequence[ir.Stmt], cond: ir.Expr | None) -> list[ir.Stmt] | None:
        """The statements without the accumulations; None if one of them is none."""
        self._note(body, cond)
        result: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.Let) and s.name in self.carried:
                self._announce(s, cond)
                if s.name not in self.running:
                    return None
                self.folded.add(s.name)
                step = self.steps.get(s.name, s.value)
                parts = [e for e in (step, cond) if e is not None]
                self.reads.append((s, [self._written_out(e) for e in parts]))
                continue
            if isinstance(s, ir.If):
                inner = self._branch(s, cond)
                if inner is None:
                    return None
                result += inner
                continue
            changed = map_exprs(s, self._now)
            if any(n in self.carried and n not in self.running for n in uses_in((s,)).scalars):
                return None
            result.append(changed)
        return result

    def _note(self, body: Sequence[ir.Stmt], cond: ir.Expr | None) -> None:
        """What the statements accumulate, in terms of what their other variables stand for."""
        # which of them come before another one is not seen here
        self.ahead = set(defs_in(body).scalars)
        for s in body:
            if isinstance(s, ir.Let) and s.name in self.once and s.name not in self.carried:
                if not scalars_of(s.value) & self.carried:
                    self.plain[s.name] = s.value
            self._announce(s, cond)
            if isinstance(s, ir.If) and cond is None:
                for block, test in ((s.body, s.cond), (s.orelse, operate("not", s.cond))):
                    for x in block:
                        self._announce(x, test)
        self.ahead = set()

    def _branch(self, s: ir.If, cond: ir.Expr | None) -> list[ir.Stmt] | None:
        """A branch may accumulate where its condition holds."""
        lets = defs_in((s,)).scalars
        if not lets & self.carried:
            unknown = uses_in((s,)).scalars & self.carried - self.running.keys()
            return None if unknown else [self._read(s)]
        if cond is not None:
            return None
        otherwise = operate("not", s.cond)
        self._note(s.orelse, otherwise)
        body, orelse = self.block(s.body, s.cond), self.block(s.orelse, otherwise)
        if body is None or orelse is None:
            return None
        new = replace(s, cond=rewrite(s.cond, self._now), body=tuple(body), orelse=tuple(orelse))
        return [new] if body or orelse else []

    def _read(self, s: ir.Stmt) -> ir.Stmt:
        """A statement with what variables are where it stands; each is replaced once, since their
        values before the loop have the same names."""
        if isinstance(s, ir.If):
            one, other = (tuple(map(self._read, b)) for b in (s.body, s.orelse))
            return replace(s, cond=rewrite(s.cond, self._now), body=one, orelse=other)
        return map_exprs(s, self._now)

    def _now(self, e: ir.Expr) -> ir.Expr | None:
        """What a variable is where the statement at hand stands."""
        if isinstance(e, ir.Local) and e.name in self.running.keys() - self.ahead:
            return self.running[e.name].now(e.name in self.folded)
        return None

    def _announce(self, s: ir.Stmt, cond: ir.Expr | None) -> None:
        """The running fold of `s = s op term`, if term depends on nothing that is carried."""
        if not isinstance(s, ir.Let) or s.name not in self.carried or s.name in self.running:
            return
        held = held_value(s.value, s.name)
        if held is not None:
            self._announce_held(s, held, cond)
            return
        old = ir.Local(s.name, s.value.dtype)
        turns = turned(s.value, old)
        if turns is not None:
            self._announce_turned(s, turns, cond)
            return
        if not isinstance(s.value, ir.Op):
            self._announce_linear(s, old, cond)
            return
        op, args = s.value.op, s.value.args
        term = None
        if op in _FOLDS and len(args) == 2 and old in args:
            term = self._free(args[1] if args[0] == old else args[0])
        if term is None:
            self._announce_linear(s, old, cond)
            return
        test = None if cond is None else self._free(cond)
        fold, ignored = _FOLDS[op]
        if cond is not None and (test is None or ignored is None):
            return
        dtype = s.value.dtype
        term = cast(term, dtype)
        if test is not None:
            term = ir.Select(test, term, cast(ir.Value(Poly.of(ignored or 0), INT64), dtype), dtype)
        self._define(s, fold, op, term)

    def _announce_linear(self, s: ir.Let, old: ir.Local, cond: ir.Expr | None) -> None:
        """The recurrence of `s = factor * s + term`, if both depend on nothing that is carried."""
        step = None if self.context.alone else linear(s.value, old)
        if step is None:
            self._announce_bounded(s, old, cond)
        if step is None or (step.towards and cond is not None):
            return
        y = ir.Local(self.context.fresh("y_"), old.dtype)
        exact = self._free(rewrite(s.value, lambda e: y if e == old else None))
        factor, term = self._free(step.factor), self._free(step.body)
        test = None if cond is None else self._free(cond)
        if factor is None or term is None or exact is None or (cond is not None and test is None):
            return
        if test is not None:
            exact = ir.Select(test, exact, y, old.dtype)
            nothing = ir.Const(neutral("sum", old.dtype), old.dtype)
            factor = ir.Select(test, factor, cast(number(1), old.dtype), old.dtype)
            term = ir.Select(test, term, nothing, old.dtype)
        found, start = replace(step, factor=factor, body=term), ir.Local(s.name, old.dtype)
        self._define_running(
            s, lambda axis, place: running(axis, found, (y, exact), start, place, self.context)
        )

    def _announce_bounded(self, s: ir.Let, old: ir.Local, cond: ir.Expr | None) -> None:
        """The recurrence of `s = max(s + term, low)`, if these depend on nothing carried."""
        step = None if self.context.alone else bounded(s.value, old)
        test = None if cond is None else self._free(cond)
        if step is None or (cond is not None and test is None):
            return
        y = ir.Local(self.context.fresh("y_"), old.dtype)
        exact = self._free(rewrite(s.value, lambda e: y if e == old else None))
        found = step.changed(self._free)
        if exact is None or found is None:
            return
        if test is not None:
            exact, found = ir.Select(test, exact, y, old.dtype), found.where(test)
        written, start = (y, exact), ir.Local(s.name, old.dtype)
        self._define_running(
            s, lambda axis, place: running(axis, found, written, start, place, self.context)
        )

    def _announce_turned(self, s: ir.Let, where: ir.Expr, cond: ir.Expr | None) -> None:
        """A truth value that turns: it is the old one after an even number of turns."""
        test = self._free(where if cond is None else operate("and", where, cond))
        if test is None:
            return
        term = cast(test, INT64)
        array, _ = _running(self.loop, f"{s.name}_turns", "sum", term, s, self.context, self.defs)
        start = ir.Local(s.name, s.value.dtype)

        def at(p: Poly) -> ir.Expr:
            odd = operate("mod", ir.Load(array, (p,), INT64), number(2))
            return operate("ne", start, operate("eq", odd, number(1)))

        self._tell(s, at)

    def _announce_held(self, s: ir.Let, held: Held, cond: ir.Expr | None) -> None:
        """A variable that keeps what an earlier iteration gave it: the last iteration that set it
        is the largest of those so far."""
        loop, dtype, here = self.loop, s.value.dtype, self.here - self.loop.lo
        conds = [c for c in (cond, held[0]) if c is not None]
        value, tests = self._free(held[1]), [self._free(c) for c in conds]
        if value is None or None in tests:
            return
        test = reduce(partial(operate, "and"), tests) if tests else None
        start = ir.Local(s.name, dtype)
        array = ""
        if test is not None:
            never = ir.Value(Poly.of(-1), INT64)
            term = ir.Select(test, ir.Value(here, INT64), never, INT64)
            array, _ = _running(loop, f"{s.name}_from", "max", term, s, self.context, self.defs)

        def at(p: Poly) -> ir.Expr:
            if not array:
                return substitute(value, {loop.index: p + loop.lo})
            found = ir.Load(array, (p,), INT64)
            where = loop.lo + Poly.atom(Data(found, nonneg=True, inside=True))
            known = ir.Op("ge", (found, ir.Value(Poly(), INT64)), BOOL)
            return ir.Select(known, substitute(value, {loop.index: where}), start, dtype)

        self._tell(s, at)

    def _tell(self, s: ir.Let, at: Callable[[Poly], ir.Expr]) -> None:
        """What a variable is after each iteration, by its place from the first one on."""
        here, length = self.here - self.loop.lo, self.loop.hi - self.loop.lo
        start = ir.Local(s.name, s.value.dtype)
        before = ir.Select(_is_positive(here), at(here - 1), start, start.dtype)
        last = ir.Select(_is_positive(length), at(length - 1), start, start.dtype)
        self.running[s.name] = Told(
            lambda done: at(here) if done else before, ir.Let(s.name, last, s.origin)
        )

    def _define_running(
        self, s: ir.Let, made: Callable[[ir.Axis, dict[str, Poly]], ir.Expr]
    ) -> None:
        """An array with what a variable is after each iteration, made along an axis."""
        loop, context, dtype = self.loop, self.context, s.value.dtype
        axis = ir.Axis(context.fresh(loop.index), loop.hi - loop.lo)
        buffer = context.buffer(f"{s.name}_so_far", (axis,), dtype)
        place = {loop.index: symbols([axis])[0] + loop.lo}
        value = made(axis, place)
        self.defs.append(ir.Def(buffer.name, (axis,), buffer.dtype, value, s.origin))

        def at(p: Poly) -> ir.Expr:
            return ir.Load(buffer.name, (p,), dtype)

        self._tell(s, at)

    def _free(self, e: ir.Expr) -> ir.Expr | None:
        """The expression in terms of the index alone; None if the loop changes what it reads.

        So is what another variable has accumulated by now, from its value before the loop on.
        """
        e = rewrite(self._written_out(e), self._now)
        reads = loaded(e)
        known = self.running.keys() - self.ahead
        assigned = defs_in(self.loop.body).scalars - known
        return None if reads & self.written or scalars_of(e) & assigned else e

    def _written_out(self, e: ir.Expr) -> ir.Expr:
        """The expression with what variables of the iteration stand for."""
        change = variables_as(self.plain)
        for _ in self.plain:
            e = rewrite(e, change)
        return e

    def _define(self, s: ir.Let, fold: str, op: str, term: ir.Expr) -> None:
        loop, context = self.loop, self.context
        dtype = s.value.dtype
        array, _ = _running(loop, f"{s.name}_so_far", fold, term, s, context, self.defs)
        start = ir.Local(s.name, dtype)
        self._tell(s, lambda p: ir.Op(op, (start, ir.Load(array, (p,), dtype)), dtype))


def _is_positive(p: Poly) -> ir.Expr:
    return ir.Op("gt", (ir.Value(p, INT64), ir.Value(Poly(), INT64)), BOOL)


def _running(
    loop: ir.For, name: str, fold: str, term: ir.Expr, s: ir.Let | ir.Write, context: Context,
    before: list[ir.Stmt],
) -> tuple[str, Poly]:  # fmt: skip
    """The running fold of a term over the loop as an array, and the loop's own place in it."""
    axis = ir.Axis(context.fresh(loop.index), loop.hi - loop.lo)
    k = ir.Axis(context.fresh("k_"), symbols([axis])[0] + 1)
    buffer = context.buffer(name, (axis,), term.dtype)
    body = substitute(term, {loop.index: symbols([k])[0] + loop.lo})
    strong = replace(term.dtype, weak=False)
    total = ir.Reduce(fold, (k,), cast(body, strong), strong)
    before.append(ir.Def(buffer.name, (axis,), strong, total, s.origin))
    return buffer.name, sym(loop.index, True) - loop.lo


# -- accumulated in the array ----------------------------------------------------------------


def _recurrence(loop: ir.For, context: Context) -> list[ir.Stmt] | None:
    """`out[i] = out[i - 1] op f(i)` as a running fold of f and what stood before the first."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], ir.Write):
        return None
    s = loop.body[0]
    if s.axes or s.mask is not None or s.combine or not isinstance(s.body, ir.Op):
        return None
    if s.body.op not in _FOLDS or len(s.body.args) != 2:
        return None
    earlier = element_before(s, loop)
    if earlier is None:
        return None
    first, term = s.body.args
    if not (isinstance(first, ir.Load) and first.buffer == s.buffer and first.index == earlier):
        first, term = term, first
    if not (isinstance(first, ir.Load) and first.buffer == s.buffer and first.index == earlier):
        return None
    # the element itself is read before it is stored
    reads = (e for e in walk(term) if isinstance(e, ir.Load) and e.buffer == s.buffer)
    if any(e.index != s.index for e in reads):
        return None
    keep_apart(s, [term], 1, context)
    fold, _ = _FOLDS[s.body.op]
    before: list[ir.Stmt] = []
    name = f"{s.buffer}_so_far"
    array, place = _running(loop, name, fold, cast(term, s.body.dtype), s, context, before)
    start = replace(first, index=tuple(p.replace({loop.index: loop.lo}) for p in earlier))
    body = ir.Op(s.body.op, (start, ir.Load(array, (place,), s.body.dtype)), s.body.dtype)
    new, names = context.fresh_axes((ir.Axis(loop.index, loop.hi, loop.lo),))
    index = tuple(p.replace(names) for p in s.index)
    return [*before, replace(s, axes=new, index=index, body=substitute(body, names))]
