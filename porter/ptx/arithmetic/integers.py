"""Integer arithmetic beyond NumPy's own: wrap-around comes with NumPy's integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES, Array, bits


def wide_type(kind: str) -> str:
    """The type of twice the bits."""
    return f"{kind[0]}{2 * bits(kind)}"


def multiply_wide(kind: str) -> Any:
    """`mul.wide`: the whole product of 16 or 32 bits."""
    wide = DTYPES[wide_type(kind)]
    return lambda a, b: a.astype(wide) * b.astype(wide)


def multiply_high(kind: str) -> Any:
    """`mul.hi`: the upper half of the product."""
    if bits(kind) < 64:
        whole, shift, narrow = multiply_wide(kind), bits(kind), DTYPES[kind]
        return lambda a, b: (whole(a, b) >> DTYPES[wide_type(kind)].type(shift)).astype(narrow)
    return _high_unsigned if kind[0] == "u" else _high_signed


_MASK, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def _high_unsigned(a: Array, b: Array) -> Array:
    a0, a1, b0, b1 = a & _MASK, a >> _HALF, b & _MASK, b >> _HALF
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    other = a0 * b1 + (middle & _MASK)
    found: Array = a1 * b1 + (middle >> _HALF) + (other >> _HALF)
    return found


def _high_signed(a: Array, b: Array) -> Array:
    high = _high_unsigned(a.view(np.uint64), b.view(np.uint64)).view(np.int64)
    # a negative factor was read as itself plus 2**64
    found: Array = high - ((a >> np.int64(63)) & b) - ((b >> np.int64(63)) & a)
    return found


def divide(kind: str) -> Any:
    """`div`: toward zero; division by zero gives ones, as GPUs do (the ISA leaves it open)."""
    ones = DTYPES[kind].type(-1 if kind[0] == "s" else (1 << bits(kind)) - 1)

    def unsigned(a: Array, b: Array) -> Array:
        return np.where(b == 0, ones, a // b)

    def signed(a: Array, b: Array) -> Array:
        q = a // b
        found: Array = np.where(b == 0, ones, q + ((q * b != a) & ((a < 0) != (b < 0))))
        return found

    return signed if kind[0] == "s" else unsigned


def remainder(kind: str) -> Any:
    """`rem`: with the sign of the dividend; by zero the dividend (the ISA leaves it open)."""
    plain = divide(kind)
    return lambda a, b: np.where(b == 0, a, a - plain(a, b) * b)


def shift(kind: str, left: bool) -> Any:
    """`shl` and `shr`: amounts beyond the width count as the width."""
    dtype = DTYPES[kind]
    # NumPy gives 0, or the sign, for amounts of the width and more; amounts are unsigned
    most = bits(kind)
    function = np.left_shift if left else np.right_shift

    def shifted(a: Array, amount: Array) -> Array:
        found: Array = function(a, np.minimum(amount, np.uint32(most)).astype(dtype))
        return found

    return shifted


def population(a: Array) -> Array:
    """`popc`: how many bits are set."""
    return np.bitwise_count(a).astype(np.uint32)


def leading_zeros(a: Array) -> Array:
    """`clz`: bits above the highest that is set; all of them for 0."""
    width = 8 * a.dtype.itemsize
    for step in (1, 2, 4, 8, 16, 32):
        if step < width:
            a = a | (a >> a.dtype.type(step))
    return np.uint32(width) - np.bitwise_count(a).astype(np.uint32)


def reverse(a: Array) -> Array:
    """`brev`: the bits in the opposite order."""
    size = a.dtype.itemsize
    octets = np.ascontiguousarray(a).view(np.uint8).reshape(-1, size)[:, ::-1]
    flipped = np.packbits(np.unpackbits(octets, axis=1, bitorder="little"), axis=1)
    return np.ascontiguousarray(flipped).view(a.dtype).reshape(-1)


def extract(kind: str) -> Any:
    """`bfe`: `length` bits from `start`; a signed field is extended with its highest bit."""
    width, dtype = bits(kind), DTYPES[f"u{bits(kind)}"]

    def extracted(a: Array, start: Array, length: Array) -> Array:
        first = (start & np.uint32(0xFF)).astype(np.int64)
        count = (length & np.uint32(0xFF)).astype(np.int64)
        plain = a.view(dtype)
        field = _shifted(plain, first, width) & _ones(count, width, dtype)
        if kind[0] == "u":
            return field
        last = np.minimum(first + count - 1, width - 1)
        sign = (_shifted(plain, np.maximum(last, 0), width) & dtype.type(1)) & (count > 0)
        inside = np.minimum(count, np.maximum(width - first, 0))
        filled = field | np.where(sign != 0, ~_ones(inside, width, dtype), dtype.type(0))
        return filled.astype(dtype).view(DTYPES[kind])

    return extracted


def insert(a: Array, b: Array, start: Array, length: Array) -> Array:
    """`bfi`: b with `length` bits from `start` replaced by the lowest ones of a."""
    width, dtype = 8 * a.dtype.itemsize, a.dtype
    first = (start & np.uint32(0xFF)).astype(np.int64)
    count = (length & np.uint32(0xFF)).astype(np.int64)
    low = np.minimum(first, width).astype(dtype)
    place = np.left_shift(_ones(count, width, dtype), low)
    found: Array = (b & ~place) | (np.left_shift(a, low) & place)
    return found


def _shifted(a: Array, amount: Array, width: int) -> Array:
    found: Array = np.right_shift(a, np.minimum(amount, width).astype(a.dtype))
    return found


def _ones(count: Array, width: int, dtype: np.dtype[Any]) -> Array:
    """A number whose `count` lowest bits are set."""
    chosen: Array = ~np.left_shift(~dtype.type(0), np.minimum(count, width).astype(dtype))
    return chosen


def permute(a: Array, b: Array, selector: Array) -> Array:
    """`prmt` in its default mode: each byte of the result is one of the eight of a and b."""
    both = a.astype(np.uint64) | (b.astype(np.uint64) << np.uint64(32))
    found = np.zeros(1, np.uint32)
    for k in range(4):
        nibble = (selector >> np.uint32(4 * k)).astype(np.uint64)
        octet = (both >> (np.uint64(8) * (nibble & np.uint64(7)))) & np.uint64(0xFF)
        sign = np.where((octet & np.uint64(0x80)) != 0, np.uint64(0xFF), np.uint64(0))
        octet = np.where((nibble & np.uint64(8)) != 0, sign, octet)
        found = found | (octet.astype(np.uint32) << np.uint32(8 * k))
    return found


def funnel(left: bool, clamp: bool) -> Any:
    """`shf`: a window of 32 bits of b:a, moved by an amount that is clamped or wraps around."""

    def shifted(a: Array, b: Array, amount: Array) -> Array:
        n = np.minimum(amount, np.uint32(32)) if clamp else amount & np.uint32(31)
        both = a.astype(np.uint64) | (b.astype(np.uint64) << np.uint64(32))
        by = n.astype(np.uint64)
        moved: Array = (both << by) >> np.uint64(32) if left else both >> by
        return moved.astype(np.uint32)

    return shifted


def lookup(a: Array, b: Array, c: Array, table: Array) -> Array:
    """`lop3`: any function of three bits, by its table of eight results."""
    found = np.zeros(1, np.uint32)
    for k in range(8):
        here = (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        chosen = np.where((table >> np.uint32(k)) & np.uint32(1), np.uint32(0xFFFFFFFF), 0)
        found = found | (here & chosen.astype(np.uint32))
    return found


def add_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """a + b + carry, and the carry out."""
    s = a + b
    total = s + carry
    return total, (s < a) | (total < s)


def subtract_borrow(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """a - b - borrow, and the borrow out."""
    d = a - b
    total = d - carry
    return total, (a < b) | (d < carry)
