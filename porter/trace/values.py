"""Types and sizes of argument values: Numba's names, without importing NumPy or Numba."""

from __future__ import annotations

import sys
from typing import Any

from porter.trace.record import Size

#: what has no name in Numba's signature syntax
UNKNOWN = "pyobject"
_PLAIN = {
    bool: "boolean", int: "int64", float: "float64", complex: "complex128", str: "unicode_type",
    type(None): "none",
}  # fmt: skip
NUMBERS = "biufc"
#: integers beyond this say nothing about how much work there is
_LARGE = 1 << 62


def key_of(value: Any) -> tuple[Any, Size]:
    """What tells a value's type apart, cheap to make, and its size."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value if kind is int and -_LARGE < value < _LARGE else None
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return (value.dtype, value.flags.c_contiguous), value.shape
        if isinstance(value, numpy.generic):
            return (value.dtype, None), int(value) if value.dtype.kind in "iu" else None
    if hasattr(kind, "__cuda_array_interface__"):
        return _device_key(value)
    return kind, None


def _device_key(value: Any) -> tuple[Any, Size]:
    """An array of CuPy's, Numba's or another library's on the device."""
    try:
        interface = value.__cuda_array_interface__
        numpy = sys.modules["numpy"]
        plain = interface.get("strides") is None
        shape = tuple(int(n) for n in interface["shape"])
        return (numpy.dtype(interface["typestr"]), plain), shape
    except Exception:
        # somebody else's object: whatever it raises, it has no type that we could name
        return type(value), None


def type_name(key: Any, size: Size) -> str:
    """Numba's name of the type that a key stands for."""
    if isinstance(key, type):
        return _PLAIN.get(key, UNKNOWN)
    dtype, contiguous = key
    if dtype.kind not in NUMBERS or dtype.itemsize > 16 or dtype.fields:
        return UNKNOWN
    name = "boolean" if dtype.kind == "b" else str(dtype.name)
    if contiguous is None:
        return name
    assert isinstance(size, tuple)
    if not size:
        return f"{name}[()]"
    axes = [":"] * (len(size) - 1) + ["::1" if contiguous else ":"]
    return f"{name}[{', '.join(axes)}]"
