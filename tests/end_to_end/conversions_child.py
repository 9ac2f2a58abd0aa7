"""Calls modules with every mixture of dtypes and prints what differs from NumPy, as JSON.

`python conversions_child.py SOURCE MODULE`, with NUMBA_ENABLE_CUDASIM=1.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

DTYPES = (
    "float64",
    "float32",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint64",
    "bool",
    "list",
    "0-d",
)


def loaded(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def argument(kind: str, rng: np.random.Generator) -> Any:
    values = rng.uniform(0.4, 9, 6)
    if kind == "0-d":
        return np.array(values[0])
    if kind == "list":
        return [int(v) for v in values]
    return values > 4 if kind == "bool" else values.astype(kind)


def outcome(function: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return error


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def difference(expected: Any, actual: Any) -> str:
    if isinstance(expected, Exception):
        return "" if isinstance(actual, Exception) else "only NumPy raises"
    for e, a in zip(leaves(expected), leaves(actual), strict=True):
        if type(e) is not type(a):
            return f"{type(a).__name__} instead of {type(e).__name__}"
        if np.asarray(e).dtype != np.asarray(a).dtype or np.shape(e) != np.shape(a):
            return f"{np.asarray(a).dtype} instead of {np.asarray(e).dtype}"
        if not np.allclose(e, a, rtol=1e-5, atol=1e-6, equal_nan=True):
            return f"{a} instead of {e}"
    return ""


def calls(count: int) -> Iterator[tuple[str, ...]]:
    for kinds in itertools.product(DTYPES, repeat=count):
        if "0-d" not in kinds or set(kinds) == {"0-d"}:
            yield kinds


def main() -> None:
    source, module = loaded(sys.argv[1], "source"), loaded(sys.argv[2], "module")
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name, original in vars(source).items():
        if not inspect.isfunction(original):
            continue
        counts: Counter[str] = Counter()
        wrong = []
        for kinds in calls(len(inspect.signature(original).parameters)):
            arguments = [argument(k, np.random.default_rng(n)) for n, k in enumerate(kinds)]
            with np.errstate(all="ignore"):
                # a list counts as the array that NumPy makes of it
                expected = outcome(original, list(map(np.asarray, arguments)))
                actual = outcome(getattr(module, name), arguments)
            if isinstance(actual, (TypeError, ValueError)) and not isinstance(expected, Exception):
                counts["refused"] += 1
                continue
            different = difference(expected, actual)
            counts["wrong" if different else "equal"] += 1
            wrong += [f"{kinds}: {different}"] if different else []
        found[name] = {"counts": counts, "wrong": wrong[:3]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
