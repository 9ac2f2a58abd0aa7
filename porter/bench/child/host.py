"""NumPy and CuPy as a module's host functions see them.

What NumPy's libraries take on the host is measured.  What CuPy does on the device is counted as the
original's operations are.  A function is called once for arguments of some shapes; later calls have
its result and its time, as what kernels would have computed is not there anyway.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from porter.bench.child.operations import Total, counted, counting, plain
from porter.bench.child.recording import regular
from porter.verify.engines.cupy.arrays import plain as of_cupy
from porter.verify.engines.cupy.arrays import wrapped

#: parts of NumPy whose functions take more than the host's few microseconds
_PARTS = ("linalg", "fft")
#: hands on the name of a call and its seconds
Note = Callable[[str, float], None]
#: hands on the operations of a call, its arguments and its results
NoteOperations = Callable[[dict[str, Total], list[Any], list[Any]], None]
#: what CuPy's name has without an operation on the device
_MOVES = frozenset(["asarray", "asnumpy", "array", "ascontiguousarray", "cuda", "newaxis"])


class Host:
    """Stands for the module `numpy`."""

    def __init__(self, note: Note) -> None:
        self._parts = {name: _Part(getattr(np, name), f"np.{name}", note) for name in _PARTS}

    def __getattr__(self, name: str) -> Any:
        return self._parts[name] if name in self._parts else getattr(np, name)


class _Part:
    """Stands for a part of NumPy whose functions are timed."""

    def __init__(self, module: Any, name: str, note: Note) -> None:
        self._module, self._name, self._note = module, name, note
        self._known: dict[Any, tuple[Any, float]] = {}

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self._module, name)
        if isinstance(plain, type) or not callable(plain):
            return plain

        def timed(*args: Any, **options: Any) -> Any:
            key = name, str([_form(v) for v in (*args, *options.items())])
            if key not in self._known:
                wall, own = time.perf_counter(), time.process_time()
                made = plain(*args, **options)
                # what else the machine does makes the first longer, threads the second
                spent = min(time.perf_counter() - wall, time.process_time() - own)
                self._known[key] = made, spent
            made, spent = self._known[key]
            self._note(f"{self._name}.{name}", spent)
            return made

        return timed


class Cupy:
    """Stands for the module `cupy`, or for a part of it, whose stand-in is `module`."""

    def __init__(self, module: Any, own: Any, note: NoteOperations) -> None:
        self._module, self._own, self._note = module, own, note
        self._known: dict[Any, tuple[Any, dict[str, Total]]] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            self.__dict__[name] = Cupy(found, getattr(self._own, name), self._note)
            return self.__dict__[name]
        if name in _MOVES or isinstance(found, type) or not callable(found):
            return found
        return partial(self._called, name)

    def _called(self, name: str, *args: Any, **options: Any) -> Any:
        given, more = of_cupy(list(args)), {k: of_cupy(v) for k, v in options.items()}
        key = name, str([_form(v) for v in (*given, *more.items())])
        if key not in self._known:
            with counted({}, "") as operations:
                made = getattr(self._own, name)(*map(_counting, given), **more)
            totals = {name: total for (name, _), total in operations.totals.items()}
            self._known[key] = wrapped(plain(made)), totals
        result, totals = self._known[key]
        several = isinstance(result, (tuple, list))
        self._note(totals, given, [of_cupy(r) for r in (result if several else (result,))])
        return result


def _counting(value: Any) -> Any:
    if isinstance(value, np.ndarray) and not value.any():
        value = regular(value.copy())
    return counting(value)


def _form(value: Any) -> object:
    return (value.shape, value.dtype.str) if isinstance(value, np.ndarray) else value
