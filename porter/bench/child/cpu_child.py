"""The child process that times a module of compiled loops on this CPU.

`python -m porter.bench.child.cpu_child REQUEST` appends a `measured` line for each function to the
file that the request names.  The module and what it is compared with are called in turn, with fresh
arguments each time, so that a machine that is slower for a while is slower for all of them.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import statistics
import sys
import time
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from porter.bench.child.arguments import Arguments
from porter.bench.child.limit import processor_limit
from porter.bench.child.loading import Module
from porter.bench.child.measuring import FEWEST_RUNS, MOST_RUNS, Measurable, said
from porter.bench.request import CountRequest
from porter.verify.limits import restrict
from porter.verify.oracle import calls

#: seconds of all calls of a function, and processor seconds of a first call
SECONDS, PATIENCE = 4.0, 60.0
#: bytes of arguments beyond which nothing is measured
MOST_BYTES = 1 << 30

Function = Callable[..., Any]


def jitted(module: Module, name: str) -> Function:
    """The original, it and the functions that it calls compiled with `njit(parallel=True)`."""
    njit = importlib.import_module("numba").njit
    original = module.source.load()
    for key, value in list(original.namespace.items()):
        if isinstance(value, types.FunctionType):
            original.namespace[key] = njit(parallel=True)(value)
    return module.source.plain(_record(module, name), original.function(name))  # type: ignore[no-any-return]


def _record(module: Module, name: str) -> Any:
    record = module.header.function(name)
    assert record is not None, "the parent asks only for functions in the header"
    return record


def in_turn(what: Measurable, functions: Mapping[str, Function]) -> dict[str, dict[str, Any]]:
    """Medians of calls in turn, by what was called; its first call apart."""
    found: dict[str, dict[str, Any]] = {}
    seconds: dict[str, list[float]] = {}
    for name, function in functions.items():
        try:
            with processor_limit(PATIENCE):
                first = _once(what, function)
            seconds[name], found[name] = [], {"first_ms": _ms(first)}
        except calls.TooLong:
            found[name] = {"error": f"no result in {PATIENCE:g} s"}
        except Exception as error:
            found[name] = {"error": said(error)}
    spent = 0.0
    while seconds and (_runs(seconds) < FEWEST_RUNS or (
        spent < SECONDS and _runs(seconds) < MOST_RUNS
    )):  # fmt: skip
        for name, times in seconds.items():
            times.append(_once(what, functions[name]))
            spent += times[-1]
    for name, times in seconds.items():
        median = statistics.median(times)
        found[name] |= {
            "ms": _ms(median), "least_ms": _ms(min(times)), "most_ms": _ms(max(times)),
            "runs": len(times), "compile_ms": max(0.0, found[name]["first_ms"] - _ms(median)),
        }  # fmt: skip
    return {name: times | {"on": f"CPU, {_threads()} threads"} for name, times in found.items()}


def _runs(seconds: Mapping[str, list[float]]) -> int:
    return min(map(len, seconds.values()))


def _threads() -> int:
    return int(importlib.import_module("numba").get_num_threads())


def _once(what: Measurable, function: Function) -> float:
    values = what.values()
    with np.errstate(all="ignore"):
        began = time.perf_counter()
        what.call(function, values)
        return time.perf_counter() - began


def _ms(seconds: float) -> float:
    return float(f"{1e3 * seconds:.4g}")


def answer(request: CountRequest, module: Module, name: str) -> dict[str, Any]:
    """The line of one function."""
    subject = module.subject(name)
    arguments = Arguments(subject, request.traced.get(name))
    chosen = arguments.choose(request.sizes.get(name, {}))
    line = {"types": chosen.types, "size": chosen.sizes, "names": chosen.names}
    what = Measurable(subject, arguments, chosen)
    if what.bytes > MOST_BYTES:
        return line | {"failed": f"the arguments take {what.bytes / 1e9:.3g} GB"}
    functions = {"loops": subject.own.function}
    if "numpy" in request.against:
        functions["numpy"] = subject.original
    if "numba" in request.against:
        functions["numba"] = jitted(module, name)
    times = in_turn(what, functions)
    failed = times["loops"].get("error")
    return (
        line | {"times": times, "notes": arguments.notes} | ({"failed": failed} if failed else {})
    )


def main() -> None:
    """Answer one request."""
    request = CountRequest(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    faulthandler.dump_traceback_later(request.limit, exit=True)
    restrict(address_space=False)
    with Path(request.reply).open("a", encoding="utf-8") as reply:
        module = Module(request)
        for name in request.functions:
            try:
                line = answer(request, module, name)
            except Exception as error:
                if os.environ.get("PORTER_DEBUG"):
                    raise
                line = {"failed": said(error)}
            reply.write(json.dumps({"measured": name, **line}) + "\n")
            reply.flush()


if __name__ == "__main__":
    main()
