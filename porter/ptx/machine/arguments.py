"""A launch's arguments as the parameters of the compiled kernel.

Numba hands an array over as seven and more numbers: what owns its memory (twice, nothing here),
how many elements it has and of how many bytes, the address, then each extent and each stride in
bytes.  numba-cuda-mlir hands over the address twice, an offset, then extents and strides in
elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.errors import Unsupported

Layout: TypeAlias = Literal["numba", "mlir"]


def flattened(
    args: Sequence[Any], names: Sequence[str], layout: Layout
) -> tuple[list[np.generic], list[tuple[str, Array]]]:
    """The parameters, and the arrays among the arguments with their names."""
    arrays: list[tuple[str, Array]] = []
    values: list[np.generic] = []
    for k, arg in enumerate(args):
        name = names[k] if k < len(names) else f"argument {k + 1}"
        values += _values(arg, name, layout, arrays)
    return values, arrays


def _values(
    arg: Any, name: str, layout: Layout, arrays: list[tuple[str, Array]]
) -> Iterator[np.generic]:
    if isinstance(arg, np.ndarray):
        arrays.append((name, arg))
        yield from _array(arg, layout)
    elif isinstance(arg, tuple):
        for k, item in enumerate(arg):
            yield from _values(item, f"{name}[{k}]", layout, arrays)
    elif arg is None:
        yield np.uint64(0)
    elif isinstance(arg, bool | np.bool_):
        yield np.uint8(arg)
    elif isinstance(arg, complex | np.complexfloating):
        part = np.float32 if isinstance(arg, np.complex64) else np.float64
        yield part(arg.real)
        yield part(arg.imag)
    elif isinstance(arg, int | float):
        yield np.int64(arg) if isinstance(arg, int) else np.float64(arg)
    elif isinstance(arg, np.number):
        yield arg
    else:
        raise Unsupported(f"an argument of type {type(arg).__name__}", 1)


def _array(array: Array, layout: Layout) -> Iterator[np.generic]:
    address = np.uint64(array.ctypes.data)
    if layout == "mlir":
        yield from (address, address, np.int64(0))
        yield from map(np.int64, array.shape)
        yield from (np.int64(s // array.itemsize) for s in array.strides)
        return
    yield from (np.uint64(0), np.uint64(0), np.int64(array.size), np.int64(array.itemsize), address)
    yield from map(np.int64, array.shape)
    yield from map(np.int64, array.strides)
