"""NumPy in the place of CuPy, where a module is verified without a GPU.

It shows that the module asks for the right functions with the right arrays, and moves each where
it must be; that CuPy computes what NumPy does is not shown.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numba import cuda

from porter.numpy_functions.cupy import UFUNC_LACKS, differs
from porter.verify.engines.cupy.arrays import (
    TRANSFERS,
    checked,
    ndarray,
    operand,
    plain,
    wrapped,
)

#: what the evidence says of a verification with it
SAID = "NumPy's functions stand in for CuPy's"
#: functions whose first argument may be a list or a tuple: a shape, axes, several arrays
_OF_LISTS = frozenset(
    ("array", "asarray", "concatenate", "stack", "concat", "hstack", "vstack", "dstack",
     "column_stack", "block", "zeros", "ones", "empty", "full", "indices", "meshgrid", "select",
     "einsum", "broadcast_arrays", "ix_", "ravel_multi_index")
)  # fmt: skip
_SPECIAL = "cupyx.scipy.special"
_ADDS = ("add", "multiply")
_STORES = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")


def needed(text: str) -> bool:
    """Whether a module's text imports CuPy."""
    return "\nimport cupy" in text


def install() -> None:
    """Let `import cupy` find NumPy's functions under CuPy's name."""
    sys.modules["cupy"] = package()
    above = types.ModuleType("cupyx"), types.ModuleType("cupyx.scipy"), _Special(_SPECIAL)
    sys.modules.update((m.__name__, m) for m in above)
    for owner, inner in pairwise(above):
        setattr(owner, inner.__name__.rpartition(".")[2], inner)
    if not hasattr(cuda, "as_cuda_array"):
        vars(cuda).update(as_cuda_array=_as_cuda_array, external_stream=_STREAMS.__getitem__)
        type(cuda.stream()).__int__ = _handle


def package() -> types.ModuleType:
    """What `import cupy` finds."""
    return _Package("cupy", np, "")


class _Package(types.ModuleType):
    """CuPy, or a part of it, with the functions of NumPy's part."""

    def __init__(self, name: str, own: Any, prefix: str) -> None:
        super().__init__(name)
        self.__dict__["_own"], self.__dict__["_prefix"] = own, prefix
        if not prefix:
            self.__dict__.update(
                ndarray=ndarray, asnumpy=_asnumpy, asarray=_asarray, array=_array,
                ascontiguousarray=_contiguous, cuda=_CUDA,
            )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        full = f"numpy.{self._prefix}{name}"
        found = getattr(self._own, name, None)
        if found is None or name.startswith("_") or differs(full).missing or name == "random":
            if not (found is None and name == "newaxis"):
                raise AttributeError(f"module 'cupy' has no attribute '{name}'")
            return None
        if isinstance(found, types.ModuleType):
            return _Package(f"cupy.{self._prefix}{name}", found, f"{self._prefix}{name}.")
        if isinstance(found, np.ufunc):
            return _Ufunc(found)
        if isinstance(found, type) or not callable(found):
            return found
        return _function(found, full, name)


class _Special(types.ModuleType):
    """`cupyx.scipy.special`, with the ufuncs of SciPy, which is loaded for them."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module("scipy.special"), name, None)
        if not isinstance(found, np.ufunc):
            raise AttributeError(f"module '{_SPECIAL}' has no attribute '{name}'")
        return _Ufunc(found)


def _function(function: Callable[..., Any], full: str, short: str) -> Callable[..., Any]:
    inner = checked(function, full)

    def call(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], (list, tuple)) and short not in _OF_LISTS:
            raise TypeError(f"cupy.{short} of a {type(args[0]).__name__}")
        result = inner(*args, **options)
        # Python's bools of NumPy's are arrays here
        return wrapped(np.asarray(result)) if isinstance(result, bool) else result

    return call


class _Ufunc:
    """A ufunc of CuPy's: of arrays of the device and numbers."""

    def __init__(self, own: np.ufunc) -> None:
        self._own = own

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Any:
        lacking = UFUNC_LACKS & options.keys()
        if lacking:
            raise TypeError(f"wrong keyword argument '{min(lacking)}'")
        outs = out if isinstance(out, tuple) else (out,)
        if any(isinstance(o, np.ndarray) for o in outs):
            raise TypeError("output arguments must be CuPy arrays")
        given = [operand(a) for a in args]
        if out is None:
            extra = args[self._own.nin :]
            made = self._own(*given, **options)
            return extra[0] if len(extra) == 1 else wrapped(made)
        self._own(*given, out=tuple(map(operand, outs)), **options)
        return out

    def outer(self, a: Any, b: Any) -> Any:
        """The operation of all pairs."""
        return wrapped(self._own.outer(operand(a), operand(b)))

    def at(self, a: Any, indices: Any, *b: Any) -> None:
        """In place, at positions that may repeat."""
        if self._own.__name__ not in _STORES:
            raise TypeError(f"`{self._own.__name__}.at` is not supported yet")
        self._own.at(operand(a), plain(indices), *map(operand, b))

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
               keepdims: bool = False) -> Any:  # fmt: skip
        """A sum or a product."""
        self._only("reduce")
        own: Any = self._own
        return wrapped(own.reduce(operand(array), axis, dtype, operand(out), keepdims))

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Running sums or products."""
        self._only("accumulate")
        return wrapped(self._own.accumulate(operand(array), axis, dtype, operand(out)))

    def _only(self, what: str) -> None:
        if self._own.__name__ not in _ADDS:
            raise TypeError(f"`{self._own.__name__}.{what}` is not supported yet")


# -- transfers -----------------------------------------------------------------------------------


def _asnumpy(a: Any, *_: Any, **__: Any) -> Any:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def _asarray(a: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
    if isinstance(a, ndarray):
        return ndarray(np.asarray(a._host, dtype, order)) if dtype or order else a
    if hasattr(a, "copy_to_host"):
        # the same memory; the attribute of the simulator's array is not noted on a stream
        return ndarray(np.asarray(object.__getattribute__(a, "_ary"), dtype, order))
    return _array(a, dtype, order=order or "K")


def _array(a: Any, dtype: Any = None, copy: bool = True, order: str = "K", ndmin: int = 0) -> Any:
    if isinstance(a, np.ndarray):
        TRANSFERS.there += 1
        native = a.dtype.newbyteorder("=")
        made = np.array(a, dtype or native, order=order, ndmin=ndmin)  # type: ignore[call-overload]
        return ndarray(made)
    if not isinstance(a, (ndarray, list, tuple)):
        TRANSFERS.there += 1
    leaves = list(_leaves(a))
    kinds = {isinstance(v, ndarray) for v in leaves}
    if kinds == {True, False}:
        raise TypeError("a list with arrays of the device and numbers of the host")
    TRANSFERS.there += kinds == {False} and isinstance(a, (list, tuple))
    return ndarray(np.array(plain(a), dtype, order=order, ndmin=ndmin))  # type: ignore[call-overload]


def _leaves(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    else:
        yield value


def _contiguous(a: Any, dtype: Any = None) -> Any:
    return ndarray(np.ascontiguousarray(_asarray(a, dtype)._host))


# -- streams, and Numba's arrays -------------------------------------------------------------------

_STREAMS: dict[int, Any] = {}
_CURRENT: list[Any] = []


def _handle(stream: Any) -> int:
    """The handle of a stream of Numba's simulator."""
    _STREAMS[id(stream)] = stream
    return id(stream)


class _Stream:
    """A stream of CuPy's, by its handle."""

    def __init__(self, ptr: int = 0) -> None:
        self.ptr = ptr

    def __enter__(self) -> _Stream:
        _CURRENT.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.pop()


_NULL = _Stream()
_CUDA = types.SimpleNamespace(
    ExternalStream=_Stream,
    Stream=types.SimpleNamespace(null=_NULL),
    get_current_stream=lambda: _CURRENT[-1] if _CURRENT else _NULL,
)


def _as_cuda_array(array: Any) -> Any:
    """An array of CuPy's as Numba's, without a copy."""
    # on a GPU there is no simulator
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    return FakeCUDAArray(array._host) if isinstance(array, ndarray) else array
