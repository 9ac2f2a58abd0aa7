"""Arrays that stand in for CuPy's: NumPy computes, and what CuPy refuses is refused.

NumPy's functions do not take them, they do not take NumPy's arrays or lists, and an element is an
array of no dimensions that shows the array it is of. What goes to the device and comes back is
counted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from porter.numpy_functions.cupy import differs

_ATTRIBUTES = frozenset(
    ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags", "T", "mT", "real",
     "imag")
)  # fmt: skip
#: the methods of CuPy 14
_METHODS = frozenset(
    ("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip",
     "compress", "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill",
     "flatten", "max", "mean", "min", "nonzero", "partition", "prod", "put", "ravel", "repeat",
     "reshape", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take",
     "trace", "transpose", "var", "view")
)  # fmt: skip


@dataclass
class Transfers:
    """What was moved: arrays to the device, and arrays or numbers back."""

    there: int = 0
    back: int = 0

    def clear(self) -> None:
        """Nothing was moved yet."""
        self.there = self.back = 0


TRANSFERS = Transfers()


class ndarray:
    """An array of the device, which only CuPy's functions take."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self._host = host

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed: use `.get()`")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise TypeError(f"np.{function.__name__} of a CuPy array")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found: dict[str, Any] = self._host.__array_interface__
        return found

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            found = getattr(self._host, name)
            return self if found is self._host else wrapped(found)
        if name in _METHODS:
            method = _checked(getattr(self._host, name), f"ndarray.{name}")
            return partial(_own, self, method)
        raise AttributeError(f"'ndarray' object has no attribute '{name}'")

    def get(self) -> Any:
        """A copy on the host."""
        TRANSFERS.back += 1
        return self._host.copy()

    def item(self) -> Any:
        """Python's number."""
        TRANSFERS.back += 1
        return self._host.item()

    def tolist(self) -> Any:
        """Python's numbers."""
        TRANSFERS.back += 1
        return self._host.tolist()

    def __getitem__(self, key: Any) -> Any:
        at, advanced = _key(key)
        found = self._host[at]
        if isinstance(found, np.generic):
            # an element is a view of no dimensions
            found = self._host[(*(at if isinstance(at, tuple) else (at,)), ...)]
        return ndarray(found.copy() if advanced else found)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._host[_key(key)[0]] = operand(value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return len(self._host)

    def __bool__(self) -> bool:
        TRANSFERS.back += 1
        return bool(self._host)

    def __int__(self) -> int:
        TRANSFERS.back += 1
        return int(self._host)

    def __float__(self) -> float:
        TRANSFERS.back += 1
        return float(self._host)

    def __complex__(self) -> complex:
        TRANSFERS.back += 1
        return complex(self._host)

    def __divmod__(self, other: Any) -> Any:
        return wrapped(divmod(self._host, operand(other)))

    def __format__(self, spec: str) -> str:
        TRANSFERS.back += 1
        return format(self._host[()], spec)


def _key(key: Any) -> tuple[Any, bool]:
    """An index, and whether arrays are in it: the result is no view then."""
    items = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, np.ndarray) for k in items):
        raise TypeError("a NumPy array is the index of a CuPy array")
    for k in items:
        for part in (k.start, k.stop, k.step) if isinstance(k, slice) else ():
            if isinstance(part, ndarray):
                raise TypeError("a CuPy array is no bound of a slice")
    made = tuple(k._host if isinstance(k, ndarray) else k for k in items)
    advanced = any(isinstance(k, (ndarray, list)) for k in items)
    return (made if isinstance(key, tuple) else made[0]), advanced


def operand(value: Any) -> Any:
    """What takes part in an operation: an array of the device, or a number."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, (np.generic, int, float, complex, bool)) or value is None:
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def wrapped(value: Any) -> Any:
    """A result of NumPy's as an array of the device."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, (tuple, list)) and any(
        isinstance(v, (np.ndarray, np.generic, tuple, list)) for v in value
    ):
        return type(value)(map(wrapped, value)) if type(value) in (tuple, list) else value
    return value


def plain(value: Any) -> Any:
    """An argument for NumPy's function; host arrays are refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray) or hasattr(value, "copy_to_host"):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else value
    return value


def _own(array: ndarray, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a method gives: the array itself where NumPy does."""
    found = method(*args, **options)
    same = isinstance(found, ndarray) and found._host is array._host
    return array if same else found


def _checked(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function or method of NumPy's with the parameters that CuPy's has."""

    def call(*args: Any, **options: Any) -> Any:
        lacking = differs(name).lacks & options.keys()
        if lacking:
            raise TypeError(f"{name}() got an unexpected keyword argument '{min(lacking)}'")
        result = function(*map(plain, args), **{k: plain(v) for k, v in options.items()})
        own = options.get("out")
        same = (a for a in args if isinstance(a, ndarray) and a._host is result)
        return next(same, wrapped(result)) if own is None else own

    return call


checked = _checked


def _binary(name: str) -> None:
    plain_operator: Any = getattr(operator, name)

    def forward(self: ndarray, other: Any) -> Any:
        return wrapped(plain_operator(self._host, operand(other)))

    def reverse(self: ndarray, other: Any) -> Any:
        return wrapped(plain_operator(operand(other), self._host))

    def inplace(self: ndarray, other: Any) -> Any:
        self._host = _into(plain_operator, self._host, operand(other))
        return self

    word = name.strip("_")
    setattr(ndarray, f"__{word}__", forward)
    setattr(ndarray, f"__r{word}__", reverse)
    setattr(ndarray, f"__i{word}__", inplace)


def _into(function: Any, host: Any, value: Any) -> Any:
    """In place, an array of no dimensions too."""
    ufunc: Any = _UFUNCS[function.__name__.strip("_")]
    ufunc(host, value, out=host)
    return host


_UFUNCS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "and_": np.bitwise_and,
    "rshift": np.right_shift, "matmul": np.matmul, "or_": np.bitwise_or,
}  # fmt: skip
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor",
              "lshift", "rshift", "matmul"):  # fmt: skip
    _binary(_name)


def _compared(name: str) -> None:
    plain_operator: Any = getattr(operator, name)

    def compare(self: ndarray, other: Any) -> Any:
        return wrapped(plain_operator(self._host, operand(other)))

    setattr(ndarray, f"__{name}__", compare)


def _unary(name: str) -> None:
    plain_operator: Any = getattr(operator, name)

    def apply(self: ndarray) -> Any:
        return wrapped(plain_operator(self._host))

    setattr(ndarray, f"__{name}__", apply)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compared(_name)
for _name in ("neg", "pos", "abs", "invert"):
    _unary(_name)
