"""Numba's objects as the originals have them: folds of `cuda.reduce` and stencils.

Numba's simulator has another `cuda.reduce`: it knows no `size` and no `stream`, and of no elements
it gives Python's number.  A stencil compiles again in every call, and does not test whether `out=`
is long enough.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numba
import numpy as np
from numba import cuda
from numba.core.errors import NumbaError

#: Numba's own, and NumPy's: Numba knows the function by its identity
_STENCIL, _EMPTY = numba.stencil, np.empty


class Fold:
    """What `cuda.reduce` makes of a function of two: the fold from left to right.

    Called as the objects of `numba.cuda.reduce` are.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """The fold of an array of one dimension, which starts from `init`."""
        del stream
        values = np.asarray(getattr(arr, "_ary", arr))
        if values.ndim != 1:
            raise TypeError("only support 1D array")
        total = values.dtype.type(init)
        for value in values[:size]:
            # the elements of an array have its dtype
            total = np.asarray(self.function(total, value)).astype(values.dtype)[()]
        if res is None:
            return total
        res[0] = total
        return None

    def alone(self, arr: Any, init: Any = 0) -> Any:
        """As the host function is called."""
        return self(arr, init=init)


class Stencil:
    """What `numba.stencil` makes of a function, compiled once for each combination of types.

    Called as its objects are; an index out of bounds raises `IndexError`."""

    def __init__(self, function: Callable[..., Any], mode: str, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.mode, self.options = function, mode, options
        self.own = inspect.signature(function)
        out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
        self.__signature__ = self.own.replace(parameters=[*self.own.parameters.values(), out])

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """The results; in `out`, if it is given."""
        if out is not None and not out.flags.writeable:
            raise ValueError("output array is read-only")  # Numba does not compile that
        with _replaced(np, "empty", _EMPTY), _replaced(numba.config, "BOUNDSCHECK", 1):
            return self._called(args, out)

    @functools.cached_property
    def _made(self) -> Any:
        """Numba's object: what the function calls is defined by now."""
        return _STENCIL(self.mode, **self.options)(_with_compiled(self.function, {}))

    @functools.cached_property
    def _new(self) -> Any:
        names = ", ".join(self.own.parameters)
        return _compiled(names, names, self._made)

    @functools.cached_property
    def _into(self) -> Any:
        names = ", ".join(self.own.parameters)
        return _compiled(f"{names}, out", f"{names}, out=out", self._made)

    def _called(self, args: Sequence[Any], out: Any) -> Any:
        try:
            return self._new(*args) if out is None else self._into(*args, out)
        except (AssertionError, NumbaError, ValueError):
            # compiled functions cannot call one that takes two slices, or gives other dtypes
            return self._made(*args, **({} if out is None else {"out": out}))


def _compiled(parameters: str, given: str, made: Any) -> Any:
    """A function that calls a stencil."""
    names = {"made": made}
    exec(f"def call({parameters}):\n    return made({given})\n", names)
    return numba.njit(names["call"])


def _with_compiled(function: Any, known: dict[Any, Any]) -> Any:
    """A function that calls compiled ones, as the file has them, in place of Python's."""
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        called = names.get(name)
        if isinstance(called, types.FunctionType):
            if called not in known:
                known[called] = None  # one that calls itself stays as it is
                known[called] = numba.njit(_with_compiled(called, known))
            names[name] = known[called] or called
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _stencil(func_or_mode: Any = "constant", **options: Any) -> Any:
    if isinstance(func_or_mode, str):
        return lambda function: Stencil(function, func_or_mode, options)
    return Stencil(func_or_mode, "constant", options)


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Another attribute for a while."""
    own = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, own)


def _plain(compiler: Any, file: str) -> Any:
    """A compiler that leaves the functions of a file as they are, whoever hands them to it."""

    def compiled(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], types.FunctionType):
            own = args[0].__code__.co_filename == file
            return args[0] if own else compiler(*args, **options)
        return lambda function: (
            compiled(function) if function.__code__.co_filename == file
            else compiler(*args, **options)(function)
        )  # fmt: skip

    return compiled


@contextmanager
def in_place(file: str) -> Iterator[None]:
    """What is loaded meanwhile finds them in Numba's place, and does not compile a file's own
    functions, also where decorators of the project's would."""
    with ExitStack() as stack:
        for owner, name, own in (
            (cuda, "reduce", Fold), (cuda, "Reduce", Fold), (numba, "stencil", _stencil),
            *((numba, name, _plain(getattr(numba, name), file)) for name in ("jit", "njit")),
        ):  # fmt: skip
            stack.enter_context(_replaced(owner, name, own))
        yield
