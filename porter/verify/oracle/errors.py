"""What the exceptions of the original and of the generated function mean for a comparison."""

from __future__ import annotations

import numpy as np

from porter.verify.engines.launches import LaunchError
from porter.verify.engines.scheduler import from_kernel
from porter.verify.oracle import calls

#: what is said of a matrix of which one pivot is 0, or not positive
_BY_ROUNDING = ("Singular matrix", "not positive definite")
#: what Python's scalar arithmetic raises where a GPU gives NaN or infinity
_ARITHMETIC = (ZeroDivisionError, OverflowError, FloatingPointError)
_ARITHMETIC += (MemoryError, RecursionError, calls.TooLong, calls.UndefinedCast)  # type: ignore[assignment]
_ARITHMETIC_TEXTS = ("math domain", "math range", "cannot convert float", "negative integer power",
                     *_BY_ROUNDING)  # fmt: skip


def by_rounding(error: BaseException | None) -> bool:
    """Whether a pivot of a matrix was found to be 0 or negative, or by rounding nearly so."""
    found = isinstance(error, np.linalg.LinAlgError)
    return found and any(t in str(error) for t in _BY_ROUNDING)


def arithmetic(error: BaseException) -> bool:
    """Whether Python raised what on a GPU is NaN, infinity or undefined."""
    return isinstance(error, _ARITHMETIC) or any(t in str(error) for t in _ARITHMETIC_TEXTS)


def alike(expected: BaseException, actual: BaseException) -> bool:
    """Whether both refuse the input.

    An input may be wrong in two ways: the original meets one first, the host tests all before
    its first launch, so sizes that do not fit and an index out of bounds may change places.
    """
    a, b = type(expected), type(actual)
    tested = (ValueError, IndexError, UnboundLocalError)
    if isinstance(expected, tested) and isinstance(actual, tested) and not from_kernel(actual):
        return not isinstance(actual, LaunchError)
    return issubclass(a, b) or (issubclass(b, a) and not isinstance(actual, LaunchError))


def described(error: BaseException, line: int | None = None) -> str:
    """An exception in a sentence."""
    where = f" at line {line}" if line else ""
    return f"{type(error).__name__} ({' '.join(str(error).split())[:160]}){where}"
