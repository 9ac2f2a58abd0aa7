"""Which of two equal zeros a maximum or a minimum is: NumPy leaves it open.

`np.maximum(0.0, -0.0)` is one of the two, by the order in which NumPy's loops happen to come to
them; a division by it is infinity or its negative.  The original is run with one or the other
here.  What one zero alone decides, as `np.maximum(-0.0, -1.0)`, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
#: ufuncs of two operands, of which either may be the result
_UFUNCS = (np.maximum, np.minimum, np.fmax, np.fmin)
_OF_OPERANDS = (*_UFUNCS, np.clip)
_OF_ONE = (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
_METHODS = ("max", "min", "clip")
#: the arguments by keyword that the result may be
_OPERANDS = frozenset({"a", "array", "x1", "x2", "initial", "a_min", "a_max", "min", "max"})


@dataclass(frozen=True)
class Zeros:
    """A choice: the sign of all, 0 for NumPy's own; those in `turned` have the other one.

    Zeros are counted in the order in which the original comes to them.
    """

    sign: int = 0
    turned: frozenset[int] = frozenset()

    def other(self, k: int) -> Zeros:
        """The same but for one zero."""
        return Zeros(self.sign, self.turned ^ {k})


class _Choosing:
    """The choice in force, None for NumPy's own, and how many zeros were met."""

    zeros: Zeros | None = None
    met = 0


@contextmanager
def chosen(zeros: Zeros) -> Iterator[None]:
    """A run of a roughened function meanwhile chooses so."""
    _Choosing.zeros, _Choosing.met = zeros, 0
    try:
        yield
    finally:
        _Choosing.zeros = None


def zeros_met() -> int:
    """How many zeros the last such run could have chosen otherwise."""
    return _Choosing.met


def called(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """What a function gives, with the zeros of the choice in force."""
    call = None if _Choosing.zeros is None else _Call.of(function, args, keywords)
    result = function(*args, **keywords)
    if call is None or not isinstance(result, (np.ndarray, np.generic)):
        return result
    tied = call.tied(result) if result.dtype.kind == "f" else np.zeros(())
    if not tied.any():
        return result
    made = result if isinstance(result, np.ndarray) else np.array(result)
    made[tied] = _taken(np.asarray(made[tied]))
    return made if isinstance(result, np.ndarray) else made[()]


def _taken(zeros: Array) -> Array:
    """The next zeros, by the choice in force."""
    choice = _Choosing.zeros
    assert choice is not None
    first, _Choosing.met = _Choosing.met, _Choosing.met + zeros.size
    signs = np.copysign(1.0, zeros) if choice.sign == 0 else np.full(zeros.shape, choice.sign)
    signs[[k - first for k in choice.turned if first <= k < first + zeros.size]] *= -1
    return np.copysign(zeros, signs)


@dataclass(frozen=True)
class _Call:
    """A call of such a function: the result is one of `operands`; these are as they were before."""

    function: Callable[..., Any]
    operands: tuple[Any, ...]
    further: tuple[Any, ...]
    keywords: dict[str, Any]

    @classmethod
    def of(
        cls, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> _Call | None:
        """The call, or None if it is of another function."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, (np.ndarray, np.generic)) and name in _METHODS:
            count = len(args) + 1 if name == "clip" else 1
            function, args = _method(name), (owner, *args)
        elif any(function is f for f in _OF_OPERANDS):
            count = len(args)
        elif any(function is f for f in _OF_ONE) or any(owner is f for f in _UFUNCS):
            count = 2 if name == "outer" else 1
        else:
            return None
        if any(isinstance(a, np.ndarray) for a in args[count:]) and name != "reduceat":
            return None  # what the result is stored into
        # the changed operands make arrays of their own
        keywords = {k: None if k == "out" else v for k, v in keywords.items()}
        keywords |= {k: _copy(v) for k, v in keywords.items() if k in _OPERANDS}
        return cls(function, tuple(map(_copy, args[:count])), args[count:], keywords)

    def tied(self, result: Any) -> Array:
        """Where the result is one of two zeros that differ in their sign alone.

        Zeros become the least numbers of their sign, then of the other one: where both are there,
        the larger of the two is the same.
        """
        up, down = (np.sign(self._moved(result.dtype, sign)) for sign in (1, -1))
        tied = np.asarray((result == 0) & (up == down) & (up != 0))
        # other elements are what they were before
        elementwise = any(self.function is f for f in _UFUNCS)
        return tied & self.keywords.get("where", True) if elementwise else tied

    def _moved(self, dtype: np.dtype[Any], sign: int) -> Any:
        def moved(value: Any) -> Any:
            if np.asarray(value).dtype.kind not in "biuf":
                return value
            array = np.asarray(value).astype(dtype)
            least = np.copysign(np.finfo(dtype).smallest_subnormal, array) * sign
            return np.where(array == 0, least, array)

        keywords = {k: moved(v) if k in _OPERANDS else v for k, v in self.keywords.items()}
        return self.function(*map(moved, self.operands), *self.further, **keywords)


def _method(name: str) -> Callable[..., Any]:
    return lambda array, *args, **keywords: getattr(array, name)(*args, **keywords)


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
