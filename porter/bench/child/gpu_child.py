"""The child process that times a module on a GPU.

`python -m porter.bench.child.gpu_child REQUEST` appends a `measured` line for each function to the
file that the request names.  Calls are warm.  `ms` is the time of the kernels by CUDA events, with
arrays on the device; `call_ms` that of the whole call on the host's clock; `end_to_end_ms` is a
call with arrays on the host, transfers included.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

from porter.bench.child.arguments import Arguments
from porter.bench.child.loading import Module
from porter.bench.child.measuring import FEWEST_RUNS, MOST_RUNS, Measurable, said
from porter.bench.request import CountRequest
from porter.verify.limits import restrict
from porter.verify.oracle.calls import given_by_keyword

#: within which nothing else runs on the GPU
Alone = Callable[[], AbstractContextManager[Any]]
#: bytes of the arrays between which a copy is timed
COPIED = 1 << 28
#: of all calls of one measurement
SECONDS = 0.2
#: tenths of a millisecond that the GPU waits for the host at most
MOST_BUSY = 500


@cuda.jit  # type: ignore[untyped-decorator]
def busy(times: Any) -> None:
    """Keep the device from the next launch, a tenth of a millisecond each time."""
    for _ in range(times):
        cuda.nanosleep(100_000)


class Events:
    """Times calls by the events of a GPU, which is kept busy until the host has launched all.

    So the time is that of the kernels, and of the host only where it waits for the GPU.
    """

    def __init__(self, target: Any, busy: Callable[[int], None]) -> None:
        self.cuda, self._busy = target, busy

    def __call__(self, call: Callable[[], Any]) -> Callable[[], float]:
        """What gives seconds on the GPU from a call's first launch until its last one is done."""
        self.cuda.synchronize()
        began = time.perf_counter()
        call()
        count = min(MOST_BUSY, 2 + int(2e4 * (time.perf_counter() - began)))

        def measure() -> float:
            start, end = self.cuda.event(), self.cuda.event()
            self.cuda.synchronize()
            self._busy(count)
            start.record()
            call()
            end.record()
            end.synchronize()
            return float(start.elapsed_time(end)) / 1e3

        return measure


def clock(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Seconds of a call and of what it launched, on the host's clock."""
    wait()
    began = time.perf_counter()
    call()
    wait()
    return time.perf_counter() - began


def repeated(call: Callable[[], float]) -> dict[str, Any]:
    """The times of some warm calls in milliseconds; of one that takes long, one is enough."""
    found = [call()]
    while (len(found) < FEWEST_RUNS and found[0] < SECONDS) or (
        sum(found) < SECONDS and len(found) < MOST_RUNS
    ):
        found.append(call())
    times = [float(f"{1e3 * t:.4g}") for t in (statistics.median(found), min(found), max(found))]
    return dict(zip(("ms", "least_ms", "most_ms"), times, strict=True)) | {"runs": len(found)}


def copy_rate(target: Any, events: Events) -> float:
    """GB a second that a copy on the device reads and writes."""
    one = target.device_array(COPIED, np.uint8)
    other = target.device_array(COPIED, np.uint8)
    found = repeated(events(lambda: other.copy_to_device(one)))
    return float(f"{2 * COPIED / found['ms'] / 1e6:.4g}")


def kernels(what: Measurable, target: Any, events: Events, alone: Alone) -> dict[str, Any]:
    """The generated function: with arrays on the device, and with arrays on the host."""
    function = what.subject.own.function
    names = given_by_keyword(function, what.subject.record.own_stream)
    wait = target.synchronize

    def call(values: Sequence[Any]) -> Any:
        count = len(values) - len(names)
        return function(*values[:count], **dict(zip(names, values[count:], strict=False)))

    values = what.values()
    with alone():
        device = [target.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
        first = clock(lambda: call(device), wait)
        on = repeated(events(lambda: call(device)))
        whole = repeated(lambda: clock(lambda: call(device), wait))
        host = repeated(lambda: clock(lambda: call(values), wait))
    return on | {
        "call_ms": whole["ms"],
        "end_to_end_ms": host["ms"],
        "compile_ms": round(max(0.0, 1e3 * first - whole["ms"]), 3),
    }


#: for each library the module that takes NumPy's place, how an array gets there, and how to wait
LIBRARIES: dict[str, tuple[str, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "cupy": (
        "cupy", lambda module, v: module.asarray(v),
        lambda module, result: module.cuda.Device().synchronize(),
    ),
    "jax": (
        "jax.numpy", lambda module, v: module.asarray(v),
        lambda module, result: importlib.import_module("jax").block_until_ready(result),
    ),
    "torch": (
        "torch", lambda module, v: module.as_tensor(v, device="cuda"),
        lambda module, result: module.cuda.synchronize(),
    ),
}  # fmt: skip
#: the libraries that launch on the device's default stream, where Numba's events are
ON_ITS_STREAM = ("cupy", "torch")


@contextmanager
def swapped(namespace: dict[str, Any], module: Any) -> Iterator[None]:
    """Let a file's names of NumPy mean another module, as after an import swap."""
    before = {name: value for name, value in namespace.items() if value is np}
    namespace.update(dict.fromkeys(before, module))
    try:
        yield
    finally:
        namespace.update(before)


def library(
    what: Measurable, namespace: dict[str, Any], name: str, events: Events, alone: Alone
) -> dict[str, Any]:
    """The original with a library in NumPy's place: its kernels, if it launches them where
    Numba's events are; and the whole call."""
    path, convert, wait = LIBRARIES[name]
    module = importlib.import_module(path)
    made = what.values()
    values: list[Any] = []

    def call() -> Any:
        return what.call(what.subject.original, values)

    def whole() -> float:
        wait(module, values)
        began = time.perf_counter()
        wait(module, call())
        return time.perf_counter() - began

    with swapped(namespace, module), alone():
        values += [convert(module, v) if isinstance(v, np.ndarray) else v for v in made]
        first = whole()
        calls = repeated(whole)
        on = repeated(events(call)) if name in ON_ITS_STREAM else calls
    return on | {"call_ms": calls["ms"], "first_ms": round(1e3 * first, 3)}


def times(
    what: Measurable,
    namespace: dict[str, Any],
    against: Sequence[str],
    target: Any,
    alone: Alone = nullcontext,
) -> dict[str, dict[str, Any]]:
    """The times of the module and of each library on the GPU, or why there are none.

    The GPU is used within `alone()` only.
    """
    events = Events(target, lambda count: busy[1, 1](count))
    asked: dict[str, Callable[[], dict[str, Any]]] = {
        "gpu": lambda: kernels(what, target, events, alone)
    }
    asked |= {
        name: (lambda name=name: library(what, namespace, name, events, alone))  # type: ignore[misc]
        for name in against
        if name in LIBRARIES
    }
    device = target.get_current_device().name
    shown = device.decode() if isinstance(device, bytes) else str(device)
    found: dict[str, dict[str, Any]] = {}
    for name, measure in asked.items():
        try:
            found[name] = measure() | {"on": shown}
        except Exception as error:
            found[name] = {"error": said(error)}
    return found


def main() -> None:
    """Answer one request."""
    request = CountRequest(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    faulthandler.dump_traceback_later(request.limit, exit=True)
    restrict(address_space=False)
    module = Module(request)
    with Path(request.reply).open("a", encoding="utf-8") as reply:
        rate = copy_rate(cuda, Events(cuda, lambda count: busy[1, 1](count)))
        for name, sizes in request.sizes.items():
            subject = module.subject(name)
            arguments = Arguments(subject, request.traced.get(name))
            what = Measurable(subject, arguments, arguments.choose(sizes))
            found = times(what, module.source.original.namespace, request.against, cuda)
            found["gpu"]["copy_gb_s"] = rate
            reply.write(json.dumps({"measured": name, "times": found}) + "\n")
            reply.flush()


if __name__ == "__main__":
    main()
