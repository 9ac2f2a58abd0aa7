"""One function: its call is recorded, then the launches that stand for all are counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

from porter.bench.child.arguments import Arguments, Chosen
from porter.bench.child.kernels import Argument, Counter, Failed, Uncompiled, least
from porter.bench.child.limit import processor_limit
from porter.bench.child.measuring import Measurable
from porter.bench.child.recording import Endless, Recorder, Recording, TooLarge
from porter.bench.request import CountRequest
from porter.bench.sizes import halved
from porter.verify.checks.subject import Subject
from porter.verify.oracle import calls

#: the share of a function's time that one attempt may take
_SHARE = 0.45
#: extents below which nothing is made smaller
_SMALLEST = 8
#: extents with which a call tells whether values decide what is launched
_TOLD = 40


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
            except (calls.TooLong, TooLarge, Endless, MemoryError) as error:
                self.spent += time.process_time() - begun
                if not self._smaller():
                    self.found = {"failed": _why(error)}
                    return []
            except Failed as failed:
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
        recording, arguments, results = self._recorded(None, self.chosen)
        if recording.decisive and self._depends():
            recording, arguments, results = self._recorded(self.counter.execute, self.chosen)
            self.arguments.note(
                "values of arrays decide what is launched: every launch was executed"
            )
        elif recording.followed:
            self.arguments.note("launches follow values that are read back: these were taken as 0")
        chosen = [x for s in recording.series.values() for x, _ in s.chosen()]
        self.counter.need(chosen)
        kernels = [self.counter.kernel(name, s) for name, s in recording.series.items()]
        return {
            "launches": recording.launches,
            "allocations": recording.allocations,
            "read_backs": recording.read_backs,
            "least_bytes": least([k.traffic for k in kernels], arguments, results),
            "kernels": [k.to_json() for k in kernels],
        }

    def _depends(self) -> bool:
        """Whether what kernels compute decides what is launched, as a small call tells."""
        small = self.chosen.of({n: min(s, _TOLD) for n, s in self.chosen.extents.items()})
        plain, executed = (self._recorded(run, small)[0] for run in (None, self.counter.execute))
        told = [
            {name: (s.count, s.last and s.last.grid) for name, s in each.series.items()}
            for each in (plain, executed)
        ]
        return told[0] != told[1]

    def _recorded(
        self, run: Any, chosen: Chosen
    ) -> tuple[Recording, list[Argument], list[Argument]]:
        """One call; with arrays on the device, or on the host where the function wants them."""
        made = self.arguments.make(chosen)
        try:
            return self._called(run, made, device=True)
        except (TypeError, ValueError, AttributeError):
            found = self._called(run, made, device=False)
        self.arguments.note("called with arrays on the host: it does not take device arrays")
        return found

    def _called(
        self, run: Any, made: list[tuple[str, Any]], *, device: bool
    ) -> tuple[Recording, list[Argument], list[Argument]]:
        values = [_on_device(v) if device else v for _, v in made]
        names = calls.keyword_only(self.subject.own.function)
        names = [n for n in names if n != self.subject.record.own_stream]
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
    if isinstance(error, calls.TooLong):
        return "it takes too long to count"
    return " ".join(f"the call raises {type(error).__name__}: {error}".split())[:300]
