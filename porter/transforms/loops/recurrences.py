"""`y[i] = a[i] * y[i - 1] + b[i]`: loops of one store that continue from the element before.

Only linear steps of first order qualify, with the old value in one product of its own: two of
them, one after the other, are again one.  `y + a * (x - y)` is no such sum: with an infinite `y` it
is no number, and `(1 - a) * y + a * x` is infinite.
"""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.ir.axes import loop_axis
from porter.ir.context import Context
from porter.ir.rebuild import variables_as
from porter.ir.scalars import cast, number
from porter.ir.walk import rewrite, scalars_of, statements, substitute, walk
from porter.sizes.polynomial import Data, Poly, sym


def linear(step: ir.Expr, old: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
    """The factor of the old value in a step, and what is added to that; None if there are none.

    Numbers are integers of 64 bits, or floats of 32 or 64: of floats the factors are compared with
    one, and narrower numbers are computed with in wider ones.
    """
    dtype = step.dtype
    if dtype.weak or dtype.kind not in "if" or dtype.itemsize < (8 if dtype.kind == "i" else 4):
        return None
    found = _split(step, old)
    if found is None or found[0] is None or found[1] is None:
        return None
    plain = not any(isinstance(x, ir.Reduce) for part in found if part for x in walk(part))
    return (found[0], found[1]) if plain else None


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
            return None if any(x == old for x in walk(other)) else (other, None)
        case ir.Op("neg", (arg,)):
            inner = _split(arg, old)
            return None if inner is None else (_negative(inner[0]), _negative(inner[1]))
        case ir.Op("add" | "sub", (left, right)):
            first, second = _split(left, old), _split(right, old)
            if first is None or second is None or (first[0] and second[0]):
                return None
            factor = _negative(second[0]) if e.op == "sub" else second[0]
            return first[0] or factor, _sum(e, first[1], second[1])
    return None


def _negative(e: ir.Expr | None) -> ir.Expr | None:
    if isinstance(e, ir.Op) and e.op == "neg":
        return e.args[0]
    return None if e is None else ir.Op("neg", (e,), e.dtype)


def _sum(e: ir.Op, left: ir.Expr | None, right: ir.Expr | None) -> ir.Expr | None:
    """The sum, or difference, of what is left of its terms."""
    if left is None or right is None:
        return _negative(right) if left is None and e.op == "sub" else left or right
    return ir.Op(e.op, (left, right), e.dtype)


# -- kept in the array -----------------------------------------------------------------------


def recurrence_in_array(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """A store of all elements that the loop stores, from the one before its first."""
    s = _only_store(loop, after)
    if s is None or s.axes or s.mask is not None or s.combine or loop.step not in (1, -1):
        return None
    here = sym(loop.index, True)
    if any(isinstance(a, Data) for p in s.index for a in p.atoms()):
        return None
    if sum(loop.index in p.names() for p in s.index) != 1:
        return None
    if any(p.coefficient(loop.index) not in (0, 1) for p in s.index):
        return None
    earlier = tuple(p.replace({loop.index: here - loop.step}) for p in s.index)
    old = ir.Load(s.buffer, earlier, context.buffers[s.buffer].dtype)
    found = linear(s.body, old)
    if found is None:
        return None
    reads = [x for e in found for x in walk(e) if isinstance(x, ir.Load) and x.buffer == s.buffer]
    start = tuple(p.replace({loop.index: loop.lo}) for p in earlier)
    # the lowest subscript: none of them may count from the end
    lowest = loop.lo - 1 if loop.step == 1 else loop.hi + 1
    least = (p.replace({loop.index: lowest}) for p in s.index)
    if any(x.index != s.index for x in reads) or not all(p.is_nonneg() for p in least):
        return None
    axis, place = loop_axis(loop)
    body = running(axis, (found[0], found[1]), replace(old, index=start), place, context)
    new, names = context.fresh_axes((axis,))
    index = tuple(p.replace(place).replace(names) for p in s.index)
    return [replace(s, axes=new, index=index, body=substitute(body, names))]


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


def running(
    axis: ir.Axis, step: tuple[ir.Expr, ir.Expr], start: ir.Expr, place: dict[str, Poly],
    context: Context,
) -> ir.Recurrence:  # fmt: skip
    """All steps up to that of the axis; `place` says what the loop's own index is there."""
    k = ir.Axis(context.fresh("k_"), sym(axis.name, True) + 1, axis.lo)
    dtype = replace(start.dtype, weak=False)
    there = {axis.name: sym(k.name, True)}
    factor, body = (
        cast(substitute(substitute(e, place) if place else e, there), dtype) for e in step
    )
    return ir.Recurrence("linear", (k,), body, dtype, factor, cast(start, dtype))
