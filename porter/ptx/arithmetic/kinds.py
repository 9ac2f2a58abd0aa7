"""The types of PTX as NumPy's dtypes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

#: bits without a sign are unsigned
DTYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
} | {
    f"{kind}{bits}": np.dtype(f"{'int' if kind == 's' else 'uint'}{bits}")
    for kind in "bsu"
    for bits in (8, 16, 32, 64)
}


def bits(kind: str) -> int:
    """How many bits a type has; 1 for a predicate."""
    return 1 if kind == "pred" else int(kind[1:])


def is_float(kind: str) -> bool:
    """Whether a type is floating-point."""
    return kind[0] == "f"


def canonical(kind: str) -> str:
    """The type in which a register of a type is kept."""
    return kind if kind == "pred" or is_float(kind) else f"s{max(bits(kind), 16)}"
