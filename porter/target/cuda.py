"""CUDA kernels of Numba: `numba.cuda` with numba-cuda, or numba-cuda-mlir."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from porter.target.base import Call, Target

#: NumPy's functions that stand in for Python's math on the simulator
_STAND_INS: dict[str, str] = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "pow": "power",
}  # fmt: skip
#: of these, the ones that raise where a GPU gives NaN or infinity
_RAISING = _STAND_INS.keys() - {
    "asinh", "atan", "atan2", "copysign", "hypot", "isfinite", "isinf", "isnan", "tanh",
}  # fmt: skip
#: how updates combine -> the function of `cuda.atomic`
_ATOMICS = {"add": "add", "max": "max", "min": "min", "band": "and_", "bor": "or_", "bxor": "xor"}
_CONSTANTS = {"pi": "math.pi", "e": "math.e", "inf": "math.inf", "nan": "math.nan"}


@dataclass(frozen=True)
class Cuda(Target):
    """`backend` is the package that a module imports `cuda` from."""

    backend: str = "numba"

    name = "cuda"
    title = "CUDA kernels for the NumPy functions of"
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "THREADS": ("256", "threads of a block; a power of two"),
        "MANY_THREADS": ("512", "threads of a block that works alone; a power of two"),
        "WARP": ("32", "threads of a warp"),
        "SHORT": ("1024", "longest row that one warp has"),
        "ROOM_BYTES": ("32768", "most bytes of shared memory for what the rows of a block keep"),
        "BLOCK_X": ("32", "threads of a block along the fast axis, where there are several"),
        "STRIP": ("8", "rows of a strip of a product, whose terms threads share"),
        "DEPTH": ("4 * BLOCK_X", "terms of a strip that are in shared memory at a time"),
        "TILE": ("16", "edge of the tiles in shared memory"),
        "PADDED": ("17", "row length of a tile: one more avoids bank conflicts"),
        "EACH": ("4", "rows and columns of a wide tile for each of its threads"),
        "WIDE": ("EACH * TILE", "edge of the wide tiles"),
        "EACH_LARGE": ("8", "rows of a large tile for each of its threads, which has EACH columns"),
        "WIDE_LARGE": ("EACH_LARGE * TILE", "rows of the large tiles, which have WIDE columns"),
        "LARGE": ("1280", "edge of the least result that has enough large tiles for a GPU"),
        "PANEL": ("2048", "elements of a panel of columns that are in shared memory"),
        "WIDTH": ("8", "most columns of a panel that are there at a time"),
        "LONG": ("64", "least length of lines that several threads fold"),
        "CELLS": ("1024", "most elements of an array that each block has in shared memory"),
        "CROWD": ("65536", "least elements that blocks add up in shared memory first"),
        "ALONE": ("65536", "most elements of a turn of a loop that one block takes alone"),
        "LAST_TURNS": ("64", "turns of an elimination after its panels, at least"),
        "TIME_HALO": ("4", "border of a tile that turns of a loop use up"),
        "TIME_ROWS": ("48", "rows of such a tile with its border"),
        "TIME_COLUMNS": ("64", "columns of such a tile with its border"),
        "TIME_TILE": ("TIME_ROWS * TIME_COLUMNS", "elements of such a tile"),
        "LINE_HALO": ("64", "border of such a tile of an array of one axis"),
        "LINE_TILE": ("512", "elements of such a tile with its border"),
        "MAX_BLOCKS": ("65535", "most blocks of a grid along one axis"),
        "MOST_STATES": ("65536", "threads that draw random numbers, at most"),
        "MOST_PARTIALS": ("1024", "most blocks of a grid-wide reduction"),
        "WORKSPACE_BYTES": ("268435456", "most bytes that are kept from call to call"),
        "RESULT_BYTES": ("268435456", "most bytes of results whose memory is used again"),
        "_KEPT": ("threading.local()", "arrays for the next call of each thread"),
    }
    #: whether arrays that no caller sees are kept from call to call
    keeps: ClassVar[bool] = True
    solvers = True
    decorators = frozenset(
        {"numba.cuda.jit", "numba_cuda_mlir.cuda.jit", "contextlib.contextmanager"}
    )

    def with_backend(self, backend: str) -> Self:
        """The same with `numba` or `numba-cuda-mlir`."""
        return replace(self, backend=backend)

    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        """`from numba import cuda`, with the types and the configuration that are used."""
        if self.backend == "numba":
            names = ["cuda", *types, *(["config"] if on_simulator else [])]
            return [f"from numba import {', '.join(sorted(names))}"]
        lines = ["from numba_cuda_mlir import cuda"]
        if types:
            lines.append(f"from numba_cuda_mlir.types import {', '.join(sorted(types))}")
        return lines

    def simulated_math(self, tree: ast.Module) -> str:
        """The `math` of the simulator, whose functions raise where those of a GPU do not."""
        if self.backend != "numba":
            return ""  # numba-cuda-mlir has no simulator, and no `config` to ask
        used = sorted({
            n.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute)
            and isinstance(n.value, ast.Name)
            and n.value.id == "math"
        })  # fmt: skip
        if not _RAISING & set(used):
            return ""
        plain = {m: _CONSTANTS.get(m, f"math.{m}") for m in used}
        return ", ".join(
            f"{m}=np.{_STAND_INS[m]}" if m in _STAND_INS else f"{m}={plain[m]}" for m in used
        )

    def shuffles(self) -> bool:
        """numba-cuda-mlir 0.6 makes 32 bits of a float64 and an int64 that it shuffles."""
        return self.backend == "numba"

    def replays(self) -> bool:
        """numba-cuda records launches into a graph; events and Numba's own grids stay outside."""
        return self.backend == "numba" and not (self.extras.timing or self.extras.forall)

    def counts_blocks(self, *, repeated: bool) -> bool:
        """What counts them is kept; numba-cuda-mlir 0.6 does not compile `cuda.threadfence`."""
        return self.backend == "numba" and (repeated or self.keeps)

    def simulated_warps(self, used: Collection[str]) -> bool:
        """Numba's simulator has no shuffles."""
        return "WARP" in used

    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        """A function of `cuda.atomic`."""
        return f"cuda.atomic.{_ATOMICS[op]}({array}, {index}, {value})"

    def empty(self, shape: str, dtype: str) -> str:
        """`cuda.device_array`."""
        return f"cuda.device_array({shape}, {dtype}, stream=stream)"

    def new(self, shape: str, dtype: str) -> Call:
        """The helper that uses the memory of earlier results again."""
        if not self.keeps or self.backend != "numba":
            return super().new(shape, dtype)
        return Call(f"_new({shape}, {dtype}, stream)", ("_new",))

    def copied(self, array: str) -> str:
        """`cuda.to_device`."""
        return f"cuda.to_device({array}, stream=stream)"

    def workspace(self, name: str, shape: str, dtype: str, *, zero: bool = False) -> Call:
        """The helper that keeps it for the next call."""
        if not self.keeps:
            return super().workspace(name, shape, dtype, zero=zero)
        arguments = [f'"{name}"', shape, dtype, "stream", *(["zero=True"] if zero else [])]
        return Call(f"_workspace({', '.join(arguments)})", ("_workspace",))

    def counter(self, groups: str = "") -> Call:
        """The helper that keeps it: the last block of each launch sets it to 0 again."""
        if not self.keeps:
            return super().counter(groups)
        return Call(f"_counter(stream{groups and ', ' + groups})", ("_counter",))

    def launch(
        self, kernel: str, grid: str, block: str, arguments: Sequence[str], room: str = ""
    ) -> str:
        """Numba's launch on the stream that the host function was given."""
        shape = f"{grid}, {block}, stream{room and f', {room}'}"
        return f"{kernel}[{shape}]({', '.join(arguments)})"
