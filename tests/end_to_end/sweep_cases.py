"""The calls that `sweep_child` makes: every way a user may pass arrays to an example."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numba import cuda

Array = Any
Arguments = list[Any]


@dataclass(frozen=True)
class Example:
    """How to make the arguments of an example for sizes (n, m, k), and which it changes."""

    make: Callable[[np.random.Generator, tuple[int, ...]], Arguments]
    dims: int
    written: tuple[int, ...] = ()


@dataclass(frozen=True)
class Call:
    """One call; `loose` allows a clean refusal, `device` asks for results on the device."""

    args: Arguments
    keywords: dict[str, Any] = field(default_factory=dict)
    loose: bool = False
    device: bool = False

    def hosts(self) -> Arguments:
        """The positional arguments, device arrays copied to the host."""
        # one device array given twice stays one array
        copies = {id(a): a.copy_to_host() for a in self.args if hasattr(a, "copy_to_host")}
        return [copies.get(id(a), a) for a in self.args]

    def for_numpy(self) -> Call:
        """The same call for a NumPy function, which knows neither device arrays nor streams."""
        keywords = {k: v for k, v in self.keywords.items() if k != "stream"}
        # a list has no `.shape`: a converted function takes it as np.asarray does
        args = [np.asarray(a) if isinstance(a, list) else a for a in self.hosts()]
        return replace(self, args=args, keywords=keywords)


def _csr(rng: np.random.Generator, dims: tuple[int, ...]) -> Arguments:
    rows, columns = dims
    counts = rng.integers(0, 4 if columns else 1, rows)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = rng.integers(0, max(columns, 1), indptr[-1])
    return [rng.normal(size=indptr[-1]), indices, indptr, rng.normal(size=columns)]


def _positive(rng: np.random.Generator, *shape: int) -> Array:
    return rng.uniform(0.5, 2.0, shape)


def _points(rng: np.random.Generator, dims: tuple[int, ...]) -> Arguments:
    return [rng.normal(size=(dims[0], dims[2])), rng.normal(size=(dims[1], dims[2]))]


EXAMPLES: dict[tuple[str, str], Example] = {
    ("black_scholes", "normal_cdf"): Example(lambda r, d: [r.normal(size=d)], 1),
    ("black_scholes", "black_scholes"): Example(
        lambda r, d: [_positive(r, *d), _positive(r, *d), _positive(r, *d), 0.03, 0.4], 1
    ),
    ("csr_matvec", "csr_matvec"): Example(_csr, 2),
    ("gaussian", "gaussian_pdf"): Example(lambda r, d: [r.normal(size=d), 0.25, 1.5], 1),
    ("heat", "heat"): Example(lambda r, d: [r.normal(size=d), 0.2, 3], 2),
    ("hidden_layer", "hidden_layer"): Example(
        lambda r, d: [r.uniform(0, 255, d), r.normal(size=d)], 1
    ),
    ("l2_norms", "l2_norms"): Example(lambda r, d: [r.normal(size=d)], 2),
    ("mandelbrot", "mandelbrot"): Example(
        lambda r, d: [r.uniform(-2, 0.5, d[0]), r.uniform(-1, 1, d[1]), 20], 2
    ),
    ("matmul", "matmul"): Example(lambda r, d: [r.normal(size=d[:2]), r.normal(size=d[1:])], 3),
    ("pairwise", "pairwise_distances"): Example(_points, 3),
    ("row_normalize", "normalize"): Example(lambda r, d: [_positive(r, *d)], 2, (0,)),
    ("row_normalize", "normalized"): Example(lambda r, d: [_positive(r, *d)], 2),
    ("sobel", "sobel"): Example(lambda r, d: [r.normal(size=d)], 2),
    ("softmax", "softmax"): Example(lambda r, d: [r.normal(size=d)], 2),
    ("threshold", "threshold"): Example(lambda r, d: [r.normal(size=d), 0.1], 1, (0,)),
    ("threshold", "clip_outliers"): Example(lambda r, d: [r.normal(size=d), 0.5], 1, (0,)),
    ("zscores", "zscores"): Example(lambda r, d: [r.normal(size=d)], 2),
}


def calls(example: Example) -> Iterator[tuple[str, Callable[[], Call]]]:
    """Named makers of calls; each makes the very same arguments every time."""
    yield from _sizes(example)
    made = partial(base, example)
    yield from _layouts(made, example.written)
    yield from _aliases(made)
    yield from _shapes(made)
    yield from _dtypes(made)
    yield from _scalars(made)
    yield from _devices(made, example)


def base(example: Example) -> Arguments:
    """Arguments of moderate size, the same every time."""
    return _made(example, (5, 4, 6)[: example.dims])


def _made(example: Example, dims: tuple[int, ...]) -> Arguments:
    return example.make(np.random.default_rng([7, *dims]), dims)


def _sizes(example: Example) -> Iterator[tuple[str, Callable[[], Call]]]:
    every = itertools.product((0, 1, 2, 3), repeat=example.dims)
    larger = [
        (300, 3, 2)[: example.dims],
        (3, 300, 19)[: example.dims],
        (18, 33, 17)[: example.dims],
    ]
    for dims in dict.fromkeys((*every, *larger)):
        yield f"sizes {dims}", lambda dims=dims: Call(_made(example, dims))


def _each(arguments: Arguments, change: Callable[[Array], Any]) -> Arguments:
    return [change(a) if isinstance(a, np.ndarray) else a for a in arguments]


def _one(arguments: Arguments, place: int, value: Any) -> Arguments:
    return [value if i == place else a for i, a in enumerate(arguments)]


def strided(a: Array) -> Array:
    wide = np.full([2 * n + 1 for n in a.shape], 77).astype(a.dtype)
    view = wide[tuple(slice(1, None, 2) for _ in a.shape)]
    view[...] = a
    return view


def reversed_view(a: Array) -> Array:
    back = (slice(None, None, -1),) * a.ndim
    return np.ascontiguousarray(a[back])[back]


def transposed(a: Array) -> Array:
    """Column-major; a column of a matrix for one dimension."""
    return strided(np.stack([a, a], axis=1))[:, 0] if a.ndim == 1 else np.asfortranarray(a)


def read_only(a: Array) -> Array:
    a.flags.writeable = False
    return a


def swapped(a: Array) -> Array:
    return a.astype(a.dtype.newbyteorder())


LAYOUTS = {"strided": strided, "reversed": reversed_view, "transposed": transposed,
           "byte-swapped": swapped, "read-only": read_only}  # fmt: skip


def _layouts(
    made: Callable[[], Arguments], written: tuple[int, ...]
) -> Iterator[tuple[str, Callable[[], Call]]]:
    for name, change in LAYOUTS.items():
        yield name, lambda change=change: Call(_each(made(), change))
    broadcast = lambda a: np.broadcast_to(a[:1], a.shape)  # noqa: E731
    for i, a in enumerate(made()):
        if isinstance(a, np.ndarray) and i not in written and a.dtype.kind == "f":
            yield (
                f"argument {i} with stride 0",
                lambda i=i: Call(_one(made(), i, broadcast(made()[i]))),
            )
    yield "lists", lambda: Call([a.tolist() if isinstance(a, np.ndarray) else a for a in made()],
                                loose=True)  # fmt: skip
    special = [np.nan, np.inf, -np.inf, -0.0, 1e300]
    for value in special:

        def odd(a: Array, value: float = value) -> Array:
            if a.dtype.kind == "f":
                a.reshape(-1)[1::3] = value
            return a

        yield f"some {value}", lambda odd=odd: Call(_each(made(), odd))


def _aliases(made: Callable[[], Arguments]) -> Iterator[tuple[str, Callable[[], Call]]]:
    example = made()
    for i, j in itertools.combinations(range(len(example)), 2):
        a, b = example[i], example[j]
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype != b.dtype:
            continue

        def same(i: int = i, j: int = j) -> Call:
            args = made()
            return Call(_one(args, j, args[i]))

        def overlapping(i: int = i, j: int = j) -> Call:
            args = made()
            store = np.concatenate([args[i], args[i][:1]])
            return Call(_one(_one(args, i, store[:-1]), j, store[1:]))

        def one_device_array(i: int = i, j: int = j) -> Call:
            args = _each(made(), cuda.to_device)
            return Call(_one(args, j, args[i]), device=True)

        yield f"arguments {i} and {j} are one", same
        if a.shape == b.shape:
            yield f"arguments {i} and {j} overlap", overlapping
        yield f"arguments {i} and {j} are one device array", one_device_array


def _shapes(made: Callable[[], Arguments]) -> Iterator[tuple[str, Callable[[], Call]]]:
    for i, a in enumerate(made()):
        if not isinstance(a, np.ndarray):
            continue
        for axis in range(a.ndim):
            for name, cut in (("one less", slice(1, None)), ("one", slice(0, 1)),
                              ("none", slice(0, 0))):  # fmt: skip
                index = (*[slice(None)] * axis, cut)
                yield (
                    f"argument {i}, {name} along axis {axis}",
                    lambda i=i, index=index: Call(_one(made(), i, made()[i][index].copy())),
                )
        yield (
            f"argument {i} with an axis more",
            lambda i=i: Call(_one(made(), i, made()[i][None]), loose=True),
        )
        yield (
            f"argument {i} with an axis less",
            lambda i=i: Call(_one(made(), i, made()[i][0]), loose=True),
        )
    yield (
        "every array 0-d",
        lambda: Call(_each(made(), lambda a: np.array(a.reshape(-1)[0])), loose=True),
    )
    yield "an argument too few", lambda: Call([])
    yield "an argument too many", lambda: Call([*made(), 1, 2, 3, 4, 5])


DTYPES = ("int64", "int32", "uint8", "bool", "float16", "float32", "complex128", "object", "U4")


def _dtypes(made: Callable[[], Arguments]) -> Iterator[tuple[str, Callable[[], Call]]]:
    def single(a: Array) -> Array:
        return a.astype(np.float32) if a.dtype.kind == "f" else a

    yield "every array float32", lambda: Call(_each(made(), single))
    for i, a in enumerate(made()):
        for name in DTYPES if isinstance(a, np.ndarray) else ():
            if name != a.dtype:
                yield (
                    f"argument {i} as {name}",
                    lambda i=i, name=name: Call(
                        _one(made(), i, made()[i].astype(name)), loose=True
                    ),
                )
        if isinstance(a, np.ndarray):
            for value in (None, "abc", {}, 2.5, 3):
                yield (
                    f"argument {i} is {value!r}",
                    lambda i=i, value=value: Call(_one(made(), i, value), loose=True),
                )


def _scalars(made: Callable[[], Arguments]) -> Iterator[tuple[str, Callable[[], Call]]]:
    for i, a in enumerate(made()):
        if isinstance(a, np.ndarray):
            continue
        strict: list[Any] = [np.int64(2), 1, 0, -1, True]
        strict += [np.float64(0.5), 0.75] if isinstance(a, float) else []
        for value in strict:
            yield (
                f"argument {i} is {value!r}",
                lambda i=i, value=value: Call(_one(made(), i, value)),
            )
        for value in (None, "abc", [1], 1j, 2.5, np.float32(2), np.arange(3.0), np.array(2)):
            yield (
                f"argument {i} is {value!r}",
                lambda i=i, value=value: Call(_one(made(), i, value), loose=True),
            )


def _devices(
    made: Callable[[], Arguments], example: Example
) -> Iterator[tuple[str, Callable[[], Call]]]:
    def moved(arguments: Arguments) -> Call:
        return Call(_each(arguments, cuda.to_device), device=True)

    def single(a: Array) -> Array:
        return a.astype(np.float32) if a.dtype.kind == "f" else a

    yield "device arrays", lambda: moved(made())
    yield "float32 device arrays", lambda: moved(_each(made(), single))
    yield "column-major device arrays", lambda: moved(_each(made(), np.asfortranarray))
    yield "empty device arrays", lambda: moved(_made(example, (0,) * example.dims))
    yield "strided device arrays", lambda: Call(_each(made(), _strided_on_device), device=True)
    yield (
        "device arrays and a stream",
        lambda: replace(moved(made()), keywords={"stream": cuda.stream()}),
    )
    places = [i for i, a in enumerate(made()) if isinstance(a, np.ndarray)]
    for i in places if len(places) > 1 else ():
        yield (
            f"argument {i} alone on the device",
            lambda i=i: Call(_one(made(), i, cuda.to_device(made()[i])), device=True),
        )
        for axis in range(made()[i].ndim):
            index = (*[slice(None)] * axis, slice(1, None))
            yield (
                f"device argument {i}, one less along axis {axis}",
                lambda i=i, index=index: moved(_one(made(), i, made()[i][index].copy())),
            )
    yield "a stream", lambda: Call(made(), {"stream": cuda.stream()})
    yield "stream 0", lambda: Call(made(), {"stream": 0})
    yield "no stream", lambda: Call(made(), {"stream": None})


def _strided_on_device(a: Array) -> Any:
    wide = np.full([2 * n for n in a.shape], 77).astype(a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return cuda.to_device(wide)[tuple(slice(None, None, 2) for _ in a.shape)]
