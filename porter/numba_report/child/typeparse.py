"""porter's texts of types as Numba's types; only the child processes import this."""

from __future__ import annotations

import inspect
from typing import Any

from numba import types
from numba.core import sigutils

from porter.diagnostics import UsageError
from porter.inference.types import OMITTED, ParameterType, parse_signature


def parsed_types(text: str) -> tuple[Any, ...]:
    """The types of `float64[:, :], int64`: arrays as NumPy makes them, contiguous.

    Numba's `[:]` means any strides, for which some functions do not compile.
    """
    return tuple(_numba(t) for t in parse_signature(text))


def recorded_types(text: str) -> tuple[Any, ...]:
    """The types that a trace recorded, with the layout of each array.

    Raises `UsageError` for values that Numba has no type for.
    """
    try:
        return given_types(f"({text},)" if text else "()")
    except Exception as error:
        raise UsageError(f"the recorded types ({text}) are not all known to Numba") from error


def given_types(signature: Any) -> tuple[Any, ...]:
    """The argument types of a signature as a decorator takes it: text, types or a tuple."""
    args, _ = sigutils.normalize_signature(signature)
    return tuple(args)


def omitted(args: tuple[Any, ...], function: Any) -> tuple[Any, ...]:
    """The types, with the defaults of `function` where a parameter keeps its default."""
    parameters = list(inspect.signature(function).parameters.values())
    return (
        tuple(
            types.Omitted(p.default) if a is None else a
            for a, p in zip(args, parameters, strict=False)
        )
        + args[len(parameters) :]
    )


def _numba(parameter: ParameterType) -> Any:
    if parameter == OMITTED or parameter.omitted:
        return None
    dtype = getattr(types, {"bool": "boolean"}.get(parameter.dtype.name, parameter.dtype.name))
    return dtype if parameter.ndim is None else types.Array(dtype, parameter.ndim, "C")
