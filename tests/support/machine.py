"""Modules and kernels on the PTX machine: compiled without a GPU, launched as on one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from porter.ptx.machine.counts import Counts
from porter.ptx.machine.launch import launch
from porter.ptx.machine.task import Code
from porter.verify.compile.backends import backend
from porter.verify.compile.ptx_child import Module
from porter.verify.engines.launches import argument_type

BACKEND = "numba-cuda"


@cache
def compiler() -> Any:
    """The compiler, or None where none is installed."""
    try:
        return backend(BACKEND)
    except Exception:
        return None


class DeviceArray(np.ndarray[Any, Any]):
    """A NumPy array that stands for one on the device."""

    def copy_to_host(self, stream: Any = 0) -> np.ndarray[Any, Any]:
        return np.array(self, subok=False)

    def copy_to_device(self, values: Any, stream: Any = 0) -> None:
        self[...] = values

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"array": self}


def three(dims: Any) -> tuple[int, int, int]:
    given = (dims,) if isinstance(dims, int | np.integer) else tuple(dims)
    x, y, z = (*(int(n) for n in given), 1, 1, 1)[:3]
    return x, y, z


#: as a context of numba-cuda, it has no hash
CONTEXT = ["the machine's"]


class Cuda:
    """What generated host functions use of `numba.cuda`."""

    @staticmethod
    def current_context() -> list[str]:
        return CONTEXT

    @staticmethod
    def to_device(array: Any, stream: Any = 0) -> DeviceArray:
        return np.array(array).view(DeviceArray)

    @staticmethod
    def device_array(shape: Any, dtype: Any, stream: Any = 0) -> DeviceArray:
        made = np.empty(shape, dtype)
        made.reshape(-1).view(np.uint8).fill(0xFF)
        return made.view(DeviceArray)

    @staticmethod
    def from_cuda_array_interface(where: dict[str, Any], owner: Any) -> DeviceArray:
        made: DeviceArray = where["array"].view(DeviceArray)
        made.owner = owner  # type: ignore[attr-defined]
        return made


class Kernel:
    """A kernel that is compiled for the types of each launch and runs on the machine."""

    def __init__(self, ptx: Callable[[list[dict[str, Any]]], str], names: list[str]) -> None:
        self.ptx, self.names = ptx, names
        self.codes: dict[str, Code] = {}
        self.counts: Counts | None = None
        self.seed: int | None = None
        self.launches = 0

    def __getitem__(self, how: Any) -> Any:
        def run(*args: Any) -> int:
            args = tuple(np.asarray(a) if isinstance(a, DeviceArray) else a for a in args)
            types = [argument_type(a) for a in args]
            key = str(types)
            if key not in self.codes:
                self.codes[key] = Code(self.ptx(types))
            self.launches += 1
            return launch(
                self.codes[key], three(how[0]), three(how[1]), args, names=self.names,
                dynamic=how[3] if len(how) > 3 else 0, counts=self.counts, seed=self.seed,
            )  # fmt: skip

        return run


def kernel(function: Any, arch: tuple[int, int] = (9, 0), **options: Any) -> Kernel:
    """A Python function as a kernel of the machine."""
    function = getattr(function, "py_func", function)
    names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    return Kernel(lambda types: compiler().ptx(function, types, arch, **options), names)


def module(path: Path, arch: str) -> Any:
    """A generated module whose kernels run on the machine."""
    loaded = Module(path, path, compiler())
    loaded.target(arch)
    names = vars(loaded.module)
    plain = dict(names)
    changed: dict[str, Any] = {"cuda": Cuda}

    def machine(name: str, value: Any) -> Kernel:
        def ptx(types: list[dict[str, Any]]) -> str:
            names.update(plain)
            try:
                return loaded.ptx({"kernel": name, "types": types}, arch)
            finally:
                names.update(changed)

        code = value.py_func.__code__
        return Kernel(ptx, list(code.co_varnames[: code.co_argcount]))

    for name, value in plain.items():
        if hasattr(value, "py_func") and not value.targetoptions.get("device"):
            changed[name] = machine(name, value)
    names.update(changed)
    return loaded.module
