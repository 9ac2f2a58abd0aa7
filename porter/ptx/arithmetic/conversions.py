"""`cvt`: between integers, between floats, and from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.floats import flushed, saturated
from porter.ptx.arithmetic.fused import directed32
from porter.ptx.arithmetic.kinds import DTYPES, Array, bits, is_float

_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def integer_to_integer(to: str, of: str, sat: bool) -> Any:
    """Extension by the source's sign, or truncation; clamped with `.sat`."""
    target = DTYPES[to]
    if not sat:
        return lambda a: a.astype(target)
    limits, given = np.iinfo(target), np.iinfo(DTYPES[of])
    low, high = max(limits.min, given.min), min(limits.max, given.max)
    return lambda a: np.clip(a, DTYPES[of].type(low), DTYPES[of].type(high)).astype(target)


def float_to_integer(to: str, of: str, rounding: str, ftz: bool) -> Any:
    """Rounded, then clamped; NaN gives 0, or the highest bit alone where 64 bits take part.

    The ISA: "zero if source is not .f64, and destination is not .s64, .u64", else
    "1 << (BitWidth(dst) - 1)".
    """
    target, round_off = DTYPES[to], _INTEGRAL[rounding]
    limits = np.iinfo(target)
    nothing = 0 if of != "f64" and bits(to) < 64 else (-1 if to[0] == "s" else 1) << (bits(to) - 1)
    # the first float64 beyond the range, exact for each width
    low, high = float(limits.min), float(limits.max + 1)

    def converted(a: Array) -> Array:
        x = round_off((flushed(a) if ftz else a).astype(np.float64))
        inside = (x >= low) & (x < high)
        found = np.where(inside, x, 0.0).astype(target)
        if inside.all():
            return found
        clamped = np.where(x >= high, target.type(limits.max), target.type(limits.min))
        clamped = np.where(np.isnan(x), target.type(nothing), clamped)
        return np.where(inside, found, clamped)

    return converted


def integer_to_float(to: str, rounding: str) -> Any:
    """Rounded to the nearest, or in a directed mode to float32 from at most 32 bits."""
    target = DTYPES[to]
    if rounding == "rn":
        return lambda a: a.astype(target)
    return lambda a: directed32(a.astype(np.float64), np.zeros(1), rounding)


def float_to_float(to: str, of: str, rounding: str, ftz: bool, sat: bool) -> Any:
    """Rounded to a narrower type, exact to a wider one, or to an integral number."""
    target = DTYPES[to]

    def converted(a: Array) -> Array:
        x = flushed(a) if ftz and of == "f32" else a
        if rounding in _INTEGRAL:
            x = _INTEGRAL[rounding](x)
        if rounding in ("rz", "rm", "rp"):
            x = directed32(x.astype(np.float64), np.zeros(1), rounding)
        x = x.astype(target)
        x = flushed(x) if ftz and to == "f32" else x
        return saturated(x) if sat else x

    return converted


def conversion(to: str, of: str, rounding: str, ftz: bool, sat: bool) -> Any:
    """The function of a `cvt`; None for a combination that the ISA or the machine does not have."""
    if not is_float(to) and not is_float(of):
        return integer_to_integer(to, of, sat) if not rounding and not ftz else None
    if not is_float(to):
        return float_to_integer(to, of, rounding, ftz) if rounding in _INTEGRAL else None
    if not is_float(of):
        narrow = rounding == "rn" or (to == "f32" and bits(of) <= 32)
        wanted = rounding in ("rn", "rz", "rm", "rp") and narrow and not sat
        return integer_to_float(to, rounding) if wanted else None
    directed = rounding in ("rz", "rm", "rp")
    if directed and (to, of) != ("f32", "f64"):
        return None
    if bits(to) < bits(of) and rounding not in ("rn", "rz", "rm", "rp"):
        return None
    return float_to_float(to, of, rounding, ftz, sat)
