"""Arguments moved into the domain that the source's comments state, and the test that they are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.domains import (
    Among,
    Bound,
    Condition,
    Domain,
    Number,
    Property,
    Size,
    Value,
    evaluate,
    needs,
)
from porter.verify.inputs.shapes import evaluate as extent
from porter.verify.inputs.shapes import symbols

Array = np.ndarray[Any, Any]
_WIDE = np.longdouble
_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
#: no size is made larger than this for a comment's sake
_LARGEST = 4096
#: how many sizes of a dimension are tried for an extent that is computed from it
_TRIED = 128
#: the share of changed elements that are put on the edges of their range
_EDGES = 0.3


class Unsuitable(ValueError):
    """A condition on something that has no order: the domain is wrong."""


def extents(
    domain: Domain, parameters: Sequence[Parameter], names: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """The least and the largest extent of dimensions that conditions with numbers bound.

    A dimension is bound as `len(x)`, or as an integer parameter of its name.
    """
    limits = dict.fromkeys(names, (0, _LARGEST))
    dims = {p.name: p.dims for p in parameters}
    for c in domain.conditions:
        if not isinstance(c, Bound) or not isinstance(c.limit, Number):
            continue
        entry = c.subject.name
        if isinstance(c.subject, Size):
            known = dims.get(c.subject.name, ())
            if not -len(known) <= c.subject.axis < len(known):
                raise Unsuitable(f"`{c.subject.name}` has no axis {c.subject.axis}")
            entry = known[c.subject.axis]
        low, high = _whole_range(c.operator, c.limit.value)
        for name in set(symbols([entry])) & limits.keys():
            # an extent such as `n - 2`: which sizes of its dimension are large enough
            tried = range(_LARGEST) if entry == name else range(_TRIED)
            sizes = dict.fromkeys(names, 1)
            fits = [
                n
                for n in tried
                if low <= (n if entry == name else extent(entry, sizes | {name: n})) <= high
            ]
            if not fits:
                raise Unsuitable(f"no array is as long as the domain of `{c.subject.name}` says")
            least, most = limits[name]
            top = most if fits[-1] == tried[-1] else fits[-1]
            limits[name] = max(least, fits[0]), min(most, top)
    return {n: r for n, r in limits.items() if r != (0, _LARGEST)}


def _whole_range(sign: str, limit: float) -> tuple[float, float]:
    least, most = {
        "<": (0.0, np.ceil(limit) - 1), "<=": (0.0, limit), ">": (np.floor(limit) + 1, np.inf),
        ">=": (limit, np.inf), "==": (limit, limit), "!=": (0.0, np.inf),
    }[sign]  # fmt: skip
    return float(least), float(most)


def narrowed(
    inputs: Inputs,
    parameters: Sequence[Parameter],
    domain: Domain,
    kind: str,
    rng: np.random.Generator,
) -> Inputs | None:
    """The inputs with all values in the domain; None when sizes like these leave no value.

    Values that are in it already stay; `kind` is the case's domain of floats.  Raises
    `Unsuitable` for conditions on what has no order (complex numbers, tuples).
    """
    if not domain.conditions:
        return inputs
    letters = {p.name: p.type.letter for p in parameters if p.type.kind in ("array", "scalar")}
    absent = {p.name for p in parameters if p.type.kind in ("none", "omitted")}
    values = {a.name: a.value for a in inputs.arguments}
    base = {a.name: a.like or a.name for a in inputs.arguments}
    for c in _ordered(domain.conditions):
        for name in _subjects(c, letters):
            if name in absent or isinstance(getattr(c, "subject", None), Size):
                continue
            if letters.get(name, "c") == "c" and not isinstance(c, Property):
                raise Unsuitable(f"`{name}` has no order")
            moved = _moved(values[base[name]], name, domain, values, kind, rng)
            if moved is None:
                return None
            values[base[name]] = moved
    for name, first in base.items():
        values[name] = values[first]
    made = replace(inputs, arguments=tuple(_with(a, values[a.name]) for a in inputs.arguments))
    return made if holds(domain, made) else None


def _with(argument: Argument, value: Any) -> Argument:
    return replace(argument, value=value)


def _ordered(conditions: Sequence[Condition]) -> list[Condition]:
    """Conditions after those that decide the values that they ask for."""
    left, done = list(conditions), []
    while left:
        waiting = {name for c in left for name in _subjects(c, {})}
        ready = [c for c in left if not needs(c) & (waiting - set(_subjects(c, {})))]
        # what hangs together in a circle is tried in the order of the comments
        done += ready or left
        left = [c for c in left if c not in ready] if ready else []
    return done


def _subjects(condition: Condition, letters: Mapping[str, str]) -> list[str]:
    if isinstance(condition, Property):
        floats = [n for n, letter in letters.items() if letter in ("f", "c")]
        return [condition.name] if condition.name else floats
    return [condition.subject.name]


def _moved(
    value: Any, name: str, domain: Domain, values: Mapping[str, Any], kind: str,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    """The value with every element in the domain, of the same type; None if there is none."""
    array = np.array(value)
    own = [c for c in domain.conditions if name in _subjects(c, {name: array.dtype.kind})]
    if any(isinstance(c, Property) and c.what == "finite" for c in own):
        if array.dtype.kind in "fc":
            fresh = rng.uniform(0.1, 3.0, array.shape).astype(array.dtype)
            array = np.where(np.isfinite(array), array, fresh)
    among = [c for c in own if isinstance(c, Among)]
    if among:
        choices = np.array([v for v in among[0].values], np.float64).astype(array.dtype)
        array = np.where(np.isin(array, choices), array, rng.choice(choices, array.shape))
    bounds = [c for c in own if isinstance(c, Bound) and isinstance(c.subject, Value)]
    if bounds and array.dtype.kind in "fiu":
        moved = _bounded(array, bounds, values, kind, rng)
        if moved is None:
            return None
        array = moved
    if any(isinstance(c, Property) and c.what == "sorted" for c in own) and array.ndim:
        array = np.sort(array, axis=-1)
    return _like(value, np.asarray(array, np.asarray(value).dtype))


def _like(value: Any, array: Array) -> Any:
    if isinstance(value, np.ndarray):
        return array
    return array[()] if isinstance(value, np.generic) else type(value)(array[()])


def _bounded(
    array: Array, bounds: Sequence[Bound], values: Mapping[str, Any], kind: str,
    rng: np.random.Generator,
) -> Array | None:  # fmt: skip
    dtype = array.dtype
    whole = dtype.kind in "iu"
    least = np.iinfo(dtype).min if whole else dtype.type(-np.inf)
    most = np.iinfo(dtype).max if whole else dtype.type(np.inf)
    low: Any = least
    high: Any = most
    excluded = []
    for b in bounds:
        limit = np.asarray(_limit(b, values), _WIDE)
        if b.operator in (">", ">=", "=="):
            low = np.maximum(
                low, _nearest(limit, ">=" if b.operator == "==" else b.operator, dtype)
            )
        if b.operator in ("<", "<=", "=="):
            high = np.minimum(
                high, _nearest(limit, "<=" if b.operator == "==" else b.operator, dtype)
            )
        if b.operator == "!=":
            excluded.append(limit)
    if not array.shape:
        # a scalar keeps to the bounds that all elements of an array set
        low, high = np.max(low, initial=least), np.min(high, initial=most)
    try:
        low, high = np.broadcast_to(low, array.shape), np.broadcast_to(high, array.shape)
    except ValueError:
        return None
    if (low > high).any():
        return None
    drawn = _drawn(array, low, high, kind, rng)
    with np.errstate(invalid="ignore"):
        inside = np.asarray((array >= low) & (array <= high))
    if len(excluded) == len(bounds):
        inside[...] = True
    made = np.where(inside, array, drawn).astype(dtype)
    for limit in excluded:
        apart = np.where(made < high, made + dtype.type(1), made - dtype.type(1)).astype(dtype)
        made = np.where(made == limit, np.clip(apart, low, high), made)
    return np.asarray(made, dtype)


def _limit(bound: Bound, values: Mapping[str, Any]) -> Any:
    shapes = {n: np.shape(v) for n, v in values.items()}
    wide = {n: np.asarray(v, _WIDE) for n, v in values.items() if _ordered_value(v)}
    return evaluate(bound.limit, wide, shapes)


def _ordered_value(value: Any) -> bool:
    return value is not None and np.asarray(value).dtype.kind in "biuf"


def _nearest(limit: Array, sign: str, dtype: np.dtype[Any]) -> Array:
    """The numbers of a dtype next to a limit for which `number sign limit` holds."""
    up = sign in (">", ">=")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        whole = np.ceil(limit) if up else np.floor(limit)
        step = 1 if up else -1
        whole = np.where(_HOLDS[sign](whole, limit), whole, whole + step)
        return np.clip(whole, _WIDE(info.min), _WIDE(info.max)).astype(dtype)
    near = limit.astype(dtype)
    other = np.nextafter(near, dtype.type(np.inf if up else -np.inf))
    return np.where(_HOLDS[sign](near.astype(_WIDE), limit), near, other).astype(dtype)


def _drawn(array: Array, low: Array, high: Array, kind: str, rng: np.random.Generator) -> Array:
    """New elements between two limits, of which one may be far away."""
    dtype, info = array.dtype, np.iinfo if array.dtype.kind in "iu" else np.finfo
    far_low, far_high = low <= info(dtype).min, high >= info(dtype).max
    size = np.where(np.isfinite(array), np.abs(array.astype(_WIDE)), 1)
    lo, hi = low.astype(_WIDE), high.astype(_WIDE)
    share = rng.random(array.shape)
    with np.errstate(all="ignore"):
        between = np.where(far_low | far_high, 0, lo + share * (hi - lo))
        made = np.where(far_high, lo + np.abs(size - np.where(far_low, 0, lo)), between)
        made = np.where(far_low & ~far_high, hi - np.abs(size - hi), made)
        made = np.where(far_low & far_high, size, made)
    if kind in ("round", "special"):
        edge = np.where(far_low | (~far_high & (rng.random(array.shape) < 0.5)), hi, lo)
        made = np.where((rng.random(array.shape) < _EDGES) & np.isfinite(edge), edge, made)
    if dtype.kind in "iu":
        made = np.floor(made)
    made = np.clip(made, lo, hi)
    return np.asarray(np.clip(made.astype(dtype), low, high))


def holds(domain: Domain, inputs: Inputs) -> bool:
    """Whether all conditions hold; what cannot be tested (None, complex numbers) does."""
    values = {a.name: a.value for a in inputs.arguments}
    for c in domain.conditions:
        try:
            if not _holds(c, values):
                return False
        except (TypeError, ValueError, LookupError):
            continue
    return True


def _holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    if isinstance(condition, Property):
        names = [condition.name] if condition.name else list(values)
        arrays = [np.asarray(values[n]) for n in names if values[n] is not None]
        if condition.what == "finite":
            return all(np.isfinite(a).all() for a in arrays if a.dtype.kind in "fc")
        return all((np.diff(a, axis=-1) >= 0).all() for a in arrays if a.ndim)
    if isinstance(condition, Among):
        return bool(np.isin(values[condition.subject.name], list(condition.values)).all())
    subject = condition.subject
    if isinstance(subject, Size):
        left: Any = np.shape(values[subject.name])[subject.axis]
    else:
        left = np.asarray(values[subject.name])
        if left.dtype.kind not in "biuf":
            raise TypeError("no order")
        left = left.astype(_WIDE)
    return bool(np.all(_HOLDS[condition.operator](left, _limit(condition, values))))
