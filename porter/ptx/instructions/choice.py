"""Rows of comparison, selection, movement and conversion (PTX ISA 9.7.6, 9.7.9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.conversions import conversion
from porter.ptx.arithmetic.floats import flushed
from porter.ptx.arithmetic.kinds import Array
from porter.ptx.instructions.rows import Form, Row

_COMPARED: dict[str, Any] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
#: with `u` a comparison holds as well where one is NaN: it is what does not hold inverted
_INVERSE = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}
_JOINED: dict[str, Any] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor
}  # fmt: skip


def _ordered(a: Array, b: Array) -> Array:
    return ~(np.isnan(a) | np.isnan(b))


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _unequal(a: Array, b: Array) -> Array:
    """Ordered and different; NumPy's != holds for NaN."""
    return (a < b) | (a > b)


def _inverted(function: Any) -> Any:
    return lambda a, b: ~function(a, b)


def comparison(word: str, is_float: bool) -> Any:
    """The function of a comparison's name."""
    if word == "num":
        return _ordered
    if word == "nan":
        return _unordered
    if word in _INVERSE:
        return np.not_equal if word == "neu" else _inverted(comparison(_INVERSE[word], is_float))
    return _unequal if is_float and word == "ne" else _COMPARED[word]


def _compare(form: Form) -> Any:
    compared = comparison(form.words[0], form.type[0] == "f")
    if form.has("ftz"):
        plain = compared

        def compared(a: Array, b: Array) -> Array:
            found: Array = plain(flushed(a), flushed(b))
            return found

    joined = form.one(*_JOINED)
    if not joined:
        return compared
    join = _JOINED[joined]
    return lambda a, b, c: join(compared(a, b), c)


def _compare_both(form: Form) -> Any:
    """`setp` with `p|q`: q has the inverted comparison."""
    compared = _compare(Form(form.opcode, tuple(w for w in form.words if w not in _JOINED)))
    joined = form.one(*_JOINED)
    if not joined:

        def both(a: Array, b: Array) -> tuple[Array, Array]:
            found = compared(a, b)
            return found, ~found

        return both
    join = _JOINED[joined]

    def both_joined(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        found = compared(a, b)
        return join(found, c), join(~found, c)

    return both_joined


def _select(form: Form) -> Any:
    return lambda a, b, p: np.where(p, a, b)


def _select_by_sign(form: Form) -> Any:
    zero = np.zeros(1)
    return lambda a, b, c: np.where(c >= zero, a, b)


def _convert(form: Form) -> Any:
    to, of = form.types
    rounding = form.one("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
    return conversion(to, of, rounding, form.has("ftz"), form.has("sat"))


def _same(form: Form) -> Any:
    return None


_WHOLE = "{b16 b32 b64 u16 u32 u64 s16 s32 s64}"
_SIGNED = "{eq ne lt le gt ge lo ls hi hs}"
_FLOATS = "{eq ne lt le gt ge equ neu ltu leu gtu geu num nan}"
_ANY = "{u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64}"
_CONVERSION = "[rni rzi rmi rpi rn rz rm rp] [ftz] [sat]"
#: two-result rows come first: the translator chooses by the operands
PAIRED = (
    Row(f"setp {_SIGNED} {_WHOLE}", "pred pred|t t", _compare_both, "a comparison"),
    Row(f"setp {_FLOATS} [ftz] {{f32 f64}}", "pred pred|t t", _compare_both, "one", "float"),
    Row(f"setp {_SIGNED} {{and or xor}} {_WHOLE}", "pred pred|t t pred", _compare_both, "one"),
    Row(
        f"setp {_FLOATS} {{and or xor}} [ftz] {{f32 f64}}", "pred pred|t t pred", _compare_both,
        "one", "float",
    ),
)  # fmt: skip
ROWS = (
    Row(f"setp {_SIGNED} {_WHOLE}", "pred|t t", _compare, "a comparison"),
    Row(
        f"setp {_FLOATS} [ftz] {{f32 f64}}", "pred|t t", _compare,
        "a comparison; without `u` it is false where one is NaN", "float",
    ),
    Row(
        f"setp {_SIGNED} {{and or xor}} {_WHOLE}", "pred|t t pred", _compare,
        "a comparison, joined with a predicate",
    ),
    Row(
        f"setp {_FLOATS} {{and or xor}} [ftz] {{f32 f64}}", "pred|t t pred", _compare,
        "a comparison, joined with a predicate", "float",
    ),
    Row("selp {b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64}", "t|t t pred", _select, "a or b"),
    Row("slct {b32 b64 u32 u64 s32 s64 f32 f64} s32", "d|d d t", _select_by_sign, "a for c >= 0"),
    Row("mov {pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64}", "t|t", _same,
        "a register, a constant, the address of a variable, a special register, or the parts of one"
        " register", "other", "move"),
    Row(
        "cvta {global shared local const} u64", "t|t", _same, "a generic address", "integer",
        "move",
    ),
    Row(
        "cvta to {global shared local const} u64", "t|t", _same,
        "a generic address in a state space", "integer", "move",
    ),
    Row(
        f"cvt {_CONVERSION} {_ANY} {_ANY}", "d|t", _convert,
        "a conversion: floats to integers are clamped, NaN becomes 0 or the highest bit",
        "conversion",
    ),
)  # fmt: skip
