"""Where the user's loops go: to the grid, into a reduction, or onto the host.

A loop is parallel when no iteration writes what another one reads or writes, tested on
affine subscripts and conservatively.  A loop that only accumulates scalars is a reduction.
Any other loop stays on the host around the kernels of its body; if its body has nothing
parallel in it, it is refused with both places of the dependence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.aliases import under_one_name
from porter.analyses.dependence import Nest, sites
from porter.analyses.obstacles import obstacle
from porter.diagnostics import Refusal, refusal
from porter.ir.axes import Range, loop_axis
from porter.ir.context import Context
from porter.ir.effects import (
    axes_of,
    defs_in,
    exposed_scalars,
    makes,
    nodes_of,
    surely_assigned,
    uses,
    uses_in,
)
from porter.ir.rebuild import S, map_blocks, map_exprs, rename_axes
from porter.ir.walk import statements, substitute, walk
from porter.sizes.polynomial import Poly, sym
from porter.transforms.loops.flags import flags
from porter.transforms.loops.folds import fold_loop
from porter.transforms.loops.iteration import sums_apart, written_out
from porter.transforms.loops.nests import (
    array_statement,
    by_element,
    cut,
    fused_body,
    looped,
    over_elements,
    triangle,
)
from porter.transforms.loops.orders.forwarded import forwarded
from porter.transforms.loops.orders.right_looking import right_looking
from porter.transforms.loops.orders.wavefronts import turns_in_fronts, wavefront
from porter.transforms.loops.own_arrays import one_for_each
from porter.transforms.loops.scatter import combined, last_stores, ragged, scatters, totals, varies
from porter.transforms.loops.searches import search
from porter.transforms.loops.serial import on_one_thread

MAX_AXES = 3


def place_loops(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: every host-level loop becomes stages, reductions or a host loop."""
    result: list[ir.Stmt] = []
    outer = context.here
    for k, stmt in enumerate(body):
        if isinstance(stmt, (ir.For, ir.While, ir.If)):
            after = exposed_scalars(body[k + 1 :]) | outer.read_later
            later = outer.used_later | uses_in(body[k + 1 :]).arrays
            context.here = replace(context.here, used_later=later)
            if isinstance(stmt, ir.For):
                result += _place(stmt, after, context)
            elif isinstance(stmt, ir.While):
                result += _while(stmt, after, context)
            else:
                result.append(_inside(stmt, after, context))
        else:
            result.append(stmt)
        here = context.here
        bound = here.bound | defs_in((stmt,)).scalars
        assigned = here.assigned | surely_assigned((stmt,))
        context.here = replace(outer, bound=bound, assigned=assigned)
    return tuple(result)


def _inside(stmt: S, after: set[str], context: Context) -> S:
    """The loops inside a host statement; what runs again may read its variables again."""
    outer = context.here
    inner = replace(outer, read_later=outer.read_later | after | exposed_scalars((stmt,)))
    context.here = inner.inside(stmt) if isinstance(stmt, ir.For) else inner
    try:
        return map_blocks(stmt, lambda b: place_loops(b, context))
    finally:
        context.here = outer


def _while(loop: ir.While, after: set[str], context: Context) -> list[ir.Stmt]:
    mark = context.mark()
    placed = _inside(loop, after, context)
    touched = any(True for _ in accesses((loop,)))
    if context.program.allow_serial and touched and not _has_parallel_work((placed,)):
        context.back_to(mark)
        return on_one_thread(loop, after, context, _as_thread) or [placed]
    return [placed]


def _place(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt]:
    reason = obstacle(loop, after, context)
    if reason is None:
        met = obstacle(under_one_name(loop, context.program), after, context)
        if met is not None:
            raise met
        return _threads_or_steps(loop, after, context)
    folded = _folded(loop, after, context)
    if folded is not None:
        return folded
    flagged = flags(loop, after, context, lambda new, rest: _place(new, rest, context))
    if flagged is not None:
        return flagged
    updates = combined(loop, context)
    if updates is not None and obstacle(updates, after, context) is not None:
        updates = None
    if updates is not None and scatters(updates):
        return _parallel(updates, context)
    stores = last_stores(loop, after)
    if stores is not None:
        return stores
    mark = context.mark()
    try:
        return _in_order(loop, after, context, reason)
    except Refusal:
        context.back_to(mark)
        if updates is not None:
            return totals(updates) or _parallel(updates, context)
        alone = _serial(loop, after, context)
        if alone is None:
            raise
        return alone


def _folded(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The loop as reductions, with the arrays of an iteration written out in them."""
    mark = context.mark()
    found = fold_loop(replace(loop, body=written_out(loop.body, context)), after)
    if found is None:
        context.back_to(mark)
        return None
    return [*found]


def _serial(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The loop on one thread, if the user allows that and a thread can run it."""
    if not context.program.allow_serial:
        return None
    try:
        alone = replace(loop, body=written_out(loop.body, context))
        return on_one_thread(alone, after, context, _as_thread)
    except Refusal:
        return None


def _in_order(loop: ir.For, after: set[str], context: Context, reason: Refusal) -> list[ir.Stmt]:
    """A loop that depends on its own iterations: around launches, in waves, or in parts."""
    found = search(loop, after, context)
    if found is not None:
        return found
    at_once = array_statement(loop, after, context)
    if at_once is not None:
        return [at_once]
    computed = forwarded(loop, after, context)
    if computed is not None:
        return computed
    steps = None if context.alone else right_looking(loop, after, context)
    if steps is not None:
        return steps
    waves = _waves(loop, after, context) if _slanted(loop, context) else None
    if waves is None and not context.alone:
        mark = context.mark()
        waves = turns_in_fronts(loop, after, context)
        if waves is None:
            context.back_to(mark)
    if waves is not None:
        return waves
    try:
        placed = _inside(loop, after, context)
        if _has_parallel_work(placed.body):
            return [placed]
    except Refusal as inner:
        last = inner
    else:
        last = reason
    waves = _waves(loop, after, context)
    if waves is None:
        whole = fused_body(loop, context)
        waves = None if whole is None else _waves(whole, after, context)
    if waves is not None:
        return waves
    parts = cut(loop, after, context)
    if len(parts) > 1:
        return [x for part in parts for x in _place(part, after, context)]
    raise last


def _waves(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The loop over diagonals; not where one thread that runs in order is as fast."""
    return None if context.alone else wavefront(loop, after, context)


def _slanted(loop: ir.For, context: Context) -> bool:
    """Whether the loop holds just one other, sequential as well, that does scalar work."""
    inner = loop.body[-1] if loop.body else None
    if not isinstance(inner, ir.For) or isinstance(inner.body[0], ir.For):
        return False
    outer, context.here = context.here, context.here.inside(loop)
    sequential = obstacle(inner, set(), context) is not None
    context.here = outer
    return sequential


def _threads_or_steps(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt]:
    """A parallel loop on the grid; where a thread cannot run its body, launches in a host loop."""
    mark = context.mark()
    try:
        return _parallel(loop, context)
    except Refusal as refused:
        last = refused
    context.back_to(mark)
    if _has_parallel_work(loop.body):
        try:
            return [_inside(loop, after, context)]
        except Refusal as refused:
            last = refused
    context.back_to(mark)
    try:
        return _parallel(loop, context, apart=True)
    except Refusal:
        raise last from None


def _has_parallel_work(body: Sequence[ir.Stmt]) -> bool:
    for s in statements(tuple(body)):
        if isinstance(s, (ir.Stage, ir.Def, ir.Write)) and s.axes:
            return True
        if any(isinstance(e, ir.Reduce) for e in nodes_of(s)):
            return True
    return False


# -- parallel loops ------------------------------------------------------------------------


def _parallel(loop: ir.For, context: Context, apart: bool = False) -> list[ir.Stmt]:
    """A loop on the grid; where its iterations stand `apart`, each has its own of their arrays."""
    axis, change = loop_axis(loop)
    body = tuple(rename_axes(s, change) for s in loop.body) if change else loop.body
    body = tuple(map(looped, body))
    own = {loop.index} | {s.index for s in statements(body) if isinstance(s, ir.For)}
    if _straight(body, own, context) and any(map(axes_of, statements(body))):
        return _distribute((axis,), body, context)
    body = written_out(over_elements(by_element(body, loop, context), loop, context), context)
    axes, body = _nest([axis], body, context)
    made, body = one_for_each(axes, body, context) if apart else ([], body)
    outer = context.here
    context.here = replace(outer, loops=(*outer.loops, *map(Range.of, axes)))
    try:
        thread = tuple(x for s in body for x in _as_thread(s, context))
    finally:
        context.here = outer
    return [*made, ir.Stage(tuple(axes), thread, loop.origin)]


def _straight(body: Sequence[ir.Stmt], own: set[str], context: Context) -> bool:
    """Only definitions, stores, plain variables and parallel loops of the same."""
    lets = [s.name for s in statements(tuple(body)) if isinstance(s, ir.Let)]
    if len(lets) != len(set(lets)):
        return False
    for s in body:
        if any(ragged(a, own) for a in axes_of(s)):
            return False
        if isinstance(s, ir.For):
            if s.step != 1 or ragged(ir.Axis(s.index, s.hi, s.lo), own):
                return False
            if obstacle(s, set(), context) is not None:
                return False
            if not _straight(s.body, own, context):
                return False
        elif not isinstance(s, (ir.Def, ir.Write, ir.Let, ir.Alloc)):
            return False
    return True


def _distribute(
    outer: tuple[ir.Axis, ...], body: Sequence[ir.Stmt], context: Context
) -> list[ir.Stmt]:
    """Each statement over the loop's index and its own: an array inside gets one more axis."""
    result: list[ir.Stmt] = []
    lead = tuple(sym(a.name, True) for a in outer)
    own = set[str]().union(*map(makes, body))
    lets = [s.name for s in body if isinstance(s, ir.Let)]
    names_of = {n: n if n not in context.buffers else context.fresh(n) for n in lets}
    # an array made in an iteration counts from the loop's start
    at = tuple(i - a.lo for i, a in zip(lead, outer, strict=True))

    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in own:
            return replace(e, index=(*at, *e.index))
        if isinstance(e, ir.Local) and e.name in names_of:
            return ir.Load(names_of[e.name], at, e.dtype)
        return None

    def place(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.For):
            return map_blocks(s, lambda block: tuple(map(place, block)))
        if isinstance(s, ir.Write) and s.buffer in own:
            return replace(s, index=(*at, *s.index))
        return s

    for s in body:
        s = place(map_exprs(s, change))
        new, names = context.fresh_axes(outer)
        match s:
            case ir.For():
                axis, moved = loop_axis(s)
                inner = tuple(rename_axes(x, moved) for x in s.body)
                result += _distribute((*outer, axis), inner, context)
            case ir.Alloc(buffer, origin):
                wide = replace(buffer, shape=(*(a.extent for a in outer), *buffer.shape))
                context.buffers[buffer.name] = wide
                result.append(ir.Alloc(wide, origin))
            case ir.Let(name, value, origin):
                dtype = replace(value.dtype, weak=False)
                held = names_of[name]
                shape = tuple(a.extent for a in outer)
                context.buffers[held] = ir.Buffer(held, shape, dtype)
                result.append(
                    _shifted(ir.Def(held, outer, dtype, value, origin), outer, new, names)
                )
            case ir.Def(name, axes, dtype, _, _):
                shape = (*(a.extent for a in outer), *(a.extent for a in axes))
                context.buffers[name] = replace(context.buffers[name], shape=shape)
                wide_def = replace(s, axes=(*outer, *axes))
                result.append(_shifted(wide_def, outer, new, names))
            case ir.Write(axes=axes):
                result.append(rename_axes(replace(s, axes=(*new, *axes)), names))
    return result


def _shifted(
    s: ir.Def, outer: tuple[ir.Axis, ...], new: tuple[ir.Axis, ...], names: dict[str, Poly]
) -> ir.Def:
    """A definition over the loop's domain, counted from 0."""
    axes = tuple(ir.Axis(n.name, n.extent) for n in new)
    moved = {a.name: names[a.name] + a.lo for a in outer}
    body = substitute(s.body, moved)
    rest = tuple(s.axes[len(outer) :])
    return ir.Def(s.name, (*axes, *rest), s.dtype, body, s.origin)


def _nest(
    axes: list[ir.Axis], body: tuple[ir.Stmt, ...], context: Context
) -> tuple[list[ir.Axis], tuple[ir.Stmt, ...]]:
    """Inner parallel loops of a perfect nest join the domain; plain variables sink into it."""
    lets = [s for s in body if isinstance(s, ir.Let)]
    loops = [s for s in body if isinstance(s, ir.For)]
    if len(axes) >= MAX_AXES or len(loops) != 1 or len(lets) + 1 != len(body):
        return axes, body
    inner = loops[0]
    if body[-1] is not inner or any(_heavy(s) for s in lets):
        return axes, body
    # each thread computes the variables for itself: what they read must not change meanwhile
    whole = replace(inner, body=(*lets, *inner.body))
    if any(obstacle(loop, set(), context) is not None for loop in (inner, whole)):
        return axes, body
    if uses(inner).scalars & {s.name for s in lets}:
        return axes, body
    axis, change = loop_axis(inner)
    moved = tuple(rename_axes(s, change) for s in inner.body) if change else inner.body
    if ragged(axis, {a.name for a in axes}):
        found = triangle(axis, axes)
        if found is None:
            return axes, body
        axis, inside = found
        moved = (ir.If(inside, moved, (), inner.origin),)
    return _nest([*axes, axis], (*lets, *moved), context)


def _heavy(s: ir.Let) -> bool:
    return any(isinstance(e, ir.Reduce) for e in walk(s.value))


def _reads_changed(s: ir.Write, context: Context) -> bool:
    """Whether an element reads another one that the same statement may have stored before."""
    (stored, *read) = sorted(sites([s]), key=lambda x: not x.access.write)
    nest = Nest((), context.here.loops, context.buffers)
    others = (x for x in read if x.access.buffer == s.buffer and x.access.index != s.index)
    return any(nest.meet(stored, x, 0) for x in others)


def _as_thread(s: ir.Stmt, context: Context) -> list[ir.Stmt]:
    """A statement of a loop body as scalar statements of one thread."""
    match s:
        case ir.Write(axes=axes) if axes:
            before, s = sums_apart(s, context)
            inner: ir.Stmt = replace(s, axes=())
            reading = [a for a in accesses([s]) if not a.write and a.buffer == s.buffer]
            twice = s.combine is None and varies(s.index, axes)
            if (reading and twice) or _reads_changed(s, context):
                raise refusal("PRT902", "this statement reads other elements of its own target",
                              s.origin.span, "store the result into a second array")  # fmt: skip
            for a in reversed(axes):
                inner = ir.For(a.name, a.lo, a.hi, 1, (inner,), s.origin)
            return [*before, inner]
        case ir.Def() | ir.Alloc():
            raise refusal(
                "PRT902",
                "an array is allocated in a loop with branches or inner reductions",
                s.origin.span,
                "use scalars, or allocate the array before the loop",
            )
        case ir.For() | ir.While() | ir.If():
            return [map_blocks(s, lambda b: tuple(x for t in b for x in _as_thread(t, context)))]
    return [s]
