"""One function against its original: cases, retries, wrong inputs."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from porter.verify.checks import accepted, distributions, wrong_inputs
from porter.verify.checks.drawing import Drawing
from porter.verify.checks.judge import Judge
from porter.verify.checks.subject import MismatchFound, Subject, Version
from porter.verify.checks.tally import Settings, Tally
from porter.verify.checks.trials import Taken
from porter.verify.engines.launches import LAUNCHES, LaunchError, TooCostly
from porter.verify.engines.scheduler import from_kernel
from porter.verify.evidence import Mismatch
from porter.verify.inputs import large, narrowing, variations
from porter.verify.inputs.arguments import Inputs, Parameter
from porter.verify.inputs.cases import (
    FEWEST_POINTS,
    MOST_POINTS,
    CaseSpec,
    further,
    large_specs,
    smaller,
    specs,
    strided,
    tame,
    with_own_blocks,
)
from porter.verify.inputs.large import Growth, affordable
from porter.verify.inputs.shrinking import Shrinker, values_of
from porter.verify.oracle import calls, compare
from porter.verify.oracle.errors import alike, arithmetic, by_rounding, described
from porter.verify.oracle.judging import (
    asks_for_copy,
    has_changed,
    is_empty,
    leaves_reals,
    refuses_fixed,
    refuses_sizes,
)

#: seconds: an original that takes longer makes a case with the module's own blocks too costly
SLOW = 0.1
#: seconds that must be left for the first large case
ROOM = 1.0
#: seconds for a smaller input of the same difference
SHRINKING = 2.0
#: the share of cases that may be refused for their sizes
MOST_REFUSED = 0.5


class Verification:
    """One function against its original, and in the end what came of it."""

    def __init__(self, subject: Subject, settings: Settings) -> None:
        self.subject, self.settings = subject, settings
        self.tally = Tally()
        self.drawing = Drawing(subject, settings.seed)
        self.judge = Judge(self.drawing, settings, self.tally)
        #: large inputs that passed, one of each form of which the host converts something else, and
        #: one whose indices are in order
        self.samples: dict[int, tuple[Inputs, list[Parameter]]] = {}
        self.in_order: tuple[Inputs, list[Parameter]] | None = None
        #: for each signature what the original was found to take, if it raised otherwise
        self.taken: dict[int, list[Taken]] = {}
        self.found: MismatchFound | None = None
        self.smallest: Inputs | None = None

    def run(self, count: int, only: int | None = None) -> None:
        """Go through `count` cases and the wrong inputs; raises `MismatchFound` on a difference.

        With `only`, the case of that number is all.
        """
        self.drawing.prepare()
        counts = self.tally.counts
        for spec in itertools.chain(self._table(count), self._large(only) if count else ()):
            if only not in (None, spec.number):
                continue
            if time.monotonic() > self.settings.deadline:
                self.tally.reasons.append("time limit")
                return
            before = counts["values"] + counts["stricter"]
            counts["tried"] += 1
            try:
                self._case(spec)
                counts["gave"] += counts["values"] + counts["stricter"] > before
            except MismatchFound:
                if not self.settings.observe:
                    raise
        begun = time.process_time()
        if self.subject.record.draws and only is None and not self.settings.observe:
            # beside other engines the machine of compiled kernels has no time for samples
            if (count or self.settings.large) and self.settings.samples:
                distributions.run(self.judge)
        if not self.settings.observe:
            self._sizes(only, begun)
        if not (count or self.settings.observe or self.tally.reach.ended):
            self._last(only, begun)
        if counts["refused_cases"] > MOST_REFUSED * max(count, self.tally.reach.done):
            raise self.tally.refusals[0]
        every = only is None and count and not self.settings.observe
        samples = [*self.samples.values()]
        if time.monotonic() > self.settings.deadline:
            self.tally.reasons.append("time limit")
            return
        if samples and every and self.settings.checks_indices:
            wrong_inputs.run(self.judge, samples[0], self.in_order or samples[0])
            for inputs, parameters in samples:
                accepted.run(self.judge, inputs, parameters)

    def _table(self, count: int) -> list[CaseSpec]:
        """The cases of the table, and those of signatures and layouts that it leaves out."""
        table = specs(count, self.drawing.forms)
        if self.settings.every_variant and count:
            table += further(table, len(self.drawing.variants))
            if self.settings.extra_cases is not None:
                table += strided(len(self.subject.own.large))
        return [with_own_blocks(spec) for spec in table] if self.settings.own_blocks else table

    def _sizes(self, only: int | None, begun: float) -> None:
        """The further cases, until the seconds for them are over.

        The kernels that host functions choose for large arrays have as much time as the others:
        they take longer for small ones.
        """
        more = self.settings.extra_cases
        rows = more(self.drawing.axes, len(self.drawing.variants)) if more else []
        growth = Growth(self.drawing.effort)
        until = self._until(only, begun)
        self.tally.reach.wanted = len(rows)
        choices = range(len(self.subject.own.large))
        queues: dict[int | None, deque[CaseSpec]] = defaultdict(deque)
        for spec in rows:
            if only in (None, spec.number):
                queues[spec.choice(choices)].append(spec)
        spent = dict.fromkeys(queues, 0.0)
        while queues:
            if self._over(until):
                self.tally.reach.ended = True
                return
            choice = min(queues, key=lambda c: spent[c])
            started = time.process_time()
            self._sized(queues[choice].popleft(), growth, until)
            spent[choice] += time.process_time() - started
            if not queues[choice]:
                del queues[choice]

    def _sized(self, spec: CaseSpec, growth: Growth, until: float) -> None:
        """A case that is about its sizes, if it can be afforded."""
        if growth.fits(spec, until - time.process_time()):
            self._case(spec)
            self.tally.reach.note(spec)
        else:
            self.tally.reach.costly += 1

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
        seconds = self.settings.seconds
        return begun + (math.inf if seconds is None or only is not None else seconds)

    def _over(self, until: float) -> bool:
        # other processes do not take anything of the seconds, but of the time limit
        return time.process_time() > until or time.monotonic() > self.settings.deadline

    def _large(self, only: int | None) -> Iterator[CaseSpec]:
        """The cases that only the emulator can run, as large as they can be here."""
        for spec in large_specs(self.drawing.axes) if self.settings.large else []:
            if only in (None, spec.number):
                found = affordable(spec, self.drawing.cost)
                yield from [found] if found else []

    # -- one case ------------------------------------------------------------------------

    def _case(self, spec: CaseSpec) -> None:
        if not self.settings.device and spec.form.startswith("device"):
            layout = "strided" if spec.form == "device-view" else spec.layout
            spec = replace(spec, form="host", layout=layout)
        if not spec.own:
            spec = replace(spec, points=min(spec.points, self.tally.points))
        try:
            self._compared(spec)
        except MemoryError:
            # its own arrays, or what is made of them
            self._cheaper(spec)

    def _compared(self, spec: CaseSpec) -> None:
        parameters = self.drawing.parameters(spec)
        said, refusals, error = False, len(self.tally.refusals), ""
        patience = large.SLOW if spec.points > MOST_POINTS else SLOW
        patience = large.SLOWEST if spec.exact else patience
        for inputs, expected in self._tried(spec):
            if expected.error is not None:
                error = described(expected.error)
                self.tally.note(f"{type(expected.error).__name__}: {expected.error}")
                if self.settings.observe and LAUNCHES.count:
                    continue  # what is launched until an exception was seen by now
                said = said or self._exceptions(spec, inputs, expected.error)
            elif spec.own and expected.seconds > patience:
                self._cheaper(spec)
                return
            elif self._values(spec, inputs, parameters, expected):
                return  # else the sizes were refused
        self.tally.raised[error] += bool(error)
        self.tally.counts["not_compared"] += not said
        self.tally.counts["cases"] += said
        self.tally.counts["refused_cases"] += not said and len(self.tally.refusals) > refusals

    def _tried(self, spec: CaseSpec) -> Iterator[tuple[Inputs, compare.Outcome]]:
        """What the original does in a case, then with inputs that may suit it better."""
        tried: set[tuple[CaseSpec, bool]] = set()
        for attempt, version, hinted in self.drawing.versions(spec):
            if (version, hinted) in tried:
                continue
            # an original that does not end takes its patience every time
            if tried and time.monotonic() > self.settings.deadline:
                return
            tried.add((version, hinted))
            inputs = self.drawing.inputs(version, attempt, hinted=hinted)
            if inputs is not None:
                self._announce(spec, inputs)
                expected = self.judge.original(inputs, version)
                if expected is not None:
                    yield inputs, expected
            elif not hinted:
                domain = self.subject.domain.text
                self.tally.note(f"no input of these sizes is in the domain ({domain})")
        yield from self._found(spec)

    def _found(self, spec: CaseSpec) -> Iterator[tuple[Inputs, compare.Outcome]]:
        """What the original does with inputs such as it was found to take."""
        variant = spec.variant % len(self.drawing.variants)
        if variant not in self.taken:
            # what raises for all draws of one signature is not tried with others
            hopeless = any(not found for found in self.taken.values())
            self.taken[variant] = [] if hopeless else self.judge.search(spec)
        found = self.taken[variant]
        for taken in found[spec.number % len(found) :] if found else ():
            for version in tame(spec):
                inputs = self.drawing.fitting(version, taken)
                expected = None if inputs is None else self.judge.original(inputs, version)
                if inputs is not None and expected is not None:
                    self._announce(spec, inputs)
                    yield inputs, expected

    def _announce(self, spec: CaseSpec, inputs: Inputs) -> None:
        signature = self.drawing.signature(spec.variant)
        self.settings.report(spec.number, inputs.describe(), signature)

    def given(self, inputs: Inputs, parameters: list[Parameter], number: int) -> None:
        """One case with inputs from elsewhere; raises `MismatchFound` on a difference."""
        variant = self.drawing.variant_of(parameters)
        spec = CaseSpec((), domain="special", number=number, variant=variant)
        self.drawing.order(number)
        self._announce(spec, inputs)
        expected = self.judge.original(inputs, spec)
        if expected is None:
            return
        if expected.error is None:
            self._values(spec, inputs, parameters, expected)
            return
        self.tally.note(f"{type(expected.error).__name__}: {expected.error}")
        said = self._exceptions(spec, inputs, expected.error)
        self.tally.counts["cases" if said else "not_compared"] += 1

    def again(self, found: MismatchFound, original: Callable[..., Any], version: Version) -> None:
        """Call other versions of both functions on the smallest input that differs."""
        inputs = self.smallest or found.inputs
        if inputs is not None:
            self.drawing.order(found.mismatch.case)
            LAUNCHES.allow(math.inf)
            calls.original(original, replace(inputs, form="host"))
            # what was assigned before the time is over is known
            with contextlib.suppress(calls.TooLong), calls.time_limit(calls.PATIENCE):
                own = self.subject.record.own_stream
                calls.converted(version.function, inputs, streams=False, own=own)

    def _exceptions(self, spec: CaseSpec, inputs: Inputs, error: BaseException) -> bool:
        """Whether the exception could be compared; raises `MismatchFound` if it is another."""
        unchecked = isinstance(error, IndexError) and not self.settings.checks_indices
        if unchecked or arithmetic(error) or type(error) is NameError:
            return False
        actual = self.judge.converted(spec, inputs)
        if isinstance(actual.error, TooCostly):
            return False
        if actual.error is None:
            if isinstance(error, UnboundLocalError) and not inputs.smallest:
                return False  # nothing of what has no value was read
            if isinstance(error, IndexError) and self._is_unused(spec, inputs, actual):
                return False
            text = f"the original raises {described(error)}, the generated function returns"
            raise self.judge.found(spec, inputs, "exception", text)
        if not alike(error, actual.error):
            text = f"raises {described(actual.error, actual.line)}, the original {described(error)}"
            raise self.judge.found(spec, inputs, "exception", text)
        self.tally.counts["exceptions"] += 1
        self.tally.counts["out_of_bounds"] += from_kernel(actual.error)
        return True

    def _is_unused(self, spec: CaseSpec, inputs: Inputs, actual: compare.Outcome) -> bool:
        """Whether what is out of bounds is not needed: there are no elements, or others do."""
        others = variations.inside(inputs, self.drawing.parameters(spec))
        return is_empty(inputs, actual) or any(
            wrong_inputs.is_unused(self.judge, inputs, pair, actual) for pair in others
        )

    def _values(
        self,
        spec: CaseSpec,
        inputs: Inputs,
        parameters: list[Parameter],
        expected: compare.Outcome,
    ) -> bool:
        """Compare the results; False if the sizes are refused, and others should be tried."""
        before = LAUNCHES.count
        self.tally.worst.case = spec.number
        actual = self.judge.converted(spec, inputs)
        if isinstance(actual.error, TooCostly):
            self._cheaper(spec)
            return True
        fixed = refuses_fixed(spec, inputs.form, actual.error)
        if fixed or self._asks_for_copy(inputs, actual):
            self.tally.counts["stricter"] += 1
            self.tally.counts["cases"] += 1
            return True
        if by_rounding(actual.error) and self.judge.rounding_decides(inputs, expected):
            self.tally.note("rounding decides whether a matrix is singular")
            return False
        if leaves_reals(inputs, expected, actual):
            self.tally.note("the original computes with complex numbers, of real ones")
            return False
        if actual.error is not None:
            what = "launch" if isinstance(actual.error, LaunchError) else "exception"
            text = f"raises {described(actual.error, actual.line)}; the original returns"
            found = self.judge.found(spec, inputs, what, text)
            if not refuses_sizes(inputs, actual):
                raise found
            self.tally.counts["stricter"] += 1
            self.tally.refusals.append(found)
            return False
        difference = self.judge.differ(inputs, expected, actual) or self.judge.repeated(
            spec, inputs
        )
        if difference is not None:
            decided = difference.what in ("nan", "value")
            if decided and self.judge.rounding_decides_numbers(inputs, expected):
                self.tally.note("rounding decides which results are finite")
                return False
            raise self.judge.found(spec, inputs, difference.what, difference.message, difference)
        self.tally.counts["values"] += 1
        self.tally.counts["launched"] += LAUNCHES.count > before
        self.tally.counts["cases"] += 1
        self.tally.copies += calls.equals_an_input(expected, inputs)
        big = all(n > 1 for n in inputs.sizes.values())
        if big and inputs.form == "host":
            form = self.drawing.form_of(parameters)
            if not self.samples or (form and self.subject.record.forms[form - 1].converts):
                self.samples.setdefault(form, (inputs, parameters))
        if spec.ints == "sorted" and big and inputs.form == "host":
            self.in_order = self.in_order or (inputs, parameters)
        return True

    def _asks_for_copy(self, inputs: Inputs, actual: compare.Outcome) -> bool:
        """A ValueError that asks for a copy, as nothing was changed yet."""
        if not asks_for_copy(inputs, actual.error):
            return False
        self.tally.note(str(actual.error))
        return not (actual.arguments and has_changed(actual, inputs))

    def _cheaper(self, spec: CaseSpec) -> None:
        """A case would take minutes, or too much memory: turn its sizes round, or cut them."""
        if spec.exact:
            self.tally.reach.costly += 1
        elif (less := smaller(spec)) is not None:
            self._case(less)
        elif not spec.own and spec.points > FEWEST_POINTS:
            # later cases do not try what was too much
            self.tally.points = spec.points // 8
            self._case(spec)
        elif not spec.own:
            self.tally.note("the kernels cannot be run in a case")
        elif spec.turned:
            self._case(replace(spec, own=False, many=False))
        else:
            self._case(replace(spec, turned=True, sizes=tuple(reversed(spec.sizes))))

    # -- smaller inputs ------------------------------------------------------------------

    def shrunk(self, found: MismatchFound) -> Mismatch:
        """The same difference on a smaller input, if there is one."""
        if found.inputs is None or found.spec is None or found.mismatch.case < 0:
            return found.mismatch
        if found.mismatch.what == "launch" and not self.settings.checks_indices:
            return found.mismatch  # after an error a GPU's context is lost
        # casts that C leaves open are errors: they must not become the difference
        spec, last = replace(found.spec, domain="special"), found
        counts = self.tally.counts.copy()

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

        parameters = self.drawing.parameters(spec)
        smallest = Shrinker(parameters, differs).smallest(found.inputs)
        self.tally.counts, self.smallest = counts, smallest
        blocks = found.mismatch.inputs[len(found.inputs.describe()) :]
        lines = (*values_of(smallest), *blocks)
        return replace(last.mismatch, inputs=lines, shrunk=last is not found)

    def _again(self, spec: CaseSpec, inputs: Inputs) -> MismatchFound | None:
        """The difference on an input, if there is one and the time suffices to find it."""
        self.drawing.order(spec.number)
        begun = time.monotonic()
        try:
            with calls.time_limit(SHRINKING):
                expected = self.judge.original(inputs, spec)
                if expected is not None and expected.error is None:
                    self._values(spec, inputs, [], expected)
                elif expected is not None and expected.error is not None:
                    self._exceptions(spec, inputs, expected.error)
        except MismatchFound as found:
            # where the time was over, the call was ended by that
            return found if time.monotonic() - begun < SHRINKING else None
        except calls.TooLong:
            return None
        return None
