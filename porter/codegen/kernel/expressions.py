"""Scalar expressions of a kernel as Python text; its arguments are collected on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.kernel.errors import NEGATIVE_POWER, OUT_OF_BOUNDS
from porter.codegen.kernel.sizes import SizeWriter
from porter.codegen.polys import poly_parts
from porter.codegen.spell import (
    AND,
    ATOM,
    COMPARE,
    EXTRA,
    HELPERS,
    INFIX,
    MATH,
    NOT,
    POWER,
    PRODUCT,
    TERNARY,
    UNARY,
    WHOLE,
    parenthesised,
)
from porter.dtypes.conversions import LARGEST
from porter.dtypes.dtype import DType
from porter.ir.scalars import part_of
from porter.ir.walk import walk
from porter.sizes.polynomial import Poly, is_power, unchecked
from porter.sizes.shapes import strays


class ExpressionWriter(SizeWriter):
    """Writes expressions of one kernel; `writer.Writer` adds loops and statements."""

    def reduction(self, r: ir.Reduce) -> str:
        """The name of a reduction's result; `Writer` writes its loop first."""
        raise AssertionError(f"a reduction is no expression: {r.op}")

    # -- expressions -----------------------------------------------------------------

    def expr(self, e: ir.Expr, outer: int = 0) -> str:
        """An expression; reductions in it become loops before the current line."""
        text, binds = self._expr(e)
        return parenthesised(text, binds, outer)

    def on_host(self, e: ir.Expr) -> bool:
        """Whether the host can evaluate it and has to (it holds a scalar of the host)."""
        scalar = False
        for x in walk(e):
            if isinstance(x, (ir.Load, ir.Reduce)) or (isinstance(x, ir.Op) and x.op == "sound"):
                return False
            if isinstance(x, ir.Local) and x.name in self.naming.own:
                return False
            if isinstance(x, ir.Value) and x.poly.names() & self.naming.names.keys():
                return False
            if isinstance(x, ir.Scalar) and x.name not in self.naming.constants:
                scalar = True
            # as a float, `2**k` may be more than any integer of a kernel
            powers = isinstance(x, ir.Value) and any(map(is_power, x.poly.atoms()))
            scalar = scalar or powers or isinstance(x, ir.Local)
        return scalar

    def _expr(self, e: ir.Expr) -> tuple[str, int]:
        if not isinstance(e, (ir.Const, ir.Value)) and self.on_host(e):
            return self._scalar_argument(e), ATOM
        match e:
            case ir.Const():
                return self._constant(e)
            case ir.Value(poly=poly, dtype=dtype):
                return self._value(poly, dtype)
            case ir.Scalar(name=name):
                self.needs.constants.add(name)
                return name, ATOM
            case ir.Local(name=name):
                return name, ATOM
            case ir.Load():
                return self._load(e), ATOM
            case ir.Cast(arg, dtype):
                return self._cast(arg, dtype)
            case ir.Select(cond, then, other, _):
                return (
                    f"{self.expr(then, 1)} if {self.expr(cond, 1)} else {self.expr(other)}",
                    TERNARY,
                )
            case ir.Reduce():
                return self.reduction(e), ATOM
            case ir.Op():
                return self._op(e)
            case ir.Object():
                raise AssertionError("a value of the host in a kernel")

    def _scalar_argument(self, e: ir.Expr) -> str:
        inner, dtype = (e.arg, e.dtype) if isinstance(e, ir.Cast) else (e, e.dtype)
        key = (inner, dtype)
        if key not in self.head.scalars:
            name = inner.name if isinstance(inner, (ir.Scalar, ir.Local)) else "factor"
            self.head.scalars[key] = self.fresh(name)
        return self.head.scalars[key]

    def _constant(self, e: ir.Const) -> tuple[str, int]:
        value, dtype = e.value, e.dtype
        if isinstance(value, bool) or dtype.kind == "b":
            return str(bool(value)), ATOM
        text = self.number(value)
        if dtype.var in self.needs.like_floats and _is_even(value):
            text = self.number(float(value.real))
        if dtype.weak or (dtype.var is None and dtype.name in ("float64", "int64", "complex128")):
            return text, UNARY if text.startswith("-") else ATOM
        return f"{self.type_of(dtype)}({text})", ATOM

    def number(self, value: complex | float | int) -> str:
        """A literal; infinities and NaN through `math`."""
        if isinstance(value, float):
            for known, name in ((math.pi, "pi"), (math.e, "e")):
                if value == known:
                    self.needs.math.add(name)
                    return f"math.{name}"
            if math.isinf(value) or math.isnan(value):
                self.needs.math.add("inf")
                return "math.nan" if math.isnan(value) else "-math.inf" if value < 0 else "math.inf"
        return repr(value)

    def _value(self, poly: Poly, dtype: DType) -> tuple[str, int]:
        text, binds = poly_parts(poly, self._atom)
        if dtype.weak or (dtype.name == "int64" and not self.needs.is_narrow(dtype)):
            return text, binds
        return f"{self.type_of(dtype)}({text})", ATOM

    def drawn(self, e: ir.Draw) -> str:
        """A call that draws a number: each is another one."""
        kind = self.head.buffers[e.buffer].draws
        self.needs.helpers |= {f"draw_{kind}", "draw_uniform", "draw_bits"}
        if kind == "normal":
            self.needs.math |= {"log", "sqrt", "cos", "pi"}
        return f"draw_{kind}({self.array(e.buffer)}, cuda.grid(1))"

    def _draw(self, e: ir.Draw) -> str:
        """A number that is drawn before the current line, once for all that read it."""
        if e not in self.draws:
            self.draws[e] = self.fresh("draw")
            self.emit(f"{self.draws[e]} = {self.drawn(e)}")
        return self.draws[e]

    def _load(self, e: ir.Load) -> str:
        if isinstance(e, ir.Draw):
            return self._draw(e)
        self.array(e.buffer)
        if self.is_element(e.buffer):
            return e.buffer
        parts = [self._subscript(e, d, e.index[d]) for d in self.kept(e.buffer, len(e.index))]
        return f"{e.buffer}[{', '.join(parts) or self.target.scalar}]"

    def _subscript(self, e: ir.Load, d: int, p: Poly) -> str:
        """A subscript from data goes through a check; others were checked before the launch."""
        if not unchecked(p) and not strays(p):
            return self.poly(p)
        size = self.poly(self.head.buffers[e.buffer].shape[d])
        if not unchecked(p):
            self.needs.helpers.add("within")
            return f"within({self.poly(p)}, {size})"
        self.needs.helpers.add("position")
        self.head.errors.add(OUT_OF_BOUNDS)
        return f"position({self.poly(p)}, {size}, {self.naming.error})"

    def _cast(self, arg: ir.Expr, dtype: DType) -> tuple[str, int]:
        if dtype.kind == "b":
            if arg.dtype.kind == "b":
                return self._expr(arg)
            return f"{self.expr(arg, COMPARE + 1)} != 0", COMPARE
        if (
            arg.dtype.kind == "b"
            and dtype.kind in "iu"
            and not isinstance(arg, (ir.Load, ir.Local))
        ):
            one, zero = (self.expr(ir.Const(k, dtype)) for k in (1, 0))
            return f"{one} if {self.expr(arg, 1)} else {zero}", TERNARY
        if arg.dtype.kind == "c" and dtype.kind != "c":
            # NumPy drops the imaginary part
            return f"{self.type_of(replace(dtype, weak=False))}({self.expr(arg, ATOM)}.real)", ATOM
        return f"{self.type_of(replace(dtype, weak=False))}({self.expr(arg)})", ATOM

    def _op(self, e: ir.Op) -> tuple[str, int]:
        op, dtype = e.op, e.args[0].dtype
        if op in ("floordiv", "mod") and dtype.kind == "f":
            return self._helper(
                f"float_{op}", (*e.args, _typed(0.0 if op == "mod" else 1.0, dtype))
            )
        whole = dtype.kind == "i" and not dtype.weak
        if op == "floordiv" and whole and (dtype.itemsize == 8 or self.needs.any_width):
            if not isinstance(e.args[1], ir.Const) or e.args[1].value == -1:
                return self._wrapped(e, self._helper("int_floordiv", e.args))
        if op in ("lshift", "rshift") and not _is_within(e.args[1], 63):
            return self._wrapped(e, self._helper(_SHIFTS[op], e.args))
        if op == "pow" and dtype.kind in "iu" and not _is_within(e.args[1], _LARGEST_POWER):
            return self._wrapped(e, self._int_power(e))
        if op == "pow" and not (isinstance(e.args[1], ir.Const) and e.args[1].dtype.kind == "i"):
            if dtype.kind == "f":
                self.needs.math.add("pow")
                return f"math.pow({self.expr(e.args[0])}, {self.expr(e.args[1])})", ATOM
        if op == "truediv" and dtype.kind == "c" and not _is_nonzero(e.args[1]):
            return self._quotient(e)
        if op in INFIX:
            return self._wrapped(e, self._bare_infix(e))
        if op in HELPERS:
            extra = [_typed(EXTRA[op], dtype)] if op in EXTRA else []
            return self._helper(op, (*e.args, *extra))
        if op in MATH:
            return self._math(e)
        return self._special(e)

    def _helper(self, name: str, args: Sequence[ir.Expr]) -> tuple[str, int]:
        self.needs.helpers.add(name)
        return f"{name}({', '.join(map(self.expr, args))})", ATOM

    def _wide(self, e: ir.Op, helper: str) -> tuple[str, int]:
        """What a helper gives that computes in float64, whatever the dtype is."""
        text, binds = self._helper(helper, e.args)
        whole = e.dtype.name == "float64" and e.dtype.var is None
        return (text, binds) if whole else (f"{self.type_of(e.dtype)}({text})", ATOM)

    def _int_power(self, e: ir.Op) -> tuple[str, int]:
        """A power of integers, which must not be negative and may be too large for Numba's own."""
        base, power = e.args
        text = self.expr(power)
        if not _is_within(power, None):
            self.head.errors.add(NEGATIVE_POWER)
            self.needs.helpers.add("natural")
            text = f"natural({text}, error)"
        self.needs.helpers.add("int_power")
        number, one = self.expr(base), self.expr(_typed(1, base.dtype))
        if base.dtype.name == "int64" and not isinstance(base, (ir.Load, ir.Cast)):
            # in the simulator Python's own would grow without end
            number = f"np.int64({number})"
        return f"int_power({number}, {text}, {one})", ATOM

    def _quotient(self, e: ir.Op) -> tuple[str, int]:
        """A division of complex numbers: by zero, Numba's own ends the thread."""
        return self._complex(e, "quotient", [_as_float(a, e.dtype) for a in e.args])

    def _complex(self, e: ir.Op, helper: str, args: Sequence[ir.Expr]) -> tuple[str, int]:
        """What a helper gives that computes a complex number: it may be a wider one."""
        text, binds = self._helper(helper, args)
        if e.dtype.name == "complex128" and e.dtype.var is None:
            return text, binds
        return f"{self.type_of(e.dtype)}({text})", ATOM

    def _math(self, e: ir.Op) -> tuple[str, int]:
        module = "cmath" if e.args[0].dtype.kind == "c" else "math"
        name = MATH[e.op]
        if e.args[0].dtype.kind in "iub":
            return "False" if e.op in ("isnan", "isinf") else "True", ATOM
        if e.dtype.name in ("float32", "float64") and e.op in self.target.vectors:
            return self._wide(e, self.target.vectors[e.op])
        if module == "math":
            self.needs.math.add(name)
        elif e.op in ("isnan", "isinf", "isfinite"):
            return self._complex_test(e, name)
        elif e.op in _OVERFLOWING:
            half = ir.Const(0.5, part_of(e.dtype))
            return self._complex(e, f"complex_{name}", [*e.args, half])
        called = self.target.math.get(name, f"{module}.{name}") if module == "math" else ""
        text = f"{called or f'{module}.{name}'}({', '.join(map(self.expr, e.args))})"
        if module == "cmath" and e.dtype.name == "complex64":
            return f"np.complex64({text})", ATOM
        return (f"{self.type_of(e.dtype)}({text})" if e.op in WHOLE else text), ATOM

    def _complex_test(self, e: ir.Op, name: str) -> tuple[str, int]:
        self.needs.math.add(name)
        z = self.expr(e.args[0], ATOM)
        word, binds = ("and", 2) if name == "isfinite" else ("or", 1)
        return f"math.{name}({z}.real) {word} math.{name}({z}.imag)", binds

    def _wrapped(self, e: ir.Op, made: tuple[str, int]) -> tuple[str, int]:
        """The operation with the cast that makes its result wrap around, where it needs one."""
        text, binds = made
        any_width = e.op in _ANY_WIDTH or _is_power(e)
        if e is self.computed.stored and any_width and self.needs.is_narrow(e.dtype):
            return text, binds
        narrow = self.needs.is_narrow(e.dtype) or e.dtype.name == "uint64"
        if narrow and not e.dtype.weak and e.op in _WIDENING:
            return f"{self.type_of(e.dtype)}({text})", ATOM
        return text, binds

    def _bare_infix(self, e: ir.Op) -> tuple[str, int]:
        """The operation without the cast that makes the result wrap around."""
        symbol, binds = INFIX[e.op]
        left, right = e.args
        if e.op == "and":
            between = self._between(left, right)
            if between is not None:
                return between, COMPARE
        if e.op == "pow":
            text = f"{self.expr(left, POWER + 1)}**{self.expr(right, POWER)}"
        elif binds == COMPARE:
            first = self._operand(left, right, COMPARE + 1)
            second = self._operand(right, left, COMPARE + 1)
            text = f"{first} {symbol} {second}"
        else:
            first = self._term(e, left) or self._operand(left, right, binds)
            # a variable may be Python's float on the simulator, whose division by 0 raises
            bare = e.op != "truediv" or isinstance(left, ir.Load)
            second = self._term(e, right, 1) or self._operand(
                right, left if bare else right, binds + 1
            )
            text = f"{first} {symbol} {second}"
        return text, binds

    def _between(self, low: ir.Expr, high: ir.Expr) -> str | None:
        """`lo <= i < hi` for `i >= lo and i < hi`."""
        match low, high:
            case ir.Op(op="ge", args=(x, lo)), ir.Op(op="lt", args=(y, hi)) if x == y:
                if isinstance(x, ir.Value):
                    edge = COMPARE + 1
                    return f"{self.expr(lo, edge)} <= {self.expr(x, edge)} < {self.expr(hi, edge)}"
        return None

    def _term(self, e: ir.Op, term: ir.Expr, tighter: int = 0) -> str:
        """A sum in a sum: only the whole has to be cast to wrap around, not each part."""
        small = self.needs.is_narrow(e.dtype) and e.op in _RING
        if (
            not small
            or not isinstance(term, ir.Op)
            or not (term.op in _RING or _is_power(term) or _is_negative(term))
            or term.dtype != e.dtype
        ):
            return ""
        if self.on_host(term):
            return ""
        bare = self._negative(term) if term.op == "neg" else self._bare_infix(term)
        return parenthesised(*bare, INFIX[e.op][1] + tighter)

    def _negative(self, e: ir.Op) -> tuple[str, int]:
        """The negative of a number, without the cast that makes it wrap around."""
        inner = self.expr(e.args[0], UNARY)
        if e.dtype.name == "complex128" and isinstance(e.args[0], ir.Const):
            inner = f"complex({inner})"  # its imaginary part becomes -0.0
        return f"-{inner}", UNARY

    def _operand(self, e: ir.Expr, other: ir.Expr, outer: int) -> str:
        """A cast to float64 beside a float64 operand is what the operator does anyway."""
        if isinstance(e, ir.Cast) and e.dtype.name == "float64" and e.dtype.var is None:
            sure = (
                other.dtype.name == "float64" and other.dtype.var is None and not other.dtype.weak
            )
            if isinstance(other, (ir.Local, ir.Op)):
                # beside Python's float, which `math` gives, float32 stays what it is
                sure = sure and (e.arg.dtype.kind in "iu" or _is_of_numpy(other))
            elif not isinstance(other, ir.Load):
                sure = False
            if sure and e.arg.dtype.kind in "fiu":
                if not self.on_host(other) and not self.on_host(e):
                    return self.expr(e.arg, outer)
        return self.expr(e, outer)

    def _special(self, e: ir.Op) -> tuple[str, int]:
        arg = e.args[0]
        match e.op:
            case "neg":
                text, binds = self._negative(e)
                narrow = self.needs.is_narrow(e.dtype)
                wrap = e.dtype.kind == "u" or narrow
                wrap = wrap and not (e is self.computed.stored and narrow)
                return (f"{self.type_of(e.dtype)}({text})", ATOM) if wrap else (text, binds)
            case "pos":
                return self._expr(arg)
            case "abs" if arg.dtype.kind == "c" and self.target.magnitude:
                return self._wide(e, self.target.magnitude)
            case "abs":
                return f"abs({self.expr(arg)})", ATOM
            case "sound":
                self.head.errors.add(OUT_OF_BOUNDS)
                sound = self.target.sound.format(error=self.naming.error)
                return f"{self.expr(arg, AND)} and {sound}", AND
            case "not":
                return f"not {self.expr(arg, NOT)}", NOT
            case "invert":
                if e.dtype.kind == "b":
                    return f"not {self.expr(arg, NOT)}", NOT
                return f"{self.type_of(e.dtype)}(~{self.expr(arg, UNARY)})", ATOM
            case "real" | "imag":
                return f"{self.expr(arg, ATOM)}.{e.op}", ATOM
            case "conj":
                return f"{self.expr(arg, ATOM)}.conjugate()", ATOM
            case "deg2rad" | "rad2deg":
                self.needs.math.add("pi")
                # NumPy's constants: 180 / pi divided in single precision is another float32
                t = self.type_of(e.dtype)
                ratio = f"{t}(math.pi / 180)" if e.op == "deg2rad" else f"({t}(180) / {t}(math.pi))"
                return f"{self.expr(arg, PRODUCT)} * {ratio}", PRODUCT
            case "exp2" | "cbrt":
                return self._power(e)
            case "signbit":
                self.needs.math.add("copysign")
                one = self.expr(ir.Const(1.0, arg.dtype))
                return f"math.copysign({one}, {self.expr(arg)}) < 0", COMPARE
        raise AssertionError(e.op)

    def _power(self, e: ir.Op) -> tuple[str, int]:
        self.needs.math |= {"pow", "copysign"}
        arg = self.expr(e.args[0])
        if e.op == "exp2":
            return f"math.pow({self.expr(_typed(2.0, e.dtype))}, {arg})", ATOM
        root = f"math.pow(abs({arg}), {self.type_of(e.dtype)}(1 / 3))"
        return f"math.copysign({root}, {arg})", ATOM


#: above it Numba computes powers of integers as floats
_LARGEST_POWER = 65536
_SHIFTS = {"lshift": "left_shift", "rshift": "right_shift"}
# what has a helper for complex numbers: Numba's own gives NaN beside what overflows
_OVERFLOWING = {"exp", "sin", "cos"}
_RING = {"add", "sub", "mul"}
#: what has the same low bits in any width
_ANY_WIDTH = _RING | {"band", "bor", "bxor"}
_WIDENING = _RING | {"pow", "floordiv", "mod", "lshift", "rshift", "band", "bor", "bxor"}


def _typed(value: float, dtype: DType) -> ir.Const:
    return ir.Const(value if dtype.kind == "f" else int(value), dtype)


def _is_within(e: ir.Expr, most: int | None) -> bool:
    """Whether an integer is certainly not negative, and not larger than `most` if that is given."""
    if isinstance(e, ir.Const) and isinstance(e.value, int):
        return e.value >= 0 and (most is None or e.value <= most)
    if isinstance(e, ir.Cast) and e.arg.dtype.kind in "iub":
        # a narrower type makes another number of a large one
        kept = isinstance(e.arg, ir.Const) or e.dtype.itemsize > e.arg.dtype.itemsize
        return kept and _is_within(e.arg, most)
    if isinstance(e, ir.Value) and e.poly.is_nonneg():
        return most is None
    if e.dtype.kind == "u":
        return most is None or 2 ** (8 * e.dtype.itemsize) - 1 <= most
    return e.dtype.kind == "b"


def _is_even(value: complex | float | int) -> bool:
    """Whether a number is the same as a float."""
    return isinstance(value, int) and abs(value) <= LARGEST


def _is_negative(e: ir.Op) -> bool:
    """Whether a number with a sign is negated: Numba may give one without a sign one."""
    return e.op == "neg" and e.dtype.kind == "i"


def _is_of_numpy(e: ir.Expr) -> bool:
    """Whether the simulator certainly computes it as a number of NumPy."""
    if isinstance(e, ir.Op) and e.op in INFIX:
        return any(map(_is_of_numpy, e.args))
    return isinstance(e, ir.Load) or (isinstance(e, ir.Cast) and not e.dtype.weak)


def _is_power(e: ir.Op) -> bool:
    """Whether it is a product of equal factors: `x**3`."""
    return (
        e.op == "pow" and isinstance(e.args[1], ir.Const) and _is_within(e.args[1], _LARGEST_POWER)
    )


def _is_nonzero(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and bool(e.value)


def _as_float(e: ir.Expr, dtype: DType) -> ir.Expr:
    """A constant that is not an integer: of those, Numba gives themselves as imaginary parts."""
    if isinstance(e, ir.Const) and isinstance(e.value, int):
        return ir.Const(float(e.value), dtype)
    return e
