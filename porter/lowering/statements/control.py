"""`if`, and what is assigned in a nested block: it becomes a variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.scalars import constant_of, on_host, operate
from porter.ir.walk import statements
from porter.lowering.arrays.compaction import whole
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.state.restarts import Unspecialised
from porter.lowering.statements.narrowing import narrow, narrow_rest
from porter.lowering.statements.statics import after_branches, ends
from porter.resolve.values import Array, Function, Said, Unsettled, shows_buffer
from porter.sizes.polynomial import Poly
from porter.syntax.liveness import exposed
from porter.syntax.names import assigned_names, rebound_names

__all__ = [
    "branch_on", "carry", "forget_dead", "made_in", "move",
    "orelse", "own_copy", "rebind", "suite",
]  # fmt: skip


def suite(node: cst.BaseSuite) -> list[cst.BaseStatement]:
    """The statements of a block."""
    if isinstance(node, cst.IndentedBlock):
        return list(node.body)
    assert isinstance(node, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(body=node.body)]


def orelse(node: cst.If) -> list[cst.BaseStatement]:
    """The statements of the `else` (an `elif` is an `if` of its own)."""
    if node.orelse is None:
        return []
    return [node.orelse] if isinstance(node.orelse, cst.If) else suite(node.orelse.body)


def carry(body: Body, names: Sequence[str], block: Sequence[cst.CSTNode]) -> dict[str, str]:
    """Make variables of what is assigned in a nested block; returns the rebound arrays.

    What the block only changes by `+=` is the same array all the time, and needs none.
    """
    arrays: dict[str, str] = {}
    rebound = rebound_names(block)
    for name in dict.fromkeys(names):
        value = body.env.get(name)
        if value is None:
            continue
        if isinstance(value, Array):
            if name in rebound or not _is_held(value):
                arrays[name] = _array_variable(body, name, value)
        elif is_expr(value) and not isinstance(value, ir.Local):
            body.env[name] = body.b.let(body.local(name), value)
    return arrays


def _is_held(value: Array) -> bool:
    """Whether an array has elements in memory that a statement can change."""
    return value.ndim > 0 and value.view is not None and value.mask is None


def forget_dead(body: Body, names: Sequence[str], loop: cst.For | cst.While) -> list[str]:
    """The names that the loop passes on; an array that nobody reads again is left out.

    Such a name means a new array in every iteration, and nothing after the loop.
    """
    live = exposed([loop]).union(*(exposed(rest) for rest in body.flow.rest))
    dead = {n for n in names if n not in live and isinstance(body.env.get(n), Array)}
    for name in dead:
        del body.env[name]
    return [n for n in names if n not in dead]


def _array_variable(body: Body, name: str, value: Array) -> str:
    """A name that will be rebound to other arrays of the same shape and dtype."""
    b = body.b
    value = whole(b, value)
    if value.view is not None and not value.is_buffer:
        raise b.refuse(
            "PRT908",
            f"`{name}` is a view of another array and is rebound in this block",
            f"copy it first: `{name} = {name}.copy()`",
        )
    shown = value
    if value.view is None:
        value = b.define(name, value)
    assert value.view is not None
    source = b.out.buffers[value.view.buffer]
    _snapshots(body, name, shown, source.name)
    if not source.parameter and not _is_shared(body, name, source.name):
        variable = source
    else:
        variable = b.out.variable(name, source)
        b.out.emit(b.aliases.bound([(variable.name, source.name)]))
    if value.view.readonly:
        b.aliases.readonly[variable.name] = value.view.readonly
    body.env[name] = Array.of(variable)
    return variable.name


def _snapshots(body: Body, name: str, value: Array, variable: str) -> None:
    """What NumPy may show by a view must not be stored into once a variable holds a copy."""
    for buffer in (*value.shown_of.split(), *([variable] if value.shown_of else ())):
        body.b.aliases.snapshot(buffer, name)


def _is_shared(body: Body, name: str, buffer: str) -> bool:
    """Whether another name means the same array: then rebinding must not move both."""
    return shows_buffer((v for n, v in body.env.items() if n != name), buffer)


def rebind(body: Body, arrays: dict[str, str]) -> None:
    """At the end of a block: the variables take the arrays that their names mean now."""
    move(body, arrays)
    for name, variable in arrays.items():
        body.env[name] = Array.of(body.b.out.buffers[variable])


def move(body: Body, arrays: dict[str, str]) -> None:
    """The variables take the arrays of their names, where the block ends or is left."""
    b = body.b
    moved: list[tuple[str, str]] = []
    for name, variable in arrays.items():
        value = body.env[name]
        if not isinstance(value, Array):
            raise b.refuse("PRT908", f"`{name}` is an array on one path and a scalar on another")
        value = whole(b, value)
        if value.view is not None and value.view.readonly:
            b.aliases.readonly[variable] = value.view.readonly
        if value.view is not None and not value.is_buffer:
            b.aliases.snapshot(value.view.buffer, name)
            b.aliases.snapshot(variable, name)
        _snapshots(body, name, value, variable)
        if value.view is None or not value.is_buffer:
            value = b.define(name, Array(value.shape, value.dtype, value.at))
        assert value.view is not None
        want = b.out.buffers[variable]
        if value.view.buffer == variable:
            continue
        if value.ndim != len(want.shape) or value.dtype.name != want.dtype.name:
            raise b.refuse("PRT908", f"`{name}` changes its dtype or number of dimensions")
        b.dtypes.same_dtype(value.dtype, want.dtype)
        if (value.dtype.var is None) != (want.dtype.var is None):
            b.dtypes.pin(value.dtype, want.dtype)
        for have, expected in zip(value.shape, want.shape, strict=True):
            b.sizes.unify(expected, have, f"`{name}` changes its shape")
        moved.append((variable, value.view.buffer))
    if moved:
        b.out.emit(b.aliases.bound(moved))


def branch_on(
    body: Body,
    cond: ir.Expr,
    then: Sequence[cst.BaseStatement],
    other: Sequence[cst.BaseStatement],
) -> None:
    """The branches of an `if` whose condition has been evaluated."""
    b = body.b
    known = constant_of(cond)
    if known is None:
        known = b.restarts.way.of(cond, b.scope)
    if known is not None:
        body.run(then if known else other)
        return
    flag = b.restarts.flag_of(cond)
    try:
        _both_branches(body, cond, then, other)
    except Refusal as e:
        if flag is not None and e.diagnostic.code == "PRT908":
            raise Unspecialised(flag) from e  # each value of it makes arrays of its own dtype
        raise
    if flag is not None:
        values = (body.env.get(name) for name in assigned_names([*then, *other]))
        b.restarts.deciding |= {v.name: flag for v in values if isinstance(v, ir.Local)}


def _both_branches(
    body: Body, cond: ir.Expr, then: Sequence[cst.BaseStatement],
    other: Sequence[cst.BaseStatement],
) -> None:  # fmt: skip
    """Both branches of an `if` that is decided at run time."""
    b = body.b
    origin = b.place.origin
    names = list(assigned_names([*then, *other]))
    settle_selections(body, [*then, *other])
    dead = _dead(body, names)
    names = [n for n in names if n not in dead]
    arrays = carry(body, names, [*then, *other])
    before = dict(body.env)
    first = _block(body, then, cond, arrays, negated=False)
    middle = dict(body.env)
    body.env.clear()
    body.env.update(before)
    second = _block(body, other, cond, arrays, negated=True)
    body.env.update({n: before[n] for n in dead})
    middle.update({n: before[n] for n in dead})
    after_branches(body, names, (middle, first), second)
    first, second = _join(body, cond, before, middle, first, second)
    b.out.emit(ir.If(cond, first, second, origin))
    if on_host(cond) and any(isinstance(s, ir.Return) for s in first[-1:]):
        b.scope.conditions.append(operate("not", cond))
    if body.flow.frames and any(isinstance(s, ir.Jump) for s in first[-1:]):
        narrow_rest(b.scope, cond)


def _dead(body: Body, names: Sequence[str]) -> set[str]:
    """Names of arrays that nobody reads after the branches: they need not be alike in both.

    In a loop, and where a function or a text may read them later, they are taken as alive.
    """
    later = any(isinstance(v, (Function, Said)) for v in body.env.values())
    if body.flow.frames or later:
        return set()
    live = set[str]().union(*(exposed(rest) for rest in body.flow.rest))
    return {n for n in names if n not in live and isinstance(body.env.get(n), Array)}


def settle_selections(body: Body, statements: Sequence[cst.BaseStatement]) -> None:
    """Selections by a mask that a branch stores into are arrays before it, in both branches."""
    for name in {n for s in statements for n in _stored(s)}:
        value = body.env.get(name)
        if isinstance(value, Array) and value.lead:
            body.made_whole(value)


def _stored(node: cst.CSTNode) -> Iterator[str]:
    """The names of arrays that elements are stored into."""
    targets: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        targets = [t.target for t in node.targets]
    elif isinstance(node, cst.AugAssign):
        targets = [node.target]
    for target in targets:
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Name):
            yield target.value
    for child in node.children:
        if not isinstance(child, cst.BaseExpression):
            yield from _stored(child)


def _block(
    body: Body, statements: Sequence[cst.BaseStatement], cond: ir.Expr, arrays: dict[str, str],
    negated: bool,
) -> tuple[ir.Stmt, ...]:  # fmt: skip
    b = body.b
    outer, kept = b.scope.conditional, len(b.scope.conditions)
    data = not on_host(cond)
    around, known = b.scope.entered, b.sizes.known()
    with b.scope.part(), b.out.block() as collected:
        narrow(b.scope, cond, negated=negated)
        if not (data or b.scope.loops or b.scope.in_while or b.scope.data_branches):
            b.scope.entered = tuple(b.scope.conditions)
        b.scope.conditional = True
        b.scope.data_branches += data
        body.run(statements)
        if not (collected and isinstance(collected[-1], (ir.Jump, ir.Return))):
            rebind(body, arrays)
    b.scope.data_branches -= data
    if b.scope.entered != around:
        collected = b.sizes.forget(known, collected)
        b.scope.entered = around
    for name, variable in arrays.items():
        body.env[name] = Array.of(b.out.buffers[variable])
    b.scope.conditional = outer
    del b.scope.conditions[kept:]
    return tuple(collected)


def _join(
    body: Body, cond: ir.Expr, before: dict[str, Any], middle: dict[str, Any],
    first: tuple[ir.Stmt, ...], second: tuple[ir.Stmt, ...],
) -> tuple[tuple[ir.Stmt, ...], tuple[ir.Stmt, ...]]:  # fmt: skip
    """Names bound in only one branch keep that branch's meaning, as in Python."""
    for name in [n for n in body.env if n not in middle]:
        second = _named_there(body, name, second)
    for name, value in middle.items():
        other = body.env.get(name)
        if other is None:
            body.env[name] = value
            first = _named_there(body, name, first)
        elif isinstance(other, Unsettled) or other is value or ends(first):
            continue
        elif isinstance(value, Array) and not isinstance(before.get(name), Array):
            first, second = _both(body, cond, name, value, first, second)
    return first, second


def _named_there(body: Body, name: str, branch: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """An array of before that only this branch gives a name: the host's name is bound here, too.

    Where the branch was not taken, it is unbound, and Python says so.
    """
    b, value = body.b, body.env[name]
    if not isinstance(value, Array) or value.mask is not None or ends(branch):
        return branch
    if not any(name in exposed(rest) for rest in body.flow.rest):
        return branch
    source = "" if value.view is None else value.view.buffer
    if source in made_in(branch):
        return branch
    if not value.is_buffer:
        with b.out.block() as copied:
            own_copy(body, name, value)
        return (*branch, *copied)
    variable = b.out.variable(name, b.out.buffers[source])
    body.env[name] = Array.of(variable)
    return (*branch, b.aliases.bound([(variable.name, source)]))


def own_copy(body: Body, name: str, value: Array) -> None:
    """The name means an array of its own, which stores through another one must not miss."""
    b = body.b
    own = b.define(name, value)
    shown = value.shown_of if value.view is None else value.view.buffer
    # it cannot be returned where NumPy returns a view of an argument
    body.env[name] = replace(own, shown_of=shown, chosen=True)
    for view in (value.view, own.view):
        if view is not None:
            b.aliases.snapshot(view.buffer, name)


def made_in(block: Sequence[ir.Stmt]) -> set[str]:
    """The arrays that statements make."""
    found = list(statements(tuple(block)))
    defined = {s.name for s in found if isinstance(s, ir.Def)}
    return defined | {s.buffer.name for s in found if isinstance(s, ir.Alloc)}


def _both(
    body: Body, cond: ir.Expr, name: str, value: Array, first: tuple[ir.Stmt, ...],
    second: tuple[ir.Stmt, ...],
) -> tuple[tuple[ir.Stmt, ...], tuple[ir.Stmt, ...]]:  # fmt: skip
    """An array that each branch makes gets a host name that means either."""
    b, other = body.b, body.env[name]
    if not isinstance(other, Array) or value.view is None or other.view is None:
        raise b.refuse(
            "PRT908",
            f"`{name}` is an array in only one of the branches",
            "assign an array in both branches",
        )
    if not (value.is_buffer and other.is_buffer):
        raise b.refuse(
            "PRT908", f"`{name}` is a view in only one of the branches", "copy it: `.copy()`"
        )
    if value.ndim != other.ndim or value.dtype.name != other.dtype.name:
        raise b.refuse(
            "PRT908",
            f"`{name}` has a different dtype or ndim in each branch",
            "assign the same dtype and ndim in both branches",
        )
    for x, y in zip(value.shape, other.shape, strict=True):
        _same_length(body, cond, x, y, f"`{name}` has another shape in each branch")
    b.dtypes.same_dtype(value.dtype, other.dtype)
    if (value.dtype.var is None) != (other.dtype.var is None):
        b.dtypes.pin(value.dtype, other.dtype)
    variable = b.out.variable(name, b.out.buffers[other.view.buffer])
    body.env[name] = Array.of(variable)
    binds = [b.aliases.bound([(variable.name, v.view.buffer)]) for v in (value, other) if v.view]
    return (*first, binds[0]), (*second, binds[1])


def _same_length(body: Body, cond: ir.Expr, x: Poly, y: Poly, what: str) -> None:
    """What the first branch makes has the second one's length: tested if the first one runs."""
    b = body.b
    if b.sizes.resolve(x) == b.sizes.resolve(y):
        return
    if not on_host(cond):
        b.sizes.unify(x, y, what)
        return
    b.scope.conditions.append(cond)
    b.sizes.check(ir.Check("equal", b.sizes.resolve(x), b.sizes.resolve(y), what))
    b.scope.conditions.pop()
