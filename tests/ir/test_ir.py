"""The IR's printer, walkers and checker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from porter import ir
from porter.convert.passes import STORED, Body, Pass, lower
from porter.dtypes.dtype import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
)
from porter.inference.signature import candidates
from porter.ir.check import IRError, Rule, check
from porter.ir.context import Context
from porter.ir.ops import BINARY, COMPARE, OPS, REDUCTIONS
from porter.ir.printer import lines, program_text
from porter.ir.rebuild import map_expr, map_statement
from porter.ir.walk import (
    blocks,
    children,
    free_names,
    rewrite,
    statements,
    substitute,
    walk,
)
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.sizes.polynomial import Data, Dim, Poly, sym
from porter.source.module import SourceModule

HERE = ir.Origin()
N, i, j = Poly.atom(Dim("x", 0)), sym("i", True), sym("j", True)
GENERIC = DType("float64", var="x")
AXIS = ir.Axis("i", N)
ONE = ir.Const(1.0, FLOAT64)
ZERO = ir.Const(0, INT64)


def at(p: Poly, dtype: DType = FLOAT64) -> ir.Load:
    return ir.Load("x", (p,), dtype)


def store(value: ir.Expr, index: Poly = i, *axes: ir.Axis) -> ir.Write:
    return ir.Write("x", axes, (index,), value, HERE)


def plus(a: ir.Expr, b: ir.Expr, dtype: DType = FLOAT64) -> ir.Op:
    return ir.Op("add", (a, b), dtype)


def total(body: ir.Expr, axis: ir.Axis = AXIS, op: str = "sum") -> ir.Reduce:
    return ir.Reduce(op, (axis,), body, body.dtype)


POSITIVE = ir.Op("gt", (at(i), ir.Const(0.0, FLOAT64)), BOOL)
GATHER = ir.Load("x", (Poly.atom(Data(ir.Load("k", (i,), INT64), proved=True)),), FLOAT64)


# -- printing ------------------------------------------------------------------------------

SHOWN: list[tuple[ir.Expr, str]] = [
    (plus(at(i + 1), ONE), "(x[i + 1] + 1.0)"),
    (ir.Op("arctan2", (ONE, ONE), FLOAT64), "arctan2(1.0, 1.0)"),
    (ir.Cast(ir.Value(N, WEAK_INT), FLOAT64), "float64(x.shape[0])"),
    (ir.Select(POSITIVE, at(i), ONE, FLOAT64), "(x[i] if (x[i] > 0.0) else 1.0)"),
    (total(at(i)), "sum[i < x.shape[0]](x[i]):float64"),
    (total(at(i), ir.Axis("i", N, Poly.of(1))), "sum[1 <= i < x.shape[0]](x[i]):float64"),
    (GATHER, "x[[k[i]]]"),
]


@pytest.mark.parametrize(("expr", "text"), SHOWN)
def test_expressions_are_shown(expr: ir.Expr, text: str) -> None:
    assert str(expr) == text


def test_statements_are_shown() -> None:
    body: tuple[ir.Stmt, ...] = (
        ir.Alloc(ir.Buffer("y", (N, Poly.of(3)), FLOAT32), HERE),
        ir.Def("t", (AXIS,), FLOAT64, at(i), HERE),
        replace(store(ONE, i, AXIS), mask=POSITIVE),
        ir.For("k", Poly(), N, 2, (ir.Let("a", ONE, HERE), ir.Jump("break", HERE)), HERE),
        ir.While(POSITIVE, (store(ONE),), HERE),
        ir.If(POSITIVE, (store(ONE),), (ir.Host("raise  ValueError", HERE),), HERE),
        ir.Stage((), (store(ONE),), HERE),
        ir.Bind(("x", "y"), ("y", "x"), HERE),
        ir.Return(("x", None, ONE), False, HERE),
    )
    assert (
        "\n".join(lines(body))
        == """\
alloc y: float32[x.shape[0], 3]
t[i]: float64 = x[i]  for i < x.shape[0]
x[i] = 1.0  for i < x.shape[0]  where (x[i] > 0.0)
for k in 0 .. x.shape[0] by 2:
    a = 1.0
    break
while (x[i] > 0.0):
    x[i] = 1.0
if (x[i] > 0.0):
    x[i] = 1.0
else:
    host: raise ValueError
parallel once:
    x[i] = 1.0
x, y := y, x
return x, None, 1.0"""
    )


def test_a_program_is_shown() -> None:
    text = "def f(x, y):\n    y[1:] = x[:-1] * 2.0\n    return y\n"
    assert program_text(built(text, "float64[:], float64[:]")).splitlines() == [
        "array program f",
        "  parameter x: float64 1-D",
        "  parameter y: float64 1-D",
        "  check equal: x.shape[0] and y.shape[0]",
        "    y[i_ + 1] = float64((x[i_] * 2.0))  for i_ < y.shape[0] - 1",
        "    return y",
    ]


def built(text: str, signature: str) -> ir.Program:
    module = SourceModule(f"import numpy as np\n\n\n{text}", "f.py")
    (function,) = module.functions
    return build(function, next(candidates(function, signature)), Globals(module))


# -- walking -------------------------------------------------------------------------------


def test_children_reach_into_subscripts_and_bounds() -> None:
    data = Poly.atom(Data(ir.Local("k", INT64)))
    assert children(GATHER) == (ir.Load("k", (i,), INT64),)
    assert children(ir.Value(data, INT64)) == (ir.Local("k", INT64),)
    assert children(total(ONE, ir.Axis("j", data))) == (ir.Local("k", INT64), ONE)
    assert [str(e) for e in walk(plus(at(i), ONE))] == ["(x[i] + 1.0)", "x[i]", "1.0"]


def test_free_names() -> None:
    assert free_names(GATHER) == {"i"}
    assert free_names(total(plus(at(i), at(j)))) == {"j", "x.shape[0]"}
    assert free_names(total(at(i), ir.Axis("i", j))) == {"j"}


def test_substitute_reaches_subscripts_values_and_bounds() -> None:
    names = {"j": N - 1}
    assert str(substitute(at(j), names)) == "x[x.shape[0] - 1]"
    assert str(substitute(ir.Value(2 * j, INT64), names)) == "2 * x.shape[0] - 2"
    assert str(substitute(total(at(i), ir.Axis("i", j)), names)) == (
        "sum[i < x.shape[0] - 1](x[i]):float64"
    )
    assert str(substitute(substitute(GATHER, {"i": j}), names)) == "x[[k[x.shape[0] - 1]]]"
    assert substitute(GATHER, {}) is GATHER


def test_rewrite_is_top_down_and_leaves_the_replacement_alone() -> None:
    def change(e: ir.Expr) -> ir.Expr | None:
        return plus(e, ONE) if isinstance(e, ir.Load) and e.buffer == "x" else None

    assert str(rewrite(total(ir.Cast(at(i), FLOAT32)), change)) == (
        "sum[i < x.shape[0]](float32((x[i] + 1.0))):float32"
    )


def test_a_gather_of_an_index_becomes_the_index() -> None:
    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Value(i + 1, INT64) if isinstance(e, ir.Load) and e.buffer == "k" else None

    assert str(rewrite(GATHER, change)) == "x[i + 1]"


def test_statements_are_walked_outer_ones_first() -> None:
    inner = store(ONE)
    branch = ir.If(POSITIVE, (inner,), (ir.Jump("continue", HERE),), HERE)
    loop = ir.For("i", Poly(), N, 1, (branch,), HERE)
    assert list(statements((loop,))) == [loop, branch, inner, ir.Jump("continue", HERE)]
    assert blocks(branch) == ((inner,), (ir.Jump("continue", HERE),))
    assert blocks(inner) == ()


def test_rebuilding_drops_casts_that_became_idle() -> None:
    cast = ir.Cast(at(i, GENERIC), FLOAT64)
    assert map_expr(cast, lambda p: p, lambda d: d.plain()) == at(i)


def test_rebuilding_reaches_nested_statements() -> None:
    loop = ir.For("i", Poly(), N, 1, (store(ir.Select(POSITIVE, at(i), ONE, FLOAT64)),), HERE)
    wide = map_statement(loop, lambda p: p.replace({"x.shape[0]": Poly.of(7)}),
                         lambda d: d if d == BOOL else FLOAT32)  # fmt: skip
    assert isinstance(wide, ir.For)
    assert wide.hi == Poly.of(7)
    dtypes = {e.dtype for e in walk(wide.body[0].body)}  # type: ignore[union-attr]
    assert dtypes == {FLOAT32, BOOL}


# -- the operations ------------------------------------------------------------------------


def test_operations_are_ufuncs_with_their_number_of_operands() -> None:
    import numpy as np

    own = {"erf", "erfc", "gamma", "lgamma", "real", "imag"}
    for name, info in OPS.items():
        if name not in own:
            assert getattr(np, info.numpy).nin == info.arity, name
    assert set(BINARY.values()) | set(COMPARE.values()) <= OPS.keys()
    known = {"sum", "prod", "max", "min", "any", "all", "linear", "bounded", "quotient", "states"}
    assert known == REDUCTIONS


# -- the checker ---------------------------------------------------------------------------

X = ir.Buffer("x", (N,), FLOAT64, parameter=True)
K = ir.Buffer("k", (N,), INT64, parameter=True)
PARAMETERS = (
    ir.Parameter("x", FLOAT64, 1),
    ir.Parameter("k", INT64, 1),
    ir.Parameter("s", WEAK_FLOAT, None),
    ir.Parameter("n", WEAK_INT, None),
)


def checked(*body: ir.Stmt, rules: Sequence[Rule] = (), **others: ir.Buffer) -> None:
    buffers = {"x": X, "k": K, **others}
    program = ir.Program("f", PARAMETERS, buffers, body, (), "", (), {}, HERE)
    check(body, program, buffers, rules)


def looped(*body: ir.Stmt) -> ir.For:
    return ir.For("i", Poly(), N, 1, body, HERE)


Y = ir.Buffer("y", (N,), FLOAT64)
DEFINED = ir.Def("y", (AXIS,), FLOAT64, at(i), HERE)
LEAVE = ir.Jump("continue", HERE)
RIGHT: list[tuple[ir.Stmt, ...]] = [
    (store(plus(at(i), ONE), i, AXIS),),
    (store(GATHER, i, AXIS),),
    (replace(store(ONE, i, AXIS), mask=POSITIVE),),
    (looped(store(total(at(j), ir.Axis("j", i)))),),
    (looped(LEAVE),),
    (ir.Stage((AXIS,), (LEAVE,), HERE),),
    (ir.Stage((AXIS, ir.Axis("j", i)), (store(at(j)),), HERE),),
    (DEFINED, ir.Return(("y", ir.Scalar("s", WEAK_FLOAT), None), False, HERE)),
    (ir.Let("a", ONE, HERE), store(ir.Local("a", FLOAT64), Poly())),
    (ir.Let("m", ir.Value(sym("n"), WEAK_INT), HERE), looped(store(ONE, sym("m")))),
    (store(ir.Op("pow", (at(i), ir.Const(2, WEAK_INT)), FLOAT64), i, AXIS),),
    (store(ir.Cast(ir.Value(i, WEAK_INT), FLOAT64), i, AXIS),),
]


@pytest.mark.parametrize("body", RIGHT, ids=lambda b: next(lines(b)))
def test_right_statements_pass(body: tuple[ir.Stmt, ...]) -> None:
    checked(*body, y=Y)


WRONG: list[tuple[str, Any]] = [
    ("`i` is not bound", store(ONE, i)),
    ("`j` is not bound", looped(store(at(j)))),
    ("`i` is not bound", store(total(at(i)), i)),
    ("`q.shape[0]` is not bound", store(ONE, Poly.atom(Dim("q", 0)))),
    ("the array `q` is not made", looped(store(ir.Load("q", (i,), FLOAT64)))),
    ("`x` has 1 dimensions", looped(store(ir.Load("x", (i, i), FLOAT64)))),
    ("load: `x[i]` is float32, not float64", looped(store(ir.Cast(at(i, FLOAT32), FLOAT64)))),
    ("add: `1.0` is float32, not float64", looped(store(plus(at(i), ir.Const(1.0, FLOAT32))))),
    ("add: `(x[i] + 1.0)` is float32, not float64",
     looped(store(ir.Cast(plus(at(i), ONE, FLOAT32), FLOAT64)))),
    ("truediv: `0` is int64, not float64",
     looped(store(ir.Op("truediv", (ZERO, ZERO), FLOAT64)))),
    ("the operation `plus`", looped(store(ir.Op("plus", (ONE, ONE), FLOAT64)))),
    ("the operation `add`", looped(store(ir.Op("add", (ONE,), FLOAT64)))),
    ("`maximum` of complex numbers",
     looped(store(ir.Op("maximum", (ir.Const(1j, DType("complex128")),) * 2, FLOAT64)))),
    ("the reduction `mean`", store(total(at(i), AXIS, "mean"), Poly())),
    ("sum: `x[i]` is float64, not float32",
     store(ir.Reduce("sum", (AXIS,), at(i), FLOAT32), Poly())),
    ("choice: `1.0` is float32, not float64",
     looped(store(ir.Select(POSITIVE, at(i), ir.Const(1.0, FLOAT32), FLOAT64)))),
    ("the condition `x[i]` is float64", looped(ir.If(at(i), (), (), HERE))),
    ("store: `0` is int64, not float64", looped(store(ZERO))),
    ("float64 as a subscript",
     looped(store(ir.Load("x", (Poly.atom(Data(at(i))),), FLOAT64)))),
    ("1 as float64", store(ir.Const(1, FLOAT64), Poly())),
    ("`float128` is no dtype", store(ir.Const(1.0, DType("float128")), Poly())),
    ("the variable `a` is not assigned", store(ir.Local("a", FLOAT64), Poly())),
    ("the scalar `a` is not assigned", store(ir.Scalar("a", FLOAT64), Poly())),
    ("break outside a loop", ir.Jump("break", HERE)),
    ("break outside a loop", ir.Stage((AXIS,), (ir.Jump("break", HERE),), HERE)),
    ("a Def inside a stage", ir.Stage((AXIS,), (DEFINED,), HERE)),
    ("a Stage inside a stage", ir.Stage((AXIS,), (ir.Stage((), (), HERE),), HERE)),
    ("a store with axes inside a stage", ir.Stage((), (store(ONE, i, AXIS),), HERE)),
    ("a step of 0", ir.For("i", Poly(), N, 0, (), HERE)),
    ("the array `q` is not made", ir.Return(("q",), True, HERE)),
    ("`k` is int64", ir.Bind(("k",), ("x",), HERE)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "stmt"), WRONG)
def test_wrong_statements_are_found(message: str, stmt: ir.Stmt) -> None:
    with pytest.raises(IRError) as caught:
        checked(stmt, y=Y)
    assert str(caught.value).startswith(message)
    assert ", in: " in str(caught.value)


def test_a_generic_dtype_must_stay_generic() -> None:
    """A float64 literal in a program that is to serve float32 would promote it."""
    buffers = {"x": ir.Buffer("x", (N,), GENERIC, parameter=True)}
    program = ir.Program("f", (ir.Parameter("x", GENERIC, 1),), buffers, (), (), "", (), {}, HERE)
    for literal, fits in ((ir.Const(1.0, GENERIC), True), (ONE, False)):
        body = (store(plus(at(i, GENERIC), literal, GENERIC), i, AXIS),)
        if fits:
            check(body, program, buffers)
        else:
            with pytest.raises(IRError, match=r"add: .* is float64"):
                check(body, program, buffers)


def test_no_definition_is_left_after_storing() -> None:
    checked(DEFINED, y=Y)
    with pytest.raises(IRError, match="a definition that is not stored"):
        checked(DEFINED, rules=[STORED], y=Y)


def test_a_pass_that_breaks_a_rule_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan checks after every pass, so that a mistake is found where it is made."""
    program = built("def f(x):\n    return x * 2.0\n", "float64[:]")
    lower(program)

    def broken(body: tuple[ir.Stmt, ...], context: object) -> tuple[ir.Stmt, ...]:
        return (store(ONE, sym("nowhere")), *body)

    monkeypatch.setattr("porter.convert.passes.PASSES", (Pass("broken", broken),))
    with pytest.raises(IRError, match="after `broken`: `nowhere` is not bound"):
        lower(program)


def test_a_pass_that_changes_no_statement_may_break_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds the rule, or takes away an array that statements name."""
    program = built("def f(x):\n    return x * 2.0\n", "float64[:]")

    def nothing(body: Body, context: Context) -> Body:
        return body

    def forgetful(body: Body, context: Context) -> Body:
        context.buffers.clear()
        return body

    never = Rule("no statement at all", lambda s: False)
    for step, message in (
        (Pass("strict", nothing, (never,)), "after `strict`: no statement at all"),
        (Pass("forgetful", forgetful), "after `forgetful`: "),
    ):
        monkeypatch.setattr("porter.convert.passes.PASSES", (step,))
        with pytest.raises(IRError, match=message):
            lower(program)
