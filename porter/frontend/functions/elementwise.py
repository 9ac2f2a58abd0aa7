"""Elementwise functions: rows of a table, and the few that are a formula."""

from __future__ import annotations

from dataclasses import replace

from porter.arrays.dtypes import BOOL, strengthen
from porter.frontend.calculus import elementwise, map_arrays, where
from porter.frontend.functions.registry import FUNCTIONS, Call, Handler, function
from porter.frontend.functions.registry import MISSING as REQUIRED
from porter.frontend.scalars import as_float, cast, choose, integer, number, operate
from porter.frontend.values import NONE, Array
from porter.frontend.values import Value as Result
from porter.ir.nodes import Const, Expr, Local, Value
from porter.ir.ops import OPS

#: other names of the operations in `ir/ops.py` (their own NumPy names are added below)
_ALIASES = {
    "abs": "abs", "conj": "conj", "acos": "arccos",
    "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "acosh": "arccosh",
    "asinh": "arcsinh", "atanh": "arctanh", "bitwise_not": "invert", "radians": "deg2rad",
    "degrees": "rad2deg", "bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift",
    "mod": "mod", "divide": "truediv",
}  # fmt: skip
_MATH = """sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot copysign
fmod pow erf erfc gamma lgamma isnan isinf isfinite fabs floor ceil trunc"""
_MATH_ALIASES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "fabs": "abs", "radians": "deg2rad",
    "degrees": "rad2deg",
}  # fmt: skip
_NO_NUMPY = {"erf", "erfc", "gamma", "lgamma"}


def _row(op: str) -> Handler:
    names = ("x", "y")[: OPS[op].arity]

    def body(call: Call) -> Result:
        result = elementwise(call.b, op, *(call.operand(n) for n in names))
        return result if isinstance(result, Array) else _strong(result)

    return Handler(tuple((n, REQUIRED) for n in names), body)


def _strong(e: Expr) -> Expr:
    """NumPy's functions give NumPy scalars, whose dtype counts in promotion (NEP 50)."""
    if not e.dtype.weak or isinstance(e, (Value, Local)):
        return e
    return (
        cast(e, strengthen(e.dtype))
        if isinstance(e, Const)
        else replace(e, dtype=strengthen(e.dtype))
    )


def _math_row(op: str, arrays: bool = False) -> Handler:
    names = ("x", "y")[: OPS[op].arity]

    def body(call: Call) -> Result:
        operands = [call.operand(n) for n in names]
        if not arrays and any(isinstance(o, Array) and o.ndim for o in operands):
            raise call.refuse("PRT903", f"`{call.name}` takes a scalar, not an array",
                              f"use `np.{OPS[op].numpy}`")  # fmt: skip
        result = elementwise(call.b, op, *operands)
        if op in ("floor", "ceil", "trunc") and not isinstance(result, Array):
            return cast(result, integer(0).dtype)
        return result

    return Handler(tuple((n, REQUIRED) for n in names), body)


for _op, _info in OPS.items():
    if _op not in _NO_NUMPY:
        FUNCTIONS[f"numpy.{_info.numpy}"] = _row(_op)
for _name, _op in _ALIASES.items():
    FUNCTIONS[f"numpy.{_name}"] = _row(_op)
for _name in _MATH.split():
    FUNCTIONS[f"math.{_name}"] = _math_row(_MATH_ALIASES.get(_name, _name))
for _name, _op in _MATH_ALIASES.items():
    FUNCTIONS[f"math.{_name}"] = _math_row(_op)
FUNCTIONS["builtins.abs"] = _math_row("abs", arrays=True)


@function("numpy.where", "condition x=None y=None")
def _where(call: Call) -> Result:
    if call.value("x") is NONE or call.value("y") is NONE:
        raise call.refuse(
            "PRT906", "`where` with one argument gives as many indices as the data has"
        )
    return where(call.b, *(call.operand(n) for n in ("condition", "x", "y")))


@function("numpy.clip", "a a_min=None a_max=None min=None max=None")
def _clip(call: Call) -> Result:
    """maximum, then minimum: NaN goes through, as in NumPy."""
    result = call.operand("a")
    for names, op in ((("a_min", "min"), "maximum"), (("a_max", "max"), "minimum")):
        for name in names:
            if call.value(name) is not NONE:
                result = elementwise(call.b, op, result, call.operand(name))
    return result


@function("numpy.real", "val")
def _real(call: Call) -> Result:
    """A real array is its own real part."""
    value = call.operand("val")
    return elementwise(call.b, "real", value) if value.dtype.kind == "c" else value


@function("numpy.fabs", "x")
def _fabs(call: Call) -> Result:
    """The absolute value as a float."""
    x = call.operand("x")
    if x.dtype.kind == "c":
        raise call.refuse("PRT907", "`fabs` of complex numbers", "use `np.abs`")
    return map_arrays(call.b, lambda e: operate("abs", as_float(e)), [x], "`fabs`")


@function("numpy.square", "x")
def _square(call: Call) -> Result:
    return elementwise(call.b, "pow", call.operand("x"), integer(2))


@function("numpy.reciprocal", "x")
def _reciprocal(call: Call) -> Result:
    x = call.operand("x")
    if x.dtype.kind in "iub":
        raise call.refuse("PRT907", "`reciprocal` of integers")
    return elementwise(call.b, "truediv", integer(1), x)


def _round_scalar(x: Expr, scale: int) -> Expr:
    if x.dtype.kind in "iub":
        return x
    if scale == 1:
        return operate("rint", x)
    return operate(
        "truediv", operate("rint", operate("mul", x, number(float(scale)))), number(float(scale))
    )


@function("numpy.round numpy.around builtins.round", "a decimals=0")
def _round(call: Call) -> Result:
    decimals = call.constant("decimals")
    if decimals < 0:
        raise call.refuse("PRT901", "`round` to a negative number of decimals")
    scale = 10 ** int(decimals)
    return map_arrays(call.b, lambda x: _round_scalar(x, scale), [call.operand("a")], "`round`")


@function("numpy.nan_to_num", "x copy=True nan=0 posinf=None neginf=None")
def _nan_to_num(call: Call) -> Result:
    x = call.operand("x")
    if x.dtype.kind in "iub":
        return x
    if call.value("posinf") is NONE or call.value("neginf") is NONE:
        raise call.refuse("PRT901", "`nan_to_num` without `posinf` and `neginf`",
                          "give both, or use np.where(np.isnan(x), 0, x)")  # fmt: skip
    values = [number(float(call.constant(n))) for n in ("nan", "posinf", "neginf")]

    def fix(e: Expr) -> Expr:
        e2 = choose(operate("isnan", e), values[0], e)
        e2 = choose(operate("eq", e, number(float("inf"))), values[1], e2)
        return choose(operate("eq", e, number(float("-inf"))), values[2], e2)

    return map_arrays(call.b, fix, [x], "`nan_to_num`")


@function("numpy.isclose", "a b rtol=1e-05 atol=1e-08")
def _isclose(call: Call) -> Result:
    rtol, atol = (number(float(call.constant(n))) for n in ("rtol", "atol"))

    def close(x: Expr, y: Expr) -> Expr:
        gap = operate("abs", operate("sub", x, y))
        bound = operate("add", atol, operate("mul", rtol, operate("abs", y)))
        near = operate("and", operate("le", gap, bound), operate("isfinite", y))
        return cast(operate("or", near, operate("eq", x, y)), BOOL)

    return map_arrays(call.b, close, [call.operand("a"), call.operand("b")], "`isclose`")


@function("numpy.sinc", "x")
def _sinc(call: Call) -> Result:
    def sinc(x: Expr) -> Expr:
        y = operate("mul", number(3.141592653589793), x)
        return choose(
            operate("eq", x, integer(0)), number(1.0), operate("truediv", operate("sin", y), y)
        )

    return map_arrays(call.b, sinc, [call.operand("x")], "`sinc`")


@function("numpy.angle", "z")
def _angle(call: Call) -> Result:
    z = call.operand("z")
    parts = [elementwise(call.b, part, z) for part in ("imag", "real")]
    return elementwise(call.b, "arctan2", *parts)
