"""Ufuncs for CUDA, where there is no GPU: the same signatures and body, compiled for the CPU.

Numba's simulator has no ufuncs.  The decorators of a module are changed as it is loaded, and the
host function calls what `Called` makes of them: a ufunc for the CPU, or on the PTX machine the
kernel that Numba makes around the body for CUDA.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import guvectorize, njit, vectorize

from porter.verify.engines.launches import LAUNCHES
from porter.verify.engines.streams import STREAMS

_MAKERS = ("vectorize", "guvectorize")
#: threads of a block on the PTX machine; Numba chooses them for a GPU
_BLOCK = 128


def for_cuda(tree: ast.Module) -> list[ast.Call]:
    """The decorators that make ufuncs for CUDA."""
    return [
        d for f in tree.body if isinstance(f, ast.FunctionDef) for d in f.decorator_list
        if isinstance(d, ast.Call) and _name(d) in _MAKERS and _target(d) == "cuda"
    ]  # fmt: skip


def _name(decorator: ast.Call) -> str:
    return getattr(decorator.func, "attr", getattr(decorator.func, "id", ""))


def _target(decorator: ast.Call) -> object:
    given = (k.value for k in decorator.keywords if k.arg == "target")
    return next((v.value for v in given if isinstance(v, ast.Constant)), "cpu")


def rewrite(tree: ast.Module, ufunc: str, helper: str) -> None:
    """Put these names in place of the decorators of ufuncs for CUDA and of their helpers."""
    for d in for_cuda(tree):
        d.func = ast.copy_location(ast.Name(ufunc, ast.Load()), d.func)
        d.keywords = []
    for f in tree.body:
        if isinstance(f, ast.FunctionDef):
            f.decorator_list = [
                ast.copy_location(ast.Name(helper, ast.Load()), d) if _is_helper(d) else d
                for d in f.decorator_list
            ]
    ast.fix_missing_locations(tree)


def _is_helper(decorator: ast.expr) -> bool:
    """`cuda.jit(device=True)`."""
    return isinstance(decorator, ast.Call) and any(k.arg == "device" for k in decorator.keywords)


def kernel_source(name: str, count: int) -> str:
    """The kernel that Numba makes around the body of a ufunc (`cuda/vectorizers.py`)."""
    given = [f"a{k}" for k in range(count)]
    elements = ", ".join(f"{a}[tid]" for a in given)
    return (
        f"def {name}({', '.join([*given, 'out'])}):\n"
        f"    tid = cuda.grid(1)\n"
        f"    if tid < out.shape[0]:\n"
        f"        out[tid] = core({elements})\n"
    )


@dataclass(frozen=True)
class Layout:
    """How many core dimensions each argument of a generalized ufunc has, and how it gets them."""

    cores: tuple[int, ...]
    inputs: int
    arrays: tuple[bool, ...]

    @classmethod
    def parse(cls, layout: str, signature: str) -> Layout:
        """Of `(n),()->(n)` and `void(float64[:], float64, float64[:])`."""
        given, made = (_ranks(side) for side in layout.split("->"))
        types = re.findall(r"\w+(?:\[[:, ]*\])?", signature.partition("(")[2])
        return cls((*given, *made), len(given), tuple("[" in t for t in types))

    def source(self, name: str) -> str:
        """The kernel that Numba makes around the body (`cuda/vectorizers.py`)."""
        names = [f"a{k}" for k in range(len(self.cores))]
        parts = []
        for a, core, whole in zip(names, self.cores, self.arrays, strict=True):
            # a result of no core dimensions is an array of one element
            index = ", ".join(["tid", *":" * core]) if core or not whole else "tid : tid + 1"
            parts.append(f"{a}[{index}]")
        rows = ", ".join(f"{a}.shape[0]" for a in names)
        return (
            f"def {name}({', '.join(names)}):\n"
            f"    tid = cuda.grid(1)\n"
            f"    if tid < min({rows}):\n"
            f"        core({', '.join(parts)})\n"
        )


def _ranks(side: str) -> tuple[int, ...]:
    found = re.findall(r"\(([^)]*)\)", side)
    return tuple(len([n for n in core.split(",") if n]) for core in found)


class CalledParts:
    """A generalized ufunc for CUDA, called as the one of `numba.cuda` is."""

    def __init__(
        self, signatures: Sequence[str], layout: str, function: Callable[..., Any]
    ) -> None:
        self.__name__ = function.__name__
        self.cpu = guvectorize(signatures, layout, target="cpu")(function)
        self.layout = Layout.parse(layout, signatures[0])
        self.known = {tuple(re.findall(r"[a-z]+\d*", s.partition("(")[2])) for s in signatures}
        names: dict[str, Any] = {"__name__": function.__globals__.get("__name__", "")}
        exec(self.layout.source(self.__name__), names)
        self.kernel = names[self.__name__]

    def __call__(self, *args: Any, stream: Any = 0) -> None:
        """Store what it computes, as CUDA does for these dtypes and outer axes."""
        STREAMS.used(f"calls `{self.__name__}`", stream)
        values = [np.asarray(getattr(a, "_ary", a)) for a in args]
        dtypes = tuple(str(v.dtype).replace("bool", "boolean") for v in values)
        if dtypes not in self.known:
            raise TypeError(f"`{self.__name__}` has no signature for {', '.join(dtypes)}")
        cores = [v.shape[v.ndim - c :] for v, c in zip(values, self.layout.cores, strict=True)]
        outer = values[-1].shape[: values[-1].ndim - self.layout.cores[-1]]
        for v, core in zip(values, cores, strict=True):
            if v.shape[: v.ndim - len(core)] not in (outer, ()):
                raise ValueError("outer dimension mismatch")
        count = math.prod(outer)
        rows = [np.broadcast_to(v, (*outer, *core)).reshape(count, *core)
                for v, core in zip(values[: self.layout.inputs], cores, strict=False)]  # fmt: skip
        made = values[self.layout.inputs :]
        rows += [v.reshape(count, *core)
                 for v, core in zip(made, cores[self.layout.inputs :], strict=True)]  # fmt: skip
        if not on_machine(self.kernel, rows):
            self.cpu(*values)
        LAUNCHES.note(self.kernel, tuple(rows))


class Called:
    """A ufunc for CUDA, called as the one of `numba.cuda` is."""

    def __init__(self, signatures: Sequence[str], function: Callable[..., Any]) -> None:
        self.__name__ = function.__name__
        self.cpu = vectorize(signatures, target="cpu")(function)
        names: dict[str, Any] = {"__name__": function.__globals__.get("__name__", "")}
        exec(kernel_source(self.__name__, self.cpu.nin), names)
        self.kernel = names[self.__name__]

    def __call__(self, *args: Any, out: Any, stream: Any = 0) -> Any:
        """Store what it computes; the dtypes are those of a signature, as CUDA demands it."""
        STREAMS.used(f"calls `{self.__name__}`", stream)
        values = [getattr(a, "_ary", a) for a in args]
        dtypes = [np.asarray(v).dtype for v in (*values, out)]
        codes = "".join(d.char for d in dtypes[:-1]) + "->" + dtypes[-1].char
        if codes not in self.cpu.types and not _is_alike(codes, self.cpu.types):
            raise TypeError(f"`{self.__name__}` has no signature for {', '.join(map(str, dtypes))}")
        arrays = [*(_spread(v, out.shape) for v in values), out]
        if not on_machine(self.kernel, arrays):
            self.cpu(*values, out=out._ary)
        LAUNCHES.note(self.kernel, tuple(arrays))
        return out


def on_machine(function: Callable[..., Any], arrays: Sequence[Any]) -> bool:
    """Whether the compiled kernel ran on the PTX machine."""
    # imports Numba's simulator, which the compiler's child has not
    from porter.verify.engines.simulator import EMULATED

    if EMULATED[-1] is None:
        return False
    blocks = -(-arrays[-1].shape[0] // _BLOCK)
    kernel = SimpleNamespace(
        fn=function, grid_dim=(blocks, 1, 1), block_dim=(_BLOCK, 1, 1), dynshared_size=0
    )
    return EMULATED[-1](kernel, tuple(arrays))


def _is_alike(codes: str, known: Sequence[str]) -> bool:
    """Whether a signature has these dtypes under other letters: there are two of 64 bits."""

    def same(text: str) -> str:
        return "".join(c if c in "->" else np.dtype(c).str for c in text)

    return any(same(codes) == same(k) for k in known)


def _spread(value: Any, shape: tuple[int, ...]) -> Any:
    """An argument as the kernel gets it: a number is an array whose stride is 0."""
    return value if np.ndim(value) else np.broadcast_to(np.asarray(value), shape)


def _called(signatures: Sequence[str], layout: str = "") -> Callable[..., Any]:
    """What a decorator makes."""
    return partial(CalledParts, signatures, layout) if layout else partial(Called, signatures)


#: what rewritten modules find among their globals
NAMES = {"_porter_ufunc": _called, "_porter_helper": njit(error_model="numpy")}
