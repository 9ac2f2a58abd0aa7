"""Building scalar expressions with NumPy's types: promotion becomes explicit casts."""

from __future__ import annotations

import math
import struct

from porter.dtypes.dtype import (
    BOOL,
    FLOAT64,
    INT64,
    RANK,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    promote,
    strengthen,
)
from porter.ir.nodes import Cast, Const, Expr, Load, Local, Op, Reduce, Scalar, Select, Value
from porter.ir.ops import OPS, sign
from porter.ir.walk import walk
from porter.sizes.polynomial import Data, Integer, Poly, apply, power


class DTypeError(Exception):
    """NumPy has no such operation for these dtypes; the message says which."""


def integer(value: Poly | int) -> Value:
    """A Python int."""
    return Value(Poly.of(value), WEAK_INT)


def number(value: complex | float | int | bool) -> Expr:
    """A Python literal, weak as NEP 50 has it."""
    if isinstance(value, bool):
        return Const(value, WEAK_BOOL)
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return Const(value, WEAK_FLOAT)
    return Const(value, DType("complex128", weak=True))


def poly_of(expr: Expr) -> Poly | None:
    """The integer expression as a polynomial, or None if it is not an integer one."""
    match expr:
        case Value(poly=poly):
            return poly
        case Const(value=bool()):
            return None
        case Const(value=int() as v):
            return Poly.of(v)
        case Cast(arg=Value(poly=poly), dtype=dtype) if dtype.kind in "iu":
            return poly
    return None


def constant_of(expr: object) -> complex | float | int | bool | None:
    """The value of a literal, or None."""
    match expr:
        case Const(value=value):
            return value
        case Value(poly=poly):
            return poly.constant
        case Op(op="neg", args=(arg,)):
            inner = constant_of(arg)
            return None if inner is None else -inner
    return None


def cast(expr: Expr, dtype: DType) -> Expr:
    """`expr` in another dtype; literals are converted here and now."""
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Const) and (RANK[expr.dtype.kind] <= RANK[dtype.kind]):
        value = _stored(expr.value, dtype)
        if dtype.kind in "iu":
            return Const(int(value.real), dtype)
        return Const(value, dtype) if dtype.kind != "f" else Const(float(value.real), dtype)
    if isinstance(expr, Const) and dtype.kind in "iu" and isinstance(expr.value, float):
        if expr.value.is_integer():
            return Const(int(expr.value), dtype)
    if isinstance(expr, Value) and expr.poly.constant is not None and dtype.kind in "iufc":
        k = expr.poly.constant
        return Const(_stored(float(k), dtype).real if dtype.kind == "f" else k, dtype)
    if isinstance(expr, Value) and dtype.kind == "i" and dtype.itemsize == 8:
        return Value(expr.poly, dtype)
    if isinstance(expr, Local) and expr.dtype.name == dtype.name and dtype.weak:
        return expr
    if isinstance(expr, Select) and expr.dtype.weak:
        return Select(expr.cond, cast(expr.then, dtype), cast(expr.other, dtype), dtype)
    return Cast(expr, dtype)


def _stored(value: complex, dtype: DType) -> complex:
    """A literal as a dtype of single precision holds it: `np.float32(0.1)` is not 0.1.

    A dtype that is a parameter's may be another one at the call, which rounds there.
    """
    if dtype.weak or dtype.var or dtype.name not in ("float32", "complex64"):
        return value
    if dtype.kind == "c":
        return complex(_single(value.real), _single(value.imag))
    return _single(value.real)


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _float_for(dtype: DType) -> DType:
    """The dtype that NumPy's floating functions give an operand of this dtype."""
    if dtype.kind in "fc":
        return dtype
    if dtype.weak:
        return WEAK_FLOAT
    return DType({1: "float16", 2: "float32"}.get(dtype.itemsize, "float64"))


def _float_loop(args: list[Expr]) -> DType:
    """The first floating loop of a ufunc into which each operand can be cast safely.

    int16 beside uint16 is float32 there, although their common dtype is int32.
    """
    strong = [a.dtype for a in args if not a.dtype.weak]
    highest = max((RANK[d.kind] for d in strong), default=-1)
    if any(RANK[a.dtype.kind] > highest for a in args):
        return _float_for(_common(args))
    dtype = _float_for(strong[0])
    for other in strong[1:]:
        dtype = promote(dtype, _float_for(other))
    return dtype


def as_float(expr: Expr) -> Expr:
    """The value in the dtype that NumPy's floating functions compute it in."""
    return cast(expr, _float_for(expr.dtype))


def _common(args: list[Expr]) -> DType:
    dtype = args[0].dtype
    for a in args[1:]:
        dtype = promote(dtype, a.dtype)
    return dtype


def part_of(dtype: DType) -> DType:
    """The dtype of the real part."""
    if dtype.kind != "c":
        return dtype
    return DType("float32" if dtype.name == "complex64" else "float64", weak=dtype.weak)


def types_of(op: str, args: list[Expr]) -> tuple[DType, DType]:
    """(dtype of the operands, dtype of the result) of an operation in NumPy 2."""
    rule = OPS[op].rule
    common = _common(args)
    if rule == "compare":
        if common.kind == "c" and op not in ("eq", "ne"):
            raise DTypeError(f"`{sign(op)}` of complex numbers is not supported")
        return common, WEAK_BOOL if common.weak else BOOL
    if rule == "logic":
        return BOOL, WEAK_BOOL if common.weak else BOOL
    if rule == "divide":
        kind = common if common.kind in "fc" else WEAK_FLOAT if common.weak else FLOAT64
        return kind, kind
    if rule in ("float", "real_float"):
        common = _float_loop(args)
        if rule == "real_float" and common.kind == "c":
            raise DTypeError(f"`{sign(op)}` of complex numbers is not supported")
        return common, common
    if rule == "bits":
        if common.kind not in "iub":
            raise DTypeError(f"`{sign(op)}` of {common.name} is not supported")
        if common.kind == "b" and op in ("lshift", "rshift"):
            common = WEAK_INT if common.weak else DType("int8")
        return common, common
    if rule == "test":
        return common, WEAK_BOOL if common.weak else BOOL
    if rule in ("real", "part"):
        return common, part_of(common)
    if rule == "order" and common.kind == "c":
        raise DTypeError(f"`{sign(op)}` of complex numbers is not supported")
    return _arithmetic(op, common), _arithmetic(op, common)


def _arithmetic(op: str, common: DType) -> DType:
    if common.kind == "b" and op in ("sub", "neg", "pos", "sign"):
        if common.weak:
            return WEAK_INT
        raise DTypeError(f"`{sign(op)}` of booleans is not supported")
    if common.kind == "b" and op in ("pow", "floordiv", "mod", "fmod"):
        return WEAK_INT if common.weak else DType("int8")
    if common.kind == "c" and op in ("floordiv", "mod", "fmod", "sign"):
        raise DTypeError(f"`{sign(op)}` of complex numbers is not supported")
    return common


def _of_host(base: Poly, exponent: Poly) -> bool:
    """Whether the host knows both, so that it can test the exponent."""
    return not any(isinstance(a, Data) for p in (base, exponent) for a in p.atoms())


_POLY_OPS = {"floordiv": "//", "mod": "%", "minimum": "min", "maximum": "max"}


#: factors of a product of Python's integers that is kept as a formula
MOST_FACTORS = 64


def _degree(p: Poly) -> int:
    """How many factors the longest product in it has."""
    return max((len(monomial) for monomial, _ in p.terms), default=0)


def _on_sizes(op: str, args: list[Expr]) -> Expr | None:
    """Python integer arithmetic stays symbolic."""
    if not all(a.dtype.weak and a.dtype.kind == "i" for a in args):
        return None
    polys = [poly_of(a) for a in args]
    if any(p is None for p in polys):
        return None
    a, b = (polys[0] or Poly()), (polys[-1] or Poly())
    if op in ("mul", "pow") and _degree(a) + _degree(b) > MOST_FACTORS:
        raise DTypeError(f"a product of more than {MOST_FACTORS} integers is not supported")
    if op in _POLY_OPS:
        if op in ("floordiv", "mod") and b.constant == 0:
            raise DTypeError("integer division by zero")
        return integer(apply(_POLY_OPS[op], a, b))
    if op == "pow" and (0 <= b.constant <= 8 if b.constant is not None else _of_host(a, b)):
        return integer(power(a, b))
    arithmetic = {"add": a + b, "sub": a - b, "mul": a * b, "neg": -a, "pos": a}
    return integer(arithmetic[op]) if op in arithmetic else None


def operate(op: str, *operands: Expr) -> Expr:
    """An operation with NumPy's types. Raises DTypeError where NumPy would TypeError."""
    args = list(operands)
    symbolic = _on_sizes(op, args)
    if symbolic is not None:
        return symbolic
    folded = _fold_test(op, args)
    if folded is not None:
        return folded
    operand, result = types_of(op, args)
    if OPS[op].rule == "compare":
        signs = [a.dtype.kind for a in args]
        if operand.kind == "f" and sorted(signs) == ["i", "u"]:
            # as floats, numbers from 2**53 on would be equal that are not
            return _below_unsigned(op, args, signs.index("i"), DType("uint64"))
        narrow = operand.itemsize < 4 or (operand.var and operand.name != "uint64")
        if operand.kind in "iu" and narrow and any(map(_is_computed, args)):
            # Python's integers are compared by value, which a narrow dtype may have no room for
            return Op(op, tuple(cast(a, INT64) for a in args), result)
        for k in (0, 1):
            if operand.kind == "u" and _may_be_negative(args[k]):
                return _below_unsigned(op, args, k, operand)
    if operand.name == "float16":
        raise DTypeError(f"`{sign(op)}` in float16 is not supported in kernels")  # fmt: skip
    if operand.kind == "b" and not operand.weak and op in ("add", "mul"):
        op = "or" if op == "add" else "and"
    if operand.kind == "c" and op in ("sqrt", "log", "tan", "sinh", "cosh", "tanh"):
        raise DTypeError(f"`{sign(op)}` of complex numbers is not supported")
    if operand.kind != "c" and op in ("real", "conj"):
        return args[0]
    if operand.kind != "c" and op == "imag":
        return cast(integer(0), strengthen(operand))
    if operand.kind in "iub" and OPS[op].rule == "whole":
        return args[0]
    if operand.kind == "b" and op == "abs":
        return args[0]
    if op == "pow":
        return _power(args, operand)
    if op == "fmod" and operand.kind in "iu":
        return _remainder(*(cast(a, operand) for a in args))
    return Op(op, tuple(cast(a, operand) for a in args), result)


def _remainder(a: Expr, b: Expr) -> Expr:
    """C's remainder of integers, with the sign of `a`; `%` has that of `b`."""
    rest = operate("mod", a, b)
    if a.dtype.kind == "u":
        return rest
    zero = cast(integer(0), a.dtype)
    apart = operate("xor", operate("lt", a, zero), operate("lt", b, zero))
    changed = operate("and", operate("ne", rest, zero), apart)
    return choose(changed, operate("sub", rest, b), rest)


def _fold_test(op: str, args: list[Expr]) -> Expr | None:
    """Comparisons of literals and logic on them are decided at conversion."""
    known = [constant_of(a) for a in args]
    if OPS[op].rule == "logic" and len(args) == 2 and op in ("and", "or"):
        for k, other in zip(known, reversed(args), strict=True):
            if isinstance(k, bool) and other.dtype.kind == "b":
                return other if k == (op == "and") else Const(k, WEAK_BOOL)
    if any(k is None for k in known) or not all(a.dtype.weak for a in args):
        return None
    a, b = known[0], known[-1]
    if op == "not":
        return Const(not a, WEAK_BOOL)
    if op in ("eq", "ne"):
        return Const((a == b) == (op == "eq"), WEAK_BOOL)
    if isinstance(a, complex) or isinstance(b, complex) or a is None or b is None:
        return None
    tests = {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    return Const(tests[op], WEAK_BOOL) if op in tests else None


def _is_computed(e: Expr) -> bool:
    """An index, a size or what is computed of such: no argument, whose value the host checks."""
    poly = poly_of(e) if e.dtype.weak and e.dtype.kind == "i" else None
    return poly is not None and poly.constant is None and not isinstance(poly.symbol, Integer)


def _may_be_negative(e: Expr) -> bool:
    """A Python integer that is, or may become, less than any unsigned number.

    The host refuses an argument that does not fit; what is computed from it can still be less.
    """
    poly = poly_of(e) if e.dtype.weak and e.dtype.kind == "i" else None
    return poly is not None and not poly.is_nonneg() and not poly.symbol


def _below_unsigned(op: str, args: list[Expr], k: int, operand: DType) -> Expr:
    """A comparison as NumPy makes it: by value, where a cast would make a large number."""
    less = op in ("lt", "le", "ne") if k == 0 else op in ("gt", "ge", "ne")
    answer = Const(less, BOOL)
    known = constant_of(args[k])
    if known is not None:
        return answer
    below = operate("lt", args[k], integer(0))
    result = types_of(op, args)[1]
    whole = Op(op, (cast(args[0], operand), cast(args[1], operand)), result)
    return Select(below, cast(answer, result), whole, result)


def _power(args: list[Expr], dtype: DType) -> Expr:
    """`**` as NumPy computes it: an exponent of 0.5 is sqrt, an integer one stays whole."""
    base, exponent = args
    known = constant_of(exponent)
    whole = isinstance(known, (int, float)) and float(known).is_integer()
    if dtype.kind in "iu":
        if isinstance(known, int) and known < 0 and not dtype.weak:
            raise DTypeError("a negative power of integers is not supported")
        if dtype.weak and (known is None or (isinstance(known, int) and known < 0)):
            if known is None:
                raise DTypeError("the exponent of this Python integer is not known at conversion")
            return Op("pow", (cast(base, WEAK_FLOAT), number(float(known))), WEAK_FLOAT)
    elif known == 0.5 and dtype.kind == "f":
        return Op("sqrt", (cast(base, dtype),), dtype)
    if whole and known is not None and not isinstance(known, complex) and 0 < known <= 4:
        return Op("pow", (cast(base, dtype), Const(int(known), WEAK_INT)), dtype)
    return Op("pow", (cast(base, dtype), cast(exponent, dtype)), dtype)


def choose(cond: Expr, then: Expr, other: Expr) -> Expr:
    """`np.where` on scalars."""
    known = constant_of(cond)
    if isinstance(known, bool) and then.dtype == other.dtype:
        return then if known else other
    dtype = promote(then.dtype, other.dtype)
    return Select(truth(cond), cast(then, dtype), cast(other, dtype), dtype)


def truth(expr: Expr) -> Expr:
    """`bool(expr)`."""
    known = constant_of(expr)
    if known is not None and expr.dtype.weak:
        return Const(bool(known), WEAK_BOOL)
    return expr if expr.dtype.kind == "b" else cast_bool(expr)


def cast_bool(expr: Expr) -> Expr:
    """`expr != 0` in the expression's own dtype."""
    zero = cast(integer(0), strengthen(expr.dtype) if not expr.dtype.weak else expr.dtype)
    return Op("ne", (expr, zero), WEAK_BOOL if expr.dtype.weak else BOOL)


def on_host(expr: Expr) -> bool:
    """Whether the host can evaluate it: no element of an array, no thread's variable."""
    return not any(isinstance(e, (Load, Reduce, Local)) for e in walk(expr))


__all__ = [
    "Scalar", "as_float", "cast", "choose", "integer", "number", "on_host", "operate", "poly_of",
]  # fmt: skip
