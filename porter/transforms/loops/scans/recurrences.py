"""`y[i] = a[i] * y[i - 1] + b[i]`: loops of one store that continue from the element before.

Only linear steps qualify, those that bound a sum (`bounded.py`), and quotients of linear ones
(`quotients.py`).  In linear ones of first order the old value stands in one product of its own,
such a sum divided by something, or a step towards something, `y + a * (x - y)`: two of them, one
after the other, are again one.  That the latter is no number where `y` is infinite, and
`(1 - a) * y + a * x` is, the schedule knows.  Those of second order, with `y[i - 2]`, are in
`second_order.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.scans import neutral
from porter.dtypes.dtype import BOOL, DType
from porter.ir.aliasing import Aliases
from porter.ir.axes import loop_axis
from porter.ir.context import Context
from porter.ir.rebuild import variables_as
from porter.ir.scalars import cast, constant_of, number
from porter.ir.walk import rewrite, scalars_of, statements, substitute, walk
from porter.sizes.polynomial import Data, Poly, sym
from porter.transforms.arrays.rounded_products import exact
from porter.transforms.loops.scans.bounded import Bound, bounded
from porter.transforms.loops.scans.quotients import Ratio, ratio
from porter.transforms.loops.scans.second_order import Pair, Row, has_kernels, negative, row, total


@dataclass(frozen=True)
class Step:
    """`factor * y + body`; with `towards` it was written as `y + a * (x - y)`, and with `resets` it
    is `body` alone where the factor is 0."""

    factor: ir.Expr
    body: ir.Expr
    towards: bool = False
    resets: bool = False

    @property
    def parts(self) -> tuple[ir.Expr, ...]:
        """What is multiplied with, and what is added."""
        return self.factor, self.body

    @property
    def nodes(self) -> tuple[ir.Expr, ...]:
        """All that both of them consist of."""
        return (*walk(self.factor), *walk(self.body))

    def changed(self, change: Callable[[ir.Expr], ir.Expr | None]) -> Step | None:
        """The step with other parts, if there are such."""
        factor, body = map(change, self.parts)
        return None if factor is None or body is None else replace(self, factor=factor, body=body)


def linear(step: ir.Expr, old: ir.Expr) -> Step | None:
    """A step with the old value in one product; None if it is another one.

    Numbers are integers of 64 bits, or floats of 32 or 64: of floats the factors are compared with
    one, and narrower numbers are computed with in wider ones.  Python's integers have no end, so
    they may only be counted, from 0 again where a condition holds.
    """
    if not has_kernels(replace(step.dtype, weak=False)):
        return None
    step = _chosen_last(step, old)
    factor, body = _split(step, old) or (None, None)
    if factor is not None and body is not None:
        found: Step | None = Step(factor, body)
    else:
        found = (_towards(step, old) or _quotient(step, old)) if step.dtype.kind == "f" else None
    if found is None or any(isinstance(x, ir.Reduce) for x in found.nodes):
        return None
    if step.dtype.weak and not set(_cases(found.factor)) <= {
        cast(number(n), step.dtype) for n in (0, 1)
    }:
        return None
    if step.dtype.kind != "f" or not any(_forgets(e, old) for e in walk(step)):
        return found
    # a factor of 0 would not forget an infinite value, or NaN
    factor = _forgetting(step, old)
    return None if factor is None else replace(found, factor=factor, resets=True)


def _chosen_last(e: ir.Expr, old: ir.Expr) -> ir.Expr:
    """`(0 if c else y) + x` as `0 + x if c else y + x`."""
    if not isinstance(e, ir.Op):
        return e
    args = [_chosen_last(a, old) for a in e.args]
    for n, a in enumerate(args):
        if isinstance(a, ir.Select) and _forgets(a, old):
            then, other = (
                _chosen_last(replace(e, args=(*args[:n], x, *args[n + 1 :])), old)
                for x in (a.then, a.other)
            )
            return ir.Select(a.cond, then, other, e.dtype)
    return replace(e, args=tuple(args))


def _cases(factor: ir.Expr) -> Iterator[ir.Expr]:
    """What a factor may be."""
    if isinstance(factor, ir.Select):
        yield from (*_cases(factor.then), *_cases(factor.other))
    else:
        yield factor


def _forgets(e: ir.Expr, old: ir.Expr) -> bool:
    """Whether it is a choice between something with the old value and something without it."""
    return isinstance(e, ir.Select) and (old in walk(e.then)) != (old in walk(e.other))


def _forgetting(e: ir.Expr, old: ir.Expr) -> ir.Expr | None:
    """The factor of a step that forgets the old value where it is 0, and only there."""
    if isinstance(e, ir.Select) and _is_free(e.cond, old):
        then, other = (_forgetting(x, old) for x in (e.then, e.other))
        return None if then is None or other is None else replace(e, then=then, other=other)
    parts = _split(e, old)
    if parts is None or any(_forgets(x, old) for x in walk(e)):
        return None
    none, factor = cast(number(0), e.dtype), parts[0]
    if factor is None or (isinstance(factor, ir.Const) and factor != none):
        return factor or none
    # one that may be 0 is run through in order then
    some = ir.Op("ne", (factor, none), BOOL)
    return ir.Select(some, factor, cast(number(2), e.dtype), e.dtype)


def _is_free(e: ir.Expr, old: ir.Expr) -> bool:
    return all(x != old for x in walk(e))


#: the factor of the old value, and what is added, where there is any
_Parts = tuple[ir.Expr | None, ir.Expr | None]


def _split(e: ir.Expr, old: ir.Expr) -> _Parts | None:
    """The parts of a sum; None if the old value stands in it otherwise."""
    if e == old:
        return cast(number(1), e.dtype), None
    if all(x != old for x in walk(e)):
        return None, e
    match e:
        case ir.Op("mul", (left, right)) if left == old or right == old:
            other = right if left == old else left
            return (other, None) if _is_free(other, old) else None
        case ir.Op("mul" | "truediv" as op, (left, right)) if (
            constant_of(right) if op == "truediv" else _is_free(right, old)
        ):
            return _each(_split(left, old), lambda x: replace(e, args=(x, right)))
        case ir.Op("mul", (left, right)) if _is_free(left, old):
            return _each(_split(right, old), lambda x: replace(e, args=(left, x)))
        case ir.Op("neg", (arg,)):
            inner = _split(arg, old)
            return None if inner is None else (_opposite(inner[0]), _opposite(inner[1]))
        case ir.Op("add" | "sub", (left, right)):
            first, second = _split(left, old), _split(right, old)
            if first is None or second is None or (first[0] and second[0]):
                return None
            factor = _opposite(second[0]) if e.op == "sub" else second[0]
            return first[0] or factor, total(e, first[1], second[1])
        case ir.Select(cond) if all(x != old for x in walk(cond)):
            return _split_choice(e, old)
    return None


def _each(parts: _Parts | None, change: Callable[[ir.Expr], ir.Expr]) -> _Parts | None:
    """Both parts changed, where there are any."""
    if parts is None:
        return None
    factor, body = (None if x is None else change(x) for x in parts)
    return factor, body


def _split_choice(e: ir.Select, old: ir.Expr) -> _Parts | None:
    """The parts of either case; a case without the old value has the factor 0."""
    first, second = _split(e.then, old), _split(e.other, old)
    if first is None or second is None:
        return None
    zero, nothing = cast(number(0), e.dtype), ir.Const(neutral("sum", e.dtype), e.dtype)
    (one, some), (two, rest) = ((a or zero, b or nothing) for a, b in (first, second))
    factor = one if one == two else replace(e, then=one, other=two)
    return factor, some if some == rest else replace(e, then=some, other=rest)


def _towards(e: ir.Expr, old: ir.Expr) -> Step | None:
    """`y + a * (x - y)`, or `y - a * (y - x)`; `a` may stand on either side, and be a quotient."""
    match e:
        case ir.Op("add" | "sub", (left, right)) if left == old:
            way = right
        case ir.Op("add", (way, right)) if right == old:
            pass
        case _:
            return None
    rate, inner = _scaled(way, old)
    parts = _split(inner, old)
    if rate is None or parts is None:
        return None
    factor, body = parts
    if isinstance(e, ir.Op) and e.op == "add":
        factor, body = _opposite(factor), _opposite(body)
    away = cast(number(1), e.dtype)
    if factor != away or body is None:
        return None
    is_towards = ir.Op("ge", (rate, cast(number(0), e.dtype)), BOOL)
    left = ir.Op("sub", (away, rate), e.dtype)
    # away from something it grows, also where this is too little to be seen in the factor
    kept = ir.Select(is_towards, left, cast(number(2), e.dtype), e.dtype)
    return Step(kept, ir.Op("mul", (rate, negative(body)), e.dtype), True)


def _quotient(e: ir.Expr, old: ir.Expr) -> Step | None:
    """`(x - c * y) / b`: where `b` is 0 there is no factor, but the step may be infinite."""
    match e:
        case ir.Op("truediv", (left, right)) if all(x != old for x in walk(right)):
            factor, body = _split(left, old) or (None, None)
            if factor is None or body is None:
                return None
            some = ir.Op("ne", (right, cast(number(0), e.dtype)), BOOL)
            factor = ir.Op("truediv", (factor, right), e.dtype)
            # one beyond 1 is run through in order
            kept = ir.Select(some, factor, cast(number(2), e.dtype), e.dtype)
            return Step(kept, ir.Op("truediv", (body, right), e.dtype))
    return None


def _scaled(e: ir.Expr, old: ir.Expr) -> tuple[ir.Expr | None, ir.Expr]:
    """What all of an expression is multiplied with, and the rest, in which the old value stands."""
    match e:
        case ir.Op("mul" | "truediv", (left, right)):
            first = any(x == old for x in walk(left))
            if first == any(x == old for x in walk(right)) or (e.op == "truediv" and not first):
                return None, e
            other, inside = (right, left) if first else (left, right)
            rate, inner = _scaled(inside, old)
            if rate is None and e.op == "mul":
                return other, inner
            return ir.Op(e.op, (rate or cast(number(1), e.dtype), other), e.dtype), inner
    return None, e


def _opposite(e: ir.Expr | None) -> ir.Expr | None:
    return None if e is None else negative(e)


# -- kept in the array -----------------------------------------------------------------------


def element_before(s: ir.Write, loop: ir.For, turns: int = 1) -> tuple[Poly, ...] | None:
    """The subscripts that a store has some turns earlier, if it runs along one dimension."""
    if any(isinstance(a, Data) for p in s.index for a in p.atoms()):
        return None
    if sum(loop.index in p.names() for p in s.index) != 1:
        return None
    if any(p.coefficient(loop.index) not in (0, 1) for p in s.index):
        return None
    here = sym(loop.index, True)
    return tuple(p.replace({loop.index: here - turns * loop.step}) for p in s.index)


def recurrence_in_array(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """A store of all elements that the loop stores, from the one or two before its first."""
    s = _only_store(loop, after)
    if s is None or s.axes or s.mask is not None or s.combine or loop.step not in (1, -1):
        return None
    dtype = context.buffers[s.buffer].dtype
    indices = [element_before(s, loop, turns) for turns in (1, 2)]
    olds = tuple(ir.Load(s.buffer, index, dtype) for index in indices if index is not None)
    found = _step(s.body, olds) if olds else None
    if found is None:
        return None
    reads = [x for x in found.nodes if isinstance(x, ir.Load) and x.buffer == s.buffer]
    # the lowest subscript: none of them may count from the end
    lowest = loop.lo - (2 if isinstance(found, Pair) else 1) if loop.step == 1 else loop.hi + 1
    least = (p.replace({loop.index: lowest}) for p in s.index)
    if any(x.index != s.index for x in reads) or not all(is_above(p, loop, context) for p in least):
        return None
    keep_apart(s, found.parts, loop.step, context)
    axis, place = loop_axis(loop)
    first = {loop.index: loop.lo}
    starts = [replace(x, index=tuple(p.replace(first) for p in x.index)) for x in olds]
    if not isinstance(found, Pair):
        y = ir.Local(context.fresh("y_"), s.body.dtype)
        written = rewrite(s.body, lambda e: y if e == olds[0] else None)
        body: ir.Expr = running(axis, found, (y, written), starts[0], place, context)
    else:
        body = running_pair(axis, found, olds, starts, place, context)
    new, names = context.fresh_axes((axis,))
    index = tuple(p.replace(place).replace(names) for p in s.index)
    return [replace(s, axes=new, index=index, body=substitute(body, names))]


def is_above(p: Poly, loop: ir.For, context: Context) -> bool:
    """Whether a subscript is not negative where the loop runs, by what the host tests then."""
    extent = loop.hi - loop.lo if loop.step > 0 else loop.lo - loop.hi
    made = (c for c in context.checks if c.kind == "index" and not c.conditions)
    known = [c.right - c.left for c in made if {*c.when} <= {extent}]
    return p.is_nonneg() or any((p - least).is_nonneg() for least in known)


def _step(step: ir.Expr, olds: tuple[ir.Load, ...]) -> Step | Bound | Ratio | Pair | None:
    """The step of an element from the one before it, or from the two before it."""
    if all(x != olds[1] for x in walk(step)):
        return linear(step, olds[0]) or bounded(step, olds[0]) or ratio(step, olds[0])
    found = row(step, olds)
    return None if found is None else Pair((found, Row.of(0, step.dtype)), (step, olds[0]))


def _only_store(loop: ir.For, after: set[str]) -> ir.Write | None:
    """The store of a loop that does nothing else; variables of an iteration are put in place."""
    *lets, s = loop.body
    if not isinstance(s, ir.Write):
        return None
    known: dict[str, ir.Expr] = {}
    for let in lets:
        if not isinstance(let, ir.Let) or let.name in after or let.name in known:
            return None
        known[let.name] = rewrite(let.value, variables_as(known))
    if any(x.names() & known.keys() for x in s.index):
        return None
    assigned = {x.name for x in statements(loop.body) if isinstance(x, ir.Let)}
    body = rewrite(s.body, variables_as(known))
    return None if scalars_of(body) & assigned else replace(s, body=body)


def keep_apart(
    s: ir.Write, read: Iterable[ir.Expr], step: int, context: Context, *, late: bool = False
) -> None:
    """What a loop reads of one argument must not be what it has stored into another one.

    It is read before the loop.  Nothing was stored yet into the element itself, unless the store
    comes first (`late`), and into those that the loop has still to come to.
    """
    aliases = Aliases.of((), context.buffers)
    for x in (x for e in read for x in walk(e)):
        if isinstance(x, ir.Load) and aliases.given_twice(s.buffer, x.buffer):
            gaps = [(r - w).constant for r, w in zip(x.index, s.index, strict=True)]
            ahead = len(gaps) == 1 and gaps[0] is not None and gaps[0] * step > 0
            if not ahead and (late or x.index != s.index):
                context.no_alias.add((s.buffer, x.buffer))


def running(
    axis: ir.Axis, step: Step | Bound | Ratio, written: tuple[ir.Local, ir.Expr], start: ir.Expr,
    place: dict[str, Poly], context: Context,
) -> ir.Linear | ir.Bounded | ir.Quotient:  # fmt: skip
    """All steps up to that of the axis; `place` says what the loop's own index is there.

    The step as `written` is what the source has, with a variable in place of the old value.  Its
    products are rounded as NumPy's: where it grows, one rounding decides what is infinite.
    """
    dtype = replace(start.dtype, weak=False)
    k, moved = fold_up_to(axis, place, dtype, context)
    old, source = written
    parts = moved(step.body), dtype, cast(start, dtype), moved(exact(source)), old.name
    if isinstance(step, Bound):
        return ir.Bounded("bounded", (k,), *parts, moved(step.low), moved(step.high))
    factor = moved(step.factor)
    if isinstance(step, Ratio):
        return ir.Quotient("quotient", (k,), *parts, factor, moved(step.weight), moved(step.rest))
    return ir.Linear("linear", (k,), *parts, factor, step.towards, step.resets)


def running_pair(
    axis: ir.Axis, pair: Pair, olds: Sequence[ir.Expr], starts: Sequence[ir.Expr],
    place: dict[str, Poly], context: Context,
) -> ir.Coupled:  # fmt: skip
    """All steps of two values up to that of the axis, as `running` has those of one."""
    dtype = replace(starts[0].dtype, weak=False)
    k, moved = fold_up_to(axis, place, dtype, context)
    names = context.fresh("y_"), context.fresh("z_")
    known = {old: ir.Local(name, dtype) for old, name in zip(olds, names, strict=True)}
    step, other_step = (moved(exact(rewrite(e, known.get))) for e in pair.steps)
    (factor, across), (back, keep) = (map(moved, r.filled(dtype)) for r in pair.rows)
    body, other_body = (moved(r.body) for r in pair.rows)
    start, other_start = (cast(e, dtype) for e in starts)
    return ir.Coupled(
        "linear", (k,), body, dtype, start, step, names[0], factor, other=names[1], across=across,
        back=back, keep=keep, other_body=other_body, other_start=other_start,
        other_step=other_step,
    )  # fmt: skip


def fold_up_to(
    axis: ir.Axis, place: dict[str, Poly], dtype: DType, context: Context
) -> tuple[ir.Axis, Callable[[ir.Expr], ir.Expr]]:
    """The axis of a fold up to the index of another one, and expressions of the loop on it."""
    k = ir.Axis(context.fresh("k_"), sym(axis.name, True) + 1, axis.lo)
    there = {axis.name: sym(k.name, True)}
    return k, lambda e: cast(substitute(substitute(e, place), there), dtype)
