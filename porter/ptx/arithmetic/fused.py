"""Sums and products rounded once: `fma`, and the directed rounding modes of float32.

A float32 product is exact in float64, and so is its sum with a third number but for one rounding;
rounded *to odd* (the last bit is set where anything was lost) a second rounding to float32 gives
what one would have given.  In float64 the product is split in two (Dekker, Veltkamp) and summed as
Boldo and Melquiond show ("Emulation of FMA and correctly rounded sums", 2008).  That needs
exponents in the middle of the range; the few numbers outside of it are computed with fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array

#: where the parts of a product neither overflow nor lose bits to underflow
_LOW, _HIGH, _FACTOR = 2.0**-900, 2.0**1000, 2.0**900
_SPLIT = 134217729.0  # 2**27 + 1
#: the bits of a float64 beyond a float32, and what they are halfway between two float32
_BEYOND, _HALF = np.int64(0x1FFFFFFF), np.int64(0x10000000)
_SMALLEST = 2.0**-126


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum, and what it lost: together they are the exact sum (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def odd(s: Array, lost: Array) -> Array:
    """s + lost rounded to odd, s being their rounded sum."""
    bits = s.view(np.int64)
    change = (np.abs(lost) > 0.0) & ((bits & 1) == 0)
    step = np.where((lost < 0.0) == (s < 0.0), np.int64(1), np.int64(-1))
    return (bits + np.where(change, step, np.int64(0))).view(np.float64)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float32, rounded once to the nearest."""
    p, d = a.astype(np.float64) * b, c.astype(np.float64)
    s = p + d
    hard = (s.view(np.int64) & _BEYOND) == _HALF
    if hard.any() or (np.abs(s) < _SMALLEST).any():
        s = odd(*two_sum(p, d))
    return s.astype(np.float32)


def directed32(s: Array, lost: Array, mode: str) -> Array:
    """The exact s + lost of float64 rounded to float32: down (rm), up (rp) or to zero (rz)."""
    exact = odd(s, lost)
    near = exact.astype(np.float32)
    wide = near.astype(np.float64)
    if mode == "rz":
        over = np.abs(wide) > np.abs(exact)
        return np.where(over, np.nextafter(near, np.float32(0)), near)
    end = np.float32(-np.inf if mode == "rm" else np.inf)
    over = wide > exact if mode == "rm" else wide < exact
    return np.where(over, np.nextafter(near, end), near)


def sum32(a: Array, b: Array, mode: str) -> Array:
    """a + b of float32 in a directed mode; a sum of nothing is -0 downward."""
    return _signed_zero(*two_sum(a.astype(np.float64), b.astype(np.float64)), a, b, mode)


def product32(a: Array, b: Array, mode: str) -> Array:
    """a * b of float32 in a directed mode."""
    p = a.astype(np.float64) * b
    return directed32(p, np.zeros(1), mode)


def fma32_directed(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c of float32 in a directed mode."""
    p, d = a.astype(np.float64) * b, c.astype(np.float64)
    return _signed_zero(*two_sum(p, d), p, d, mode)


def _signed_zero(s: Array, lost: Array, a: Array, b: Array, mode: str) -> Array:
    found = directed32(s, lost, mode)
    if mode == "rm":
        empty = (s == 0.0) & (np.signbit(a) | np.signbit(b))
        found = np.where(empty, np.float32(-0.0), found)
    return found


def _split(a: Array) -> tuple[Array, Array]:
    t = a * _SPLIT
    high = t - (t - a)
    return high, a - high


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product, and what it lost (Dekker)."""
    p = a * b
    ah, al = _split(a)
    bh, bl = _split(b)
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def _middle(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float64 with exponents in the middle of the range."""
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    z = odd(*two_sum(tl, vl))
    # without any loss the sum of the two has the right sign of zero
    return np.where(ul == 0.0, uh + c, vh + z)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float64, rounded once to the nearest."""
    size = np.abs(a * b)
    largest = max(_most(size), _most(np.abs(c)))
    factors = max(_most(np.abs(a)), _most(np.abs(b)))
    # comparisons with NaN are false
    if largest < _HIGH and factors < _FACTOR:
        tiny = (size < _LOW) & (a != 0.0) & (b != 0.0)
        if not tiny.any():
            return _middle(a, b, c)
    return _any_exponents(a, b, c)


def fma_twice(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded twice, which takes a tenth of the time."""
    return a * b + c


def _most(a: Array) -> float:
    found = float(a.max())
    return found if found == found else np.inf


def _any_exponents(a: Array, b: Array, c: Array) -> Array:
    a, b, c = np.broadcast_arrays(a, b, c)
    size, other = np.abs(a * b), np.abs(c)
    fine = (size < _HIGH) & (other < _HIGH) & (np.abs(a) < _FACTOR) & (np.abs(b) < _FACTOR)
    fine &= (size >= _LOW) | (a == 0.0) | (b == 0.0)
    one = np.ones(1)
    found: Array = np.where(fine, _middle(*(np.where(fine, x, one) for x in (a, b, c))), a * b + c)
    infinite = np.isinf(c) & np.isfinite(a) & np.isfinite(b)
    found[infinite] = c[infinite]
    exact = ~fine & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for k in np.flatnonzero(exact):
        found[k] = fma_fraction(float(a[k]), float(b[k]), float(c[k]))
    return found


def fma_fraction(a: float, b: float, c: float) -> float:
    """a * b + c of finite numbers with exact arithmetic, rounded to the nearest."""
    exact: Any = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if a == 0 or b == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
