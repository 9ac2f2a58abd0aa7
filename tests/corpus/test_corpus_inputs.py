"""Every program of the corpus runs under plain NumPy on the inputs made for it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.corpus.inputs import CASES
from tests.corpus.sources import original
from tests.support.paths import CORPUS, EXAMPLES

RUNNABLE = [key for key, case in CASES.items() if case.shapes or case.custom]


@pytest.mark.parametrize("key", RUNNABLE)
def test_runs_under_numpy(key: str) -> None:
    """No exception at any size, and the argument types are those of the signature."""
    case = CASES[key]
    for size in (1, 2, 9, 33):
        arguments = case.make(np.random.default_rng(size), size)
        for value, type_ in zip(arguments, case.types, strict=True):
            if "[" in type_:
                assert value.dtype == np.dtype(type_.partition("[")[0])
                assert value.ndim == type_.count(":")
            else:
                assert isinstance(value, {"int64": int, "float64": float}.get(type_, object))
        with np.errstate(all="ignore"):
            original(key)(*arguments)


def test_every_function_has_a_case() -> None:
    """No function of the corpus or of the examples is left out."""
    files = sorted(CORPUS.glob("*.py"))
    found = {f"{path.stem}:{name}" for path in files for name in _functions(path)}
    examples = [p for p in EXAMPLES.glob("*.py") if "_cuda" not in p.stem]
    found |= {f"examples/{path.stem}:{name}" for path in examples for name in _functions(path)}
    # what is random is not compared with NumPy's case by case
    assert found - {"examples/monte_carlo_pi:monte_carlo_pi"} == set(CASES)


def _functions(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
