"""Functions that draw random numbers: their results have the same distribution as the original's.

Both are called many times with one input, each time with other random numbers.  Of every run and
every array there are a few figures (mean, spread, how neighbours go together, ...), which are
independent from run to run; those of one function are held against those of the other by two
tests that assume nothing about how they are distributed: Kolmogorov and Smirnov's, and the sum of
ranks.  All tests of a verification together are wrong about a right function once in `ALARMS`.
"""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol
from unittest import mock

import numpy as np

from porter.verify.checks.drawing import Drawing
from porter.verify.checks.subject import MismatchFound, Subject
from porter.verify.checks.tally import Settings, Tally
from porter.verify.engines.launches import TooCostly
from porter.verify.evidence import Mismatch
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.cases import CaseSpec
from porter.verify.oracle import compare
from porter.verify.oracle.errors import described

Array = np.ndarray[Any, Any]
#: a function that is right is refused once in so many verifications
ALARMS = 1e6
#: the length of axes, and integers that are given: the largest that there is time for are taken
SIZES = ((13, 3), (31, 7), (61, 17), (97, 31), (199, 53), (499, 101), (997, 997))
#: runs of the original that only tell what is usual, and runs whose figures are compared
USUAL, RUNS = 40, 160
#: runs of the kernels: at least, and at most
FEWEST, MOST = 60, 240
#: seconds for them; of the machine for compiled kernels, for which only large inputs tell whether
#: warps wait for each other
SECONDS, COMPILED = 4.0, 8.0
#: the cases of these inputs are numbered from here
NUMBER = 4_000_000


class Caller(Protocol):
    """Calls the original and the generated function."""

    subject: Subject
    drawing: Drawing
    settings: Settings
    tally: Tally

    def original(self, inputs: Inputs, spec: CaseSpec) -> compare.Outcome | None:
        """What the original does."""

    def converted(self, spec: CaseSpec, inputs: Inputs, seed: int | None = None) -> compare.Outcome:
        """What the generated function does, with random numbers from this seed."""

    def found(
        self, spec: CaseSpec, inputs: Inputs, what: str, message: str,
        difference: compare.Difference | None = None,
    ) -> MismatchFound:  # fmt: skip
        """The end of a verification."""


def unlike(
    expected: compare.Outcome, actual: compare.Outcome, inputs: Inputs
) -> compare.Difference | None:
    """An argument that one of the functions changes, and the other does not."""
    for k, argument in enumerate(inputs.arguments):
        if not isinstance(argument.value, np.ndarray):
            continue
        was, now = (_equal(argument.value, o.arguments[k]) for o in (expected, actual))
        if was and not now:
            text = f"the argument `{argument.name}` is changed, which the original does not"
            return compare.Difference("mutation", text, f"argument `{argument.name}` afterwards")
    return None


def _equal(one: Array, other: Any) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


@contextlib.contextmanager
def unseeded(function: Callable[..., Any], seed: int) -> Iterator[None]:
    """Let the original draw other numbers in every run, whatever seed it gives itself."""
    fresh = np.random.default_rng(seed)
    known = np.random.default_rng

    class Fresh(np.random.RandomState):
        """In place of a generator with a seed."""

        def __init__(self, *_: Any) -> None:
            super().__init__(int(fresh.integers(2**32)))

    stand_ins: dict[int, Any] = {
        id(known): lambda *_, **__: known(int(fresh.integers(2**63))),
        id(np.random.RandomState): Fresh,
    }
    random.seed(int(fresh.integers(2**63)))
    np.random.seed(int(fresh.integers(2**32)))
    names = getattr(function, "__globals__", {})
    direct = {n: stand_ins[id(v)] for n, v in names.items() if id(v) in stand_ins}
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(np.random, "default_rng", stand_ins[id(known)]))
        stack.enter_context(mock.patch.object(np.random, "RandomState", Fresh))
        stack.enter_context(mock.patch.object(np.random, "seed", lambda *_: None))
        stack.enter_context(mock.patch.object(random, "seed", lambda *_, **__: None))
        stack.enter_context(mock.patch.dict(names, direct))
        yield


def run(judge: Caller) -> None:
    """Compare the distributions for each form of the function; raises `MismatchFound`."""
    # on the simulator the kernels for other dtypes have no time of their own
    variants = len(judge.drawing.variants) if judge.settings.large else 1
    # blocks are compiled in: in a grid that is cut, threads draw more than once
    cut = judge.settings.own_blocks and judge.subject.many is not None
    grids = (False, True) if cut else (False,)
    for variant in range(variants):
        for many in grids:
            _one(judge, variant, 2 * variants * len(grids), many=many)


def _one(judge: Caller, variant: int, comparisons: int, *, many: bool) -> None:
    first, chosen, said, before = None, None, "no input is in its domain", 0.0
    seconds = COMPILED if judge.settings.own_blocks else SECONDS
    for k, (size, count) in enumerate(SIZES):
        spec = CaseSpec(
            (str(size), "7", "3"), variant=variant, count=count, number=NUMBER + k, points=30_000,
            many=many,
        )  # fmt: skip
        inputs = judge.drawing.inputs(spec, 0)
        if inputs is None:
            continue
        begun = time.process_time()  # others may be at work on this machine
        expected = judge.original(inputs, spec)
        slow = time.process_time() - begun
        if expected is None or expected.error is not None:
            if expected is not None and expected.error is not None:
                said = f"the original raises {described(expected.error)}"
            continue
        cost, error = _cost(judge, spec, inputs, again=chosen is None)
        patience = seconds * (2 if chosen is None else 1)
        if slow * (USUAL + RUNS) + cost * FEWEST > patience or isinstance(error, TooCostly):
            said = "it takes too long here"
            break
        chosen = spec, inputs, cost
        first = first or chosen
        if cost * 1.5 * max(cost / before if before else 1.5, 1.5) * FEWEST > seconds:
            break
        before = cost
    if first is None or chosen is None:
        text = f"the distribution of its results could not be compared: {said}"
        raise MismatchFound(Mismatch("load", text))
    # one number that is left out shows among few; most else shows among many
    compared = [(chosen, 1)] if first is chosen else [(first, 4), (chosen, 1)]
    for (spec, inputs, cost), share in compared:
        runs = min(MOST, max(FEWEST, int(seconds / share / max(cost, 1e-4))))
        _compared(judge, spec, inputs, runs, comparisons)


def _cost(
    judge: Caller, spec: CaseSpec, inputs: Inputs, *, again: bool
) -> tuple[float, BaseException | None]:
    """The processor's seconds for a call, and its error; the first one compiles."""
    for _ in range(2 if again else 1):
        begun = time.process_time()
        error = judge.converted(spec, inputs).error
        cost = time.process_time() - begun
    return cost, error


def _compared(judge: Caller, spec: CaseSpec, inputs: Inputs, runs: int, comparisons: int) -> None:
    names = [a.name for a in inputs.arguments]
    seed = judge.settings.seed
    theirs: list[list[tuple[str, Array]]] = []
    with unseeded(judge.subject.original, seed + spec.number):
        for _ in range(USUAL + RUNS):
            outcome = judge.original(inputs, spec)
            if outcome is not None and outcome.error is None:
                theirs.append(_arrays(outcome, names))
    ours: list[list[tuple[str, Array]]] = []
    for k in range(runs):
        outcome = judge.converted(spec, inputs, seed=seed + k + 1)
        if outcome.error is not None:
            text = f"raises {described(outcome.error, outcome.line)}; the original returns"
            raise judge.found(spec, inputs, "exception", text)
        ours.append(_arrays(outcome, names))
    shapes = {tuple(a.shape for _, a in run) for run in (*theirs, *ours)}
    if len(shapes) > 1:
        raise judge.found(spec, inputs, "shape", "the shapes of results depend on what is drawn")
    found = difference(theirs[:USUAL], theirs[USUAL:], ours, comparisons)
    if found is not None:
        place, text = found
        note = compare.Difference("distribution", text, place)
        failed = judge.found(spec, inputs, "distribution", text, note)
        raise MismatchFound(failed.mismatch)  # a smaller input tells less
    judge.tally.counts.update({"drawn_runs": runs, "values": 1, "cases": 1, "launched": 1})


def _arrays(outcome: compare.Outcome, names: Sequence[str]) -> list[tuple[str, Array]]:
    """The numbers that a run left behind, complex ones as pairs."""
    found = []
    for place, value in compare.parts(outcome, names):
        array = np.asarray(getattr(value, "array", value))
        if array.dtype.kind == "c":
            array = np.stack([array.real, array.imag], axis=-1)
        if array.dtype.kind in "biuf":
            found.append((place, array.astype(np.float64)))
    return found


def difference(
    usual: Sequence[Sequence[tuple[str, Array]]],
    theirs: Sequence[Sequence[tuple[str, Array]]],
    ours: Sequence[Sequence[tuple[str, Array]]],
    comparisons: int = 1,
) -> tuple[str, str] | None:
    """The first figure that is distributed otherwise in `ours`: its place, and a sentence.

    `comparisons` is how many such comparisons a verification makes.
    """
    rows: list[tuple[str, str, Array, Array]] = []
    for k, (place, first) in enumerate(usual[0]):
        if not first.size:
            continue
        known = np.stack([run[k][1] for run in usual])
        with np.errstate(all="ignore"):
            centre, spread = known.mean(axis=0), known.std(axis=0)
        centre = np.where(np.isfinite(centre), centre, 0.0)
        level = np.maximum(np.abs(centre), 1.0)
        spread = np.where((spread > 1e-6 * level) & np.isfinite(spread), spread, level)
        both = [[figures((run[k][1] - centre) / spread) for run in runs] for runs in (theirs, ours)]
        for name in both[0][0]:
            one, other = (np.round([f[name] for f in figure], 5) for figure in both)
            rows.append((place, name, one, other))
    for place, name, one, other in rows:
        chance = min(smirnov(one, other), rank_sum(one, other)) * 2 * len(rows) * comparisons
        if chance < 1 / ALARMS:
            levels = f"{other.mean():.4g} against {one.mean():.4g} of the original"
            said = f"the {name} is distributed otherwise ({levels}, in units of its deviation)"
            return place, f"{place}: {said}; by chance once in {1 / max(chance, 1e-300):.0e}"
    return None


def figures(values: Array) -> dict[str, float]:
    """What is compared of one array of one run."""
    flat = values.ravel()
    finite = np.isfinite(flat)
    flat = np.where(finite, flat, 0.0)
    if flat.size == 1:
        return {"value": float(flat[0]), "count of what is not finite": float((~finite).sum())}
    mean = flat.mean()
    apart = flat - mean
    found = {
        "mean": mean, "deviation": flat.std(), "first element": flat[0],
        "last element": flat[-1], "smallest element": flat.min(), "largest element": flat.max(),
        "fourth moment": np.sqrt(np.sqrt((apart**4).mean())),
        "product of neighbours": (apart[1:] * apart[:-1]).mean(),
        "product of every second neighbour": (apart[2:] * apart[:-2]).sum() / flat.size,
        "count of what is not finite": (~finite).sum(),
    }  # fmt: skip
    if values.ndim > 1 and values.shape[0] > 1:
        grid = apart.reshape(values.shape)
        found["product of neighbours in a column"] = (grid[1:] * grid[:-1]).mean()
    return {name: float(value) for name, value in found.items()}


def smirnov(one: Array, other: Array) -> float:
    """A bound of how probable two samples of one distribution are so far apart.

    The bound e exp(-2 n d^2), with n = k m / (k + m), holds for samples of every size.
    """
    every = np.concatenate([one, other])
    below = [np.searchsorted(np.sort(s), every, side="right") / len(s) for s in (one, other)]
    apart = float(np.abs(below[0] - below[1]).max())
    number = len(one) * len(other) / (len(one) + len(other))
    return min(1.0, math.exp(1 - 2 * number * apart**2))


def rank_sum(one: Array, other: Array) -> float:
    """How probable ranks of two samples of one distribution are so far apart, equal ones shared."""
    every = np.concatenate([one, other])
    values, place, counts = np.unique(every, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    k, m = len(one), len(other)
    total = k + m
    ties = float((counts.astype(float) ** 3 - counts).sum())
    variance = k * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if len(values) < 2 or variance <= 0:
        return 1.0
    score = (ranks[:k].sum() - k * (total + 1) / 2) / math.sqrt(variance)
    return math.erfc(abs(score) / math.sqrt(2))
