"""One function against its original: cases, retries, wrong inputs."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import cuda

from porter.dtypes.signatures import ArgType, parse_types
from porter.verify.checks import repeated, wrong_inputs
from porter.verify.checks.subject import Found, Subject, Version
from porter.verify.engines.launches import LAUNCHES, POISON, LaunchError, TooCostly
from porter.verify.engines.scheduler import ORDER, from_kernel
from porter.verify.evidence import Mismatch
from porter.verify.inputs import large, narrowing, variations
from porter.verify.inputs.arguments import Inputs, Parameter, build
from porter.verify.inputs.cases import (
    MOST_POINTS,
    CaseSpec,
    large_specs,
    retries,
    searched,
    smaller,
    specs,
)
from porter.verify.inputs.large import Growth, Reach, affordable, bytes_of, effort
from porter.verify.inputs.shapes import complete, parse_shapes, symbols
from porter.verify.inputs.shrinking import Shrinker, values_of
from porter.verify.oracle import calls, compare, rounding
from porter.verify.oracle.errors import alike, arithmetic, told
from porter.verify.oracle.judging import (
    asks_for_copy,
    has_changed,
    refuses_fixed,
    refuses_sizes,
)
from porter.verify.oracle.measure import Worst

#: how much a case with the module's own blocks may simulate (see `Launches.allow`)
MOST_WORK = 20_000
#: seconds: an original that takes longer makes a case with the module's own blocks too costly
SLOW = 0.1
#: seconds that must be left for the first large case
ROOM = 1.0
#: the share of cases that may be refused for their sizes
MOST_REFUSED = 0.5
_REFUSALS = (ValueError, TypeError, IndexError)


#: makes the further cases: of how many dimensions with a size of their own, and signatures
Further = Callable[[int, int], list[CaseSpec]]


@dataclass
class Proof:
    """A proof under way, and in the end its result.

    `counts` has the keys values, launched (those of them in which a kernel ran), exceptions,
    wrong_inputs, not_compared, out_of_bounds (a kernel raised what the original raises: a GPU
    does not), stricter (a wrong or very short input that NumPy takes is refused), tried (cases of
    the table) and gave (those of them in which the original gave a result); `raised` has what it
    raised in the others.  With
    `observe` only the launches matter, not the results; with `large` there are cases for the
    emulator and the GPU too.  Where launches do not check indices, no input is tried that makes
    the original raise an IndexError.  `further` makes cases beyond the table, for which there
    are `seconds`; `reach` says how far they got.
    """

    subject: Subject
    seed: int
    deadline: float
    report: Callable[[int, tuple[str, ...], str], None]
    observe: bool = False
    large: bool = False
    checks_indices: bool = True
    counts: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    copies: int = 0
    scalars: set[tuple[str, ...]] = field(default_factory=set)
    sample: tuple[Inputs, list[Parameter]] | None = None
    in_order: tuple[Inputs, list[Parameter]] | None = None
    variants: list[list[Parameter]] = field(default_factory=list)
    worst: Worst = field(default_factory=Worst)
    refusals: list[Found] = field(default_factory=list)
    found: Found | None = None
    smallest: Inputs | None = None
    further: Further | None = None
    seconds: float | None = None
    reach: Reach = field(default_factory=Reach)

    def run(self, count: int, only: int | None = None) -> None:
        """Go through `count` cases and the wrong inputs; raises `Found` on a difference.

        With `only`, the case of that number is all.
        """
        self.variants = [self._parameters(t) for t in self._signatures()]
        self._check_parameters()
        for spec in itertools.chain(specs(count), self._large(only) if count else ()):
            if only not in (None, spec.number):
                continue
            if time.monotonic() > self.deadline:
                self.reasons.append("time limit")
                return
            before = self.counts["values"] + self.counts["stricter"]
            self.counts["tried"] += 1
            try:
                self._case(spec)
                self.counts["gave"] += self.counts["values"] + self.counts["stricter"] > before
            except Found:
                if not self.observe:
                    raise
        begun = time.process_time()
        if not self.observe:
            self._sizes(only, begun)
        if not (count or self.observe or self.reach.ended):
            self._last(only, begun)
        if self.counts["refused_cases"] > MOST_REFUSED * max(count, self.reach.done):
            raise self.refusals[0]
        tries_wrong = self.checks_indices and not self.observe and only is None and count
        if self.sample is not None and tries_wrong:
            wrong_inputs.run(self, *self.sample)

    def _sizes(self, only: int | None, begun: float) -> None:
        """The further cases, until the seconds for them are over."""
        names = symbols(e for p in self.variants[0] for e in p.dims)
        rows = self.further(len(names), len(self.variants)) if self.further else []
        growth = Growth(self._effort)
        until = self._until(only, begun)
        self.reach.wanted = len(rows)
        for spec in rows:
            if only not in (None, spec.number):
                continue
            if self._over(until):
                self.reach.ended = True
                return
            if growth.fits(spec, until - time.process_time()):
                self._case(spec)
                self.reach.note(spec)
            else:
                self.reach.costly += 1

    def _last(self, only: int | None, begun: float) -> None:
        """The large cases, if there is time for them."""
        until = self._until(only, begun)
        if time.process_time() < until - ROOM:
            for spec in self._large(only):
                if self._over(until):
                    return
                self._case(spec)

    def _until(self, only: int | None, begun: float) -> float:
        """The processor's time at which the seconds for these cases are over."""
        return begun + (math.inf if self.seconds is None or only is not None else self.seconds)

    def _over(self, until: float) -> bool:
        # other processes do not take anything of the seconds, but of the time limit
        return time.process_time() > until or time.monotonic() > self.deadline

    def _effort(self, spec: CaseSpec) -> tuple[float, float] | None:
        inputs = self._inputs(spec, self.variants[spec.variant % len(self.variants)], 0)
        return None if inputs is None else effort(self.subject.original, inputs)

    def _large(self, only: int | None) -> Iterator[CaseSpec]:
        """The cases that only the emulator can run, as large as they can be here."""
        names = symbols(e for p in self.variants[0] for e in p.dims)
        wanted = large_specs(len(names)) if self.large else []
        for spec in wanted:
            if only in (None, spec.number):
                found = affordable(spec, self._cost)
                yield from [found] if found else []

    def _cost(self, spec: CaseSpec) -> float | None:
        inputs = self._inputs(spec, self.variants[spec.variant % len(self.variants)], 0)
        return None if inputs is None else bytes_of(self.subject.original, inputs)

    def _signatures(self) -> list[tuple[ArgType, ...]]:
        record = self.subject.record
        return [parse_types(text) for text in (record.signature, *record.also)]

    def signature(self, variant: int) -> str:
        """The header's words for the argument types of a variant."""
        record = self.subject.record
        return (record.signature, *record.also)[variant % (1 + len(record.also))]

    def _variant(self, parameters: list[Parameter]) -> int:
        """Which variant the parameters are of; 0 for those of a recorded call."""
        return next((k for k, p in enumerate(self.variants) if p is parameters), 0)

    def _parameters(self, types: tuple[ArgType, ...]) -> list[Parameter]:
        names = calls.positional(self.subject.original)
        if len(types) > len(names):
            text = f"the header gives {len(types)} argument types for {len(names)} parameters"
            raise Found(Mismatch("load", text))
        pairs = list(zip(names, types, strict=False))
        ranks = {n: t.ndim for n, t in pairs if t.kind == "array"}
        dims = complete(parse_shapes(self.subject.record.shapes), ranks)
        indices, marks = self.subject.indices, self.subject.marks
        known = inspect.signature(self.subject.original).parameters
        return [
            Parameter(n, t, dims.get(n, ()), n in indices, marks, known[n].default)
            for n, t in pairs
        ]

    def _check_parameters(self) -> None:
        expected = calls.positional(self.subject.original)
        actual = calls.positional(self.subject.own.function, self.subject.record.own_stream)
        if expected != actual:
            text = f"takes ({', '.join(actual)}), the original ({', '.join(expected)})"
            raise Found(Mismatch("load", text))

    # -- one case ------------------------------------------------------------------------

    def _case(self, spec: CaseSpec) -> None:
        parameters = self.variants[spec.variant % len(self.variants)]
        said, refusals, error = False, len(self.refusals), ""
        tried: set[tuple[CaseSpec, bool]] = set()
        for attempt, version, hinted in self._versions(spec):
            if (version, hinted) in tried:
                continue
            # an original that does not end takes its patience every time
            if tried and time.monotonic() > self.deadline:
                break
            tried.add((version, hinted))
            inputs = self._inputs(version, parameters, attempt, hinted=hinted)
            if inputs is None and hinted:
                continue
            if inputs is None:
                self._note(f"no input of these sizes is in the domain ({self.subject.domain.text})")
                continue
            self.report(spec.number, inputs.describe(), self.signature(spec.variant))
            expected = self._original(inputs, version)
            if expected is None:
                continue
            patience = large.SLOW if spec.points > MOST_POINTS and not spec.exact else SLOW
            patience = large.SLOWEST if spec.exact else patience
            if expected.error is None and spec.own and expected.seconds > patience:
                self._cheaper(spec)
                return
            if expected.error is None:
                if self._values(spec, inputs, parameters, expected):
                    return
                continue  # refused because of its sizes
            error = told(expected.error)
            self._note(f"{type(expected.error).__name__}: {expected.error}")
            if not said:
                said = self._exceptions(spec, inputs, expected.error)
        self.raised[error] += bool(error)
        self.counts["not_compared"] += not said
        self.counts["cases"] += said
        self.counts["refused_cases"] += not said and len(self.refusals) > refusals

    def given(self, inputs: Inputs, parameters: list[Parameter], number: int) -> None:
        """One case with inputs from elsewhere; raises `Found` on a difference."""
        variant = self._variant(parameters)
        spec = CaseSpec((), domain="special", number=number, variant=variant)
        self._order(number)
        self.report(number, inputs.describe(), self.signature(variant))
        expected = self._original(inputs, spec)
        if expected is None:
            return
        if expected.error is None:
            self._values(spec, inputs, parameters, expected)
            return
        self._note(f"{type(expected.error).__name__}: {expected.error}")
        said = self._exceptions(spec, inputs, expected.error)
        self.counts["cases" if said else "not_compared"] += 1

    def again(self, found: Found, original: Callable[..., Any], version: Version) -> None:
        """Call other versions of both functions on the smallest input that differs."""
        inputs = self.smallest or found.inputs
        if inputs is not None:
            self._order(found.mismatch.case)
            LAUNCHES.allow(math.inf)
            calls.original(original, replace(inputs, form="host"))
            # what was assigned before the time is over is known
            with contextlib.suppress(calls.TooLong), calls.time_limit(calls.PATIENCE):
                own = self.subject.record.own_stream
                calls.converted(version.function, inputs, streams=False, own=own)

    def _order(self, number: int) -> None:
        name = zlib.crc32(self.subject.record.name.encode())
        ORDER.reset(zlib.crc32(f"{self.seed} {name} {number}".encode()))
        POISON.choose(number)

    def _versions(self, spec: CaseSpec) -> Iterator[tuple[int, CaseSpec, bool]]:
        """The case, then what may suit the original better; the last ones by its own checks."""
        first, *others = retries(spec)
        hinted = list(enumerate(searched(spec), 100)) if self.subject.hints.conditions else []
        yield 0, first, False
        yield from ((attempt, version, True) for attempt, version in hinted[:2])
        yield from ((attempt, version, False) for attempt, version in enumerate(others, 1))
        yield from ((attempt, version, True) for attempt, version in hinted[2:])
        if not hinted:
            yield from ((k, version, False) for k, version in enumerate(searched(spec)[2:], 200))

    def _inputs(
        self, spec: CaseSpec, parameters: list[Parameter], attempt: int, *, hinted: bool = False
    ) -> Inputs | None:
        name = zlib.crc32(self.subject.record.name.encode())
        rng = np.random.default_rng([self.seed, name, spec.number, attempt])
        self._order(spec.number)
        domain = self.subject.domain
        names = symbols(entry for p in parameters for entry in p.dims)
        bounds = narrowing.extents(domain, parameters, names)
        if hinted:
            try:
                domain = domain.joined(self.subject.hints)
                bounds = narrowing.extents(domain, parameters, names)
                inputs = build(parameters, spec, self._version(spec).blocks, rng, bounds)
                return narrowing.narrowed(inputs, parameters, domain, spec.domain, rng)
            except (ValueError, LookupError, TypeError, ArithmeticError):
                return None  # what was read in the checks is no condition on such arguments
        inputs = build(parameters, spec, self._version(spec).blocks, rng, bounds)
        return narrowing.narrowed(inputs, parameters, domain, spec.domain, rng)

    def _version(self, spec: CaseSpec) -> Version:
        small = self.subject.many if spec.many else None
        return self.subject.own if spec.own else small or self.subject.small

    def _original(self, inputs: Inputs, spec: CaseSpec) -> compare.Outcome | None:
        """What the original does; None when it does not take lists as it takes arrays."""
        casts = spec.domain in ("special", "wide") or spec.ints == "extreme"
        most = large.SLOWEST if spec.exact else calls.PATIENCE
        patience = min(most, max(0.2, self.deadline - time.monotonic()))
        outcome = calls.original(self.subject.original, inputs, casts=casts, patience=patience)
        if inputs.form != "list":
            return outcome
        if outcome.error is not None:
            return None
        plain = calls.original(self.subject.original, replace(inputs, form="host"))
        names = [a.name for a in inputs.arguments]
        outcome.arguments = plain.arguments
        if plain.error or compare.compare(plain, outcome, names) or has_changed(plain, inputs):
            return None
        return outcome if compare.exactly(plain, outcome, names) else None

    def _converted(self, spec: CaseSpec, inputs: Inputs) -> compare.Outcome:
        version = self._version(spec)
        own = self.subject.record.own_stream
        streams = self._takes_stream(version) and (
            inputs.form.startswith("device") or spec.number % 2 == 1
        )
        LAUNCHES.allow(MOST_WORK if spec.own else math.inf)
        return calls.converted(version.function, inputs, streams=streams, own=own)

    def _takes_stream(self, version: Version) -> bool:
        own = self.subject.record.own_stream
        found = inspect.signature(version.function).parameters.get(own)
        return found is not None and found.kind is inspect.Parameter.KEYWORD_ONLY

    def _exceptions(self, spec: CaseSpec, inputs: Inputs, error: BaseException) -> bool:
        """Whether the exception could be compared; raises `Found` when it is not the same."""
        unchecked = isinstance(error, IndexError) and not self.checks_indices
        if unchecked or arithmetic(error) or type(error) is NameError:
            return False
        actual = self._converted(spec, inputs)
        if isinstance(actual.error, TooCostly):
            return False
        if actual.error is None:
            if isinstance(error, UnboundLocalError) and not inputs.smallest:
                return False  # nothing of what has no value was read
            text = f"the original raises {told(error)}, the generated function returns"
            raise self._found(spec, inputs, "exception", text)
        if not alike(error, actual.error):
            text = f"raises {told(actual.error, actual.line)}, the original {told(error)}"
            raise self._found(spec, inputs, "exception", text)
        self.counts["exceptions"] += 1
        self.counts["out_of_bounds"] += from_kernel(actual.error)
        return True

    def _values(
        self,
        spec: CaseSpec,
        inputs: Inputs,
        parameters: list[Parameter],
        expected: compare.Outcome,
    ) -> bool:
        """Compare the results; False if the sizes are refused, and others should be tried."""
        before = LAUNCHES.count
        self.worst.case = spec.number
        actual = self._converted(spec, inputs)
        if isinstance(actual.error, TooCostly):
            self._cheaper(spec)
            return True
        fixed = refuses_fixed(spec, inputs.form, actual.error)
        if fixed or self._refuses_alias(inputs, actual):
            self.counts["stricter"] += 1
            self.counts["cases"] += 1
            return True
        if actual.error is not None:
            what = "launch" if isinstance(actual.error, LaunchError) else "exception"
            text = f"raises {told(actual.error, actual.line)}; the original returns"
            found = self._found(spec, inputs, what, text)
            if not refuses_sizes(inputs, actual):
                raise found
            self.counts["stricter"] += 1
            self.refusals.append(found)
            return False
        difference = self.differ(inputs, expected, actual) or self._repeated(spec, inputs)
        if difference is not None:
            raise self._found(spec, inputs, difference.what, difference.message, difference)
        self.counts["values"] += 1
        self.counts["launched"] += LAUNCHES.count > before
        self.counts["cases"] += 1
        self.copies += calls.equals_an_input(expected, inputs)
        big = all(n > 1 for n in inputs.sizes.values())
        if self.sample is None and big and inputs.form == "host":
            self.sample = (inputs, parameters)
        if spec.ints == "sorted" and big and inputs.form == "host":
            self.in_order = self.in_order or (inputs, parameters)
        return True

    def _repeated(self, spec: CaseSpec, inputs: Inputs) -> compare.Difference | None:
        """What a second call does wrong, with other numbers in the same arrays."""
        if not spec.again or inputs.form == "list" or not self.checks_indices:
            return None
        other = repeated.others(inputs, in_order=spec.ints == "sorted")
        holds = narrowing.holds(self.subject.domain, other)
        expected = self._original(other, spec) if holds else None
        if expected is None or expected.error is not None:
            return None
        version, own = self._version(spec), self.subject.record.own_stream
        stream = cuda.stream() if self._takes_stream(version) else None
        LAUNCHES.allow(MOST_WORK if spec.own else math.inf)
        actual, wrong = repeated.second(version.function, inputs, other, stream, own)
        if isinstance(actual.error, TooCostly):
            return None
        return wrong or repeated.told_of(self.differ(other, expected, actual))

    def _refuses_alias(self, inputs: Inputs, actual: compare.Outcome) -> bool:
        """A ValueError that asks for a copy where one array is given for two parameters."""
        if not asks_for_copy(inputs, actual.error):
            return False
        self._note(str(actual.error))
        return not (actual.arguments and has_changed(actual, inputs))

    def _cheaper(self, spec: CaseSpec) -> None:
        """A case with the module's own blocks would take minutes: turn its sizes round."""
        if spec.exact:
            self.reach.costly += 1
        elif spec.points > MOST_POINTS:
            less = smaller(spec)
            if less is not None:
                self._case(less)
        elif spec.turned:
            self._case(replace(spec, own=False))
        else:
            self._case(replace(spec, turned=True, sizes=tuple(reversed(spec.sizes))))

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
            expected, actual, names, loose_scalars=loose, plain=plain, empty=inputs.smallest == 0
        )
        if found is not None:
            return found
        if compare.exactly(expected, actual, names):
            self.worst.floats += compare.has_floats(expected, names)
            return None
        others = list(self._others(inputs))
        special = calls.has_special(inputs)
        return compare.values(
            expected, actual, names, others, inputs.sums, special=special, worst=self.worst
        )

    def _gave_numpy_scalars(self, inputs: Inputs, expected: compare.Outcome) -> bool:
        """Whether the original returned NumPy scalars for the same dtypes in another case."""
        dtypes = tuple(str(getattr(a.value, "dtype", "")) for a in inputs.arguments)
        results = expected.result if isinstance(expected.result, tuple) else (expected.result,)
        if any(isinstance(r, np.generic) for r in results):
            self.scalars.add(dtypes)
        return dtypes in self.scalars

    def _others(self, inputs: Inputs) -> Iterator[compare.Outcome]:
        """Other runs of the original: first those that keep exact numbers as they are."""
        rng = np.random.default_rng(self.seed)
        plain = replace(inputs, form="host")
        rounding.reset(self.seed)
        runs = [
            (self.subject.original, variations.widened(plain)),
            (self.subject.rough, plain),
            (self.subject.rough, plain),
            (self.subject.original, variations.nudged(plain, rng)),
        ]
        for function, changed in runs[self.subject.typed :]:
            # random roundings make loops in Python several times slower
            outcome = calls.original(function, changed, patience=6 * calls.PATIENCE)
            if outcome.error is None:
                outcome.wide, outcome.moved = (changed is runs[k][1] for k in (0, -1))
                yield outcome

    # -- smaller inputs ------------------------------------------------------------------

    def shrunk(self, found: Found) -> Mismatch:
        """The same difference on a smaller input, if there is one."""
        if found.inputs is None or found.spec is None or found.mismatch.case < 0:
            return found.mismatch
        if found.mismatch.what == "launch" and not self.checks_indices:
            return found.mismatch  # after an error a GPU's context is lost
        # casts that C leaves open are errors: they must not become the difference
        spec, last = replace(found.spec, domain="special"), found
        counts = self.counts.copy()

        def differs(inputs: Inputs) -> bool:
            nonlocal last
            if not narrowing.holds(self.subject.domain, inputs):
                return False
            other = self._again(spec, inputs)
            if other is None or other.inputs is not inputs:
                return False
            if other.mismatch.what != found.mismatch.what:
                return False
            last = other
            return True

        parameters = self.variants[spec.variant % len(self.variants)]
        smallest = Shrinker(parameters, differs).smallest(found.inputs)
        self.counts, self.smallest = counts, smallest
        blocks = found.mismatch.inputs[len(found.inputs.describe()) :]
        lines = (*values_of(smallest), *blocks)
        return replace(last.mismatch, inputs=lines, shrunk=last is not found)

    def _again(self, spec: CaseSpec, inputs: Inputs) -> Found | None:
        """The difference on an input, if there is one and the time suffices to find it."""
        self._order(spec.number)
        try:
            with calls.time_limit(2.0):
                expected = self._original(inputs, spec)
                if expected is not None and expected.error is None:
                    self._values(spec, inputs, [], expected)
                elif expected is not None and expected.error is not None:
                    self._exceptions(spec, inputs, expected.error)
        except Found as found:
            return found
        except calls.TooLong:
            return None
        return None

    # -- messages ------------------------------------------------------------------------

    def _note(self, reason: str) -> None:
        reason = " ".join(reason.split())[:200]
        if reason not in self.reasons and len(self.reasons) < 5:
            self.reasons.append(reason)

    def _found(
        self,
        spec: CaseSpec,
        inputs: Inputs,
        what: str,
        message: str,
        difference: compare.Difference | None = None,
    ) -> Found:
        d = difference or compare.Difference(what, message)
        given = inputs.describe()
        blocks = self._version(spec).blocks
        if blocks:
            given += (" ".join(f"{name} = {n}" for name, n in blocks.items()),)
        mismatch = Mismatch(
            what, message, spec.number, self.seed, d.place, d.index, d.expected, d.actual, given,
            signature=self.signature(spec.variant),
        )  # fmt: skip
        return Found(mismatch, spec, inputs)
