"""Rows of integers, bits and predicates (PTX ISA 9.7.1, 9.7.2, 9.7.6 to 9.7.8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic import integers
from porter.ptx.arithmetic.kinds import DTYPES, Array, bits
from porter.ptx.instructions.rows import Form, Row

_ALL = "{u16 u32 u64 s16 s32 s64}"
_BITS = "{b16 b32 b64}"
_CARRIED = "{u32 s32 u64 s64}"


def _always(function: Any) -> Any:
    return lambda form: function


def _by_type(function: Any) -> Any:
    return lambda form: function(form.type)


def _multiply(form: Form) -> Any:
    if form.has("wide"):
        return integers.multiply_wide(form.type)
    return integers.multiply_high(form.type) if form.has("hi") else np.multiply


def _multiply_add(form: Form) -> Any:
    product = _multiply(form)
    return lambda a, b, c: product(a, b) + c


def _in_word(form: Form, function: Any) -> Any:
    """A function of unsigned numbers for the carry instructions, whose carry is a 0 or 1."""
    dtype, plain = DTYPES[f"u{bits(form.type)}"], DTYPES[form.type]

    def computed(*given: Array) -> tuple[Array, Array]:
        numbers = (g.astype(dtype) if g.dtype == np.bool_ else g.view(dtype) for g in given)
        found, out = function(*numbers)
        return found.view(plain), out

    return computed


def _carry(function: Any, into: bool) -> Any:
    """add.cc or addc and the like: the carry comes in or is none."""
    none = np.zeros(1, np.bool_)

    def made(form: Form) -> Any:
        computed = _in_word(form, function)
        plain = computed if into else lambda a, b: computed(a, b, none)
        return plain if form.has("cc") else lambda *given: plain(*given)[0]

    return made


def _multiply_carry(into: bool) -> Any:
    none = np.zeros(1, np.bool_)

    def made(form: Form) -> Any:
        product = _multiply(form)
        computed = _in_word(form, integers.add_carry)

        def plain(a: Array, b: Array, c: Array, carry: Array = none) -> tuple[Array, Array]:
            found: tuple[Array, Array] = computed(product(a, b), c, carry)
            return found

        return plain if form.has("cc") else lambda *given: plain(*given)[0]

    return made


def _shifted(left: bool) -> Any:
    return lambda form: integers.shift(form.type, left)


def _funnel(form: Form) -> Any:
    return integers.funnel(form.has("l"), form.has("clamp"))


ROWS = (
    Row(f"add {_ALL}", "t|t t", _always(np.add), "a + b, modulo the width"),
    Row(f"sub {_ALL}", "t|t t", _always(np.subtract), "a - b, modulo the width"),
    Row(f"mul lo {_ALL}", "t|t t", _multiply, "the lower half of the product"),
    Row(f"mul hi {_ALL}", "t|t t", _multiply, "the upper half of the product"),
    Row("mul wide u16", "u32|t t", _multiply, "the whole product"),
    Row("mul wide s16", "s32|t t", _multiply, "the whole product"),
    Row("mul wide u32", "u64|t t", _multiply, "the whole product"),
    Row("mul wide s32", "s64|t t", _multiply, "the whole product"),
    Row(f"mad lo {_ALL}", "t|t t t", _multiply_add, "the product's lower half, plus c"),
    Row(f"mad hi {_ALL}", "t|t t t", _multiply_add, "the product's upper half, plus c"),
    Row("mad wide u16", "u32|t t u32", _multiply_add, "the whole product, plus c"),
    Row("mad wide s16", "s32|t t s32", _multiply_add, "the whole product, plus c"),
    Row("mad wide u32", "u64|t t u64", _multiply_add, "the whole product, plus c"),
    Row("mad wide s32", "s64|t t s64", _multiply_add, "the whole product, plus c"),
    Row(
        f"div {_ALL}", "t|t t", _by_type(integers.divide),
        "toward zero; by zero all ones, which the ISA leaves open", "division",
    ),
    Row(
        f"rem {_ALL}", "t|t t", _by_type(integers.remainder),
        "the dividend's sign; by zero the dividend, which the ISA leaves open", "division",
    ),
    Row("abs {s16 s32 s64}", "t|t", _always(np.abs), "modulo the width"),
    Row("neg {s16 s32 s64}", "t|t", _always(np.negative), "modulo the width"),
    Row(f"min {_ALL}", "t|t t", _always(np.minimum), "the lesser"),
    Row(f"max {_ALL}", "t|t t", _always(np.maximum), "the greater"),
    Row(
        f"add cc {_CARRIED}", "t cc|t t", _carry(integers.add_carry, False), "with the carry out"
    ),
    Row(
        f"addc cc {_CARRIED}", "t cc|t t cc", _carry(integers.add_carry, True),
        "with the carry in and out",
    ),
    Row(f"addc {_CARRIED}", "t|t t cc", _carry(integers.add_carry, True), "with the carry in"),
    Row(
        f"sub cc {_CARRIED}", "t cc|t t", _carry(integers.subtract_borrow, False),
        "with the borrow out",
    ),
    Row(
        f"subc cc {_CARRIED}", "t cc|t t cc", _carry(integers.subtract_borrow, True),
        "with the borrow in and out",
    ),
    Row(
        f"subc {_CARRIED}", "t|t t cc", _carry(integers.subtract_borrow, True),
        "with the borrow in",
    ),
    Row(
        f"mad {{lo hi}} cc {_CARRIED}", "t cc|t t t", _multiply_carry(False),
        "half of the product plus c, with the carry out",
    ),
    Row(
        f"madc {{lo hi}} cc {_CARRIED}", "t cc|t t t cc", _multiply_carry(True),
        "half of the product plus c, with the carry in and out",
    ),
    Row(
        f"madc {{lo hi}} {_CARRIED}", "t|t t t cc", _multiply_carry(True),
        "half of the product plus c, with the carry in",
    ),
    Row("popc {b32 b64}", "u32|t", _always(integers.population), "how many bits are set"),
    Row("clz {b32 b64}", "u32|t", _always(integers.leading_zeros), "zeros above the highest one"),
    Row("brev {b32 b64}", "t|t", _always(integers.reverse), "the bits in reverse"),
    Row(
        "bfe {u32 u64 s32 s64}", "t|t u32 u32", _by_type(integers.extract), "a field of bits"
    ),
    Row("bfi {b32 b64}", "t|t t u32 u32", _always(integers.insert), "a field of bits replaced"),
    Row("prmt b32", "t|t t u32", _always(integers.permute), "four of eight bytes"),
    Row("shf {l r} {clamp wrap} b32", "t|t t u32", _funnel, "a window of two words"),
    Row(
        "lop3 b32", "t|t t t u32", _always(integers.lookup), "a function of three bits, by a table"
    ),
    Row("and {pred b16 b32 b64}", "t|t t", _always(np.bitwise_and), "bit by bit"),
    Row("or {pred b16 b32 b64}", "t|t t", _always(np.bitwise_or), "bit by bit"),
    Row("xor {pred b16 b32 b64}", "t|t t", _always(np.bitwise_xor), "bit by bit"),
    Row("not {pred b16 b32 b64}", "t|t", _always(np.invert), "bit by bit"),
    Row(f"shl {_BITS}", "t|t u32", _shifted(True), "amounts beyond the width give 0"),
    Row(
        "shr {b16 b32 b64 u16 u32 u64 s16 s32 s64}", "t|t u32", _shifted(False),
        "amounts beyond the width give 0, or the sign",
    ),
)  # fmt: skip
