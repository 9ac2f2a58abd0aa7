"""Elementwise functions: rows of a table, and the few that are a formula."""

from __future__ import annotations

import math
from collections.abc import Callable

from porter import ir
from porter.dtypes.dtype import BOOL, COMPLEX128, FLOAT64, WEAK_INT, DType, limits
from porter.ir.ops import MARKS, OF_MATH, OPS
from porter.ir.scalars import (
    DTypeError,
    as_float,
    cast,
    choose,
    constant_of,
    integer,
    number,
    operate,
    types_of,
)
from porter.lowering.arrays.calculus import (
    Operand,
    as_array,
    elementwise,
    map_arrays,
    operator,
    where,
)
from porter.lowering.expressions.methods import part
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.ufuncs import KEYWORDS, into, strong, ufunc_row
from porter.resolve.values import NONE, Array
from porter.resolve.values import Value as Result

#: other names of the operations in `ir/ops.py` (their own NumPy names are added below)
_ALIASES = {
    "abs": "abs", "acos": "arccos",
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
#: operations that no function of NumPy's stands for; `rounded` keeps a number as it is
_NO_NUMPY = OF_MATH | MARKS


def _math_row(name: str, op: str, arrays: bool = False) -> None:
    names = ("x", "y")[: OPS[op].arity]

    @function(name, " ".join(names))
    def body(call: Call) -> Result:
        operands = [call.operand(n) for n in names]
        if not arrays and any(isinstance(o, Array) and o.ndim for o in operands):
            raise call.refuse("PRT903", f"`{call.name}` takes a scalar, not an array",
                              f"use `np.{OPS[op].numpy}`")  # fmt: skip
        result = elementwise(call.b, op, *operands)
        if op in ("floor", "ceil", "trunc") and not isinstance(result, Array):
            return cast(result, integer(0).dtype)
        return result


for _op, _info in OPS.items():
    if _op not in _NO_NUMPY:
        ufunc_row(f"numpy.{_info.numpy}", _op)
for _name, _op in _ALIASES.items():
    ufunc_row(f"numpy.{_name}", _op)
for _name in _MATH.split():
    _math_row(f"math.{_name}", _MATH_ALIASES.get(_name, _name))
for _name, _op in _MATH_ALIASES.items():
    _math_row(f"math.{_name}", _op)
_math_row("builtins.abs", "abs", arrays=True)


@function("numpy.where", "condition x=None y=None")
def _where(call: Call) -> Result:
    if call.value("x") is NONE and call.value("y") is NONE:
        return call.as_function("numpy.nonzero", a=call.value("condition"))
    return where(call.b, *(call.operand(n) for n in ("condition", "x", "y")))


@function("numpy.clip", f"a a_min=None a_max=None {KEYWORDS} min=None max=None", ufunc=True)
def _clip(call: Call) -> Result:
    """maximum, then minimum: NaN goes through, as in NumPy."""
    # a Python number is an array of its own dtype to `np.clip`, its bounds stay weak
    result = strong(call.operand("a"))
    for names, op in ((("a_min", "min"), "maximum"), (("a_max", "max"), "minimum")):
        for name in names:
            if call.value(name) is not NONE and not _beyond(result, call.operand(name), op):
                result = elementwise(call.b, op, result, call.operand(name))
    return into(call, result)


def _beyond(array: Operand, bound: Operand, op: str) -> bool:
    """Whether a Python integer bounds nothing: all numbers of the array's dtype are within."""
    known = None if isinstance(bound, Array) or not bound.dtype.weak else constant_of(bound)
    if not isinstance(known, int) or array.dtype.kind not in "iu" or array.dtype.weak:
        return False
    low, high = limits(array.dtype)
    return known < low if op == "maximum" else known > high


def formula(names: str, parameters: str, compute: Callable[..., ir.Expr]) -> None:
    """A ufunc that is a formula over scalars."""

    @function(names, f"{parameters} {KEYWORDS}", ufunc=True)
    def body(call: Call) -> Result:
        if call.dtype() is not None:
            raise call.refuse("PRT901", f"the keyword `dtype` of `{call.name}` is not supported")
        operands = [call.operand(n) for n in parameters.split()]
        result = map_arrays(call.b, compute, operands, f"`{call.name}`")
        return into(call, strong(result))


def _real_float(x: ir.Expr) -> ir.Expr:
    if x.dtype.kind == "c":
        raise DTypeError("complex numbers are not supported by this function")
    return as_float(x)


def _reciprocal(x: ir.Expr) -> ir.Expr:
    if x.dtype.kind in "iub":
        raise DTypeError("`reciprocal` of integers is not supported")
    return operate("truediv", integer(1), x)


def _logaddexp2(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    """log2(2**x + 2**y) from the larger one and the gap; equal ones may be infinite."""
    common, _ = types_of("logaddexp", [x, y])
    x, y = cast(x, common), cast(y, common)
    gap = choose(operate("eq", x, y), integer(0), operate("neg", operate(
        "abs", operate("sub", x, y))))  # fmt: skip
    above = operate("mul", number(1 / math.log(2)), operate("log1p", operate("exp2", gap)))
    return operate("add", operate("maximum", x, y), above)


def _signed_infinity(sign: float) -> Callable[[ir.Expr], ir.Expr]:
    return lambda x: cast(operate("eq", x, number(sign * math.inf)) if x.dtype.kind == "f" else
                          number(False), BOOL)  # fmt: skip


def _square(x: ir.Expr) -> ir.Expr:
    """`np.square`: int8 of booleans, where their product stays a boolean."""
    return operate("pow", cast(x, DType("int8")) if x.dtype == BOOL else x, integer(2))


def _conjugate(x: ir.Expr) -> ir.Expr:
    """`np.conjugate`: int8 of booleans, which the method `.conj()` gives back as they are."""
    if x.dtype.weak and x.dtype.kind in "if":
        return operate("pos", x)  # a number of NumPy's
    return cast(x, DType("int8")) if x.dtype == BOOL else operate("conj", x)


formula("numpy.square", "x", _square)
formula("numpy.conj numpy.conjugate", "x", _conjugate)
formula("numpy.reciprocal", "x", _reciprocal)
formula("numpy.fabs", "x", lambda x: operate("abs", _real_float(x)))
formula("numpy.logaddexp2", "x1 x2", _logaddexp2)
formula("numpy.float_power", "x1 x2", lambda x, y: operate("pow", _wide(x), _wide(y)))
formula("numpy.isposinf", "x", _signed_infinity(1.0))
formula("numpy.isneginf", "x", _signed_infinity(-1.0))
formula("numpy.fix", "x", lambda x: operate("trunc", x))


def _wide(x: ir.Expr) -> ir.Expr:
    """In float64, or complex128."""
    return cast(x, COMPLEX128 if x.dtype.kind == "c" else FLOAT64)


@function("builtins.divmod numpy.divmod", "x1 x2")
def _divmod(call: Call) -> Result:
    operands = [call.operand(n) for n in ("x1", "x2")]
    parts = [elementwise(call.b, op, *operands) for op in ("floordiv", "mod")]
    if call.name.library == "builtins":
        return tuple(parts)
    return tuple(map(strong, parts))


@function("builtins.pow", "base exp mod=None")
def _pow(call: Call) -> Result:
    """`base**exp`."""
    if call.value("mod") is not NONE:
        raise call.refuse("PRT901", "`pow` with a modulus is not supported", "use `%`")
    return operator(call.b, "pow", call.operand("base"), call.operand("exp"))


@function("numpy.modf", "x")
def _modf(call: Call) -> Result:
    """The fraction, with the sign of x, and the whole part."""
    x = call.operand("x")

    def fraction(e: ir.Expr) -> ir.Expr:
        e = _real_float(e)
        rest = operate("sub", e, operate("trunc", e))
        return operate("copysign", choose(operate("isinf", e), number(0.0), rest), e)

    def whole(e: ir.Expr) -> ir.Expr:
        return operate("trunc", _real_float(e))

    return tuple(map_arrays(call.b, part, [x], "`modf`") for part in (fraction, whole))


def _round_scalar(x: ir.Expr, decimals: int) -> ir.Expr:
    if x.dtype.kind in "iub":
        return x
    if decimals == 0:
        return operate("rint", x)
    scale = number(float(10 ** abs(decimals)))
    first, last = ("mul", "truediv") if decimals > 0 else ("truediv", "mul")
    return operate(last, operate("rint", operate(first, x, scale)), scale)


@function("numpy.round numpy.around", "a decimals=0 out=None")
def _round(call: Call) -> Result:
    a, decimals = call.operand("a"), int(call.constant("decimals"))
    if (decimals < 0 and a.dtype.kind in "iu") or a.dtype.kind in "bc":
        raise call.refuse("PRT907", f"`round` of {a.dtype.name} is not supported here")
    return map_arrays(call.b, lambda x: _round_scalar(x, decimals), [a], "`round`")


@function("builtins.round", "number ndigits=None")
def _python_round(call: Call) -> Result:
    """An int without digits, as Python and NumPy's scalars do; an array keeps its dtype."""
    x = call.operand("number")
    digits = call.constant("ndigits")
    rounded = map_arrays(call.b, lambda e: _round_scalar(e, int(digits or 0)), [x], "`round`")
    if digits is not None or (isinstance(x, Array) and x.ndim):
        return rounded
    return cast(as_array(rounded).at(()), WEAK_INT)


#: the largest finite number of a dtype
LARGEST = {"float16": 65504.0, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}


@function("numpy.nan_to_num", "x copy=True nan=0 posinf=None neginf=None")
def _nan_to_num(call: Call) -> Result:
    """Without `posinf` and `neginf`, infinities become the largest numbers of the dtype."""
    x = call.operand("x")
    if x.dtype.kind in "iub":
        return map_arrays(call.b, lambda e: e, [x], "`nan_to_num`")
    if x.dtype.kind == "c" or call.constant("copy") is not True:
        raise call.refuse(
            "PRT907",
            "`nan_to_num` is supported only for real arrays and not in place",
            "apply it to `x.real` and `x.imag`, and assign the result",
        )
    given = [call.constant(n) for n in ("nan", "posinf", "neginf")]
    if None in given:
        call.b.dtypes.pin(x.dtype)
    largest = LARGEST[x.dtype.name]
    defaults = (0.0, largest, -largest)
    values = [number(float(d if g is None else g)) for g, d in zip(given, defaults, strict=True)]

    def fix(e: ir.Expr) -> ir.Expr:
        e2 = choose(operate("isnan", e), values[0], e)
        e2 = choose(operate("eq", e, number(math.inf)), values[1], e2)
        return choose(operate("eq", e, number(-math.inf)), values[2], e2)

    return map_arrays(call.b, fix, [x], "`nan_to_num`")


@function("numpy.sinc", "x")
def _sinc(call: Call) -> Result:
    def sinc(x: ir.Expr) -> ir.Expr:
        y = operate("mul", number(3.141592653589793), x)
        return choose(
            operate("eq", x, integer(0)), number(1.0), operate("truediv", operate("sin", y), y)
        )

    return map_arrays(call.b, sinc, [call.operand("x")], "`sinc`")


@function("numpy.angle", "z deg=False")
def _angle(call: Call) -> Result:
    z = call.operand("z")
    parts = [elementwise(call.b, part, z) for part in ("imag", "real")]
    angle = elementwise(call.b, "arctan2", *parts)
    return elementwise(call.b, "rad2deg", angle) if call.constant("deg") else angle


def _part_row(which: str) -> None:
    @function(f"numpy.{which}", "val")
    def body(call: Call) -> Result:
        return part(call.b, which, call.operand("val"))


_part_row("real")
_part_row("imag")
