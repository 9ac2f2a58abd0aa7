"""Calls a generated module of `examples/` in every way a user may, beside the original.

    NUMBA_ENABLE_CUDASIM=1 python -m tests.end_to_end.sweep_child MODULE SOURCE

Prints JSON: how many calls were compared, and one line for each that differed.  A call is
compared strictly (what NumPy returns or raises must come back) or, where NumPy takes more
kinds of argument than kernels do, loosely: the same result, or a clean TypeError or ValueError.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.corpus import simulator
from tests.end_to_end.sweep_cases import EXAMPLES, Call, Example, base, calls

Function = Callable[..., Any]
CLEAN = (TypeError, ValueError, IndexError)


def load(path: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(function: Function, call: Call) -> tuple[Any, Exception | None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*call.args, **call.keywords), None
        except Exception as error:
            return None, error


def said(error: Exception | None) -> str:
    return "nothing" if error is None else f"{type(error).__name__}: {error}"[:150]


def compared(original: Function, converted: Function, make: Callable[[], Call]) -> str:
    """What differs between the two on one call, or an empty string."""
    theirs, ours = make().for_numpy(), make()
    wanted, raised = outcome(original, theirs)
    got, error = outcome(converted, ours)
    if error is not None and not isinstance(error, CLEAN):
        return f"raised {said(error)}"
    if raised is not None:
        return not_raised(raised, error, theirs)
    if error is not None:
        return "" if theirs.loose else f"raised {said(error)}"
    if theirs.device:
        got = on_host(got)
        if isinstance(got, str):
            return got
    # of float32 beside float64 NumPy computes a part in float32, the module none
    dtypes = {a.dtype.name for a in theirs.hosts() if isinstance(a, np.ndarray)}
    found = differs(wanted, got, "result", {"float32", "float64"} <= dtypes)
    found = found or changed(theirs, ours)
    return found or sharing(wanted, got, theirs, ours)


def not_raised(raised: Exception, error: Exception | None, call: Call) -> str:
    # what has no `.shape` may be taken as np.asarray does
    if call.loose and isinstance(raised, AttributeError):
        return ""
    if error is None:
        return f"raised nothing, NumPy {said(raised)}"
    if not call.loose and not isinstance(error, type(raised)):
        return f"raised {said(error)}, NumPy {said(raised)}"
    return ""


def on_host(got: Any) -> Any:
    """Device results as host arrays; a sentence when a result is not on the device."""
    if isinstance(got, tuple):
        moved = [on_host(g) for g in got]
        return next((m for m in moved if isinstance(m, str)), tuple(moved))
    if got is None:
        return None
    if not hasattr(got, "copy_to_host"):
        return f"device arrays in, but {type(got).__name__} out"
    host = got.copy_to_host()
    return host[()] if host.ndim == 0 else host


def differs(wanted: Any, got: Any, what: str, single: bool = False) -> str:
    if type(wanted) is not type(got):
        return f"{what} is {type(got).__name__} instead of {type(wanted).__name__}"
    if isinstance(wanted, tuple):
        if len(wanted) != len(got):
            return f"{len(got)} results instead of {len(wanted)}"
        pairs = enumerate(zip(wanted, got, strict=True))
        return next((d for i, (w, g) in pairs if (d := differs(w, g, f"{what} {i}", single))), "")
    if not isinstance(wanted, np.ndarray | np.generic):
        return "" if wanted == got else f"{what} is {got!r} instead of {wanted!r}"
    # kernels know the machine's byte order only, so that is what a new array may have
    dtypes = (wanted.dtype, wanted.dtype.newbyteorder("="))
    if got.dtype not in dtypes or wanted.shape != got.shape:
        return f"{what} is {got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    return values_differ(np.asarray(wanted), np.asarray(got), what, single)


def values_differ(wanted: Any, got: Any, what: str, single: bool) -> str:
    if wanted.dtype.kind not in "fc":
        return "" if (wanted == got).all() else f"{what} differs"
    if (np.isnan(wanted) != np.isnan(got)).any():
        return f"{what} has NaN elsewhere"
    finite = np.isfinite(wanted)
    if not np.array_equal(wanted[~finite], got[~finite], equal_nan=True):
        return f"{what} has infinities elsewhere"
    unit = float(np.finfo(np.float32 if single else wanted.dtype).eps)
    scale = float(np.abs(wanted[finite]).max(initial=0.0))
    difference = np.abs(wanted[finite] - got[finite]).astype(np.float64)
    error = difference / (np.abs(wanted[finite]).astype(np.float64) + scale / 64 + 1e-300)
    worst = float(error.max(initial=0.0))
    return "" if worst <= 256 * unit else f"{what} is off by {worst / unit:.0f} roundings"


def changed(theirs: Call, ours: Call) -> str:
    """Whether the arguments came out of the two calls alike."""
    for i, (a, b) in enumerate(zip(theirs.hosts(), ours.hosts(), strict=True)):
        compared = isinstance(a, np.ndarray) and not isinstance(b, list)
        if compared and (found := differs(a, b, f"argument {i} afterwards")):
            return found
    return ""


def sharing(wanted: Any, got: Any, theirs: Call, ours: Call) -> str:
    """Whether a result is, or shares memory with, the same arguments."""
    results = zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, got)), strict=True)
    for w, g in results:
        for i, (a, b) in enumerate(zip(theirs.args, ours.args, strict=True)):
            if isinstance(a, np.ndarray) and (w is a) != (g is b) and not ours.device:
                return f"a result {'is' if g is b else 'is not'} argument {i}"
            host = isinstance(w, np.ndarray) and isinstance(a, np.ndarray)
            if host and isinstance(b, np.ndarray):
                if np.shares_memory(w, a) != np.shares_memory(g, b):
                    return f"a result shares memory with argument {i}: {np.shares_memory(g, b)}"
    return ""


def sweep(example: Example, original: Function, converted: Function) -> Iterator[tuple[str, str]]:
    for name, make in (*calls(example), *by_name(example, original)):
        yield name, compared(original, converted, make)


def by_name(example: Example, original: Function) -> Iterator[tuple[str, Callable[[], Call]]]:
    """Arguments by keyword, unknown keywords, and defaults left out."""
    parameters = inspect.signature(original).parameters
    made = partial(base, example)
    yield "by keyword", lambda: Call([], dict(zip(parameters, made(), strict=True)))
    yield "an unknown keyword", lambda: Call(made(), {"unheard_of": 1})
    needed = sum(p.default is inspect.Parameter.empty for p in parameters.values())
    for count in range(needed, len(parameters)):
        yield f"{count} arguments", lambda count=count: Call(made()[:count])


def main(arguments: Sequence[str]) -> None:
    module, source = arguments
    # threads in turns: quick, and shared memory is allocated once, where the plain simulator races
    simulator.install()
    converted, original = load(module, "converted"), load(source, "original")
    stem = Path(source).stem
    count, failures = 0, []
    for (file, function), example in EXAMPLES.items():
        if file != stem:
            continue
        pair = getattr(original, function), getattr(converted, function)
        for name, found in sweep(example, *pair):
            count += 1
            if found:
                failures.append(f"{function}, {name}: {found}")
    print(json.dumps({"calls": count, "failures": failures}))


if __name__ == "__main__":
    main(sys.argv[1:])
