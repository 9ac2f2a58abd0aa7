"""Comparing what two calls did, in a fixed order, within an explained error budget.

The order: exception, number and kind of results, shape, dtype, aliasing, mutation of
every argument, positions of NaN and infinity, values.  `docs/verification.md` gives the
budget in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Sums
from porter.verify.oracle.measure import Worst

Array = np.ndarray[Any, Any]
#: rounding errors granted to every result, in units of its last place
ULPS = 16
#: how many times the original's own measured error is granted
FACTOR = 8.0
#: how many times as far as other runs one with wider numbers may move most elements
BELIEVED = 1000
#: what is moved by so much of itself has no digit that is right
LOST = 1 / 8


@dataclass(frozen=True)
class Changed:
    """How another run's inputs differ: not quite the same numbers, or wider dtypes."""

    moved: bool = False
    wide: bool = False


@dataclass
class Outcome:
    """What one call did: its exception, or its result and its arguments afterwards.

    `aliases` gives, for each result in order, the number of the argument that it is, or -1;
    `views` that of the first argument whose memory it shares, None where that cannot be told;
    `stray` names arguments whose memory was written outside of the view that was passed;
    `complaint` says what was done on another stream than the given one; `changed` says how the
    inputs of another run differ.
    """

    error: BaseException | None = None
    result: Any = None
    arguments: list[Any] = field(default_factory=list)
    aliases: list[int] = field(default_factory=list)
    stray: tuple[str, ...] = ()
    line: int | None = None
    seconds: float = 0.0
    views: list[int | None] = field(default_factory=list)
    complaint: str = ""
    changed: Changed = Changed()


@dataclass(frozen=True)
class Runs:
    """What other runs of the original have for one result.

    The first `exact` of the `others` had the very same inputs; in the `cancelled` run nothing was
    left where numbers cancelled each other.
    """

    others: list[Array]
    exact: int = 0
    cancelled: Array | None = None

    def part(self, name: str) -> Runs:
        """The same of the real or of the imaginary part."""
        of = np.real if name == "real" else np.imag
        others = [np.asarray(of(o)) for o in self.others]
        return Runs(others, self.exact, None if self.cancelled is None else of(self.cancelled))

    def undecided(self, expected: Array) -> Array:
        """Where rounding alone decides whether there is a number.

        No digit of it is the same in another run, and there is no number where what a
        cancellation leaves, which is rounding and no more, is nothing.
        """
        lost = np.zeros(expected.shape, bool)
        if self.cancelled is None:
            return lost
        for other in self.others:
            apart = _apart(expected, other)
            lost |= ~np.isfinite(apart) | ((apart > 0) & (apart >= LOST * np.abs(expected)))
        return np.asarray(lost & np.isfinite(expected) & ~np.isfinite(self.cancelled))


@dataclass(frozen=True)
class Difference:
    """The first difference between two outcomes."""

    what: str
    message: str
    place: str = ""
    index: tuple[int, ...] | None = None
    expected: str = ""
    actual: str = ""


def parts(outcome: Outcome, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Every array and number that a call left behind, with a name for messages."""
    yield from _leaves("result", outcome.result)
    for name, value in zip(names, outcome.arguments, strict=True):
        yield from _leaves(f"argument `{name}` afterwards", value)


def _leaves(label: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (tuple, list)):
        for k, item in enumerate(value):
            yield from _leaves(f"{label}[{k}]", item)
    else:
        yield label, value


def kind_of(value: Any) -> str:
    """array, scalar, none, tuple, list, or the name of another type."""
    if isinstance(value, np.ndarray):
        return "array"
    if isinstance(value, (np.generic, bool, int, float, complex)):
        return "scalar"
    if value is None:
        return "none"
    return type(value).__name__ if not isinstance(value, (tuple, list)) else _sequence(value)


def _sequence(value: Any) -> str:
    return "tuple" if isinstance(value, tuple) else "list"


def compare(
    expected: Outcome,
    actual: Outcome,
    names: Sequence[str],
    *,
    loose_scalars: bool = False,
    plain: bool = False,
    empty: bool = False,
    runs: Callable[[], Sequence[Outcome]] = tuple,
) -> Difference | None:
    """The first difference in anything but values, which `values` compares.

    With `loose_scalars` a 0-d array may stand for a scalar (results left on the device).
    Where the data decide whether a result is Python's number or NumPy's (`if v > 0: s += v`), a
    NumPy scalar may stand for a Python zero, and with `plain` for the same Python number; not
    where an axis is `empty`: there the sizes decide.  A text, or another object, may differ where
    it does in other `runs` of the original with the very same inputs: it shows rounded digits.
    """
    if not empty:
        expected = replace(expected, result=_typed(expected.result, actual.result, plain))
    difference = _structure("result", expected.result, actual.result, loose_scalars)
    if difference is not None and difference.what == "value":
        undecided = _undecided(expected.result, [o.result for o in runs() if not o.changed.moved])
        difference = _structure("result", expected.result, actual.result, loose_scalars, undecided)
    if difference is not None:
        return difference
    for k, (e, a) in enumerate(zip(expected.aliases, actual.aliases, strict=False)):
        if e != a:
            was = f"is the argument `{names[e]}`" if e >= 0 else "is no argument"
            now = f"is the argument `{names[a]}`" if a >= 0 else "is a new object"
            text = f"result {k} {was} in the original and {now} here"
            return Difference("aliasing", text, "result")
    for k, (part, own) in enumerate(zip(expected.views, actual.views, strict=False)):
        if part is not None and own is not None and part != own:
            was = "a new array" if part == -1 else f"a view of the argument `{names[part]}`"
            now = "a new array" if own == -1 else f"a view of the argument `{names[own]}`"
            text = f"result {k} is {was} in the original and {now} here"
            return Difference("aliasing", text, "result")
    if actual.stray != expected.stray:
        text = f"memory outside of the view passed as `{(actual.stray or expected.stray)[0]}`"
        return Difference("mutation", f"{text} was written", "argument")
    for name, e, a in zip(names, expected.arguments, actual.arguments, strict=True):
        found = _structure(f"argument `{name}` afterwards", e, a, False)
        if found is not None:
            return found
    return None


def _undecided(expected: Any, others: list[Any]) -> set[str]:
    """The places of objects that are others in other runs."""
    known = dict(_leaves("result", expected))
    found = (leaf for other in others for leaf in _leaves("result", other))
    return {
        place for place, value in found
        if place in known and kind_of(value) == kind_of(known[place]) not in ("array", "scalar")
        and not _equal(known[place], value)
    }  # fmt: skip


def _typed(expected: Any, actual: Any, every: bool) -> Any:
    """The expected result, its Python numbers in the dtype that they have in the actual one."""
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        return tuple(_typed(e, a, every) for e, a in zip(expected, actual, strict=True))
    plain = isinstance(expected, (int, float, complex)) and not isinstance(expected, np.generic)
    if plain and (every or expected == 0) and isinstance(actual, np.generic):
        own = np.asarray(expected)
        same = own.dtype.kind == actual.dtype.kind or (own.dtype.kind == "i" and own == actual)
        return own.astype(actual.dtype)[()] if same else expected
    return expected


def _structure(
    place: str, expected: Any, actual: Any, loose: bool, undecided: Set[str] = frozenset()
) -> Difference | None:
    kinds = kind_of(expected), kind_of(actual)
    if loose and kinds == ("scalar", "array") and actual.ndim == 0:
        actual = actual[()]
        kinds = ("scalar", "scalar")
    if kinds[0] != kinds[1]:
        return Difference("kind", f"{place} is {_a(kinds[1])}, not {_a(kinds[0])}", place)
    if kinds[0] in ("tuple", "list"):
        if len(expected) != len(actual):
            text = f"{place} has {len(actual)} items, not {len(expected)}"
            return Difference("results", text, place)
        pairs = enumerate(zip(expected, actual, strict=True))
        found = (_structure(f"{place}[{k}]", e, a, loose, undecided) for k, (e, a) in pairs)
        return next((d for d in found if d is not None), None)
    if kinds[0] not in ("array", "scalar"):
        same = expected is None or expected is actual or _equal(expected, actual)
        same = same or place in undecided
        return None if same else Difference("value", f"{place} differs", place)
    return _shape_and_dtype(place, np.asarray(expected), np.asarray(actual))


def _shape_and_dtype(place: str, expected: Array, actual: Array) -> Difference | None:
    if expected.shape != actual.shape:
        text = f"{place} has shape {actual.shape}, not {expected.shape}"
        return Difference("shape", text, place, None, str(expected.shape), str(actual.shape))
    # an array of an empty list is float64, whatever its items would have been
    of_nothing = expected.shape == (0,) and expected.dtype == np.float64
    if expected.dtype != actual.dtype and not of_nothing:
        text = f"{place} has dtype {actual.dtype}, not {expected.dtype}"
        return Difference("dtype", text, place, None, str(expected.dtype), str(actual.dtype))
    return None


def _a(kind: str) -> str:
    return {"array": "an array", "none": "None"}.get(kind, f"a {kind}")


def _equal(expected: Any, actual: Any) -> bool:
    try:
        return bool(expected == actual)
    except Exception:
        return False


def exactly(expected: Outcome, actual: Outcome, names: Sequence[str]) -> bool:
    """Whether all values are equal to the last bit, NaN being equal to NaN."""
    pairs = zip(parts(expected, names), parts(actual, names), strict=True)
    return all(_same(np.asarray(e), np.asarray(a)).all() for (_, e), (_, a) in pairs)


def has_floats(outcome: Outcome, names: Sequence[str]) -> bool:
    """Whether a call left any number or array of floats behind."""
    return any(np.asarray(v).dtype.kind in "fc" for _, v in parts(outcome, names))


def _same(expected: Array, actual: Array) -> Array:
    same = np.asarray(expected == actual)
    if expected.dtype.kind in "fc":
        same = same | (np.isnan(expected) & np.isnan(actual))
    return same


def values(
    expected: Outcome,
    actual: Outcome,
    names: Sequence[str],
    others: Sequence[Outcome],
    sums: Sums,
    *,
    unlike: str = "",
    worst: Worst | None = None,
    cancelled: Outcome | None = None,
) -> Difference | None:
    """The first value outside of the budget, or None.

    `others` are runs of the original itself, in higher precision, with inputs moved in
    their last place and with random roundings: how far they are from `expected` is the
    error that the computation has anyway.  `sums` tells the longest axis that a reduction
    may run over.  `worst` collects the errors of what passes.  Results of the kinds `unlike`
    that are not finite are not compared: what they are depends on how a product is written.
    With a `cancelled` run a number may be missing where rounding alone made it (see
    `Runs.undecided`).
    """
    leaves = list(parts(expected, names))
    # runs with the very same inputs come first: they tell what exact comparisons decide
    others = sorted(others, key=lambda o: o.changed.moved)
    runs = [[v for _, v in parts(o, names)] for o in others]
    kept = [k for k, run in enumerate(runs) if len(run) == len(leaves)]
    same = sum(not others[k].changed.moved for k in kept)
    runs = [runs[k] for k in kept]
    zero = [v for _, v in parts(cancelled, names)] if cancelled is not None else []
    for k, ((place, e), (_, a)) in enumerate(zip(leaves, parts(actual, names), strict=True)):
        if kind_of(e) not in ("array", "scalar"):
            continue
        fits = [np.shape(r[k]) == np.shape(e) for r in runs]
        same_shape = [np.asarray(r[k]) for r, fit in zip(runs, fits, strict=True) if fit]
        exact = sum(fits[:same])
        if fits[0:1] == [True] and others[kept[0]].changed.wide:
            same_shape[0] = _believed(np.asarray(e), same_shape[0], same_shape[1:], sums.longest)
        pair = np.asarray(e), np.asarray(a)
        if pair[0].dtype.kind in unlike:
            finite = np.isfinite(pair[0]) & np.isfinite(pair[1])
            pair = np.where(finite, pair[0], 0), np.where(finite, pair[1], 0)
        nothing = len(zero) == len(leaves) and np.shape(zero[k]) == np.shape(e)
        left = np.asarray(zero[k]) if nothing else None
        found = _leaf(place, *pair, Runs(same_shape, exact, left), sums, worst)
        if found is not None:
            return found
    return None


def is_lost(expected: Outcome, other: Outcome, names: Sequence[str]) -> bool:
    """Whether another run has results of which no digit is the same."""
    pairs = zip(parts(expected, names), parts(other, names), strict=False)
    for (_, e), (_, o) in pairs:
        if np.shape(e) != np.shape(o):
            return True
        if np.asarray(e).dtype.kind in "fc" and np.size(e):
            apart = _apart(np.asarray(e), np.asarray(o)).max()
            if apart != 0 and not apart < LOST * np.abs(np.asarray(e)).max():
                return True
    return False


def not_finite(outcome: Outcome, names: Sequence[str]) -> list[Array]:
    """The numbers of an outcome that are not finite, with 0 for all others."""
    arrays = (np.asarray(value) for _, value in parts(outcome, names))
    return [np.where(np.isfinite(x), 0, x) for x in arrays if x.dtype.kind in "fc"]


def _leaf(
    place: str,
    expected: Array,
    actual: Array,
    runs: Runs,
    sums: Sums,
    worst: Worst | None = None,
) -> Difference | None:
    """The first wrong element."""
    if expected.dtype.kind not in "fc":
        wrong = ~_same(expected, actual)
        # an integer that the original itself does not settle (a tie, a threshold) may differ
        for other in runs.others[: runs.exact]:
            wrong &= np.asarray(other == expected)
        return _first("value", place, expected, actual, wrong)
    if expected.dtype.kind == "c":
        for part in ("real", "imag"):
            pair = [np.asarray(getattr(x, part)) for x in (expected, actual)]
            rest, scale = runs.part(part), np.abs(expected)
            found = _floats(f"{place}.{part}", pair[0], pair[1], rest, sums, scale, worst)
            if found is not None:
                return found
        return None
    return _floats(place, expected, actual, runs, sums, np.abs(expected), worst)


def _floats(
    place: str,
    expected: Array,
    actual: Array,
    runs: Runs,
    sums: Sums,
    scale: Array,
    worst: Worst | None = None,
) -> Difference | None:
    finite = np.isfinite(expected) & np.isfinite(actual)
    odd = ~finite & ~_same(expected, actual)
    for other in runs.others[: runs.exact]:
        odd &= _same(np.isfinite(expected), np.isfinite(other))
    odd &= ~runs.undecided(expected)
    found = _first("nan", place, expected, actual, odd)
    if found is not None:
        return found
    allowed = budget(expected, runs.others, sums, scale)
    apart = _apart(expected, actual)
    wrong = finite & (apart > allowed)
    if worst is not None and not wrong.any():
        worst.add(place, expected, actual, apart, allowed)
    return _first("value", place, expected, actual, wrong)


def _believed(expected: Array, wide: Array, others: list[Array], longest: int) -> Array:
    """The run with wider numbers, or the expected one where that did something else.

    Rounding moves the other runs as far as this one, by and large.  What most elements are
    away beyond that is no rounding: the function does another thing with another dtype.
    """
    if expected.dtype.kind not in "fc" or not expected.size:
        return wide
    away = _apart(expected, wide)
    own = [d[np.isfinite(d)].max(initial=0) for d in (_apart(expected, o) for o in others)]
    sizes = np.abs(expected[np.isfinite(expected)]).astype(np.longdouble)
    info = np.finfo(expected.dtype)
    usual = info.eps * (ULPS + longest) * sizes.max(initial=0) + max([info.tiny, *own])
    return expected if np.mean(away > BELIEVED * usual) > 0.5 else wide


def budget(expected: Array, others: list[Array], sums: Sums, scale: Array) -> Array:
    """The largest error allowed for every element."""
    info = np.finfo(expected.dtype)
    wide = np.longdouble
    own = np.zeros(expected.shape, wide)
    for other in others:
        apart = _apart(expected, other)
        own = np.maximum(own, np.where(np.isfinite(apart), apart, 0))
    # where an element is lucky, its neighbours tell what the errors are like
    typical = np.quantile(own, 0.75) if own.size else wide(0)
    size = np.where(np.isfinite(scale), scale, 0).astype(wide)
    moved = own + typical
    # a sum of float32 is one, whatever it is stored into
    eps = np.where(moved > sums.eps * size / 4, max(info.eps, sums.eps), info.eps)
    return np.asarray(eps * (ULPS + sums.longest) * size + FACTOR * moved + info.tiny)


def _apart(one: Array, other: Array) -> Array:
    wide = np.clongdouble if one.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(other.astype(wide) - one.astype(wide)))


def _first(
    what: str, place: str, expected: Array, actual: Array, wrong: Array
) -> Difference | None:
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    e, a = expected[index], actual[index]
    where = f"[{', '.join(map(str, index))}]" if index else ""
    text = f"{place}{where} is {a!s}, not {e!s} ({int(wrong.sum())} of {wrong.size} differ)"
    return Difference(what, text, place, index, str(e), str(a))
