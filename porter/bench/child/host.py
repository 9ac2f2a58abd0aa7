"""NumPy as a module's host functions see it: what its libraries take on the host is measured.

A function of these is called once for arguments of some shapes; later calls have its result and its
time, as what kernels would have computed is not there anyway.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: parts of NumPy whose functions take more than the host's few microseconds
_PARTS = ("linalg", "fft")
#: hands on the name of a call and its seconds
Note = Callable[[str, float], None]


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


def _form(value: Any) -> object:
    return (value.shape, value.dtype.str) if isinstance(value, np.ndarray) else value
