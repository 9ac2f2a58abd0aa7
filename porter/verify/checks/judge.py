"""Calling both functions, and comparing what they did."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any

import numpy as np
from numba import cuda

from porter.verify.checks import distributions, equal_zeros, repeated
from porter.verify.checks.drawing import Drawing
from porter.verify.checks.subject import MismatchFound, Version
from porter.verify.checks.tally import MOST_WORK, Settings, Tally
from porter.verify.checks.trials import Taken, search, variables
from porter.verify.engines.launches import LAUNCHES, TooCostly
from porter.verify.evidence import Mismatch
from porter.verify.inputs import large, narrowing, variations
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.cases import TILED_POINTS, CaseSpec, tame
from porter.verify.oracle import calls, compare, rounding
from porter.verify.oracle.judging import has_changed, refuses_sizes
from porter.verify.oracle.zeros import Zeros, chosen, zeros_met

#: seconds that the original gets for inputs that it may take
SHORT_PATIENCE = 0.2
#: bytes of arguments beyond which a module may have no memory for what it makes of them
MUCH = 2e6


class Judge:
    """Calls the original and the generated function, and compares what they did."""

    def __init__(self, drawing: Drawing, settings: Settings, tally: Tally) -> None:
        self.subject, self.drawing = drawing.subject, drawing
        self.settings, self.tally = settings, tally
        #: the dtypes for which the original returned NumPy's scalars
        self.scalars: set[tuple[str, ...]] = set()

    def original(self, inputs: Inputs, spec: CaseSpec) -> compare.Outcome | None:
        """What the original does; None when it does not take lists as it takes arrays."""
        casts = spec.domain in ("special", "wide") or spec.ints == "extreme"
        most = large.SLOWEST if spec.exact else calls.PATIENCE
        patience = min(most, max(0.2, self.settings.deadline - time.monotonic()))
        outcome = calls.original(self.subject.original, inputs, casts=casts, patience=patience)
        if inputs.form != "list":
            return outcome
        if outcome.error is not None:
            return None
        plain = calls.original(self.subject.original, replace(inputs, form="host"))
        if self.subject.record.draws:
            return outcome
        names = [a.name for a in inputs.arguments]
        outcome.arguments = plain.arguments
        if plain.error or compare.compare(plain, outcome, names) or has_changed(plain, inputs):
            return None
        return outcome if compare.exactly(plain, outcome, names) else None

    def search(self, spec: CaseSpec) -> list[Taken]:
        """What both functions take, found by trying."""
        few = replace(tame(spec)[1], sizes=("5",), own=False, many=False)

        def raises(taken: Taken) -> BaseException | None:
            try:
                inputs = self.drawing.fitting(few, taken, exact=True)
            except MemoryError as error:
                return error
            if inputs is None:
                return ValueError("not in the domain")
            original = calls.original(self.subject.original, inputs, patience=SHORT_PATIENCE)
            if original.error is not None:
                return original.error
            refused = self.converted(few, inputs)
            return refused.error if refuses_sizes(inputs, refused) else None

        rng = np.random.default_rng(self.settings.seed)
        code = getattr(inspect.unwrap(self.subject.original), "__code__", None)
        file = code.co_filename if code else ""
        return search(variables(self.drawing.parameters(spec)), raises, rng, file)

    def converted(self, spec: CaseSpec, inputs: Inputs, seed: int | None = None) -> compare.Outcome:
        """What the generated function does; it draws random numbers from this seed."""
        version = self.drawing.version(spec)
        own = self.subject.record.own_stream
        streams = self._takes_stream(version) and (
            inputs.form.startswith("device") or spec.number % 2 == 1
        )
        LAUNCHES.allow(self._work(spec))
        if self.subject.record.draws and seed is None:
            seed = self.settings.seed
        outcome = calls.converted(version.function, inputs, streams=streams, own=own, seed=seed)
        if isinstance(outcome.error, MemoryError) and inputs.nbytes > MUCH:
            # it says nothing about the results, only that this machine has no room for them
            outcome.error = TooCostly(str(outcome.error))
        return outcome

    def _work(self, spec: CaseSpec) -> float:
        """What a case may take of the engine; inf unless it has the module's own blocks."""
        if not spec.own:
            return math.inf
        if self._solves:
            # all threads of a solver's block meet at barriers in each of its steps
            return MOST_WORK / 10
        return self.settings.work if spec.exact or spec.points > TILED_POINTS else MOST_WORK

    def _takes_stream(self, version: Version) -> bool:
        own = self.subject.record.own_stream
        if own == self.subject.record.own:
            return False
        found = inspect.signature(version.function).parameters.get(own)
        return found is not None and found.kind is inspect.Parameter.KEYWORD_ONLY

    def repeated(self, spec: CaseSpec, inputs: Inputs) -> compare.Difference | None:
        """What a second call does wrong, with other numbers in the same arrays."""
        if self.subject.record.draws:
            return None
        if not spec.again or inputs.form == "list" or not self.settings.checks_indices:
            return None
        other = repeated.others(inputs, in_order=spec.ints == "sorted")
        holds = narrowing.holds(self.subject.domain, other)
        expected = self.original(other, spec) if holds else None
        if expected is None or expected.error is not None:
            return None
        version, own = self.drawing.version(spec), self.subject.record.own_stream
        takes = self._takes_stream(version)
        streams = (cuda.stream(), cuda.stream()) if takes else (None, None)
        LAUNCHES.allow(self._work(spec))
        actual, wrong = repeated.second(version.function, inputs, other, streams, own)
        if isinstance(actual.error, TooCostly):
            return None
        return wrong or repeated.on_second_call(self.differ(other, expected, actual))

    def differ(
        self, inputs: Inputs, expected: compare.Outcome, actual: compare.Outcome
    ) -> compare.Difference | None:
        """The first difference between two outcomes that did not raise."""
        names = [a.name for a in inputs.arguments]
        if actual.complaint:
            return compare.Difference("stream", actual.complaint)
        actual, complaint = calls.fetched(actual, inputs.form)
        if complaint:
            return compare.Difference("kind", complaint, "result")
        if inputs.form == "list":
            actual.arguments = expected.arguments
        loose = inputs.form.startswith("device")
        plain = self._gave_numpy_scalars(inputs, expected)
        found = compare.compare(
            expected, actual, names, loose_scalars=loose, plain=plain, empty=inputs.smallest == 0,
            runs=lambda: list(self._others(inputs)),
        )  # fmt: skip
        if found is not None:
            return found
        if self.subject.record.draws:
            return distributions.unlike(expected, actual, inputs)
        if compare.exactly(expected, actual, names):
            self.tally.worst.floats += compare.has_floats(expected, names)
            return None
        others = list(self._others(inputs))
        found = self._values(inputs, expected, actual, others)
        if found is not None and found.what == "nan":
            # rounding may decide whether there is a number at all
            found = self._values(inputs, expected, actual, others, self._cancelled(inputs))
        if found is not None and self._takes_other_zeros(inputs, expected, actual):
            return None
        return found

    def _values(
        self,
        inputs: Inputs,
        expected: compare.Outcome,
        actual: compare.Outcome,
        others: list[compare.Outcome],
        cancelled: compare.Outcome | None = None,
    ) -> compare.Difference | None:
        """The first value that differs."""
        names = [a.name for a in inputs.arguments]
        unlike = ("fc" if self._solves else "c") if calls.has_special(inputs) else ""
        return compare.values(
            expected, actual, names, others, inputs.sums, unlike=unlike,
            worst=self.tally.worst, cancelled=cancelled,
        )  # fmt: skip

    def rounding_decides(self, inputs: Inputs, expected: compare.Outcome) -> bool:
        """Whether rounding may make a matrix singular that the original has solved for.

        So it is where the original raises for numbers that are nearly the same, or no digit of its
        results is sure.
        """
        if calls.has_special(inputs):
            return True
        plain, rng = replace(inputs, form="host"), np.random.default_rng(self.settings.seed)
        rounding.reset(self.settings.seed)
        names = [a.name for a in inputs.arguments]
        nudged = [variations.nudged(plain, rng) for _ in range(4)]
        for changed in (plain, plain, *nudged):
            other = calls.original(self.subject.rough, changed, patience=6 * calls.PATIENCE)
            if other.error is not None or compare.is_lost(expected, other, names):
                return True
        return False

    def rounding_decides_numbers(self, inputs: Inputs, expected: compare.Outcome) -> bool:
        """Whether rounding decides which results of finite arguments are finite.

        So it is after a division by what is 0 but for rounding, as a pivot of a singular matrix may
        be, and the sign of that 0 decides which infinity it gives.
        """
        names = [a.name for a in inputs.arguments]
        found = compare.not_finite(expected, names)
        if calls.has_special(inputs) or not any(x.any() for x in found):
            return False
        zeros = [self._cancelled(inputs), self._cancelled(inputs, -0.0)]
        for other in (*zeros, *self._others(inputs)):
            if other is not None:
                pairs = zip(found, compare.not_finite(other, names), strict=True)
                if not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
                    return True
        return False

    @cached_property
    def _solves(self) -> bool:
        """Whether the original eliminates: LAPACK's libraries treat NaN and infinity as they do."""
        return rounding.solves(self.subject.rough)

    def _cancelled(self, inputs: Inputs, zero: float = 0.0) -> compare.Outcome | None:
        """What the original does where nothing is left of numbers that cancel each other."""
        with rounding.cancelling(zero):
            outcome = calls.original(
                self.subject.rough, replace(inputs, form="host"), patience=6 * calls.PATIENCE
            )
        return None if outcome.error else outcome

    def _takes_other_zeros(
        self, inputs: Inputs, expected: compare.Outcome, actual: compare.Outcome
    ) -> bool:
        """Whether the two agree where NumPy takes other ones of equal zeros."""
        plain = replace(inputs, form="host")
        names = [a.name for a in inputs.arguments]

        def run(zeros: Zeros) -> tuple[compare.Outcome, int]:
            exact, _ = self._originals(zeros)
            return calls.original(exact, plain, patience=6 * calls.PATIENCE), zeros_met()

        found = equal_zeros.search(run, actual, names)
        if found is None:
            return False
        zeros, outcome = found
        return self._values(inputs, outcome, actual, list(self._others(inputs, zeros))) is None

    def _originals(self, zeros: Zeros | None) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The original, and that with random roundings, with a choice among equal zeros."""
        rough = self.subject.rough
        if zeros is None:
            return self.subject.original, rough

        @wraps(rough)
        def choosing(*args: Any, **keywords: Any) -> Any:
            with chosen(zeros):
                return rough(*args, **keywords)

        @wraps(rough)
        def exact(*args: Any, **keywords: Any) -> Any:
            with rounding.exactly():
                return choosing(*args, **keywords)

        return exact, choosing

    def _gave_numpy_scalars(self, inputs: Inputs, expected: compare.Outcome) -> bool:
        """Whether the original returned NumPy scalars for the same dtypes in another case."""
        dtypes = tuple(str(getattr(a.value, "dtype", "")) for a in inputs.arguments)
        results = expected.result if isinstance(expected.result, tuple) else (expected.result,)
        if any(isinstance(r, np.generic) for r in results):
            self.scalars.add(dtypes)
        return dtypes in self.scalars

    def _others(self, inputs: Inputs, zeros: Zeros | None = None) -> Iterator[compare.Outcome]:
        """Other runs of the original: first those that keep exact numbers as they are."""
        original, rough = self._originals(zeros)
        rng = np.random.default_rng(self.settings.seed)
        plain = replace(inputs, form="host")
        rounding.reset(self.settings.seed)
        runs = [
            (original, variations.widened(plain)),
            (rough, plain),
            (rough, plain),
            (original, variations.nudged(plain, rng)),
        ]
        for function, changed in runs[self.subject.typed :]:
            # random roundings make loops in Python several times slower
            outcome = calls.original(function, changed, patience=6 * calls.PATIENCE)
            if outcome.error is None:
                wide, moved = (changed is runs[k][1] for k in (0, -1))
                outcome.changed = compare.Changed(moved, wide)
                yield outcome

    def found(
        self,
        spec: CaseSpec,
        inputs: Inputs,
        what: str,
        message: str,
        difference: compare.Difference | None = None,
    ) -> MismatchFound:
        """The end of a verification: the functions differ in this case."""
        d = difference or compare.Difference(what, message)
        given = inputs.describe()
        blocks = self.drawing.version(spec).blocks
        if blocks:
            given += (" ".join(f"{name} = {n}" for name, n in blocks.items()),)
        mismatch = Mismatch(
            what, message, spec.number, self.settings.seed, d.place, d.index, d.expected, d.actual,
            given, signature=self.drawing.signature(spec.variant),
        )  # fmt: skip
        return MismatchFound(mismatch, spec, inputs)
