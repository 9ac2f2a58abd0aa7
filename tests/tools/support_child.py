"""Asks the installed Numba what it compiles.

    python tests/tools/support_child.py cpu|cuda|builtin

Prints the table that `porter/support/` keeps.  The names and parameters come from the typing
registries; for the CUDA target each name is then compiled, because the registries know more
than can be lowered.  `builtin` is the `numba.cuda` inside Numba itself, which an installed
numba-cuda hides behind a .pth file: that one runs without site (`python -S`).
"""

from __future__ import annotations

import builtins
import inspect
import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

TARGET = sys.argv[1]
if TARGET == "builtin":
    sys.path.append(sys.argv[2])
if TARGET != "cpu":
    # with SciPy some of numpy.linalg gets as far as a call of LAPACK, which no GPU has
    sys.modules["scipy"] = None  # type: ignore[assignment]
warnings.simplefilter("ignore")

import math  # noqa: E402

import numpy as np  # noqa: E402
from numba import njit, types  # noqa: E402

MATRIX = types.Array(types.float64, 2, "C")
NUMPY_PARTS = ("", "linalg.", "random.", "fft.")
MODULES = {"numpy": np, "math": math, "builtins": builtins}


def context() -> Any:
    if TARGET == "cpu":
        from numba.core.registry import cpu_target as target

        njit(lambda a: np.sum(a))(np.ones(3))  # loads the implementations
    else:
        import support_probes
        from numba.cuda.descriptor import cuda_target as target

        support_probes.compiles("x[0] = 1.0", (support_probes.VECTOR,))  # loads the implementations
    target.typing_context.refresh()
    return target.typing_context


def names(module: str) -> dict[str, object]:
    """Every public callable, exceptions and submodules left out."""
    found: dict[str, object] = {}
    for part in NUMPY_PARTS if module == "numpy" else ("",):
        home = getattr(np, part[:-1]) if part else MODULES[module]
        for name in dir(home):
            value = getattr(home, name)
            exception = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not name.startswith("_") and not exception:
                found[part + name] = value
    return found


def parameters(templates: Any, skip: int = 0) -> list[str]:
    """The parameters of every overload; empty when one of them does not say."""
    found = []
    for template in templates:
        function = getattr(template, "_overload_func", None)
        if function is None:
            return []
        found.append(spelled(list(inspect.signature(function).parameters.values())[skip:]))
    return sorted(set(found))


def spelled(parameters: list[inspect.Parameter]) -> str:
    """`a /` for one that is positional only, `*args` and `**kwargs` as they are written,
    a `?` after one that may be left out."""
    out = []
    for p in parameters:
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        mark = "/" if p.kind is p.POSITIONAL_ONLY else ""
        out.append(f"{star}{p.name}{mark}{'' if p.default is p.empty else '?'}")
    return " ".join(out)


def function(tc: Any, value: object) -> list[str] | None:
    """The parameters of a function, None when the target does not know it."""
    try:
        found = tc.resolve_value_type(value)
    except Exception:
        return None
    if isinstance(value, np.ufunc):
        inputs = [f"x{n}/" for n in range(1, value.nin + 1)]
        return [" ".join([*inputs, *(f"out{n}/?" for n in range(1, value.nout + 1))])]
    return parameters(getattr(found, "templates", [None]))


def method(tc: Any, name: str) -> list[str] | None:
    """The parameters of an array's method, None when the target does not know it."""
    found = attribute(tc, name)
    if found is None:
        return None
    template = getattr(found, "template", None)
    told = parameters([template], 1)
    return told or (["*args"] if without_keywords(tc, found) else [])


def without_keywords(tc: Any, found: Any) -> bool:
    """Whether a method asserts that it is given no keywords: such are `copy` and `astype`."""
    try:
        tc.resolve_function_type(found, (), {"order": types.StringLiteral("C")})
    except AssertionError:
        return True
    except Exception:
        return False
    return False


def attribute(tc: Any, name: str) -> Any:
    """The type of an array's attribute, None when the target does not know it."""
    try:
        return tc.resolve_getattr(MATRIX, name)
    except Exception:
        return None


def main() -> None:
    tc = context()
    asked = {
        module: {name: function(tc, value) for name, value in names(module).items()}
        for module in MODULES
    }
    members = [n for n in dir(np.ndarray) if not n.startswith("_")]
    methods = [n for n in members if callable(getattr(np.ndarray, n))]
    asked["methods"] = {n: method(tc, n) for n in methods}
    asked["attributes"] = {
        n: None if attribute(tc, n) is None else [] for n in members if n not in methods
    }
    table: dict[str, Any] = {
        "target": TARGET,
        "package": "numba-cuda" if TARGET == "cuda" else "numba",
        "version": version("numba-cuda" if TARGET == "cuda" else "numba"),
        "numpy": np.__version__,
        "supported": {},
        "unsupported": {},
    }
    if TARGET != "cpu":
        import support_probes

        asked, table["arrays_only"] = support_probes.compiled(asked)
    for group, found in asked.items():
        known = {name: spec for name, spec in sorted(found.items()) if spec is not None}
        table["supported"][group] = known
        table["unsupported"][group] = sorted(found.keys() - known.keys())
    print(json.dumps(table))


if __name__ == "__main__":
    main()
