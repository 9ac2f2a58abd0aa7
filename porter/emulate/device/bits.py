"""`cuda.popc`, `cuda.fma` and their like in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _on_integer(build: Callable[[Any, Any], Any]) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def function(typing: Any, value: Any) -> Any:
        kind = types.unliteral(value)
        if not isinstance(kind, types.Integer):
            raise TypingError(f"a bit operation on {kind}")

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return build(builder, args[0])

        return kind(kind), codegen

    return function


def _clz(builder: Any, value: Any) -> Any:
    return builder.ctlz(value, ir.Constant(ir.IntType(1), 0))


def _ffs(builder: Any, value: Any) -> Any:
    zero, one = ir.Constant(value.type, 0), ir.Constant(value.type, 1)
    first = builder.add(builder.cttz(value, ir.Constant(ir.IntType(1), 0)), one)
    return builder.select(builder.icmp_unsigned("==", value, zero), zero, first)


popc = _on_integer(lambda builder, value: builder.ctpop(value))
brev = _on_integer(lambda builder, value: builder.bitreverse(value))
clz = _on_integer(_clz)
ffs = _on_integer(_ffs)


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` with one rounding."""
    kind = typing.unify_types(*map(types.unliteral, (a, b, c)))
    kind = kind if isinstance(kind, types.Float) else types.float64

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fma(*args)

    return kind(kind, kind, kind), codegen


@intrinsic  # type: ignore[untyped-decorator]
def fmod(typing: Any, a: Any, b: Any) -> Any:
    """`math.fmod`, which Numba has for GPUs only."""
    single = all(types.unliteral(t) == types.float32 for t in (a, b))
    kind = types.float32 if single else types.float64

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.frem(*args)

    return kind(kind, kind), codegen


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def selp(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`."""
    return a if condition else b


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def cbrt(value: Any) -> Any:
    """The cube root."""
    return np.cbrt(value)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def pair(bits: Any) -> Any:
    """What `match_all_sync` gives: the lanes, and whether there are any."""
    return bits, bits != 0


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def floor(value: Any) -> Any:
    """`math.floor` as CUDA has it: a float of the same type."""
    return np.floor(value)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def ceil(value: Any) -> Any:
    """`math.ceil` as CUDA has it."""
    return np.ceil(value)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def trunc(value: Any) -> Any:
    """`math.trunc` as CUDA has it."""
    return np.trunc(value)
