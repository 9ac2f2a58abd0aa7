"""Inputs made from other inputs: moved in their last place, widened, or made wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from porter.dtypes.conversions import NARROW, Conversions, lone_dtypes
from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.shapes import holds, symbols

#: integer dtypes that are given for one array each, in turn
_NARROW = ("uint8", "bool", "int16", "int32")
#: so many lengths of axes are tried as indices
MOST_LENGTHS = 4
_WIDER: dict[str, Any] = {
    "float16": np.float64,
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
}


def widened(inputs: Inputs) -> Inputs:
    """The same numbers in the next wider type (long double, where that is wider, for float64)."""
    return replace(inputs, arguments=tuple(_widen(a) for a in inputs.arguments))


def _widen(argument: Argument) -> Argument:
    value = argument.value
    if isinstance(value, (np.ndarray, np.generic)) and str(value.dtype) in _WIDER:
        wider = _WIDER[str(value.dtype)]
        value = value.astype(wider) if isinstance(value, np.ndarray) else wider(value)
    return replace(argument, value=value)


def nudged(inputs: Inputs, rng: np.random.Generator) -> Inputs:
    """Every non-zero real element moved to one of its two neighbours."""
    return replace(inputs, arguments=tuple(_nudge(a, rng) for a in inputs.arguments))


def _nudge(argument: Argument, rng: np.random.Generator) -> Argument:
    value = argument.value
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return argument
    if value.dtype.kind == "c":
        moved = np.empty_like(value)
        moved.real, moved.imag = _neighbour(value.real, rng), _neighbour(value.imag, rng)
        return replace(argument, value=moved)
    return replace(argument, value=_neighbour(value, rng))


def _neighbour(value: Any, rng: np.random.Generator) -> Any:
    target = np.where(rng.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return np.where((value == 0) | ~np.isfinite(value), value, np.nextafter(value, target))


def wrong(inputs: Inputs, parameters: list[Parameter]) -> Iterator[tuple[str, Inputs]]:
    """Inputs that no longer fit together, each with what is wrong with it.

    NumPy may still take some of them (by broadcasting, for instance).
    """
    arrays = [p for p in parameters if p.type.kind == "array"]
    if not arrays:
        return
    first = arrays[0]
    yield f"`{first.name}` has one axis more", _replaced(inputs, first, lambda v: v[None])
    if first.type.ndim > 1:
        yield f"`{first.name}` has one axis less", _replaced(inputs, first, lambda v: v[0])
    for parameter, axis in _shared_axes(arrays):
        yield (
            f"`{parameter.name}` is longer along axis {axis}",
            _replaced(inputs, parameter, lambda v, a=axis: np.concatenate([v, v], a)),
        )
        yield (
            f"`{parameter.name}` has size 1 along axis {axis}",
            _replaced(inputs, parameter, lambda v, a=axis: v.take([0], a)),
        )
    if first.type.letter == "f":
        yield f"`{first.name}` is complex", _replaced(inputs, first, lambda v: v + 0j)
    yield f"`{first.name}` is None", _replaced(inputs, first, lambda v: None)


def in_float64(inputs: Inputs) -> Inputs:
    """The same numbers in float64 where they are arrays of float32."""
    single = [a for a in inputs.arguments if isinstance(a.value, np.ndarray) and a.value.ndim
              and a.value.dtype == np.float32]  # fmt: skip
    return _typed(inputs, {a.name: "float64" for a in single}, 0) if single else inputs


def converted(
    inputs: Inputs, parameters: list[Parameter], conversions: Conversions
) -> Iterator[tuple[str, Inputs]]:
    """Inputs of other dtypes and types that the module says it takes, each with what it is."""
    if not _holds(inputs, conversions.where):
        conversions = replace(conversions, names=())
    if not _holds(inputs, conversions.met):
        conversions = replace(conversions, mixed=())
    names, rule = conversions.names, conversions.integers
    most = rule.most
    if conversions.some:
        yield from _but_one(inputs, conversions)
    elif most and names:
        yield (
            f"integers for {', '.join(names)}",
            _typed(inputs, dict.fromkeys(names, "int64"), most),
        )
    for k in range(max(2, len(names)) if names and most else 0):
        name = names[k % len(names)]
        dtype = _NARROW[k % len(_NARROW)] if rule.kind == "integers" else "int32"
        if k >= len(names) and rule.kind != "integers":
            break
        yield f"{dtype} for {name}", _typed(inputs, {name: dtype}, most)
    for dtype in NARROW[rule.narrow] if names and not conversions.some else ():
        least = rule.most_of(127 if dtype == "bool" else int(np.iinfo(dtype).max))
        if least:
            yield (
                f"{dtype} for {', '.join(names)}",
                _typed(inputs, dict.fromkeys(names, dtype), least),
            )
    for name, kinds in conversions.lone:
        for dtype in lone_dtypes(kinds):
            least = rule.most_of(127 if dtype == "bool" else int(np.iinfo(dtype).max))
            if least:
                yield f"{dtype} for {name}, else float64", _typed(inputs, {name: dtype}, least)
    for group in conversions.wider:
        for name in group:
            yield f"int8 for {name}, else int64", _typed(inputs, {name: "int8"}, 127)
    yield from _single(inputs, conversions)
    yield from _real(inputs, conversions)
    yield from _with_numbers(inputs, parameters, conversions)


def _holds(inputs: Inputs, where: str) -> bool:
    """Whether the numbers are those for which arrays are converted."""
    numbers = {a.name: a.value for a in inputs.arguments if isinstance(a.value, (int, float))}
    try:
        return not where or holds(where, numbers)
    except ValueError:
        return False


def _but_one(inputs: Inputs, conversions: Conversions) -> Iterator[tuple[str, Inputs]]:
    """Inputs with integers for all but one of the arrays that must not all be of integers."""
    rule = conversions.integers
    for kept in conversions.names:
        names = [n for n in conversions.names if n != kept]
        for dtype in ("int64", *NARROW["iub" if rule.kind == "integers" else rule.narrow]):
            limit = 127 if dtype == "bool" else int(np.iinfo(dtype).max)
            if rule.most_of(limit):
                made = _typed(inputs, dict.fromkeys(names, dtype), rule.most_of(limit))
                yield f"{dtype} for {', '.join(names)}", made


def _single(inputs: Inputs, conversions: Conversions) -> Iterator[tuple[str, Inputs]]:
    """Inputs of float32 for some of the arrays, beside others of double precision."""
    names, rule = conversions.names, conversions.integers
    most = rule.most
    for group in conversions.mixed:
        for wide in (group[0], group[-1]):
            single = {n: "float32" for n in group if n != wide}
            if tuple(single) in conversions.rounded:
                continue
            yield f"float32 for {', '.join(single)}", _typed(inputs, single, most)
            if wide in names and most and rule.kind != "exact":
                yield (
                    f"integers for {wide}, else float32",
                    _typed(inputs, single | {wide: "int64"}, most),
                )
    for name in conversions.doubled:
        parts = tuple(
            replace(a, value=a.value.real.copy()) if a.name == name else a for a in inputs.arguments
        )
        yield f"float32 for {name}", _typed(replace(inputs, arguments=parts), {name: "float32"}, 0)


def _real(inputs: Inputs, conversions: Conversions) -> Iterator[tuple[str, Inputs]]:
    """Inputs with real arrays for those of complex numbers: all of them, and each alone."""
    names, rule = conversions.complexes, conversions.whole
    chosen = [names, *([n] for n in names)] if len(names) > 1 else [names] if names else []
    real = tuple(
        replace(a, value=a.value.real.copy()) if a.name in names else a for a in inputs.arguments
    )
    parts = {a.name: a for a in real}
    dtypes = [(d, 0) for d in ("float64",)]
    if rule is not None:
        narrow = NARROW["iub" if rule.kind == "integers" else rule.narrow]
        limits = {d: 127 if d == "bool" else int(np.iinfo(d).max) for d in ("int64", *narrow)}
        dtypes += [(d, rule.most_of(limit)) for d, limit in limits.items()]
    for some in chosen:
        changed = tuple(parts[a.name] if a.name in some else a for a in inputs.arguments)
        for dtype, most in dtypes:
            if most or dtype == "float64":
                made = _typed(replace(inputs, arguments=changed), dict.fromkeys(some, dtype), most)
                yield f"{dtype} for {', '.join(some)}", made


def _with_numbers(
    inputs: Inputs, parameters: list[Parameter], conversions: Conversions
) -> Iterator[tuple[str, Inputs]]:
    """Inputs with other numbers for the numbers: Python's integers, NumPy's, and 0-d arrays."""
    numbers = [p for p in parameters if p.type.kind == "scalar" and p.type.letter in "if"]
    names, most = conversions.names, conversions.integers.most
    for kind, change in (("Python", _whole), ("NumPy", _numpys), ("0-d", np.asarray)):
        changed = inputs
        for p in numbers:
            changed = _replaced(changed, p, change)
        if numbers:
            yield f"{kind} numbers", changed
        alone = conversions.floats or conversions.some
        if numbers and change is _whole and names and most and not alone:
            every = dict.fromkeys(names, "int64")
            yield "integers for everything", _typed(changed, every, most)


def _typed(inputs: Inputs, dtypes: dict[str, str], most: int) -> Inputs:
    """The same numbers in other dtypes, rounded away from zero for integers of up to `most`."""
    arguments = tuple(
        replace(a, value=_in_dtype(a.value, dtypes[a.name], most), layout="C")
        if a.name in dtypes
        else a
        for a in inputs.arguments
    )
    return replace(inputs, arguments=arguments)


def _in_dtype(value: Any, dtype: str, most: int) -> Any:
    if dtype.startswith("float"):
        return value.astype(dtype)
    if dtype == "bool":
        return np.abs(value) >= 1
    whole = np.clip(np.ceil(np.abs(np.nan_to_num(value)) * 3), 1, min(most, 99))
    signs = 1 if dtype.startswith("u") else np.sign(value + 0.0) + (value == 0)
    return (whole * signs).astype(dtype)


def _whole(value: Any) -> Any:
    return max(1, round(value)) if type(value) is float else value


def _numpys(value: Any) -> Any:
    if type(value) is float:
        return np.float64(value)
    return np.int64(value) if type(value) is int else value


def beyond(
    inputs: Inputs, parameters: list[Parameter]
) -> Iterator[tuple[str, Inputs, tuple[Inputs, ...]]]:
    """Indices that are just too large, or too small, for an axis of some array, or for a count,
    and the smallest that are not; each with the ends of the axis on its own side of zero.

    Which axis an index belongs to is not known: NumPy tells whether it raises.
    """
    values = [a.value for a in inputs.arguments if isinstance(a.value, np.ndarray)]
    numbers = {a.value for a in inputs.arguments if type(a.value) is int and a.value > 0}
    lengths = sorted(numbers | {n for v in values for n in v.shape if n})[:MOST_LENGTHS]
    for p in parameters:
        if not p.index or p.type.kind != "array" or p.type.letter not in "iu":
            continue
        info = np.iinfo(p.type.dtype)
        ends = [end for n in lengths for end in (n, -n - 1, -n) if info.min <= end <= info.max]
        for end in dict.fromkeys(ends):
            inside = (end - 1, 0) if end > 0 else (end + 1, -1)
            bad, *good = (
                _replaced(inputs, p, lambda v, e=e: np.full_like(v, e)) for e in (end, *inside)
            )
            yield f"`{p.name}` holds {end}", bad, tuple(good)


def inside(inputs: Inputs, parameters: list[Parameter]) -> Iterator[tuple[Inputs, ...]]:
    """The inputs with either end of an axis, on its own side of zero, in place of each index
    that is out of its bounds: a pair for each length that an axis has."""
    values = [a.value for a in inputs.arguments if isinstance(a.value, np.ndarray)]
    for n in sorted({n for v in values for n in v.shape if n})[:MOST_LENGTHS]:
        made = []
        for below, above in ((-1, 0), (-n, n - 1)):
            changed = inputs
            for p in parameters:
                if p.index and p.type.kind == "array" and p.type.letter in "iu":
                    changed = _replaced(
                        changed, p, lambda v, e=(below, above), n=n: _kept_within(v, n, *e)
                    )
            made.append(changed)
        yield tuple(made)


def _kept_within(values: np.ndarray[Any, Any], n: int, below: int, above: int) -> Any:
    """The indices with others for those below -n, and for those from n on."""
    found = np.where(values < -n, below, np.where(values >= n, above, values))
    return found.astype(values.dtype)


def _shared_axes(arrays: list[Parameter]) -> Iterator[tuple[Parameter, int]]:
    """The last array parameter's axes whose dimension another array shares, at most two."""
    last = arrays[-1]
    others = set(symbols(e for p in arrays[:-1] for e in p.dims))
    shared = [axis for axis, e in enumerate(last.dims) if set(symbols([e])) & others]
    yield from ((last, axis) for axis in shared[:2])


def _replaced(inputs: Inputs, parameter: Parameter, change: Any) -> Inputs:
    arguments = tuple(
        replace(a, value=change(a.value), layout="C") if a.name == parameter.name else a
        for a in inputs.arguments
    )
    return replace(inputs, arguments=arguments, form="host")
