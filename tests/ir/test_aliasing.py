"""Which names may mean one array: along every path through loops and branches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter import ir
from porter.dtypes.dtype import BOOL, DType
from porter.ir.aliasing import Aliases
from porter.sizes.polynomial import Poly, sym

FLOAT64, INT64 = DType("float64"), DType("int64")
N, HERE = sym("n"), ir.Origin()
COND = ir.Const(True, BOOL)
LAUNCH = ir.Write("w", (), (Poly(),), ir.Const(0.0, FLOAT64), HERE)
READS_V = ir.Write("w", (), (Poly(),), ir.Load("v", (Poly(),), FLOAT64), HERE)


def bind(*moves: str) -> ir.Bind:
    """`bind("u=v")` is `u = v`."""
    names, buffers = zip(*(m.split("=") for m in moves), strict=True)
    return ir.Bind(names, buffers, HERE)


def alloc(name: str) -> ir.Alloc:
    return ir.Alloc(ir.Buffer(name, (N,), FLOAT64), HERE)


def loop(*body: ir.Stmt) -> ir.For:
    return ir.For("t", Poly(), N, 1, body, HERE)


def branch(body: tuple[ir.Stmt, ...], orelse: tuple[ir.Stmt, ...] = ()) -> ir.If:
    return ir.If(COND, body, orelse, HERE)


STOP = branch((ir.Jump("break", HERE),))
CASES = {
    "swapped names never meet": ([loop(LAUNCH, bind("u=v", "v=u"))], set()),
    "a name and what it is bound to meet": ([bind("u=v"), LAUNCH], {"uv"}),
    "but not behind the next allocation": ([bind("u=v"), alloc("v"), LAUNCH], set()),
    "an array of the iteration before": ([loop(READS_V, alloc("v"), bind("u=v"))], {"uv"}),
    "one that nobody needs any more": ([loop(LAUNCH, alloc("v"), bind("u=v"))], set()),
    "one that is read behind the loop": ([loop(LAUNCH, alloc("v"), bind("u=v")), READS_V], {"uv"}),
    "one of an outer iteration": (
        [loop(loop(LAUNCH, alloc("v"), bind("u=v")), READS_V)],
        {"uv"},
    ),
    "allocated again before the launch": ([loop(alloc("v"), LAUNCH, bind("u=v"))], set()),
    "whichever way a branch goes": (
        [bind("t=u"), branch((bind("u=v"),), (bind("u=w"),)), LAUNCH],
        {"uv", "uw"},
    ),
    "where the branch is not taken": ([bind("t=u"), branch((bind("u=v"),)), LAUNCH], {"tu", "uv"}),
    "a loop that never runs": ([bind("u=v"), loop(alloc("u")), LAUNCH], {"uv"}),
    "a loop that is left": ([loop(bind("u=v"), STOP, alloc("u")), LAUNCH], {"uv"}),
}


@pytest.mark.parametrize("name", CASES)
def test_names_that_meet_at_a_launch(name: str) -> None:
    body, pairs = CASES[name]
    found = Aliases.of(tuple(body), {})
    assert found.pairs == {frozenset(p) for p in pairs}


def test_names_that_meet_at_one_store() -> None:
    before, after = replace(LAUNCH, buffer="u"), replace(LAUNCH, buffer="v")
    found = Aliases.of((loop(alloc("u"), before, bind("v=u"), after),), {})
    assert found.meet("u", "v")
    assert not found.meet_at(before, "u", "v") and found.meet_at(after, "u", "v")


def test_many_states_are_joined() -> None:
    """Ten branches in a loop have more states than are kept apart: then all may meet."""
    body = [branch((bind(f"{n}={m}"),)) for n, m in zip("abcdefghij", "bcdefghijk", strict=True)]
    found = Aliases.of((loop(*body, LAUNCH),), {})
    assert frozenset("ab") in found.pairs
    assert frozenset("ak") in found.pairs


def test_what_names_may_mean_at_any_time() -> None:
    buffers = {n: ir.Buffer(n, (N,), FLOAT64, parameter=n in "xy") for n in "xyuv"}
    buffers["k"] = ir.Buffer("k", (N,), INT64, parameter=True)
    found = Aliases.of((bind("u=x"), bind("v=u")), buffers)
    assert found.same("x") == {"x", "u", "v"}
    assert found.arguments("v") == {"x"}
    assert found.arguments("y") == {"y"}
    assert found.given_twice("x", "y")
    assert not found.given_twice("x", "k")
    assert found.with_others({"x"}, arguments=True) == {"x", "y"}
