"""One program of NPBench and its module of loops in a process of its own: right, and how fast.

    python loops_child.py right REQUEST    what differs from the original, as JSON
    python loops_child.py time REQUEST     seconds of NumPy, of the module and of Numba, as JSON

REQUEST is a JSON file that `loops.py` wrote.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.npbench_child import (  # noqa: E402  (scripts have no package of their own)
    Arguments,
    Function,
    arguments,
    changes_anything,
    distance,
    load,
    outputs,
    problem,
    sensitivity,
    variants,
)

#: no size is lowered to it
WHOLE = 10**12


def right(request: dict[str, Any]) -> dict[str, Any]:
    """Small sizes of several layouts, then the preset's own: what differs, what is stricter."""
    original = load(Path(request["source"]), request["function"])
    converted = load(Path(request["module"]), request["function"])
    wrong, stricter, tried, telling = [], [], 0, False
    end = time.perf_counter() + request["budget"]
    for name, made in variants(request, original):
        if tried > 1 and time.perf_counter() > end:
            break
        found = problem(original, converted, made)
        tried += 1
        telling = telling or changes_anything(original, made)
        if found.startswith("raises ValueError") and tried > 1:
            stricter.append(f"[{name}] {found}")
        elif found:
            wrong.append(f"[{name}] {found}")
            break
    if not wrong:
        found = problem(original, converted, arguments(request, WHOLE))
        wrong += [f"[preset] {found}"] if found else []
    if not telling:
        wrong.append("nothing that the call leaves differs from what it was given")
    return {"wrong": wrong, "stricter": stricter, "variants": tried}


def jitted(path: Path, name: str) -> Function:
    """The unmodified program, each of its functions compiled with `njit(parallel=True)`."""
    from numba import njit

    load(path, name)
    module = sys.modules[path.stem]
    own = {
        n: f
        for n, f in vars(module).items()
        if isinstance(f, types.FunctionType) and f.__module__ == module.__name__
    }
    for n, function in own.items():
        setattr(module, n, njit(parallel=True)(function))
    compiled: Function = getattr(module, name)
    return compiled


def copies(made: Arguments) -> Arguments:
    """Arguments that a call may change."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in made)


def once(function: Function, made: Arguments) -> float:
    """Seconds of a call; the copies that it is given are not timed."""
    given = copies(made)
    start = time.perf_counter()
    function(*given)
    return time.perf_counter() - start


def timed(request: dict[str, Any]) -> dict[str, Any]:
    """Medians of seconds, and of their ratios in each run; the first call of each is apart.

    A run calls all of them, each time another one first: what a machine does to all for a while
    leaves the ratios as they are.
    """
    made = arguments(request, WHOLE)
    original = load(Path(request["source"]), request["function"])
    functions: dict[str, Function] = {
        "numpy": original,
        "loops": load(Path(request["module"]), request["function"]),
    }
    found: dict[str, Any] = {"first": {}}
    found["first"]["loops"] = once(functions["loops"], made)
    try:
        compiled = jitted(Path(request["source"]), request["function"])
        found["first"]["numba"] = once(compiled, made)
        exact = outputs(original, made)
        far = distance(exact, outputs(compiled, made))
        if far > 1e-6 and far > 64 * sensitivity(original, made, exact):
            found["numba_error"] = f"gives another result (by {far:.1e})"
        else:
            functions["numba"] = compiled
    except Exception as error:
        found["numba_error"] = type(error).__name__
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    end = time.perf_counter() + request["budget"]
    while len(seconds["loops"]) < request["runs"]:
        if len(seconds["loops"]) > 2 and time.perf_counter() > end:
            break
        turn = len(seconds["loops"]) % len(functions)
        for name in [*functions, *functions][turn : turn + len(functions)]:
            seconds[name].append(once(functions[name], made))
    found |= {name: statistics.median(all_) for name, all_ in seconds.items()}
    own = seconds.pop("loops")
    ratios = {name: statistics.median(a / b for a, b in zip(all_, own, strict=True))
              for name, all_ in seconds.items()}  # fmt: skip
    return found | {"runs": len(own), "ratios": ratios}


def main() -> None:
    """Answer one request on the last line of the output."""
    warnings.simplefilter("ignore")
    step, path = sys.argv[1:]
    request = json.loads(Path(path).read_text())
    with np.errstate(all="ignore"):
        print(json.dumps({"right": right, "time": timed}[step](request)))


if __name__ == "__main__":
    main()
