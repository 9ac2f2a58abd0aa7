"""One function: its call is recorded, then the launches that stand for all are counted."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

import numpy as np
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

from porter.bench.child.arguments import Arguments, Chosen
from porter.bench.child.kernels import (
    Argument,
    Counted,
    Counter,
    Failed,
    Traffic,
    Uncompiled,
    least,
)
from porter.bench.child.limit import processor_limit
from porter.bench.child.measuring import Measurable
from porter.bench.child.recording import Endless, Launch, Recorder, Recording, TooLarge
from porter.bench.request import CountRequest
from porter.bench.sizes import halved
from porter.verify.checks.subject import Subject
from porter.verify.oracle import calls

#: the share of a function's time that one attempt may take
_SHARE = 0.45
#: instructions of all threads, for each second of a function, that are executed instead of sampled
_EXECUTED = 15e6
#: threads of all launches, for each second, where sampled blocks cannot be counted
_THREADS = 125e3
#: extents below which nothing is made smaller
_SMALLEST = 8
#: extents with which a call tells whether values decide what is launched
_TOLD = 40
#: threads of launches that compute single values, fewest first
_FEW = (1, 32, 1024)


#: what one call did, its arrays, and its results
Called: TypeAlias = tuple[Recording, list[Argument], list[Argument]]
#: what is said where values that kernels compute decide what is launched, or what others execute
_ZEROS = "launches follow values that are read back: these were taken as 0"
_LAUNCHED = "values of arrays decide what is launched: every launch was executed"
_PARTLY = "values of arrays decide what is launched: the launches that compute them were executed"
_SURE = (
    "values that kernels compute decide what is executed: all blocks were, before some were counted"
)
_UNSURE = (
    "values that kernels compute decide what others execute, and sampled blocks compute their"
    " part only: counts may be off"
)


class TooMany(Exception):
    """A call has too many threads to execute all of them."""


class Job:
    """Counts one function: `step` until it wants nothing more, then `result`."""

    def __init__(self, request: CountRequest, recorder: Recorder, subject: Subject) -> None:
        self.recorder, self.subject = recorder, subject
        self.seconds, name = request.seconds, subject.record.name
        self.arguments = Arguments(subject, request.traced.get(name))
        self.wished = self.chosen = self.arguments.choose(request.sizes.get(name, {}))
        self.found: dict[str, Any] = {}
        self.counter = Counter(request)
        self.spent, self.attempts = 0.0, 1

    @property
    def names(self) -> list[str]:
        """The names that a size can have."""
        return self.chosen.names

    @property
    def measurable(self) -> Measurable:
        """The call that was counted."""
        return Measurable(self.subject, self.arguments, self.chosen)

    def step(self) -> list[dict[str, Any]]:
        """Go on; gives the launches that have to be compiled first."""
        while True:
            begun = time.process_time()
            try:
                with processor_limit(max(0.3, _SHARE * (self.seconds - self.spent))):
                    self.found = self._counted()
                return []
            except Uncompiled as lacking:
                return self.counter.wanted(lacking.launches)
            except (calls.TooLong, TooLarge, TooMany, Endless, MemoryError) as error:
                self.spent += time.process_time() - begun
                if not self._smaller():
                    self.found = {"failed": _why(error)}
                    return []
            except Failed as failed:
                if not self.counter.whole:
                    # once more, with what all blocks compute
                    self.counter.whole = True
                    continue
                self.found = {"failed": str(failed)}
                return []

    def result(self) -> dict[str, Any]:
        """What was counted, as `records.FunctionCounts` has it, or `failed`."""
        chosen, notes = self.chosen, list(self.arguments.notes)
        if chosen.sizes != self.wished.sizes:
            wished = ", ".join(f"{n}={s}" for n, s in self.wished.sizes.items())
            notes.append(f"{wished} is too large or too slow to count: smaller sizes were counted")
        return self.found | {"size": chosen.sizes, "types": chosen.types, "notes": notes}

    def _smaller(self) -> bool:
        """Try smaller extents; False when they are small or the time is over."""
        extents = self.chosen.extents
        for _ in range(self.attempts):
            extents = halved(extents)
        self.attempts += 1
        small = max(self.chosen.extents.values(), default=0) <= _SMALLEST
        if small or self.spent > self.seconds:
            return False
        self.chosen = self.chosen.of(extents)
        return True

    def _counted(self) -> dict[str, Any]:
        if self.counter.whole:
            self._bounded()
            call = self._executed(_SURE)
        else:
            call = self._recorded(None, self.chosen)
            deciding = self._deciding(call[0]) if call[0].decisive else None
            if deciding is not None:
                call = self._executed(_LAUNCHED, deciding)
            elif call[0].followed:
                self.arguments.note(_ZEROS)
        kernels = self._sampled(call[0])
        if not call[0].executed and self.counter.dependent(call[0].series.values()):
            if sum(k.counts.instructions for k in kernels) > _EXECUTED * self.seconds:
                self.arguments.note(_UNSURE)
            else:
                call = self._executed(_SURE)
                kernels = self._sampled(call[0])
        for note in sorted(self.counter.notes, key=len):
            self.arguments.note(note)
        recording, arguments, results = call
        for name, seconds in recording.libraries.host.items():
            took = f"take {1e3 * sum(seconds):.3g} ms, measured on this CPU"
            self.arguments.note(f"{len(seconds)} calls of {name} on the host {took}")
        others = Traffic(recording.libraries.read, recording.libraries.written)
        if recording.libraries.device:
            count = sum(round(t.launches) for t in recording.libraries.device.values())
            self.arguments.note(f"{count} operations of CuPy, modelled as those of the original")
        return {
            "library": [{"name": n, **vars(t)} for n, t in recording.libraries.device.items()],
            "host_ms": 1e3 * sum(sum(seconds) for seconds in recording.libraries.host.values()),
            "launches": recording.launches,
            "allocations": recording.memory.allocations,
            "reused": recording.memory.reused,
            "read_backs": recording.read_backs,
            "least_bytes": least([*(k.traffic for k in kernels), others], arguments, results),
            "kernels": [k.to_json() for k in kernels],
        }

    def _executed(self, why: str, kernels: Collection[str] = ()) -> Called:
        """The call with all blocks of all launches executed, or of those of some kernels."""
        if _ZEROS in self.arguments.notes:
            self.arguments.notes.remove(_ZEROS)
        self.arguments.note(_PARTLY if kernels else why)
        return self._recorded(self._executing(kernels), self.chosen)

    def _executing(self, kernels: Collection[str]) -> Any:
        """What executes the launches of some kernels, or of all."""

        def run(launch: Launch) -> None:
            if not kernels or launch.kernel in kernels:
                self.counter.execute(launch)

        return run

    def _bounded(self) -> None:
        """Raise `TooLarge` where executing all blocks would take too long."""
        try:
            recording, _, _ = self._recorded(None, self.chosen)
        except Failed:
            return  # what was read back as 0 is refused
        threads = sum(n for s in recording.series.values() for n in s.threads)
        if threads > _THREADS * self.seconds:
            raise TooMany

    def _sampled(self, recording: Recording) -> list[Counted]:
        """The kernels' counts."""
        self.counter.need([x for s in recording.series.values() for x, _ in s.chosen()])
        return [self.counter.kernel(name, s) for name, s in recording.series.items()]

    def _deciding(self, call: Recording) -> Collection[str] | None:
        """The kernels that have to be executed, as they decide what is launched: none for all.

        None if values decide nothing.  A small call tells whether those with few threads do.
        """
        small = self.chosen.of({n: min(s, _TOLD) for n, s in self.chosen.extents.items()})
        try:
            plain, whole = (self._told(run, small) for run in (None, self.counter.execute))
        except Failed:
            return None  # these numbers are refused, such as a matrix that is not definite
        if plain == whole:
            return None
        threads = {name: s.largest.threads for name, s in call.series.items() if s.largest}
        for most in _FEW:
            few = [name for name, n in threads.items() if n <= most]
            try:
                if few and self._told(self._executing(few), small) == whole:
                    return few
            except Failed:
                continue  # a value that another kernel computes is refused
        return ()

    def _told(self, run: Any, chosen: Chosen) -> dict[str, Any]:
        """What a call launches: how often, and how much the last time."""
        found = self._recorded(run, chosen)[0]
        return {name: (s.count, s.last and s.last.grid) for name, s in found.series.items()}

    def _recorded(self, run: Any, chosen: Chosen) -> Called:
        """One call; with arrays on the device, or on the host where the function wants them."""
        made = self.arguments.make(chosen)
        try:
            return self._called(run, made, device=True)
        except (TypeError, ValueError, AttributeError):
            found = self._called(run, made, device=False)
        self.arguments.note("called with arrays on the host: it does not take device arrays")
        return found

    def _called(self, run: Any, made: list[tuple[str, Any]], *, device: bool) -> Called:
        values = [_on_device(v) if device else v for _, v in made]
        own = self.subject.record.own_stream
        names = calls.given_by_keyword(self.subject.own.function, own)
        count = len(values) - len(names)
        options = dict(zip(names, values[count:], strict=False))
        with self.recorder.recording(run) as recording, np.errstate(all="ignore"):
            try:
                result = self.subject.own.function(*values[:count], **options)
            except (TypeError, ValueError, AttributeError) as error:
                if device:
                    raise
                raise Failed(_why(error)) from None
            except (Uncompiled, TooLarge, Endless, Failed, MemoryError):
                raise
            except Exception as error:
                raise Failed(_why(error)) from None
        arguments = [Argument(v) for _, v in made if isinstance(v, np.ndarray)]
        return recording, arguments, [Argument(a) for a in _arrays(result)]


def _on_device(value: Any) -> Any:
    return FakeCUDAArray(value) if isinstance(value, np.ndarray) else value


def _arrays(result: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(result, tuple | list):
        for part in result:
            yield from _arrays(part)
    elif isinstance(result, dict):
        yield from _arrays(list(result.values()))
    else:
        array = getattr(result, "_ary", result)
        if isinstance(array, np.ndarray):
            yield array


def _why(error: BaseException) -> str:
    if isinstance(error, TooLarge | MemoryError):
        return "its arrays do not fit the memory of a GPU"
    if isinstance(error, Endless):
        return "it launches kernels without end, or too many to record"
    if isinstance(error, calls.TooLong | TooMany):
        return "it takes too long to count"
    return " ".join(f"the call raises {type(error).__name__}: {error}".split())[:300]
