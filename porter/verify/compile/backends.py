"""The packages that compile kernels to PTX: one of them for each child process.

`numba` is Numba's own CUDA target, which needs a CUDA toolkit of the system; `numba-cuda` is
NVIDIA's package, which puts itself in its place where both are installed; `numba-cuda-mlir` is
NVIDIA's next one, imported by its own name.  Kernels are the same text for all of them.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

from porter.verify.engines import mlir_stand_in

#: what to install, by the name of the package
BACKENDS = {
    "numba": 'pip install "porter[cuda]", or NVIDIA\'s CUDA toolkit',
    "numba-cuda": 'pip install "porter[cuda]"',
    "numba-cuda-mlir": 'pip install "numba-cuda-mlir[cu13]"',
}


def version(name: str) -> str | None:
    """The version of a package that is installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def chosen(given: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The packages to compile a module with: its own here if none are given, or `all` there are."""
    if "all" in given:
        return tuple(name for name in BACKENDS if version(name))
    wanted = ["numba-cuda-mlir"] if mlir_stand_in.needed(text) else []
    own = next((n for n in (*wanted, "numba-cuda") if version(n)), "numba")
    return tuple(dict.fromkeys(given)) or (own,)


#: numba-cuda lowers a kernel to the same NVVM IR from this compute capability on
_ALIKE = (7, 5)


class Device:
    """Stands in for the current GPU: calls to device functions ask for one."""

    compute_capability = (9, 0)


class Numba:
    """`numba.cuda` as it is imported: NVIDIA's if numba-cuda is installed."""

    def __init__(self) -> None:
        # the parent's process asks only which of them is installed
        import numba.cuda.dispatcher as dispatcher
        from numba import cuda, types
        from numba.np.numpy_support import from_dtype

        dispatcher.get_current_device = Device
        self.cuda, self.types, self.from_dtype = cuda, types, from_dtype
        self.libraries: dict[tuple[object, ...], Any] = {}

    def target(self, capability: tuple[int, int]) -> None:
        """The compute capability that device functions are compiled for from now on."""
        Device.compute_capability = capability

    def install(self, text: str) -> None:
        """Let a module's text import its CUDA target."""
        if mlir_stand_in.needed(text):
            mlir_stand_in.install()

    def ptx(
        self, function: Any, arguments: list[dict[str, Any]], capability: tuple[int, int],
        **options: Any,
    ) -> str:  # fmt: skip
        """The PTX of a Python function as a kernel; raises what the compiler raises."""
        return self.lowered(function, arguments, capability, **options)()

    def lowered(
        self, function: Any, arguments: list[dict[str, Any]], capability: tuple[int, int],
        **options: Any,
    ) -> Callable[[], str]:  # fmt: skip
        """A kernel after type inference: a function, for any thread, that gives its PTX."""
        signature = self.types.void(*map(self.type, arguments))
        found = self._library(function, signature, capability, options)
        if found is not None:
            return lambda: "\n".join(found.get_asm_strs(cc=capability))
        made = self.cuda.compile_ptx(function, signature, cc=capability, **options)[0]
        text = made.decode() if isinstance(made, bytes) else str(made)
        return lambda: text

    def _library(
        self, function: Any, signature: Any, capability: tuple[int, int], options: dict[str, Any]
    ) -> Any:
        """The kernel's NVVM IR, made once for all architectures; None where it has no name.

        Type inference and lowering take two thirds of a compilation, and numba-cuda asks them for
        nothing about the architecture above compute capability 7.5 (`mathimpl`, `nvvmutils`).
        """
        lower = getattr(import_module("numba.cuda.compiler"), "_compile_pyfunc_with_fixup", None)
        if lower is None or capability < _ALIKE:
            return None
        key = (function, signature, *sorted(options.items()))
        if key not in self.libraries:
            how = {"device": False, "abi": "numba"} | options
            self.libraries[key] = lower(function, signature, cc=capability, **how)[0]
        return self.libraries[key]

    def type(self, description: dict[str, Any]) -> Any:
        """The type of a launch argument."""
        # start-up: only the child compiles
        from numpy import dtype

        if "array" in description:
            element = self.from_dtype(dtype(description["array"]))
            return self.types.Array(element, description["ndim"], description["layout"])
        if "tuple" in description:
            return self.types.Tuple([self.type(d) for d in description["tuple"]])
        if "none" in description:
            return self.types.none
        return self.from_dtype(dtype(description["scalar"]))


class OwnNumba(Numba):
    """The `numba.cuda` inside Numba, where numba-cuda is installed too."""

    def __init__(self) -> None:
        sys.meta_path = [f for f in sys.meta_path if type(f).__name__ != "NumbaCudaFinder"]
        super().__init__()


class Mlir(Numba):
    """numba-cuda-mlir, for modules that import `numba` too: a stand-in gives them its names."""

    def __init__(self) -> None:
        self.tools: Any = import_module("numba_cuda_mlir.tools")
        self.cuda, self.types = (import_module(f"numba_cuda_mlir.{n}") for n in ("cuda", "types"))
        support = import_module("numba_cuda_mlir.numba_cuda.np.numpy_support")
        self.from_dtype = support.from_dtype
        self.target(Device.compute_capability)

    def _library(self, *_: Any) -> None:
        """It has no name for a kernel that is lowered only."""

    def target(self, capability: tuple[int, int]) -> None:
        """It asks a GPU otherwise: there is no public way to say it."""
        self.tools._cached_cc = capability

    def install(self, text: str) -> None:
        """`from numba import config, cuda, float64` gives what this package has."""
        module = types.ModuleType("numba")
        vars(module).update({k: v for k, v in vars(self.types).items() if not k.startswith("_")})
        config = types.SimpleNamespace(ENABLE_CUDASIM=False)
        vars(module).update(cuda=self.cuda, types=self.types, config=config, __path__=[])
        names = {"numba": module, "numba.cuda": self.cuda, "numba.types": self.types}
        sys.modules.update(names)


KINDS: dict[str, type[Numba]] = {
    "numba": OwnNumba, "numba-cuda": Numba, "numba-cuda-mlir": Mlir
}  # fmt: skip


def _probe(x: Any) -> None:
    x[0] = x[0] + x[0]


def backend(name: str) -> Numba:
    """The package, ready to compile; raises what it raises where it cannot."""
    found = KINDS[name]()
    found.ptx(_probe, [{"array": "float32", "ndim": 1, "layout": "C"}], Device.compute_capability)
    return found
