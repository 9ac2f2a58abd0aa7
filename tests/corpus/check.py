"""Runs one generated function and its original on many inputs and compares all they do."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.case import Case

Function = Callable[..., Any]
Arguments = tuple[Any, ...]
SIZES = (1, 6, 35)
LONG = 100  # several blocks, for functions whose arrays are all 1-D


class Precision(NamedTuple):
    """How far a result may be off: in units of the eps of the coarsest dtype."""

    tolerance: float
    eps: float


def variants(case: Case) -> Iterator[tuple[str, Arguments]]:
    """Named argument lists: sizes, memory layouts, dtypes, shapes that do not fit."""
    one_dimensional = all("," not in t for t in case.types) and case.custom is None
    for size in (*SIZES, LONG) if one_dimensional else SIZES:
        yield f"n={size}", _fresh(case, size)
    base = _fresh(case, 9)
    yield "strided", _each_array(base, _strided)
    yield "reversed", _each_array(base, lambda a: a[(slice(None, None, -1),) * a.ndim].copy()[
        (slice(None, None, -1),) * a.ndim])  # fmt: skip
    yield "fortran", _each_array(base, np.asfortranarray)
    if not re.search(r"int\d+\[", case.signature):
        # beside integer arrays np.int64 would change the dtypes
        yield (
            "integers as numpy scalars",
            tuple(np.int64(a) if type(a) is int else a for a in copy.deepcopy(base)),
        )
    if "float64[" in case.signature:
        yield "float32", _each_array(base, _single)
    yield from _odd_shapes(base)
    yield from _aliases(base)


def _fresh(case: Case, size: int) -> Arguments:
    return case.make(np.random.default_rng(size), size)


def _each_array(arguments: Arguments, change: Callable[[Any], Any]) -> Arguments:
    return tuple(
        change(a.copy()) if isinstance(a, np.ndarray) and a.ndim else copy.deepcopy(a)
        for a in arguments
    )


def _strided(a: Any) -> Any:
    wide = np.full([2 * n for n in a.shape], 77, dtype=a.dtype)
    view = wide[(slice(None, None, 2),) * a.ndim]
    view[...] = a
    return view


def _single(a: Any) -> Any:
    return a.astype({"f": np.float32, "c": np.complex64}.get(a.dtype.kind, a.dtype))


def _odd_shapes(base: Arguments) -> Iterator[tuple[str, Arguments]]:
    places = [i for i, a in enumerate(base) if isinstance(a, np.ndarray)]
    yield "empty", _each_array(base, lambda a: a[:0])
    for i in places:
        for axis in range(base[i].ndim):
            for name, cut in (("size 1", slice(0, 1)), ("shorter", slice(0, -1))):
                index = (slice(None),) * axis + (cut,)
                changed = list(copy.deepcopy(base))
                changed[i] = changed[i][index].copy()
                yield f"argument {i} axis {axis} {name}", tuple(changed)
        changed = list(copy.deepcopy(base))
        changed[i] = changed[i][None]
        yield f"argument {i} one dimension more", tuple(changed)


def _aliases(base: Arguments) -> Iterator[tuple[str, Arguments]]:
    for i, a in enumerate(base):
        for j, b in enumerate(base[:i]):
            if (
                isinstance(a, np.ndarray)
                and isinstance(b, np.ndarray)
                and (a.shape, a.dtype) == (b.shape, b.dtype)
            ):
                same = list(copy.deepcopy(base))
                same[i] = same[j]
                yield f"argument {i} is argument {j}", tuple(same)
                if a.ndim == 1 and a.size > 2:
                    store = np.concatenate([b, a[:1]])
                    overlap = list(copy.deepcopy(base))
                    overlap[j], overlap[i] = store[:-1], store[1:]
                    yield f"argument {i} overlaps argument {j}", tuple(overlap)


def compare(
    original: Function, converted: Function, arguments: Arguments, tolerance: float = 2000
) -> str:
    """What differs, or an empty string; `tolerance` is in units of the dtypes' eps."""
    ours, theirs = _copied(arguments), _copied(arguments)
    expected, wanted_error = _call(original, ours)
    got, error = _call(converted, theirs)
    if wanted_error is not None:
        # a loop that leaves its array raises IndexError; a check beforehand may say ValueError
        allowed = (type(wanted_error), ValueError, TypeError, IndexError, AssertionError,
                   UnboundLocalError)  # fmt: skip
        if error is None:
            return f"no exception, NumPy raises {type(wanted_error).__name__}: {wanted_error}"
        return "" if isinstance(error, allowed) else f"raises {_name(error)}"
    if error is not None:
        return f"raises {_name(error)}"
    dtypes = [a.dtype for a in ours if isinstance(a, (np.ndarray, np.generic))]
    precision = Precision(tolerance, max([0.0, *map(_eps, dtypes)]))
    found = _differs("result", expected, got, precision)
    found = found or _identity(expected, ours, got, theirs)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        found = found or _differs(f"argument {i}", a, b, precision)
    return found


def stays_single(original: Function, arguments: Arguments) -> bool:
    """Whether all arrays, results too, are narrower than double precision."""
    copies = _copied(arguments)
    result, _ = _call(original, copies)
    everything = [*copies, *(result if isinstance(result, tuple) else [result])]
    arrays = [a for a in everything if isinstance(a, (np.ndarray, np.generic))]
    return all(a.dtype not in (np.float64, np.complex128) for a in arrays)


def _eps(dtype: Any) -> float:
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def _copied(arguments: Arguments) -> Arguments:
    """Copies that keep strides and sharing."""
    memo: dict[int, Any] = {}
    result = []
    for a in arguments:
        if not isinstance(a, np.ndarray):
            result.append(copy.deepcopy(a))
            continue
        base = a if a.base is None else a.base
        if id(base) not in memo:
            memo[id(base)] = base.copy(order="K")
        twin = memo[id(base)]
        offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        if a is base:
            result.append(twin)
        else:
            flat = np.ndarray(a.shape, a.dtype, twin.data, offset, a.strides)
            result.append(memo.setdefault(id(a), flat))
    return tuple(result)


def _call(function: Function, arguments: Arguments) -> tuple[Any, Exception | None]:
    with np.errstate(all="ignore"):
        try:
            return function(*arguments), None
        except Exception as error:
            return None, error


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"


def _identity(expected: Any, ours: Arguments, got: Any, theirs: Arguments) -> str:
    for i, a in enumerate(ours):
        if isinstance(a, np.ndarray) and (expected is a) != (got is theirs[i]):
            return f"argument {i} is{'' if expected is a else ' not'} returned itself"
    return ""


def _differs(what: str, expected: Any, got: Any, precision: Precision) -> str:
    if isinstance(expected, tuple):
        if not isinstance(got, tuple) or len(got) != len(expected):
            return f"{what}: {type(got).__name__} instead of {len(expected)} results"
        pairs = enumerate(zip(expected, got, strict=True))
        return next(
            (d for i, (e, g) in pairs if (d := _differs(f"{what} {i}", e, g, precision))), ""
        )
    if isinstance(expected, dict) and isinstance(got, dict) and list(expected) == list(got):
        return next((d for k in expected if (d := _differs(f"{what} {k!r}", expected[k], got[k],
                                                           precision))), "")  # fmt: skip
    if isinstance(expected, (str, dict)):
        return "" if expected == got else f"{what}: {got!r} instead of {expected!r}"
    if isinstance(expected, list) != isinstance(got, list):
        return f"{what}: {type(got).__name__} instead of {type(expected).__name__}"
    if isinstance(expected, list) and len(expected) == len(got):
        pairs = enumerate(zip(expected, got, strict=True))
        return next(
            (d for i, (e, g) in pairs if (d := _differs(f"{what} {i}", e, g, precision))), ""
        )
    if expected is None or got is None:
        return "" if expected is got else f"{what}: {got!r} instead of {expected!r}"
    if isinstance(expected, np.ndarray) != isinstance(got, np.ndarray):
        return f"{what}: {type(got).__name__} instead of {type(expected).__name__}"
    e, g = np.asarray(expected), np.asarray(got)
    if not isinstance(expected, np.ndarray) and isinstance(expected, np.generic) != isinstance(
        got, np.generic
    ):
        return f"{what}: {type(got).__name__} instead of {type(expected).__name__}"
    of_nothing = e.shape == g.shape == (0,) and e.dtype == np.float64  # of an empty list
    if (e.dtype, e.shape) != (g.dtype, g.shape) and not of_nothing:
        return f"{what}: {g.dtype}{g.shape} instead of {e.dtype}{e.shape}"
    return _values_differ(what, e, g, precision)


def _apart(e: Any, g: Any, bound: Any) -> Any:
    """Where real numbers are neither equal, nor both NaN, nor finite and within the bound."""
    near = np.isfinite(e) & (np.abs(e - g) <= bound)
    return ~(near | (e == g) | (np.isnan(e) & np.isnan(g)))


def _values_differ(what: str, e: Any, g: Any, precision: Precision) -> str:
    if e.dtype.kind in "biu":
        wrong = e != g
    else:
        eps = precision.tolerance * max(precision.eps, _eps(e.dtype))
        with np.errstate(all="ignore"):
            size = np.hypot(*(np.where(np.isfinite(part), part, 0) for part in (e.real, e.imag)))
            bound = eps * (size + size.max(initial=0) / 32)
            wrong = _apart(e.real, g.real, bound) | _apart(e.imag, g.imag, bound)
    if not wrong.any():
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    return f"{what}: {count} of {e.size} differ, at {at} {g[at]} instead of {e[at]}"
