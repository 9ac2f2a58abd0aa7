"""Device arrays that have no more than Numba's `DeviceNDArray` has on a GPU.

The simulator's stand-in hands on every attribute of the NumPy array behind it, and copies where a
GPU's array refuses: host code that relies on it would fail on a GPU only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray

#: what is public in DeviceNDArray of Numba 0.61 and of numba-cuda 0.30, and what Numba itself asks
ATTRIBUTES = frozenset({
    "T", "__array__", "alloc_size", "bind", "copy_to_device", "copy_to_host", "dtype", "flags",
    "gpu_data", "is_c_contiguous", "is_f_contiguous", "nbytes", "ndim", "ravel", "reshape",
    "shape", "size", "split", "squeeze", "stream", "strides", "transpose", "view",
})  # fmt: skip
_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "floordiv", "truediv",
              "mod", "pow")  # fmt: skip


class NeedsCopy(RuntimeError):
    """Where NumPy would copy, a GPU's array raises a RuntimeError of its own."""


def _attribute(self: Any, name: str) -> Any:
    if name not in ATTRIBUTES:
        raise AttributeError(f"a device array has no attribute `{name}`")
    return getattr(self._ary, name)


def _within(self: Any, name: str) -> Any:
    """What a kernel's array has and a device array on the host has not."""
    if name == "itemsize":
        return self._item._ary.itemsize
    return _PLAIN_WITHIN(self, name)


_PLAIN_WITHIN = FakeWithinKernelCUDAArray.__getattr__


def spare(array: Any) -> Any:
    """The element that an array without elements is a part of nevertheless, or None.

    Host functions allocate one where a kernel reads at an index from data: out of bounds it reads
    element 0 before the host function raises.
    """
    base = getattr(array, "base", None)
    if array.size or not isinstance(base, np.ndarray) or not base.size:
        return None
    return base.flat[0]


def _element(self: Any, index: Any) -> Any:
    """`x[0]` in a kernel where `x` is empty and has a spare element."""
    try:
        return _PLAIN_ELEMENT(self, index)
    except IndexError:
        found = spare(self._item._ary)
        if found is None or np.any(index):
            raise
        return found


_PLAIN_ELEMENT = FakeWithinKernelCUDAArray.__getitem__


def _reshape(self: Any, *shape: Any, **options: Any) -> Any:
    made = self._ary.reshape(*shape, **options)
    if self._ary.size and made.base is not self._ary and made.base is not self._ary.base:
        raise NeedsCopy("a device array with gaps cannot be reshaped")
    return FakeCUDAArray(made)


def _interface(self: Any) -> dict[str, Any]:
    interface: dict[str, Any] = self._ary.__array_interface__
    return interface


def install() -> None:
    """Put this into Numba's simulator."""
    for name in _OPERATORS:
        if f"__{name}__" in vars(FakeCUDAArray):
            delattr(FakeCUDAArray, f"__{name}__")
    FakeCUDAArray.__getattr__ = _attribute
    FakeWithinKernelCUDAArray.__getattr__ = _within
    FakeWithinKernelCUDAArray.__getitem__ = _element
    FakeCUDAArray.reshape = _reshape
    FakeCUDAArray.__cuda_array_interface__ = property(_interface)
