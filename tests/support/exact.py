"""Fractions rounded to floating-point numbers, without floating-point arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def nearest(exact: Fraction, kind: str) -> float:
    """A fraction rounded to the nearest number of a type, ties to the even one."""
    precision, lowest = (24, -149) if kind == "f32" else (53, -1074)
    if exact == 0:
        return 0.0
    size = abs(exact)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    power -= size < Fraction(2) ** power
    unit = Fraction(2) ** max(power - precision + 1, lowest)
    whole = round(size / unit) * unit
    sign = 1 if exact > 0 else -1
    if whole >= Fraction(2) ** (128 if kind == "f32" else 1024):
        return sign * np.inf
    return sign * float(whole)


def directed(exact: Fraction, kind: str, mode: str) -> float:
    """A fraction other than 0 rounded down (rm), up (rp) or toward zero (rz)."""
    dtype = np.float32 if kind == "f32" else np.float64
    largest = float(np.finfo(dtype).max)
    toward_zero = mode == "rz" or (mode == "rm") == (exact > 0)
    near = nearest(exact, kind)
    if toward_zero and abs(near) == np.inf:
        return largest if exact > 0 else -largest
    if abs(near) != np.inf and (abs(Fraction(near)) > abs(exact)) == toward_zero:
        end = 0.0 if toward_zero else (np.inf if exact > 0 else -np.inf)
        if Fraction(near) != exact:
            return float(np.nextafter(dtype(near), dtype(end)))
    return near
