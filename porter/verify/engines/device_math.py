"""`math` and `cmath` as kernels see them: IEEE results instead of exceptions, types stay narrow.

In the simulator a kernel runs as Python, where `math.sqrt(-1.0)` and `cmath.exp(1000j + 1000)`
raise and `math.exp(float32)` is computed in double precision.  While a kernel runs, the module's
`math` and `cmath` are these.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

_UFUNCS = {
    "sqrt": np.sqrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "hypot": np.hypot, "fabs": np.fabs,
    "copysign": np.copysign, "fmod": np.fmod, "pow": np.power, "degrees": np.degrees,
    "radians": np.radians, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "ldexp": np.ldexp, "nextafter": np.nextafter,
}  # fmt: skip
_COMPLEX_UFUNCS: dict[str, Any] = {
    "sqrt": np.sqrt, "exp": np.exp, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "phase": np.angle,
}  # fmt: skip
_SPECIAL = ("erf", "erfc", "gamma", "lgamma")


def _floating(value: Any) -> Any:
    """The value as the compiler types it: integers and bools become float64."""
    if isinstance(value, np.floating):
        return value
    return np.float64(value)


def _complex(value: Any) -> Any:
    """The value as the compiler types it: all but complex64 becomes complex128."""
    if isinstance(value, np.complexfloating):
        return value
    return np.complex128(value)


class DeviceMath:
    """The names of the `math` module with the compiler's typing and IEEE semantics."""

    pi, e, tau, inf, nan = math.pi, math.e, math.tau, math.inf, math.nan

    def __getattr__(self, name: str) -> Any:
        if name in _UFUNCS:
            return self._keep(name, self._ufunc(_UFUNCS[name]))
        if name in _SPECIAL:
            return self._keep(name, self._special(getattr(math, name)))
        return getattr(math, name)

    def _keep(self, name: str, function: Any) -> Any:
        setattr(self, name, function)
        return function

    @staticmethod
    def _ufunc(ufunc: Any) -> Any:
        if ufunc is np.ldexp:
            return lambda x, n: ufunc(_floating(x), n)
        return lambda *args: ufunc(*map(_floating, args))

    @staticmethod
    def _special(function: Any) -> Any:
        def call(value: Any) -> Any:
            value = _floating(value)
            try:
                return type(value)(function(float(value)))
            except (ValueError, OverflowError):
                # poles and overflow: infinite for the gamma functions, NaN for -inf
                return type(value)(math.nan if value == -math.inf else math.inf)

        return call

    @staticmethod
    def log(value: Any, base: Any = None) -> Any:
        """The natural logarithm, or the one to a base."""
        result = np.log(_floating(value))
        return result if base is None else result / np.log(_floating(base))

    @staticmethod
    def isnan(value: Any) -> bool:
        """Whether the value is NaN."""
        return bool(value != value)

    @staticmethod
    def isinf(value: Any) -> bool:
        """Whether the value is infinite."""
        return bool(np.isinf(value))

    @staticmethod
    def isfinite(value: Any) -> bool:
        """Whether the value is neither infinite nor NaN."""
        return bool(np.isfinite(value))


class DeviceCmath:
    """The names of the `cmath` module with the compiler's typing and IEEE semantics."""

    pi, e, tau, inf, nan = cmath.pi, cmath.e, cmath.tau, cmath.inf, cmath.nan
    infj, nanj = cmath.infj, cmath.nanj

    def __getattr__(self, name: str) -> Any:
        if name not in _COMPLEX_UFUNCS:
            return getattr(cmath, name)
        ufunc = _COMPLEX_UFUNCS[name]

        def call(value: Any) -> Any:
            return ufunc(_complex(value))

        setattr(self, name, call)
        return call

    @staticmethod
    def log(value: Any, base: Any = None) -> Any:
        """The natural logarithm, or the one to a base."""
        result = np.log(_complex(value))
        return result if base is None else result / np.log(_complex(base))


# what a kernel's module calls by these names, by the name of the module that it imported
DEVICE_MODULES: dict[str, Any] = {"math": DeviceMath(), "cmath": DeviceCmath()}
