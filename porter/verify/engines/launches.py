"""Launches of kernels, wherever they run: their limits, what was launched, poisoned memory."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

MAX_THREADS = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)


#: launches of a case on the simulator, which takes ten milliseconds for a small one
MOST_LAUNCHES = 1000


class LaunchError(ValueError):
    """A launch configuration that a GPU refuses."""


class TooCostly(Exception):
    """A launch would simulate more than the case may."""


class Launches:
    """Which kernels were launched with which argument types, each combination once."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[str, Any]] = {}
        self.blocks: dict[tuple[str, str], int] = {}
        self.count = 0
        self.left = math.inf
        self.simulated = 0

    def clear(self) -> None:
        """Forget everything, for the next function."""
        self.__init__()  # type: ignore[misc]

    def allow(self, work: float) -> None:
        """How many threads may be simulated from now on; one with barriers counts as ten."""
        self.left = work
        self.simulated = 0

    def shape(self, function: Any, block: tuple[int, ...]) -> None:
        """Keep the largest block of a kernel, by the name of its version of the module."""
        key = function.__globals__.get("__name__", ""), function.__name__
        self.blocks[key] = max(math.prod(block), self.blocks.get(key, 0))

    def spend(self, name: str, work: float) -> None:
        """Count the work of a launch that is to be simulated; raises `TooCostly`."""
        self.left -= work
        self.simulated += 1
        if self.simulated > MOST_LAUNCHES:
            raise TooCostly(f"`{name}` is launched too often for the simulator")
        if self.left < 0:
            raise TooCostly(f"`{name}` has too many threads for the simulator")

    def note(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Record one launch; whether it is the first of this kernel with these types."""
        name = function.__name__
        types = [argument_type(a) for a in args]
        self.count += 1
        known = len(self.seen)
        self.seen.setdefault(f"{name} {types}", {"kernel": name, "types": types})
        return len(self.seen) > known


LAUNCHES = Launches()


def argument_type(value: Any) -> dict[str, Any]:
    """A launch argument's type as JSON data that the compiler's child understands."""
    array = getattr(value, "_ary", value)
    if isinstance(array, np.ndarray) or hasattr(array, "is_c_contiguous"):
        layout = "C" if _is_order(array, "c") else "F" if _is_order(array, "f") else "A"
        return {"array": str(array.dtype), "ndim": array.ndim, "layout": layout}
    if isinstance(value, tuple):
        return {"tuple": [argument_type(v) for v in value]}
    if value is None:
        return {"none": True}
    if isinstance(value, np.generic):
        return {"scalar": str(value.dtype)}
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return {"scalar": names.get(type(value), type(value).__name__)}


def _is_order(array: Any, order: str) -> bool:
    asked = getattr(array, f"is_{order}_contiguous", None)
    return bool(asked() if asked else getattr(array.flags, f"{order}_contiguous"))


class Poison:
    """What memory of floats holds before anything is stored, by the number of a case.

    NaN spreads, but may be the result as well, and a minimum may leave it out.
    """

    def __init__(self) -> None:
        self.number = math.nan
        #: whether functions are compiled while they run, to which `np.empty` must be NumPy's own
        self.compiled = False

    def choose(self, case: int) -> None:
        """NaN in every second case, large numbers of either sign in the others."""
        self.number = (math.nan, 7.25e33, math.nan, -7.25e33)[case % 4]


POISON = Poison()


def poison(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Fill an array with what a result can hardly be."""
    kind = array.dtype.kind
    if kind in "fc":
        array.fill(POISON.number)
    elif kind in "iu":
        array.fill(np.iinfo(array.dtype).max - 12)
    elif kind == "b":
        array.view(np.uint8).fill(1)
        array.reshape(-1)[::2] = False
    return array


def poison_kept(module: ModuleType) -> ModuleType:
    """Let the arrays that a module keeps for its next call be poisoned as new ones are."""
    for name in ("_workspace", "_new"):
        plain = vars(module).get(name)
        if plain is not None:
            vars(module)[name] = _poisoned(plain)
    return module


def _poisoned(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that gives arrays on its `stream`, without what they held."""
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def given(*args: Any, **options: Any) -> Any:
        made = plain(*args, **options)
        told = signature.bind(*args, **options).arguments
        if not told.get("zero"):
            made.copy_to_device(poison(np.empty(made.shape, made.dtype)), stream=told["stream"])
        return made

    return given


def check(name: str, grid: tuple[int, ...] | None, block: tuple[int, ...] | None) -> None:
    """Raise `LaunchError` for a launch configuration that a GPU refuses."""
    if grid is None or block is None:
        raise LaunchError(f"`{name}` is launched without a grid and a block")
    if any(n < 1 for n in (*grid, *block)):
        raise LaunchError(f"`{name}` is launched with an empty grid {grid} or block {block}")
    if math.prod(block) > MAX_THREADS or (*block, 1, 1)[2] > 64:
        raise LaunchError(f"`{name}` is launched with a block {block} of more than 1024 threads")
    if any(n > limit for n, limit in zip(grid, MAX_GRID, strict=False)):
        raise LaunchError(f"`{name}` is launched with a grid {grid} beyond the limits {MAX_GRID}")


@contextmanager
def poisoned_host() -> Iterator[None]:
    """Let `np.empty` and `np.empty_like` give poisoned arrays, as an allocation may."""

    def filled(plain: Callable[..., Any]) -> Callable[..., Any]:
        def empty(*args: Any, **kwargs: Any) -> Any:
            made = plain(*args, **kwargs)
            return poison(made) if made.dtype.kind in "fciub" else made

        return empty

    # set by name: they are Final as far as mypy is concerned
    plain = {name: getattr(np, name) for name in ("empty", "empty_like")}
    for name, function in plain.items():
        setattr(np, name, filled(function))
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(np, name, function)
