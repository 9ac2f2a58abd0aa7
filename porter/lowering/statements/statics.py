"""Names for text, None, tuples and the like, which no variable of a kernel can hold.

Their values are known at conversion, so a name must not mean one thing in one branch (or
iteration) and another in the next: what is not settled is refused where it is read.  So is a
name that is a number here and an array there, since no variable holds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.scalars import constant_of
from porter.lowering.arrays.calculus import full
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.state.restarts import Grown
from porter.resolve.values import Array, Unsettled, Value
from porter.sizes.polynomial import Poly
from porter.syntax.liveness import exposed

Env = dict[str, Value]


def _is_static(value: Value | None) -> bool:
    return value is not None and not isinstance(value, Array) and not is_expr(value)


def before_loop(body: Body, names: Iterable[str]) -> Env:
    """What an iteration finds in a name that an earlier one may have changed is not known.

    Returns what these names meant before.
    """
    settled = {n: body.env[n] for n in set(names) if n in body.env}
    for name, value in settled.items():
        if _is_static(value):
            body.env[name] = Unsettled(name)
    return settled


def after_loop(body: Body, settled: Env, loop: cst.For | cst.While) -> None:
    """After the loop a name has its old value or that of the last iteration.

    Refuses a number that is something else when the next iteration reads it.
    """
    again = exposed([loop])
    for name, old in settled.items():
        new = body.env.get(name)
        if new is None or not _differ(old, new):
            continue
        if is_expr(old) and name in again:
            if isinstance(new, Array) and _may_grow(body, name, new, loop):
                raise Grown(name, tuple(map(body.b.sizes.resolve, new.shape)), new.dtype)
            raise _unlike(body, name, new)
        missed = "has a different type if the loop does not run"
        body.env[name] = Unsettled(name, missed) if is_expr(old) else Unsettled(name)


def _may_grow(body: Body, name: str, new: Array, loop: cst.For | cst.While) -> bool:
    """Whether the number can be an array of its copies: `total = 0` before `total += row`."""
    b = body.b
    if not b.restarts.may_grow or not isinstance(loop, cst.For) or body.helper:
        return False
    known = name in b.restarts.literal_starts and name not in b.restarts.grown
    sizes = [b.sizes.resolve(n) for n in new.shape]
    return known and all(len(n.names()) == len(n.dims()) for n in sizes)


def grow(body: Body, names: Iterable[str], count: Poly) -> None:
    """Before a loop: numbers that it adds arrays to are arrays. Without iterations they are not."""
    for name in names:
        found, old = body.b.restarts.grown.get(name), body.env.get(name)
        if not is_expr(old) or constant_of(old) is None:
            continue
        body.b.restarts.literal_starts.add(name)
        if found is None:
            continue
        message = f"{name} is a number where the loop does not run"
        body.b.sizes.check(ir.Check("index", Poly.of(1), count, message, "ValueError"))
        body.env[name] = body.b.define(name, full(found.shape, old, found.dtype))


def _unlike(body: Body, name: str, new: Value) -> Refusal:
    """The refusal of a number that an iteration makes something else of."""
    what, cure = "something else", f"give `{name}` the same type before the loop"
    if isinstance(new, Array):
        shape = ", ".join(str(body.b.sizes.resolve(n)) for n in new.shape)
        what, cure = "an array", f"make `{name}` an array of shape ({shape}) before the loop"
    return body.b.refuse(
        "PRT908", f"`{name}` is a number before the loop and {what} after an iteration", cure
    )


def after_branches(
    body: Body,
    names: Iterable[str],
    first: tuple[Env, Sequence[ir.Stmt]],
    second: Sequence[ir.Stmt],
) -> None:
    """A name has the meaning of the branch that ran; a branch that ends the block has none."""
    env, statements = first
    if ends(statements):
        return
    for name in set(names):
        one, other = env.get(name), body.env.get(name)
        if one is None or other is None or not _differ(one, other):
            continue
        body.env[name] = one if ends(second) else Unsettled(name)


def _differ(one: Value, other: Value) -> bool:
    """Whether no variable can be both."""
    if _is_static(one) or _is_static(other):
        return not _same(one, other)
    return isinstance(one, Array) is not isinstance(other, Array)


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(_same(a, b) for a, b in zip(one, other, strict=True))
    return one is other or (not isinstance(one, Array) and one == other)


def ends(statements: Sequence[ir.Stmt]) -> bool:
    """Whether nothing after the branch runs once it ran."""
    last = statements[-1] if statements else None
    return isinstance(last, ir.Return) or (
        isinstance(last, ir.Host) and last.kind is ir.HostKind.RAISE
    )
