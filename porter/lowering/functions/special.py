"""Functions of `scipy.special` that are formulas of `math`'s, element by element.

Those of float32 give float32, those of anything else float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from porter import ir
from porter.dtypes.dtype import FLOAT64
from porter.ir.scalars import DTypeError, cast, choose, integer, number, operate
from porter.lowering.functions.elementwise import formula


def _real(x: ir.Expr) -> ir.Expr:
    """What SciPy computes in: it has loops for float32 and float64 alone."""
    if x.dtype.kind == "c":
        raise DTypeError("complex numbers are not supported by this function")
    wide = x.dtype.kind != "f" or x.dtype.itemsize < 4
    return cast(x, FLOAT64) if wide else x


def _of(op: str) -> Callable[[ir.Expr], ir.Expr]:
    return lambda x: operate(op, _real(x))


def _expit(x: ir.Expr) -> ir.Expr:
    tail = operate("exp", operate("neg", _real(x)))
    return operate("truediv", number(1.0), operate("add", number(1.0), tail))


def _logit(x: ir.Expr) -> ir.Expr:
    """Near 1/2 by log1p, which keeps the digits there."""
    x = _real(x)
    apart = operate("mul", number(2.0), operate("sub", x, number(0.5)))
    near = operate("sub", operate("log1p", apart), operate("log1p", operate("neg", apart)))
    far = operate("log", operate("truediv", x, operate("sub", number(1.0), x)))
    low, high = operate("lt", x, number(0.3)), operate("gt", x, number(0.65))
    return choose(operate("or", low, high), far, near)


def _ndtr(x: ir.Expr) -> ir.Expr:
    """The normal distribution: by erfc where erf has no digits left."""
    scaled = operate("mul", _real(x), number(math.sqrt(0.5)))
    size = operate("abs", scaled)
    near = operate("add", number(0.5), operate("mul", number(0.5), operate("erf", scaled)))
    tail = operate("mul", number(0.5), operate("erfc", size))
    above = operate("sub", number(1.0), tail)
    far = choose(operate("gt", scaled, number(0.0)), above, tail)
    return choose(operate("lt", size, number(1.0)), near, far)


def _log_expit(x: ir.Expr) -> ir.Expr:
    x = _real(x)
    below = operate("sub", x, operate("log1p", operate("exp", x)))
    above = operate("neg", operate("log1p", operate("exp", operate("neg", x))))
    return choose(operate("lt", x, integer(0)), below, above)


def _x_times(op: str) -> Callable[[ir.Expr, ir.Expr], ir.Expr]:
    """`x * log(y)`, which is 0 where x is, unless y is NaN."""

    def compute(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        x, y = _real(x), _real(y)
        product = operate("mul", x, operate(op, y))
        nothing = operate("and", operate("eq", x, number(0.0)),
                          operate("not", operate("isnan", y)))  # fmt: skip
        return choose(nothing, cast(number(0.0), product.dtype), product)

    return compute


formula("scipy.special.erf", "x", _of("erf"))
formula("scipy.special.erfc", "x", _of("erfc"))
formula("scipy.special.expit", "x", _expit)
formula("scipy.special.logit", "x", _logit)
formula("scipy.special.ndtr", "x", _ndtr)
formula("scipy.special.log_expit", "x", _log_expit)
formula("scipy.special.xlogy", "x y", _x_times("log"))
formula("scipy.special.xlog1py", "x y", _x_times("log1p"))
