"""How the arguments of a corpus function are made.

A case has the Numba signature to convert for and, per argument, a shape in the size
names below with an optional domain after a colon; `=` starts a Python expression that
is passed as it stands.  Size names: n (the size asked for), m (another), k = 3, b = 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Custom = Callable[[np.random.Generator, int], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """Argument types, argument shapes and, for a refused function, the accepted codes."""

    signature: str
    shapes: str = ""
    least: int = 1  # the smallest size with which NumPy itself accepts the call
    custom: Custom | None = None
    refused: tuple[str, ...] = ()
    serial: bool = False  # converted with --allow-serial

    @property
    def types(self) -> list[str]:
        """The types of the signature, one per argument."""
        return [
            part.strip() for part in re.split(r",(?![^\[(]*[\])])", self.signature) if part.strip()
        ]

    def make(self, rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        """Fresh arguments of one size."""
        size = max(size, self.least)
        if self.custom is not None:
            return self.custom(rng, size)
        pairs = zip(self.types, self.shapes.split(), strict=True)
        return tuple(_argument(rng, type_, shape, sizes(size)) for type_, shape in pairs)


def sizes(size: int) -> dict[str, int]:
    """The values of the size names."""
    return {"n": size, "m": size // 2 + 2, "k": 3, "b": 2}


def _argument(rng: np.random.Generator, type_: str, shape: str, names: dict[str, int]) -> Any:
    if shape.startswith("="):
        return eval(shape[1:], {"np": np}, names)
    if "[" not in type_:
        return _scalar(rng, type_)
    dims, _, domain = shape.partition(":")
    extent = tuple(eval(d, {}, names) for d in dims.split(","))
    dtype = np.dtype(type_.partition("[")[0])
    return np.asarray(_values(rng, dtype, extent, domain, names)).astype(dtype)


def _scalar(rng: np.random.Generator, type_: str) -> Any:
    if type_ == "complex128":
        return complex(rng.normal(), rng.normal())
    return int(rng.integers(1, 6)) if type_ == "int64" else float(rng.uniform(0.2, 1.5))


def _values(
    rng: np.random.Generator,
    dtype: np.dtype[Any],
    extent: tuple[int, ...],
    domain: str,
    names: dict[str, int],
) -> Any:
    if domain.startswith("idx"):
        return rng.integers(0, max(1, eval(domain[4:], {}, names)), extent)
    if domain == "wide":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, extent, dtype=dtype, endpoint=True)
    if domain == "nonzero":
        return rng.integers(1, 9, extent) * rng.choice([-1, 1], extent)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" or domain == "pos" else -9, 20, extent)
    return _reals(rng, dtype, extent, domain)


def _reals(
    rng: np.random.Generator, dtype: np.dtype[Any], extent: tuple[int, ...], domain: str
) -> Any:
    if dtype.kind == "b":
        # never all false, so that the mean of a selection exists
        mask = rng.random(extent) < 0.5
        mask[..., :1] = True
        return mask
    if domain in ("pos", "unit"):
        return rng.uniform(0.1, 3.0 if domain == "pos" else 1.0, extent)
    values = rng.standard_normal(extent)
    if dtype.kind == "c":
        return values + 1j * rng.standard_normal(extent)
    if domain == "nan":
        return np.where(rng.random(extent) < 0.25, np.nan, values)
    if domain == "special":
        odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], extent)
        return np.where(rng.random(extent) < 0.4, odd, values)
    return np.cumsum(np.abs(values), axis=-1) if domain == "sorted" else values


def csr(names: str) -> Custom:
    """Arguments out of one random sparse matrix of n rows and m columns."""

    def make(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        columns = sizes(size)["m"]
        counts = rng.integers(0, 4, size)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        entries = int(indptr[-1])
        parts: dict[str, Any] = {
            "data": rng.standard_normal(entries),
            "indices": rng.integers(0, columns, entries),
            "square_indices": rng.integers(0, size, entries),
            "indptr": indptr,
            "x": rng.standard_normal(columns),
            "X": rng.standard_normal((columns, 3)),
            "per_row": rng.standard_normal(size),
            "diagonal": rng.uniform(4, 5, size),
            "b": rng.standard_normal(size),
            "sweeps": 3,
        }
        return tuple(parts[name] for name in names.split())

    return make


def refused(signature: str, codes: str, shapes: str = "") -> Case:
    """A function that porter must refuse with one of `codes`."""
    return Case(signature, shapes, refused=tuple(codes.split()))
