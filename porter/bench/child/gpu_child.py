"""The child process that times a module on a GPU.

`python -m porter.bench.child.gpu_child REQUEST` appends a `measured` line for each function to the
file that the request names.  Calls are warm; kernels are timed by CUDA events, with arrays on the
device; `end_to_end` is a call with arrays on the host, transfers included.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

from porter.bench.child.arguments import Arguments
from porter.bench.child.loading import Module
from porter.bench.child.measuring import Measurable, said, timed
from porter.bench.request import CountRequest
from porter.verify.limits import restrict
from porter.verify.oracle.calls import given_by_keyword

#: bytes of the arrays between which a copy is timed
COPIED = 1 << 28


class Events:
    """Times calls by the events of a GPU."""

    def __init__(self, target: Any) -> None:
        self.cuda = target

    def __call__(self, call: Callable[[], Any]) -> float:
        """Seconds on the GPU from before a call until everything that it launched is done."""
        start, end = self.cuda.event(), self.cuda.event()
        start.record()
        call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3


def clock(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Seconds of a call and of what it launched, on the host's clock."""
    wait()
    began = time.perf_counter()
    call()
    wait()
    return time.perf_counter() - began


def copy_rate(target: Any, events: Events) -> float:
    """GB a second that a copy on the device reads and writes."""
    one = target.device_array(COPIED, np.uint8)
    other = target.device_array(COPIED, np.uint8)
    found = timed(list, lambda values: events(lambda: other.copy_to_device(one)))
    return float(f"{2 * COPIED / found['ms'] / 1e6:.4g}")


def kernels(what: Measurable, target: Any) -> dict[str, Any]:
    """The generated function: with arrays on the device, and with arrays on the host."""
    function, events = what.subject.own.function, Events(target)
    names = given_by_keyword(function, what.subject.record.own_stream)

    def call(values: Sequence[Any]) -> Any:
        count = len(values) - len(names)
        return function(*values[:count], **dict(zip(names, values[count:], strict=False)))

    def device() -> list[Any]:
        return [target.to_device(v) if isinstance(v, np.ndarray) else v for v in what.values()]

    on = timed(device, lambda values: events(lambda: call(values)))
    host = timed(what.values, lambda values: clock(lambda: call(values), target.synchronize))
    return on | {
        "end_to_end_ms": host["ms"],
        "compile_ms": max(0.0, on["first_ms"] - on["ms"]),
        "copy_gb_s": copy_rate(target, events),
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


@contextmanager
def swapped(namespace: dict[str, Any], module: Any) -> Iterator[None]:
    """Let a file's names of NumPy mean another module, as after an import swap."""
    before = {name: value for name, value in namespace.items() if value is np}
    namespace.update(dict.fromkeys(before, module))
    try:
        yield
    finally:
        namespace.update(before)


def library(what: Measurable, namespace: dict[str, Any], name: str) -> dict[str, Any]:
    """The original with a library in NumPy's place."""
    path, convert, wait = LIBRARIES[name]
    module = importlib.import_module(path)

    def prepare() -> list[Any]:
        return [convert(module, v) if isinstance(v, np.ndarray) else v for v in what.values()]

    def call(values: Sequence[Any]) -> float:
        wait(module, values)
        began = time.perf_counter()
        wait(module, what.call(what.subject.original, values))
        return time.perf_counter() - began

    with swapped(namespace, module):
        return timed(prepare, call)


def times(
    what: Measurable, namespace: dict[str, Any], against: Sequence[str], target: Any
) -> dict[str, dict[str, Any]]:
    """The times of the module and of each library on the GPU, or why there are none."""
    asked: dict[str, Callable[[], dict[str, Any]]] = {"gpu": lambda: kernels(what, target)}
    asked |= {
        name: (lambda name=name: library(what, namespace, name))  # type: ignore[misc]
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
        for name, sizes in request.sizes.items():
            subject = module.subject(name)
            arguments = Arguments(subject, request.traced.get(name))
            what = Measurable(subject, arguments, arguments.choose(sizes))
            found = times(what, module.source.original.namespace, request.against, cuda)
            reply.write(json.dumps({"measured": name, "times": found}) + "\n")
            reply.flush()


if __name__ == "__main__":
    main()
