"""`for` and `while`, their `else`, and what leaves them early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import libcst as cst

from porter import ir
from porter.dtypes.dtype import BOOL, WEAK_INT
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.scalars import choose, integer, number, on_host, operate
from porter.ir.walk import free_names
from porter.ir.walk import statements as statements_in
from porter.lowering.evaluation import Body, Frame, is_expr
from porter.lowering.expressions.iterations import iterate, trips
from porter.lowering.host.statements import check_kept
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import never_negative
from porter.lowering.state.scope import Loop
from porter.lowering.statements.control import (
    branch_on,
    carry,
    forget_dead,
    rebind,
    suite,
)
from porter.lowering.statements.first_positions import begin_in_range
from porter.lowering.statements.jumps import Left, Undecided
from porter.lowering.statements.live_out import keep_own
from porter.lowering.statements.statics import after_loop, before_loop, grow
from porter.lowering.statements.untouched import counted, literal_starts, note
from porter.resolve.values import Array, Grid, Iteration, Range, Value
from porter.sizes.polynomial import Data, Poly, sym
from porter.source.walk import children
from porter.syntax.liveness import bound, exposed
from porter.syntax.names import assigned_names, contains, target_names

#: loops over slices with at most this many trips are unrolled
MAX_UNROLLED = 9


def for_loop(body: Body, node: cst.For) -> None:
    """A `for` over a range, an array, enumerate, zip, ndindex or a tuple (which is unrolled)."""
    value = body.ev(node.iter)
    if isinstance(value, Grid):
        if _breaks(node.body) or node.orelse is not None:
            raise body.b.refuse(
                "PRT902",
                "`break` in a loop over all index tuples is not supported",
                "write one `for` loop for each axis",
            )
        _over_grid(body, node, value, ())
        return
    if isinstance(value, tuple):
        _over_items(body, node, value)
        return
    loop = iterate(body.b, value)
    if _small(loop.range, node):
        first, step = loop.range.start, loop.range.step
        steps = range(first.constant or 0, loop.range.stop.constant or 0, step)
        _over_items(body, node, tuple(loop.item(Poly.of(k)) for k in steps))
        return
    _with_else(body, node, lambda frame: _loop(body, node, loop, frame))


def _with_else(body: Body, node: cst.For | cst.While, run: Callable[[Frame], None]) -> None:
    """The loop, then its `else` if no `break` happened."""
    b, origin = body.b, body.b.place.origin
    frame = Frame()
    breaks = _breaks(node.body)
    if node.orelse is not None and breaks:
        frame.completed = b.out.fresh("completed")
        b.let(frame.completed, number(True))
    run(frame)
    if node.orelse is None:
        return
    b.place.origin = origin
    statements = suite(node.orelse.body)
    if breaks:
        branch_on(body, ir.Local(frame.completed, BOOL), statements, [])
    else:
        body.run(statements)


def _breaks(node: cst.CSTNode) -> bool:
    """Whether a `break` leaves the loop whose body this is."""
    if isinstance(node, (cst.For, cst.While)):
        return node.orelse is not None and _breaks(node.orelse)
    return isinstance(node, cst.Break) or any(map(_breaks, children(node)))


def _loop(body: Body, node: cst.For, loop: Iteration, frame: Frame) -> None:
    """A loop that stays one."""
    b, origin, r = body.b, body.b.place.origin, loop.range
    statements = suite(node.body)
    target = node.target.value if isinstance(node.target, cst.Name) else ""
    late = any(target in exposed(rest) for rest in body.flow.rest)
    kept = late and _breaks(node.body)
    if kept:
        _first_value(body, target, r, _else_binds(node, target))
    before, given = set(body.env), body.env.get(target)
    if _stands_alone(node) and b.restarts.way.peels(b.sizes.resolve(trips(r)), b.scope):
        loop = _without_first(body, node, loop)
        r = loop.range
    reassigned = {n for n in assigned_names(statements) if n == target}
    names = [n for n in assigned_names(statements) if n != target]
    dead = set(names) - set(names := forget_dead(body, names, node))
    grow(body, names, trips(r))
    starts = literal_starts(body, names)
    counted(body, node, loop)
    frame.arrays = carry(body, names, statements)
    settled = before_loop(body, names)
    variables = set(names) | reassigned | ({target} if kept else set())
    begin_in_range(body, node, r)

    def run(index: Poly, collected: list[ir.Stmt]) -> None:
        _bind_target(body, node.target, loop.item(index), variables)
        body.run_again(statements)
        keep_own(body, {*before, *target_names(node.target)}, statements, collected)

    _emit(body, r, target, frame, run)
    after_loop(body, settled, node)
    note(body, starts, node, loop)
    for name in dead:
        body.env.pop(name, None)
    for name in [n for n in body.env if n not in before and isinstance(body.env[n], ir.Value)]:
        del body.env[name]
    if not kept:
        body.env.pop(target, None)
    if late and not (kept or reassigned or _else_binds(node, target)):
        b.place.origin = origin
        _last_value(body, target, loop, given)
    if contains(node.body, cst.Return):
        body.leave_if_returned()


def _stands_alone(node: cst.For) -> bool:
    """Whether nothing leaves an iteration before its end, and nothing else follows the last."""
    leaves = (cst.Break, cst.Continue, cst.Return)
    return node.orelse is None and not any(contains(node.body, kind) for kind in leaves)


def _without_first(body: Body, node: cst.For, loop: Iteration) -> Iteration:
    """The loop without its first iteration, which stands before it."""
    r = loop.range
    body.assign(node.target, loop.item(r.start))
    body.run_again(suite(node.body))
    return Iteration(Range(r.start + r.step, r.stop, r.step), loop.item)


def _emit(
    body: Body, r: Range, target: str, frame: Frame, run: Callable[[Poly, list[ir.Stmt]], None]
) -> None:
    """The `For` statement around what `run` emits into a list for one value of its index."""
    b, origin = body.b, body.b.place.origin
    axis = _loop_axis(body, target or "k", r)
    body.flow.frames.append(frame)
    with b.out.block() as collected, _inside(body, axis):
        run(sym(axis.name, never_negative(b.sizes, axis.lo)), collected)
        check_kept(body, collected, axis.name)
        _refuse_tests_of_elements(b, collected, axis.name)
        if not (collected and isinstance(collected[-1], ir.Jump)):
            rebind(body, frame.arrays)
    body.flow.frames.pop()
    for name, variable in frame.arrays.items():
        body.env[name] = Array.of(b.out.buffers[variable])
    b.out.emit(
        ir.For(
            axis.name,
            b.sizes.resolve(r.start),
            b.sizes.resolve(r.stop),
            r.step,
            tuple(collected),
            origin,
        )
    )


def _refuse_tests_of_elements(b: Builder, block: Sequence[ir.Stmt], index: str) -> None:
    """The host tests sizes in each iteration for whole arrays: not for a launch an element."""
    inside = list(statements_in(tuple(block)))
    if any(isinstance(s, (ir.Def, ir.Write)) and s.axes for s in inside):
        return
    for s in inside:
        if isinstance(s, ir.Host) and s.kind is ir.HostKind.CHECK and not s.arrays:
            if any(index in free_names(e) for _, e in s.values):
                b.place.origin = s.origin
                raise b.refuse("PRT903", f"sizes that depend on `{index}` may differ",
                               "write both slices with the same bounds")  # fmt: skip


def _over_grid(body: Body, node: cst.For, grid: Grid, outer: tuple[Poly, ...]) -> None:
    """`for i, j in np.ndindex(n, m)`: a loop for each axis."""
    if len(outer) + 1 == len(grid.shape):
        last = Range(Poly(), grid.shape[-1], 1)
        _loop(body, node, Iteration(last, lambda k: grid.item((*outer, k))), Frame())
        return
    statements = suite(node.body)
    names = forget_dead(body, list(assigned_names(statements)), node)
    frame = Frame(carry(body, names, statements))
    settled = before_loop(body, names)
    name = _axis_name(node.target, len(outer))
    _emit(body, Range(Poly(), grid.shape[len(outer)], 1), name, frame,
          lambda k, _: _over_grid(body, node, grid, (*outer, k)))  # fmt: skip
    after_loop(body, settled, node)


def _axis_name(target: cst.BaseExpression, k: int) -> str:
    if isinstance(target, cst.Tuple) and k < len(target.elements):
        inner = target.elements[k].value
        if isinstance(inner, cst.Name):
            return inner.value
        return _axis_name(inner, k)
    return "ijk"[k % 3]


# -- the variable of a loop that is over ---------------------------------------------------


def _else_binds(node: cst.For, target: str) -> bool:
    """Whether the `else` of a loop gives its variable a value, where no iteration does."""
    statements = [] if node.orelse is None else suite(node.orelse.body)
    return target in bound(statements) and target not in exposed(statements)


def _first_value(body: Body, target: str, r: Range, rebound: bool) -> None:
    """What the loop's variable is before the loop; unless it is `rebound` after a loop that does
    not run, it must not be unbound there."""
    value = body.env.get(target)
    if value is not None and is_expr(value):
        body.env[target] = body.b.let(body.local(target), value)
        return
    if not rebound:
        _must_run(body, target, r)
    body.env[target] = body.b.let(body.local(target), ir.Value(r.start, WEAK_INT))


def _last_value(body: Body, target: str, loop: Iteration, given: Value | None) -> None:
    """The value of the last iteration, for what reads it after the loop; without one, the
    value `given` before the loop."""
    r = loop.range
    last = loop.item(body.b.sizes.resolve(r.start + (trips(r) - 1) * r.step))
    if is_expr(given) and is_expr(last) and given.dtype == last.dtype:
        ran = operate("gt", integer(trips(r)), integer(0))
        body.assign(cst.Name(target), choose(ran, last, given))
        return
    _must_run(body, target, r)
    body.assign(cst.Name(target), last)


def _must_run(body: Body, target: str, r: Range) -> None:
    """Python raises where the variable of a loop without iterations is read."""
    b = body.b
    count = b.sizes.resolve(trips(r))
    if count.is_positive():
        return
    inner = b.scope.indices
    if (
        b.scope.conditional
        or count.names() & inner
        or any(isinstance(a, Data) for a in count.atoms())
    ):
        raise b.refuse("PRT902", f"`{target}` is read after its loop, but the loop may not run",
                       f"give `{target}` a value before the loop")  # fmt: skip
    message = f"cannot access local variable {target!r} where it is not associated with a value"
    b.sizes.check(ir.Check("index", Poly.of(1), count, message, "UnboundLocalError"))


# -- pieces ------------------------------------------------------------------------------


def _small(r: Range, node: cst.For) -> bool:
    """Few trips, known at conversion, over slices: unrolled, the offsets become constants."""
    first, last = r.start.constant, r.stop.constant
    if first is None or last is None or len(range(first, last, r.step)) > MAX_UNROLLED:
        return False
    leaves = contains(node.body, cst.Break) or contains(node.body, cst.Continue)
    return contains(node.body, cst.Slice) and not leaves and node.orelse is None


def _bind_target(
    body: Body, target: cst.BaseExpression, value: Value, reassigned: set[str]
) -> None:
    """The loop's names take this iteration's value; an index stays symbolic."""
    if isinstance(target, cst.Tuple) and isinstance(value, tuple):
        if len(target.elements) != len(value):
            raise body.b.refuse(
                "PRT905",
                f"{len(value)} values cannot be unpacked into {len(target.elements)} names",
                "use as many names as there are values",
            )
        for element, v in zip(target.elements, value, strict=True):
            _bind_target(body, element.value, v, reassigned)
    elif isinstance(target, cst.Name) and isinstance(value, ir.Value):
        name = target.value
        body.env[name] = body.b.let(body.local(name), value) if name in reassigned else value
    elif isinstance(target, cst.Name) and _stays(target.value, value, reassigned):
        body.env[target.value] = value
    else:
        body.assign(target, value)


def _stays(name: str, value: Value, reassigned: set[str]) -> bool:
    """Whether a name just stands for its value: a tuple of indices, one of some constants."""
    if isinstance(value, tuple):
        return True
    return isinstance(value, ir.Select) and on_host(value) and name not in reassigned


def _loop_axis(body: Body, name: str, r: Range) -> ir.Axis:
    """The values that the loop index takes, as an interval."""
    unique = body.b.out.fresh(name)
    if r.step > 0:
        return ir.Axis(unique, body.b.sizes.resolve(r.stop), body.b.sizes.resolve(r.start))
    return ir.Axis(unique, body.b.sizes.resolve(r.start + 1), body.b.sizes.resolve(r.stop + 1))


@contextmanager
def _inside(body: Body, axis: ir.Axis) -> Iterator[None]:
    body.b.scope.ranges.append(axis)
    body.b.scope.loops.append(Loop.ANY)
    try:
        yield
    finally:
        body.b.scope.ranges.pop()
        body.b.scope.loops.pop()


# -- written out -------------------------------------------------------------------------


def _over_items(body: Body, node: cst.For, items: tuple[Any, ...]) -> None:
    """A loop over a tuple: each iteration by itself, or a loop that chooses the item."""
    leaves = _leaves(node.body)
    if not leaves:
        for item in items:
            body.assign(node.target, item)
            body.run_again(suite(node.body))
        if node.orelse is not None:
            body.run(suite(node.orelse.body))
        return
    try:
        with body.b.attempt(body.env, on=(Undecided,)), body.b.out.block() as collected:
            _unrolled(body, node, items)
    except Undecided:
        loop = Iteration(Range(Poly(), Poly.of(len(items)), 1), lambda k: _chosen(body, items, k))
        _with_else(body, node, lambda frame: _loop(body, node, loop, frame))
        return
    for s in collected:
        body.b.out.emit(s)


def _leaves(node: cst.CSTNode) -> bool:
    """Whether a `break` or `continue` belongs to the loop whose body this is."""
    if isinstance(node, (cst.For, cst.While)):
        return node.orelse is not None and _leaves(node.orelse)
    return isinstance(node, (cst.Break, cst.Continue)) or any(map(_leaves, children(node)))


def _unrolled(body: Body, node: cst.For, items: tuple[Any, ...]) -> None:
    body.flow.frames.append(Frame(unrolled=body.b.out.depth))
    try:
        for item in items:
            body.assign(node.target, item)
            try:
                body.run_again(suite(node.body))
            except Left as left:
                if left.kind == "break":
                    return
    finally:
        body.flow.frames.pop()
    if node.orelse is not None:
        body.run(suite(node.orelse.body))


def _chosen(body: Body, items: Sequence[Any], k: Poly) -> Value:
    """Item k of a tuple of numbers, or of tuples of numbers."""
    if items and all(isinstance(i, tuple) and len(i) == len(items[0]) for i in items):
        return tuple(_chosen(body, column, k) for column in zip(*items, strict=True))
    if not all(is_expr(i) and isinstance(i, (ir.Const, ir.Value, ir.Local)) for i in items):
        raise body.b.refuse(
            "PRT902",
            "`break` in a loop over a tuple is not supported",
            "loop over `range` and index the tuple",
        )
    result: ir.Expr = items[-1]
    for d, item in reversed(list(enumerate(items[:-1]))):
        here = operate("eq", ir.Value(k, WEAK_INT), ir.Value(Poly.of(d), WEAK_INT))
        result = choose(here, item, result)
    return result


# -- while -------------------------------------------------------------------------------


def while_loop(body: Body, node: cst.While) -> None:
    """A `while` on a scalar condition."""
    _with_else(body, node, lambda frame: _while(body, node, frame))


def _is_check(s: ir.Stmt) -> bool:
    """A check of numbers, not of elements: where no iteration changes them, it runs once, before
    the loop."""
    return isinstance(s, ir.Host) and s.kind is ir.HostKind.CHECK and not s.arrays


def _is_changed(s: ir.Stmt, inside: Sequence[ir.Stmt]) -> bool:
    """Whether statements make or change what another one needs."""
    made = defs_in(inside)
    return bool(exposed_scalars((s,)) & made.scalars or uses_in((s,)).arrays & made.arrays)


def _turning(
    b: Builder, cond: ir.Expr, first: Sequence[ir.Stmt], inner: Sequence[ir.Stmt], origin: ir.Origin
) -> ir.While:
    """The `while` loop: what its condition stores or draws is the first of each turn.

    Where numbers are drawn in it, its turns are counted.
    """
    name = b.scope.turns.pop()
    if first:
        leave = ir.If(operate("not", cond), (ir.Jump("break", origin),), (), origin)
        cond, inner = number(True), (*first, leave, *inner)
    if name in uses_in(inner).scalars:
        plain = ir.Origin(origin.span)
        b.out.emit(ir.Let(name, integer(0), plain))
        more = operate("add", ir.Local(name, WEAK_INT), integer(1))
        inner = (ir.Let(name, more, plain), *inner)
    return ir.While(cond, tuple(inner), origin)


def _while(body: Body, node: cst.While, frame: Frame) -> None:
    b, origin = body.b, body.b.place.origin
    statements = suite(node.body)
    before, names = set(body.env), list(assigned_names(statements))
    dead = set(names) - set(names := forget_dead(body, names, node))
    frame.arrays = carry(body, names, statements)
    settled = before_loop(body, names)
    b.scope.loops.append(Loop.ANY)
    b.scope.turns.append(b.out.fresh("turn"))
    body.flow.frames.append(frame)
    with b.out.block() as collected:
        cond: ir.Expr = body.ev.condition(node.test)
        tested = list(collected)
        collected.clear()
        body.run_again(statements)
        keep_own(body, before, statements, collected)
        if not (collected and isinstance(collected[-1], ir.Jump)):
            rebind(body, frame.arrays)
    body.flow.frames.pop()
    for name, variable in frame.arrays.items():
        body.env[name] = Array.of(b.out.buffers[variable])
    after_loop(body, settled, node)
    for name in dead:
        body.env.pop(name, None)
    b.scope.loops.pop()
    inside = (*tested, *collected)
    checks = [s for s in tested if _is_check(s) and not _is_changed(s, inside)]
    for s in checks:
        b.out.emit(s)
    first = [s for s in tested if s not in checks]
    b.out.emit(_turning(b, cond, first, collected, origin))
    if contains(node.body, cst.Return):
        body.leave_if_returned()
