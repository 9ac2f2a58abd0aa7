"""What is known of a value that a caller passes: its kind, dtype and dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from porter.dtypes.dtype import KINDS, DType, promote


@dataclass(frozen=True)
class Value:
    """A value: `kind` is array, scalar, sequence, none, text, dtype or generator.

    A scalar is Python's where it is `weak`; `constant` is its value where that is known.  A
    sequence is a tuple or (`is_list`) a list.
    """

    kind: str
    dtype: str = ""
    ndim: int = 0
    weak: bool = False
    constant: Any = None
    items: tuple[Value | None, ...] = ()
    is_list: bool = False

    @property
    def type(self) -> DType:
        """The dtype as promotion takes it."""
        return DType(self.dtype, self.weak)


Env = Mapping[str, "Value | None"]
NONE = Value("none", constant=None)
INT = Value("scalar", "int64", weak=True)
FLOAT = Value("scalar", "float64", weak=True)
BOOL = Value("scalar", "bool", weak=True)


def array(dtype: str, ndim: int) -> Value | None:
    """An array; None for a dtype that porter does not know."""
    return Value("array", dtype, ndim) if dtype in KINDS and ndim >= 0 else None


def joined(values: Iterable[Value | None]) -> Value | None:
    """What one of several values is: their common kind, None where they differ."""
    found = list(values)
    first = found[0] if found else None
    if first is None or any(v is None for v in found):
        return None
    alike = all(v is not None and replace(v, constant=None) == replace(first, constant=None)
                for v in found)  # fmt: skip
    same = all(v == first for v in found)
    return first if same else replace(first, constant=None) if alike else None


def element_of(value: Value | None) -> Value | None:
    """What a loop over a value gives."""
    if value is None:
        return None
    if value.kind == "sequence":
        return joined(value.items)
    if value.kind == "array" and value.ndim:
        return Value("array", value.dtype, value.ndim - 1) if value.ndim > 1 else Value(
            "scalar", value.dtype)  # fmt: skip
    return None


def as_array(value: Value | None) -> Value | None:
    """What `np.asarray` makes of a value."""
    if value is None or value.kind in ("none", "text", "dtype", "generator"):
        return None
    if value.kind == "scalar":
        return array(value.dtype, 0)
    if value.kind == "array":
        return value
    parts = [as_array(v) for v in value.items]
    if not parts:
        return array("float64", 1)
    ranks = {p.ndim for p in parts if p is not None}
    if None in parts or len(ranks) != 1:
        return None
    dtype = parts[0].dtype if parts[0] else ""
    for p in parts[1:]:
        dtype = promote(DType(dtype), DType(p.dtype)).name if p else ""
    return array(dtype, ranks.pop() + 1)


def constant(value: Any) -> Value | None:
    """A literal."""
    match value:
        case None:
            return NONE
        case bool():
            return replace(BOOL, constant=value)
        case int():
            return replace(INT, constant=value)
        case float():
            return replace(FLOAT, constant=value)
        case complex():
            return Value("scalar", "complex128", weak=True, constant=value)
        case str():
            return Value("text", constant=value)
    return None
