"""Floating-point arithmetic beyond NumPy's own: zeros and NaN, flushing, saturation, functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES, Array, bits

#: the smallest normal number of each type
_NORMAL = {"f32": np.float32(2.0**-126), "f64": np.float64(2.0**-1022)}


def flushed(a: Array) -> Array:
    """`.ftz`: subnormal float32 numbers become zeros of their sign."""
    return np.where(np.abs(a) < _NORMAL["f32"], np.copysign(np.float32(0), a), a)


def saturated(a: Array) -> Array:
    """`.sat`: between 0 and 1, NaN becomes 0."""
    one, zero = a.dtype.type(1), a.dtype.type(0)
    found: Array = np.where(a > zero, np.minimum(a, one), zero)
    return found


def modified(function: Any, *, ftz: bool, sat: bool) -> Any:
    """A function of float32 with `.ftz` (of arguments and result) and `.sat`."""
    if not ftz and not sat:
        return function

    def changed(*given: Array) -> Array:
        found = function(*map(flushed, given)) if ftz else function(*given)
        found = flushed(found) if ftz else found
        return saturated(found) if sat else found

    return changed


def extreme(kind: str, least: bool, spread: bool) -> Any:
    """`min` and `max`: -0 is less than +0; NaN gives way to a number unless it is to spread."""
    whole = DTYPES[f"u{bits(kind)}"]
    plain = (np.minimum if spread else np.fmin) if least else (np.maximum if spread else np.fmax)
    join = np.bitwise_or if least else np.bitwise_and

    def chosen(a: Array, b: Array) -> Array:
        both = join(a.view(whole), b.view(whole)).view(DTYPES[kind])
        return np.where(a == b, both, plain(a, b))

    return chosen


def tested(kind: str, what: str) -> Any:
    """`testp`: a property of a number."""
    smallest = _NORMAL[kind]
    tests: dict[str, Any] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & (np.abs(a) >= smallest),
        "subnormal": lambda a: (np.abs(a) < smallest) & (a != 0),
    }
    return tests[what]


def by_double(function: Any) -> Any:
    """A function of float32 computed in float64, rounded to float32."""
    return lambda *given: function(*(a.astype(np.float64) for a in given)).astype(np.float32)


def _upper_half(a: Array) -> Array:
    return (a.view(np.int64) & np.int64(-(1 << 32))).view(np.float64)


def gross(function: Any) -> Any:
    """`rcp.approx.ftz.f64` and `rsqrt`: of the upper 32 bits, rounded to 20 bits of fraction."""
    half = np.int64(1 << 31)

    def rough(a: Array) -> Array:
        top = _upper_half(a)
        top = np.where(np.abs(top) < _NORMAL["f64"], np.copysign(0.0, top), top)
        found = function(top)
        near = _upper_half((found.view(np.int64) + half).view(np.float64))
        near = np.where(np.isfinite(found), near, found)
        return np.where(np.abs(near) < _NORMAL["f64"], np.copysign(0.0, near), near)

    return rough


def reciprocal(a: Array) -> Array:
    """1 / a."""
    found: Array = a.dtype.type(1) / a
    return found


def inverse_root(a: Array) -> Array:
    """1 / sqrt(a)."""
    found: Array = a.dtype.type(1) / np.sqrt(a)
    return found


def full_quotient(a: Array, b: Array) -> Array:
    """`div.full` and `div.approx`: a / b, by the correctly rounded value."""
    return a / b
