"""`functools.reduce`, and what `cuda.reduce` makes of a function of two: a loop with that function.

The loop is the one that Python runs.  On a device the elements meet in another order, so that the
function must be associative: that is tried on random numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import refusal
from porter.dtypes.dtype import DType, strengthen
from porter.ir.scalars import cast, integer
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.expressions.inline import inline
from porter.resolve.definitions import meaning
from porter.resolve.reducers import REDUCE, REDUCERS, is_decorated, reduces
from porter.resolve.values import NONE, Array, Function, Reducer, Value

#: the functions of `operator` that take two
_OPERATORS = {
    "add": "a + b", "mul": "a * b", "sub": "a - b", "truediv": "a / b", "and_": "a & b",
    "or_": "a | b", "xor": "a ^ b", "matmul": "a @ b",
}  # fmt: skip
_FOLD = """
def fold(array, acc):
    for item in array:
        acc = function(acc, item)
    return acc
"""
#: one element less, and none to start with
_FROM_FIRST = """
def fold(array):
    acc = array[0]
    for item in array[1:]:
        acc = function(acc, item)
    return acc
"""
_TRIES = 40
#: what rounding may make of the same sum in another order
_CLOSE = 1e-6


def folded(ev: Evaluator, node: cst.Call) -> Value | None:
    """The value of a call that folds, or makes what folds; None if it is another call."""
    name = meaning(ev.scope, node.func) if not _is_local(ev, node.func) else ""
    if name in REDUCERS and len(node.args) == 1:
        made = ev(node.args[0].value)
        return Reducer(made) if isinstance(made, Function) else None
    if name == REDUCE:
        return _python(ev, node)
    reducer = _reducer(ev, node.func)
    return None if reducer is None else _on_device(ev, node, reducer)


def _is_local(ev: Evaluator, func: cst.BaseExpression) -> bool:
    while isinstance(func, cst.Attribute):
        func = func.value
    return isinstance(func, cst.Name) and func.value in ev.env


def _reducer(ev: Evaluator, func: cst.BaseExpression) -> Function | None:
    """The function of two that is called, if `cuda.reduce` made or decorates it."""
    if isinstance(func, cst.Call):
        made = folded(ev, func)
        return made.function if isinstance(made, Reducer) else None
    if not isinstance(func, cst.Name):
        return None
    if not (func.value in ev.env or reduces(ev.scope, func.value)):
        return None
    value = ev(func)
    if isinstance(value, Reducer):
        return value.function
    if isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
        scope = value.scope or ev.scope
        if is_decorated(scope, value.node):
            return Function(value.name, value.node.with_changes(decorators=()), scope=scope)
    return None


def _python(ev: Evaluator, node: cst.Call) -> Value:
    """`functools.reduce(function, array)`, with a first value or without."""
    if len(node.args) not in (2, 3) or any(a.keyword or a.star for a in node.args):
        raise ev.b.refuse("PRT901", "`reduce` takes a function, an array and a first value",
                          "pass them by position")  # fmt: skip
    function, array, *first = (ev(a.value) for a in node.args)
    if isinstance(function, Function) and function.name.startswith("operator."):
        text = _OPERATORS.get(function.name.removeprefix("operator."), "")
        if text:
            function = Function("lambda", cst.parse_expression(f"lambda a, b: {text}"))
            ev.b.place.module.put(function.node, node)
    if not isinstance(function, Function):
        text = ev.b.place.module.brief(node.args[0].value)
        raise ev.b.refuse("PRT901", f"`{text}` is not a function that is known", "write a lambda")
    if not first and isinstance(array, Array):
        message = "reduce() of empty iterable with no initial value"
        check = ir.Check("index", array.shape[0] * 0 + 1, array.shape[0], message, "TypeError")
        ev.b.sizes.check(check)
    return _fold(ev, node, function, [array, *first])


def _on_device(ev: Evaluator, node: cst.Call, function: Function) -> Value:
    """`total(array)`, `total(array, init=1)`: from 0 on, unless another first value is given."""
    first: Value | None = None
    array: Value = NONE
    for k, a in enumerate(node.args):
        word = a.keyword.value if a.keyword is not None else "arr" if not k else ""
        if word == "arr":
            array = ev(a.value)
        elif word == "init":
            first = ev(a.value)
        elif word != "stream":
            raise ev.b.refuse("PRT901", f"`{word or 'size'}` of a reduction cannot be converted",
                              "use the value that it returns")  # fmt: skip
    if not isinstance(array, Array) or array.ndim != 1:
        raise ev.b.refuse("PRT903", f"`{function.name}` reduces an array of one dimension",
                          "pass one row, or a flat array")  # fmt: skip
    check_associative(ev, function, array.dtype, node)
    start = integer(0) if first is None else first
    if not is_expr(start):
        raise ev.b.refuse("PRT903", "`init` of a reduction is no number", "pass a number")
    return _fold(ev, node, function, [array, cast(start, strengthen(array.dtype))])


def _fold(ev: Evaluator, node: cst.Call, function: Function, values: Sequence[Value]) -> Value:
    """The loop that Python runs, in place of the call."""
    (tree,) = cst.parse_module(_FOLD if len(values) == 2 else _FROM_FIRST).body
    ev.b.place.module.put(tree, node)
    return inline(ev, Function("fold", tree, {"function": function}), list(values), {})


# -- whether the order matters ------------------------------------------------------------------


def check_associative(ev: Evaluator, function: Function, dtype: DType, node: cst.CSTNode) -> None:
    """Refuse a function with which the order of the elements matters, with values that show it."""
    program = _program(ev, function, dtype)
    if program is None:
        return
    # NumPy is imported where such a function is found: not by every analysis
    from porter.ir.interp import run

    rng = random.Random(7)
    whole = dtype.kind in "iu"

    def drawn() -> Any:
        return rng.randint(0, 9) if whole else round(rng.uniform(-3, 3), 2)

    def of(x: Any, y: Any) -> Any:
        return run(program, (x, y)).item()

    for _ in range(_TRIES):
        a, b, c = drawn(), drawn(), drawn()
        try:
            left, right = of(of(a, b), c), of(a, of(b, c))
        except (ArithmeticError, ValueError):
            continue
        if left != right and not abs(left - right) <= _CLOSE * max(1.0, abs(left), abs(right)):
            own = function.node
            name = f"`{own.name.value}`" if isinstance(own, cst.FunctionDef) else "the function"
            values = f"{a}, {b}, {c}"
            text = f"{name} of {values} is {left:.4g} or {right:.4g}"
            raise refusal("PRT408", text, ev.b.place.module.span(node),
                          "fold with a function for which the order does not matter")  # fmt: skip


def _program(ev: Evaluator, function: Function, dtype: DType) -> ir.Program | None:
    """The function of two numbers; None where it is more than statements over numbers."""
    own = DType(dtype.name)
    numbers = [ir.Scalar(n, own) for n in ("fold_a", "fold_b")]
    with ev.b.attempt(ev.env), ev.b.out.block() as collected:
        value = inline(ev, function, numbers, {})
    if not is_expr(value):
        return None
    parameters = tuple(ir.Parameter(n.name, own, None) for n in numbers)
    strong = ir.Cast(value, own)
    body = (*collected, ir.Return((strong,), True, ir.Origin()))
    return ir.Program(function.name, parameters, {}, body, (), None, (), {}, ir.Origin())
