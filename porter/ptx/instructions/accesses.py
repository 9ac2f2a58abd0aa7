"""Rows of memory (PTX ISA 9.7.9.8 to 9.7.9.12, 9.7.13): the machine does the access itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.instructions.rows import Form, Row

_TYPES = "{b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64}"
_SPACE = "[global shared shared::cta local const param]"
_CACHE = "[ca cg cs lu cv nc wb wt]"
_ORDER = "[weak volatile relaxed acquire release] [cta gpu sys]"
_ATOMIC = "[relaxed acquire release acq_rel] [cta gpu sys] [global shared shared::cta]"


def _none(form: Form) -> Any:
    return None


def _always(function: Any) -> Any:
    return lambda form: function


def _second(old: Array, value: Array) -> Array:
    return value


def _compared(old: Array, wanted: Array, value: Array) -> Array:
    return np.where(old == wanted, value, old)


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, np.uint32(0), old + np.uint32(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - np.uint32(1))


#: what an atomic stores, by its name: the function of what was there and of its operands
_UPDATES: tuple[tuple[str, str, str, Any, str], ...] = (
    ("add", "{u32 s32 u64 s64 f32 f64}", "t", np.add, "the sum"),
    ("min", "{u32 s32 u64 s64}", "t", np.minimum, "the lesser"),
    ("max", "{u32 s32 u64 s64}", "t", np.maximum, "the greater"),
    ("and", "{b32 b64}", "t", np.bitwise_and, "bit by bit"),
    ("or", "{b32 b64}", "t", np.bitwise_or, "bit by bit"),
    ("xor", "{b32 b64}", "t", np.bitwise_xor, "bit by bit"),
    ("exch", "{b32 b64}", "t", _second, "the operand"),
    ("cas", "{b16 b32 b64}", "t t", _compared, "the second operand, where the first is there"),
    ("inc", "u32", "t", _increment, "one more, 0 beyond the operand"),
    ("dec", "u32", "t", _decrement, "one less, the operand below 0 and beyond it"),
)


def _atomics() -> list[Row]:
    rows = []
    for name, types, given, function, about in _UPDATES:
        rows.append(
            Row(
                f"atom {_ATOMIC} {name} {types}", f"t|a {given}", _always(function),
                f"stores {about}, gives what was there", "atomic", "memory",
            )
        )  # fmt: skip
        if name not in ("exch", "cas"):
            rows.append(
                Row(
                    f"red {_ATOMIC} {name} {types}", f"|a {given}", _always(function),
                    f"stores {about}", "atomic", "memory",
                )
            )  # fmt: skip
    return rows


ROWS = (
    Row(
        f"ld {_ORDER} {_SPACE} {_CACHE} [v2 v4] {_TYPES}", "t|a", _none,
        "a load; the address is a multiple of the size", "load", "memory",
    ),
    Row(
        f"st {_ORDER} {_SPACE} {_CACHE} [v2 v4] {_TYPES}", "|a t", _none,
        "a store; the address is a multiple of the size", "store", "memory",
    ),
    *_atomics(),
)  # fmt: skip
