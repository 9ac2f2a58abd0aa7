"""The types of numbers as Numba infers them, where they differ from NumPy's.

Numbers of the source are int64 and float64, integers of fewer bits compute in 64, and a signed
beside an unsigned integer gives a signed one.  Read in `numba.core.typing.builtins` of Numba 0.68.
"""

from __future__ import annotations

from porter.dtypes.dtype import INT64, WEAK_INT, DType, promote, strengthen
from porter.ir.scalars import cast
from porter.lowering.arrays import calculus
from porter.lowering.evaluation import Numeric
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array

_UINT64 = DType("uint64")


def inferred(b: Builder, value: Numeric) -> Numeric:
    """A number, or an array of numbers, in the type in which Numba computes with it."""
    dtype = _computed_in(value.dtype)
    if dtype == value.dtype:
        return value
    if isinstance(value, Array):
        return calculus.astype(value, dtype)
    return cast(value, dtype)


def _computed_in(dtype: DType) -> DType:
    if dtype.kind in "iu":
        return _UINT64 if dtype.kind == "u" else INT64
    return strengthen(dtype)


def matched(op: str, x: Numeric, y: Numeric) -> tuple[Numeric, Numeric]:
    """The operands of one of Python's operators, so that the result has Numba's type."""
    kinds = x.dtype.kind + y.dtype.kind
    if op == "pow" and x.dtype.kind in "fc" and y.dtype.kind in "iu":
        return x, calculus.astype(y, WEAK_INT)  # float32 stays float32
    if kinds in ("iu", "ui"):
        return calculus.astype(x, INT64), calculus.astype(y, INT64)
    return x, y


def unified(x: Numeric, y: Numeric, typed: bool) -> tuple[Numeric, Numeric]:
    """Two numbers of which a condition chooses one: where they are `typed`, both of one type."""
    if not typed or isinstance(x, Array) or isinstance(y, Array):
        return x, y
    common = promote(x.dtype, y.dtype)
    return cast(x, common), cast(y, common)
