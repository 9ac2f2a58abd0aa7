"""Measured times: warm calls, repeated, their median and their spread."""

from __future__ import annotations

import importlib
import re
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from porter.bench.child.arguments import Arguments, Chosen
from porter.bench.child.limit import processor_limit
from porter.verify.checks.subject import Subject
from porter.verify.oracle import calls

#: seconds that the calls of one measurement take together, and how many there are at most
SECONDS, MOST_RUNS, FEWEST_RUNS = 1.0, 50, 3
#: processor seconds after which a measurement ends without a result
_PATIENCE = 10.0
#: bytes of arguments beyond which nothing is measured on the CPU
_MOST_BYTES = 1 << 30
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_BOILERPLATE = re.compile(r"Failed in nopython mode pipeline \(step: [^)]*\)")


class Measurable(NamedTuple):
    """A function and the call that is measured."""

    subject: Subject
    arguments: Arguments
    chosen: Chosen

    def values(self) -> list[Any]:
        """Fresh arguments, each element with a value."""
        return [
            np.array(v) if isinstance(v, np.ndarray) else v
            for _, v in self.arguments.make(self.chosen, np.resize)
        ]

    @property
    def bytes(self) -> int:
        """Bytes of the arguments."""
        return sum(v.nbytes for _, v in self.arguments.make(self.chosen)
                   if isinstance(v, np.ndarray))  # fmt: skip

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Call a function of the original's parameters."""
        names = calls.keyword_only(self.subject.original)
        count = len(values) - len(names)
        return function(*values[:count], **dict(zip(names, values[count:], strict=False)))


def timed(
    prepare: Callable[[], Sequence[Any]],
    call: Callable[[Sequence[Any]], float],
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """Times of some calls in milliseconds, after one that is not counted.

    `prepare` makes arguments, which takes no part in the time; `call` gives seconds.
    """
    began = time.perf_counter()
    call(prepare())
    first = time.perf_counter() - began
    found: list[float] = []
    while len(found) < FEWEST_RUNS or (sum(found) < seconds and len(found) < MOST_RUNS):
        found.append(call(prepare()))
    return {
        "ms": _ms(statistics.median(found)),
        "least_ms": _ms(min(found)),
        "most_ms": _ms(max(found)),
        "runs": len(found),
        "first_ms": _ms(first),
    }


def _ms(seconds: float) -> float:
    return float(f"{1e3 * seconds:.4g}")


def measured(what: Measurable, against: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The times of the original on this CPU, or why there are none, by `numpy` and `numba`."""
    return {name: _on_cpu(what, name) for name in against if name in ("numpy", "numba")}


def _on_cpu(what: Measurable, name: str) -> dict[str, Any]:
    if what.bytes > _MOST_BYTES:
        return {"error": f"the arguments take {what.bytes / 1e9:.3g} GB"}
    try:
        function = what.subject.original
        if name == "numba":
            # users' code is compiled only where it is asked for
            function = importlib.import_module("numba").njit(function)

        def call(values: Sequence[Any]) -> float:
            began = time.perf_counter()
            what.call(function, values)
            return time.perf_counter() - began

        with processor_limit(_PATIENCE), np.errstate(all="ignore"):
            return timed(what.values, call) | {"on": "CPU, 1 thread"}
    except calls.TooLong:
        return {"error": f"no result in {_PATIENCE:g} s"}
    except Exception as error:
        return {"error": said(error)}


def said(error: Exception) -> str:
    """An error on one line, without colours and without what Numba says of every one."""
    text = _BOILERPLATE.sub("", _COLOUR.sub("", str(error)))
    return " ".join(f"{type(error).__name__}: {text}".split())[:160]
