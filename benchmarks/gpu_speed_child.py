"""The child process of `benchmarks/gpu_speed.py`: one module on the GPU, beside CuPy.

`python gpu_speed_child.py MODULE NAME SIZES LOCK AGAINST` prints a line of JSON: the times of
`porter bench`, and whether the module's results are those of the original with CuPy.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

from porter.bench.child.arguments import Arguments
from porter.bench.child.gpu_child import LIBRARIES, swapped, times
from porter.bench.child.loading import Module
from porter.bench.child.measuring import Measurable, said
from porter.bench.request import CountRequest
from porter.verify.oracle.calls import given_by_keyword

#: extents of calls that only compile
SMALL = 48
#: bytes of results beyond which they are not compared
MOST = 1 << 30


def flat(values: Any) -> list[Any]:
    """The arrays and numbers of a result, on the host."""
    if isinstance(values, (list, tuple)):
        return [x for value in values for x in flat(value)]
    if values is None:
        return []
    copied = getattr(values, "copy_to_host", None) or getattr(values, "get", None)
    return [np.asarray(copied() if copied else values)]


def difference(ours: list[Any], theirs: list[Any]) -> str:
    """How far results are apart, relative to the largest of each array; "" if not at all."""
    worst = 0.0
    if [x.shape for x in ours] != [x.shape for x in theirs]:
        return f"shapes {[x.shape for x in ours]} and {[x.shape for x in theirs]}"
    for x, y in zip(ours, theirs, strict=True):
        if not x.size:
            continue
        if x.dtype.kind not in "fc":
            share = float(np.mean(x != y))
            if share:
                return f"{share:.2g} of the elements"
            continue
        finite = np.isfinite(y)
        if not np.array_equal(finite, np.isfinite(x)):
            return "other elements are finite"
        x, y = x[finite], y[finite]
        if x.size:
            scale = float(np.max(np.abs(y))) or 1.0
            worst = max(worst, float(np.max(np.abs(x - y))) / scale)
    return f"{worst:.1e}" if worst else ""


def compile_small(what: Measurable, namespace: dict[str, Any], libraries: tuple[str, ...]) -> None:
    """Call everything with small arrays: most is compiled then, while others are timed."""
    small = {name: min(n, SMALL) for name, n in what.chosen.extents.items()}
    tiny = what._replace(chosen=what.chosen.of(small))
    function = what.subject.own.function
    names = given_by_keyword(function, what.subject.record.own_stream)
    # where sizes do not fit together, the large call compiles
    with contextlib.suppress(Exception):
        values = [cuda.to_device(v) if isinstance(v, np.ndarray) else v for v in tiny.values()]
        count = len(values) - len(names)
        function(*values[:count], **dict(zip(names, values[count:], strict=False)))
        cuda.synchronize()
    for name in libraries:
        with contextlib.suppress(Exception):
            path, convert, wait = LIBRARIES[name]
            module = importlib.import_module(path)
            made = [convert(module, v) if isinstance(v, np.ndarray) else v for v in tiny.values()]
            with swapped(namespace, module):
                wait(module, tiny.call(tiny.subject.original, made))


def compared(what: Measurable, namespace: dict[str, Any]) -> dict[str, Any]:
    """Results and mutated arguments of the module and of the original with CuPy."""
    cupy = importlib.import_module("cupy")
    if what.bytes > MOST:
        return {"error": "too large"}
    function = what.subject.own.function
    names = given_by_keyword(function, what.subject.record.own_stream)
    values = what.values()
    ours = [cuda.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
    count = len(ours) - len(names)
    result = function(*ours[:count], **dict(zip(names, ours[count:], strict=False)))
    mine = flat(result) + flat([v for v in ours if hasattr(v, "copy_to_host")])
    theirs = [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in values]
    with swapped(namespace, cupy):
        result = what.call(what.subject.original, theirs)
    other = flat(result) + flat([v for v in theirs if isinstance(v, cupy.ndarray)])
    return {"difference": difference(mine, other)}


def main() -> None:
    """Measure, print."""
    module, name, sizes, lock, against = sys.argv[1:]
    faulthandler.dump_traceback_later(300, exit=True)
    numbers = json.loads(sizes)
    request = CountRequest(
        module, module, (name,), {name: numbers}, {}, "", "", "", "", 0.0, 0.0, run_module=False
    )
    loaded = Module(request)
    subject = loaded.subject(name)
    arguments = Arguments(subject, None)
    what = Measurable(subject, arguments, arguments.choose(numbers))
    namespace = loaded.source.original.namespace

    @contextmanager
    def alone() -> Iterator[None]:
        with Path(lock).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    libraries = tuple(x for x in against.split(",") if x)
    compile_small(what, namespace, libraries)
    found: dict[str, Any] = times(what, namespace, libraries, cuda, alone)
    if "cupy" in libraries:
        try:
            with alone():
                found["compared"] = compared(what, namespace)
        except Exception as error:
            found["compared"] = {"error": said(error)}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
