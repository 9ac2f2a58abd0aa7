"""Compares types and values of `untouched_functions` and their module, on the simulator."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from tests.end_to_end import untouched_functions as source

SHAPES = {1: [(0,), (1,), (5,)], 2: [(0, 0), (0, 3), (3, 0), (2, 3)]}


def typed(value: Any) -> list[tuple[str, str, list[float]]]:
    """Each result as its type, its dtype and its numbers."""
    parts = value if isinstance(value, tuple) else (value,)
    arrays = [np.asarray(p) for p in parts]
    kinds = [type(p).__name__ for p in parts]
    return [(k, a.dtype.name, a.ravel().tolist()) for k, a in zip(kinds, arrays, strict=True)]


def main() -> None:
    """Print one line for each difference."""
    sys.path.insert(0, sys.argv[1])
    module = import_module("untouched_functions_cuda")
    for functions, ndim in ((source.FLAT, 1), (source.NESTED, 2)):
        for function in functions:
            for shape in SHAPES[ndim]:
                for dtype in (np.float64, np.float32):
                    x = np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)
                    expected = typed(function(x))
                    actual = typed(getattr(module, function.__name__)(x))
                    if expected != actual:
                        print(function.__name__, shape, dtype.__name__, expected, actual)
    print("compared")


if __name__ == "__main__":
    main()
