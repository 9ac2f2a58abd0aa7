"""Loops that store what they accumulate: running folds written out.

`for i: s += f(i); out[i] = s` is the running sum of f, and then a loop without the sum, whose
iterations are free of each other.  `for i: out[i] = out[i - 1] + f(i)` is the same with the
sum kept in the array.  Only associative operations qualify, and linear steps, which are so in
pairs (`transforms/loops/scans/recurrences.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from porter import ir
from porter.analyses.obstacles import obstacle
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars
from porter.ir.rebuild import rename_axes
from porter.ir.scalars import cast, constant_of
from porter.ir.walk import statements, substitute, walk
from porter.sizes.polynomial import Poly, sym
from porter.transforms.loops.folds import (
    fold_loop,
)
from porter.transforms.loops.nests import cut
from porter.transforms.loops.scans.carried import Carried, running_fold
from porter.transforms.loops.scans.compaction import stored_once
from porter.transforms.loops.scans.elements import Elements, elements_as_variables
from porter.transforms.loops.scans.recurrences import (
    element_before,
    keep_apart,
    recurrence_in_array,
)
from porter.transforms.loops.scans.single_assignment import iteration_of
from porter.transforms.loops.scans.steps import FOLDS


def scan_loops(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass, over the loops that stand in no other."""
    result: list[ir.Stmt] = []
    for k, s in enumerate(body):
        found = None
        if isinstance(s, ir.For) and s.step in (1, -1):
            after = exposed_scalars(body[k + 1 :])
            if obstacle(s, after, context) is not None and fold_loop(s, after) is None:
                found = scanned(s, after, _constants(body[:k]), context)
        result += found or [s]
    return tuple(result)


def _constants(body: Sequence[ir.Stmt]) -> dict[str, ir.Expr]:
    """The variables that are constants after statements of the host."""
    last: dict[str, ir.Expr] = {}
    for s in body:
        for name in defs_in((s,)).scalars:
            last.pop(name, None)
        if isinstance(s, ir.Let) and constant_of(s.value) is not None:
            last[s.name] = s.value
    return last


def scanned(
    loop: ir.For, after: set[str], known: Mapping[str, ir.Expr], context: Context
) -> list[ir.Stmt] | None:
    """What a loop accumulates, before the rest of it; None if it cannot be computed so.

    Where a line is one thread's, a linear recurrence stays the loop that it is."""
    found: list[ir.Stmt] | None = None
    if loop.step == 1:
        found = _recurrence(loop, context)
    up = Elements(_upwards(loop), known, frozenset())
    found = found or _accumulators(up, after, context)
    if not found and not context.alone:
        found = recurrence_in_array(loop, after, context)
    if not found and not _is_apart(loop, after, context):
        elements = elements_as_variables(up, context)
        found = None if elements is None else _accumulators(elements, after, context)
        if elements is not None and found:
            context.no_alias |= elements.apart
    return found


def _is_apart(loop: ir.For, after: set[str], context: Context) -> bool:
    """Whether stores and sums of a loop need no order once each has a loop of its own."""
    parts = cut(loop, after, context)
    folded = (obstacle(p, after, context) is None or fold_loop(p, after) for p in parts)
    return len(parts) > 1 and all(folded)


def _upwards(loop: ir.For) -> ir.For:
    """The loop with an index that counts its iterations, if it runs downwards."""
    if loop.step == 1:
        return loop
    change = {loop.index: loop.lo - sym(loop.index, True)}
    body = tuple(rename_axes(s, change) for s in loop.body)
    return replace(loop, lo=Poly(), hi=loop.lo - loop.hi, step=1, body=body)


# -- accumulated in a variable -------------------------------------------------------------


def _accumulators(made: Elements, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The running folds of all variables that the loop carries, and the loop without them."""
    loop = made.loop
    assigned = defs_in(loop.body).scalars
    if not exposed_scalars(loop.body) & assigned and all(map(partial(_is_flag, loop), assigned)):
        return None
    iteration = iteration_of(loop, after, context)
    if iteration is None:
        return None
    carried = Carried(made, stored_once(iteration, made.starts), context)
    if not carried.find():
        return None
    later = after - iteration.olds.keys()
    rest = carried.rest(later)
    new = [replace(loop, body=rest)] if rest else []
    if new and obstacle(new[0], later, context) is not None:
        # what is read a few iterations later may be stored in a loop of its own
        new = cut(new[0], later, context)
        if any(obstacle(part, later, context) is not None for part in new):
            return None
    inside = list(statements(loop.body))
    for s in (x for x in inside if isinstance(x, ir.Write)):
        for name, read in carried.steps():
            lets = [k for k, x in enumerate(inside) if isinstance(x, ir.Let) and x.name == name]
            late = any(x is s for x in inside[: lets[-1]])
            keep_apart(s, [read], 1, context, late=late)
    last = [told.last for name, told in carried.told.items() if name in after]
    return [*carried.defs, *new, *last]


def _is_flag(loop: ir.For, name: str) -> bool:
    """Whether a loop gives a variable one constant alone, which threads may store at once."""
    lets = [s for s in statements(loop.body) if isinstance(s, ir.Let) and s.name == name]
    known = {constant_of(s.value) for s in lets}
    return len(known) == 1 and None not in known


# -- accumulated in the array ----------------------------------------------------------------


def _recurrence(loop: ir.For, context: Context) -> list[ir.Stmt] | None:
    """`out[i] = out[i - 1] op f(i)` as a running fold of f and what stood before the first."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], ir.Write):
        return None
    s = loop.body[0]
    if s.axes or s.mask is not None or s.combine or not isinstance(s.body, ir.Op):
        return None
    if s.body.op not in FOLDS or len(s.body.args) != 2:
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
    fold = FOLDS[s.body.op]
    name = f"{s.buffer}_so_far"
    made = running_fold(loop, name, fold, cast(term, s.body.dtype), s.origin, context)
    array, place = made.name, sym(loop.index, True) - loop.lo
    start = replace(first, index=tuple(p.replace({loop.index: loop.lo}) for p in earlier))
    body = ir.Op(s.body.op, (start, ir.Load(array, (place,), s.body.dtype)), s.body.dtype)
    new, names = context.fresh_axes((ir.Axis(loop.index, loop.hi, loop.lo),))
    index = tuple(p.replace(names) for p in s.index)
    return [made, replace(s, axes=new, index=index, body=substitute(body, names))]
