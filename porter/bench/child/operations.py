"""The original, operation by operation: what CuPy does with it after an import swap.

The original runs on arrays that count. An operation of whole arrays is a launch that reads its
arguments and writes its results; views are free; a value that Python needs is read back.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.bench.child.virtual import Array

#: bytes that memory gives at least
_SECTOR = 32
#: elements of a result beyond which the original is tried with smaller arrays
MOST_ELEMENTS = 1 << 24
#: what makes an array, and whether CuPy launches something for it
_MAKERS = {
    "empty": 0, "zeros": 1, "ones": 1, "full": 1, "arange": 1, "linspace": 1, "eye": 1,
    "identity": 1, "array": 1, "asarray": 0, "ascontiguousarray": 0, "asanyarray": 0, "tri": 1,
}  # fmt: skip
#: launches of what CuPy has in a kernel or two of its own, and NumPy in several operations
_OWN = {
    "mean": 1, "var": 2, "std": 3, "average": 2, "empty_like": 0, "where": 1, "clip": 1, "cov": 5,
    "corrcoef": 9,
}  # fmt: skip
#: methods that NumPy does not hand over to `__array_ufunc__`
_METHODS = (
    "mean", "var", "std", "copy", "astype", "fill", "argmax", "argmin", "argsort", "nonzero",
    "take", "repeat", "flatten", "cumsum", "cumprod", "trace", "round", "compress", "dot", "sort",
    "searchsorted", "ravel", "reshape", "clip",
)  # fmt: skip
#: what factorises a matrix, for which CuPy calls cuSOLVER
_FACTORISED = ("solve", "inv", "det", "slogdet", "cholesky", "qr")
#: what multiplies and adds
_PRODUCTS = ("matmul", "dot", "inner", "vdot", "tensordot", "einsum")


class TooManyElements(Exception):
    """A result is too large to be computed for its counts."""


@dataclass
class Total:
    """Launches of one operation at one line, their bytes, and products that are summed."""

    launches: float = 0
    bytes: float = 0
    products: float = 0
    single: bool = False
    columns: float = 0

    def add(self, other: Total) -> None:
        """Count another one's as well."""
        self.launches += other.launches
        self.bytes += other.bytes
        self.products += other.products
        self.single = self.single or other.single
        self.columns += other.columns


@dataclass
class Operations:
    """What was counted, by name and line."""

    file: str = ""
    totals: dict[tuple[str, int], Total] = field(default_factory=dict)
    inside: int = 0

    def note(
        self, name: str, launches: int, arrays: Iterable[Any], products: float = 0,
        columns: float = 0,
    ) -> None:  # fmt: skip
        """Count an operation over some arrays."""
        if self.inside or not launches:
            return
        total = self.totals.setdefault((name, _line(self.file)), Total())
        total.launches += launches
        for array in arrays:
            if isinstance(array, np.ndarray):
                total.bytes += launches * _stored(array)
                total.single = total.single or array.real.itemsize <= 4
        total.products += products
        total.columns += columns

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What is done meanwhile belongs to one operation that is counted by itself."""
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    def count(self) -> float:
        """Launches so far."""
        return sum(t.launches for t in self.totals.values())


OPERATIONS = Operations()


def _line(file: str) -> int:
    """The line of the original that is being executed."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def _stored(array: Array) -> int:
    """Bytes of memory after an array: an axis along which it repeats has none."""
    shape = [n for n, stride in zip(array.shape, array.strides, strict=True) if stride]
    return int(math.prod(shape)) * array.itemsize


def plain(value: Any) -> Any:
    """The same without counting arrays."""
    if isinstance(value, Counting):
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        made = [plain(v) for v in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def counting(value: Any) -> Any:
    """The same with counting arrays; NumPy's scalars are arrays on a GPU."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.view(Counting)
    if isinstance(value, np.generic):
        return np.asarray(value).view(Counting)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(counting(v) for v in value)
    if isinstance(value, list):
        return [counting(v) for v in value]
    return value


def _arrays(value: Any) -> Iterator[Array]:
    if isinstance(value, np.ndarray | np.generic):
        yield np.asarray(value)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)


def _touched(array: Array, at: Array) -> Array:
    """As many elements as a store by a mask moves: it touches sectors of 32 bytes."""
    each = max(_SECTOR // array.itemsize, 1)
    if at.dtype != bool or at.shape != array.shape or array.size % each:
        return np.asarray(array[at])
    sectors = np.count_nonzero(at.reshape(-1, each).any(axis=1))
    return np.empty(int(sectors) * each, array.dtype)


def _is_view(result: Any, given: Iterable[Array]) -> bool:
    made = list(_arrays(result))
    known = list(given)
    return bool(made) and all(
        m.size == 0 or any(np.may_share_memory(m, g) for g in known) for m in made
    )


def _bincount(call: Mapping[str, Any], result: Any) -> list[list[Array]]:
    """Are some negative, is one of those, the largest, zeros, and the count of each."""
    x, *weights = _arrays([call["x"], *([call["weights"]] if "weights" in call else [])])
    negative = np.zeros(x.shape, bool)
    return [[x, negative], [negative], [x], [result], [x, *weights, result]]


def _histogram(call: Mapping[str, Any], result: Any) -> list[list[Array]]:
    """The limits and whether they are finite, or whether edges increase; zeros, and the counts."""
    x, (hist, edges) = np.asarray(call["a"]), result
    number = np.zeros(())
    weights = list(_arrays([call[name] for name in ("weights",) if call.get(name) is not None]))
    if np.ndim(call.get("bins", 10)):
        before = [[edges, edges], [edges], [number]]
    else:
        found = [[x], [number], [x], [number], [number], [number]]
        before = [*(found if call.get("range") is None else []), [edges]]
    after = [[edges, hist], [hist], [hist]] if call.get("density") else []
    return [*before, [hist], [x, edges, *weights, hist], *after]


def _scan(call: Mapping[str, Any], result: Any) -> list[list[Array]]:
    """A copy that is changed in place; rows beyond a block are scanned in parts, and added to."""
    launches, whole = [[np.asarray(call["a"]), result], [result, result]], result
    while call.get("axis") is not None and whole.shape[call["axis"]] > _SCANNED:
        ends = (slice(None),) * (call["axis"] % whole.ndim)
        parts = whole[(*ends, slice(_SCANNED - 1, None, _SCANNED))]
        launches += [[parts, parts], [whole, parts, whole]]
        whole = parts
    return launches


#: elements of a row that a block of CuPy scans
_SCANNED = 512
#: the arguments of operations that have several launches in CuPy, and the arrays of each; see
#: `cupy/_statistics/histogram.py`, and `scan_core` of `cupy/_core/_routines_math.pyx`
_LAUNCHES: dict[str, tuple[str, Callable[[Mapping[str, Any], Any], list[list[Array]]]]] = {
    "bincount": ("x weights minlength", _bincount),
    "histogram": ("a bins range density weights", _histogram),
    "cumsum": ("a axis dtype out", _scan),
    "cumprod": ("a axis dtype out", _scan),
}


def _note_launches(name: str, given: Sequence[Any], more: Mapping[str, Any], result: Any) -> None:
    names, launches = _LAUNCHES[name]
    for parts in launches({**dict(zip(names.split(), given, strict=False)), **more}, result):
        OPERATIONS.note(name, 1, parts)


def _columns(name: str, args: list[Array]) -> int:
    """Columns of a factorisation, which a library finds one after another."""
    return args[0].shape[-1] if name in _FACTORISED and args and args[0].ndim >= 2 else 0


def _products(name: str, args: list[Array], result: Any) -> float:
    """Real multiplications that are summed: a complex one is four."""
    real = 4 if any(a.dtype.kind == "c" for a in args) else 1
    if name in _FACTORISED and args and args[0].ndim >= 2:
        n, sides = args[0].shape[-1], sum(a.size for a in _arrays(result))
        return float(real * (args[0].size * n / 3 + sides * n))
    return real * _multiplied(name, args, result)


def _multiplied(name: str, args: list[Array], result: Any) -> float:
    """Multiplications of a product of arrays."""
    if name not in _PRODUCTS or not args:
        return 0
    size = sum(a.size for a in _arrays(result))
    if name in ("matmul", "dot", "inner", "vdot"):
        return float(size * (args[0].shape[-1] if args[0].ndim else 1))
    # of (m, k) and (k, n) with (m, n) results: the square root of m k k n / (m n)
    both = math.prod(a.size for a in args[:2])
    return size * math.sqrt(both / size) if size and len(args) > 1 else float(size)


class Counting(np.ndarray[Any, Any]):
    """An array that counts the operations it takes part in."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given, more = [plain(v) for v in inputs], plain(options)
        arrays = list(_arrays(given))
        if method in ("__call__", "outer") and ufunc.signature is None:
            shapes = [a.shape for a in arrays]
            size = (
                math.prod(a.size for a in arrays)
                if method == "outer"
                else math.prod(np.broadcast_shapes(*shapes))
            )
            if size > MOST_ELEMENTS:
                raise TooManyElements
        result = getattr(ufunc, method)(*given, **more)
        outs = options.get("out")
        made = list(_arrays(plain(outs) if outs else result))
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        products = _products(ufunc.__name__, arrays, made)
        OPERATIONS.note(name, 1, (*arrays, *made), products)
        if outs:
            return outs[0] if len(outs) == 1 else outs
        return counting(result)

    def __array_function__(self, func: Any, kinds: Any, args: Any, options: Any) -> Any:
        name = getattr(func, "__name__", str(func))
        if name not in _OWN and name not in _LAUNCHES:
            before = OPERATIONS.count()
            made = getattr(func, "_implementation", None)
            if made is not None and isinstance(made, types.FunctionType) and name not in _PRODUCTS:
                result = made(*args, **options)
                if OPERATIONS.count() > before or _is_view(plain(result), _arrays(plain(args))):
                    return counting(plain(result))
        with OPERATIONS.whole():
            given, more = plain(args), plain(options)
            result = func(*given, **more)
        arrays = [*_arrays(given), *_arrays(list(more.values()))]
        if name in _LAUNCHES:
            _note_launches(name, given, more, result)
        elif not _is_view(result, arrays):
            products, columns = _products(name, arrays, result), _columns(name, arrays)
            every = (*arrays, *_arrays(result))
            OPERATIONS.note(name, _OWN.get(name, 1), every, products, columns)
        return counting(result)

    def __getitem__(self, key: Any) -> Any:
        own, at = plain(self), plain(key)
        result = own[at]
        if isinstance(result, np.generic):
            return own[(*(at if isinstance(at, tuple) else (at,)), ...)].view(Counting)
        if not np.may_share_memory(result, own):
            masks = sum(a.dtype == bool for a in _arrays(at))
            OPERATIONS.note("[]", 1 + masks, (*_arrays(at), result, result))
        return counting(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        own, at, given = plain(self), plain(key), plain(value)
        own[at] = given
        stored = _touched(own, at) if isinstance(at, np.ndarray) else np.asarray(own[at])
        OPERATIONS.note("[] =", 1, (*_arrays(at), *_arrays(given), stored))

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def _read(self, kind: Callable[[Any], Any]) -> Any:
        OPERATIONS.note("read back", 1, (self,))
        return kind(plain(self))

    def __bool__(self) -> bool:
        return bool(self._read(bool))

    def __float__(self) -> float:
        return float(self._read(float))

    def __int__(self) -> int:
        return int(self._read(int))

    def __complex__(self) -> complex:
        return complex(self._read(complex))

    def __index__(self) -> int:
        return int(self._read(lambda a: a.__index__()))

    def item(self, *at: Any) -> Any:
        """A Python number, read back."""
        return self._read(lambda a: a.item(*at))

    def tolist(self) -> Any:
        """Python's numbers, read back."""
        return self._read(lambda a: a.tolist())


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        given, more, own = plain(args), plain(options), plain(self)
        result = getattr(own, name)(*given, **more)
        if name in _LAUNCHES:
            _note_launches(name, (own, *given), more, result)
        elif not _is_view(result, [own]):
            arrays = (own, *_arrays(given), *_arrays(result))
            products = _products(name, [own, *_arrays(given)], result)
            OPERATIONS.note(name, _OWN.get(name, 1), arrays, products)
        return self if result is own else counting(result)

    method.__name__ = name
    return method


for _name in _METHODS:
    setattr(Counting, _name, _method(_name))


class Numpy:
    """Stands for the module `numpy`: what makes arrays makes counting ones."""

    def __getattr__(self, name: str) -> Any:
        return swapped(getattr(np, name))


def swapped(value: Any) -> Any:
    """What a name of the original's file means when its NumPy counts."""
    if value is np:
        return Numpy()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.view(Counting)
    name = getattr(value, "__name__", "")
    made: Any = getattr(np, name, None) if name in _MAKERS else None
    return value if made is None or made is not value else _maker(made, name)


def _maker(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def maker(*args: Any, **options: Any) -> Any:
        given = plain(args)
        with OPERATIONS.whole():
            result = function(*given, **plain(options))
        if not _is_view(result, _arrays(given)):
            host = bool(given) and isinstance(given[0], list | tuple) and name.startswith("a")
            OPERATIONS.note(name, max(_MAKERS[name], int(host)), (result,))
        return counting(result)

    return maker


@contextmanager
def counted(namespace: dict[str, Any], file: str) -> Iterator[Operations]:
    """Let the functions of a namespace count what they do."""
    before = dict(namespace)
    OPERATIONS.__init__(file)  # type: ignore[misc]
    namespace.update({name: swapped(value) for name, value in before.items()})
    try:
        yield OPERATIONS
    finally:
        namespace.update(before)
