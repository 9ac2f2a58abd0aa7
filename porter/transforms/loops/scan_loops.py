"""Loops that store what they accumulate: running folds written out.

`for i: s += f(i); out[i] = s` is the running sum of f, and then a loop without the sum, whose
iterations are free of each other.  `for i: out[i] = out[i - 1] + f(i)` is the same with the
sum kept in the array.  Only associative operations qualify, and linear steps, which are so in
pairs (`transforms/loops/recurrences.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from porter import ir
from porter.analyses.obstacles import obstacle
from porter.analyses.scans import neutral
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.rebuild import map_blocks, map_exprs, variables_as
from porter.ir.scalars import cast, number
from porter.ir.walk import loaded, rewrite, scalars_of, statements, substitute, walk
from porter.sizes.polynomial import Poly, sym
from porter.transforms.loops.folds import fold_loop
from porter.transforms.loops.recurrences import (
    Step,
    element_before,
    keep_apart,
    linear,
    recurrence_in_array,
    running,
    running_pair,
)
from porter.transforms.loops.second_order import Pair, states

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
        found = _recurrence(loop, context) or _accumulators(loop, after, context)
    return found or (None if context.alone else recurrence_in_array(loop, after, context))


# -- accumulated in a variable -------------------------------------------------------------


def _accumulators(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The running folds of all variables that the loop carries, and the loop without them."""
    loop = replace(loop, body=_joined(loop.body))
    plain = (ir.Let, ir.Write, ir.If)
    if not all(isinstance(s, plain) for s in statements(loop.body)):
        return None
    carried = [s.name for s in statements(loop.body) if isinstance(s, ir.Let)]
    exposed = exposed_scalars(loop.body) & set(carried)
    if not exposed or any(carried.count(n) > 1 for n in exposed):
        return None
    split = _Split(loop, exposed, context)
    split.couple()
    rest = split.block(loop.body, None)
    if rest is None or split.folded != exposed:
        return None
    new = replace(loop, body=tuple(rest))
    if rest and obstacle(new, after - exposed, context) is not None:
        return None
    inside = list(statements(loop.body))
    for s in (x for x in inside if isinstance(x, ir.Write)):
        for let, read in split.reads:
            place = next(k for k, x in enumerate(inside) if x is let)
            keep_apart(s, read, 1, context, late=any(x is s for x in inside[:place]))
    last = [f for name, f in split.last.items() if name in after]
    return [*split.defs, *([new] if rest else []), *last]


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


class _Split:
    """Takes the accumulations out of a loop's body, one after the other."""

    def __init__(self, loop: ir.For, carried: set[str], context: Context) -> None:
        self.loop, self.carried, self.context = loop, carried, context
        self.defs: list[ir.Stmt] = []
        self.last: dict[str, ir.Let] = {}
        self.folded: set[str] = set()
        self.reads: list[tuple[ir.Let, list[ir.Expr]]] = []
        self.running: dict[str, Callable[[bool], ir.Expr]] = {}
        self.steps: dict[str, ir.Expr] = {}
        self.plain: dict[str, ir.Expr] = {}

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
        for s in body:
            self._announce(s, cond)
        result: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.Let) and s.name in self.carried:
                if s.name not in self.running:
                    return None
                self.folded.add(s.name)
                step = self.steps.get(s.name, s.value)
                parts = [e for e in (step, cond) if e is not None]
                self.reads.append((s, [self._written_out(e) for e in parts]))
                continue
            if isinstance(s, ir.Let) and s.name in self.once and cond is None:
                if not scalars_of(s.value) & self.carried:
                    self.plain[s.name] = s.value
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

    def _branch(self, s: ir.If, cond: ir.Expr | None) -> list[ir.Stmt] | None:
        """A branch may accumulate where its condition holds."""
        lets = defs_in((s,)).scalars
        if not lets & self.carried:
            return [map_exprs(map_blocks(s, self._all), self._now)]
        if cond is not None or s.orelse:
            return None
        body = self.block(s.body, s.cond)
        if body is None:
            return None
        return [replace(s, body=tuple(body))] if body else []

    def _all(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map_exprs(map_blocks(s, self._all), self._now) for s in body)

    def _now(self, e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Local) and e.name in self.running:
            return self.running[e.name](e.name in self.folded)
        return None

    def _announce(self, s: ir.Stmt, cond: ir.Expr | None) -> None:
        """The running fold of `s = s op term`, if term depends on nothing that is carried."""
        if (
            not isinstance(s, ir.Let)
            or s.name not in self.carried
            or s.name in self.running
            or not isinstance(s.value, ir.Op)
        ):
            return
        old = ir.Local(s.name, s.value.dtype)
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
        found, start = Step(factor, term, step.towards), ir.Local(s.name, old.dtype)
        self._define_running(
            s, lambda axis, place: running(axis, found, (y, exact), start, place, self.context)
        )

    def _define_running(
        self, s: ir.Let, made: Callable[[ir.Axis, dict[str, Poly]], ir.Expr]
    ) -> None:
        """An array with what a variable is after each iteration, made along an axis."""
        loop, context, dtype = self.loop, self.context, s.value.dtype
        axis = ir.Axis(context.fresh(loop.index), loop.hi - loop.lo)
        buffer = context.buffer(f"{s.name}_so_far", (axis,), dtype)
        start, place = ir.Local(s.name, dtype), {loop.index: symbols([axis])[0] + loop.lo}
        self.defs.append(ir.Def(buffer.name, (axis,), dtype, made(axis, place), s.origin))

        def at(p: Poly) -> ir.Expr:
            return ir.Load(buffer.name, (p,), dtype)

        here, length = self.here - loop.lo, loop.hi - loop.lo
        before = ir.Select(_is_positive(here), at(here - 1), start, dtype)
        self.running[s.name] = lambda done: at(here) if done else before
        last = ir.Select(_is_positive(length), at(length - 1), start, dtype)
        self.last[s.name] = ir.Let(s.name, last, s.origin)

    def _free(self, e: ir.Expr) -> ir.Expr | None:
        """The expression in terms of the index alone; None if the loop changes what it reads."""
        e = self._written_out(e)
        reads = loaded(e)
        assigned = defs_in(self.loop.body).scalars
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
        array, place = _running(loop, f"{s.name}_so_far", fold, term, s, context, self.defs)
        start = ir.Local(s.name, dtype)

        def after(p: Poly) -> ir.Expr:
            return ir.Op(op, (start, ir.Load(array, (p,), dtype)), dtype)

        def value(done: bool) -> ir.Expr:
            if done:
                return after(place)
            return ir.Select(_is_positive(place), after(place - 1), start, dtype)

        self.running[s.name] = value
        length = loop.hi - loop.lo
        last = ir.Select(_is_positive(length), after(length - 1), start, dtype)
        self.last[s.name] = ir.Let(s.name, last, s.origin)


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
