"""Every program of the corpus runs under plain NumPy on the inputs made for it."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from corpus_inputs import CASES

TESTS = Path(__file__).parent
RUNNABLE = [key for key, case in CASES.items() if case.shapes or case.custom]


def source_of(key: str) -> Path:
    """The file that holds a case's function."""
    stem = key.partition(":")[0]
    folder = TESTS.parent if stem.startswith("examples/") else TESTS / "corpus"
    return folder / f"{stem}.py"


@cache
def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def original(key: str) -> Callable[..., Any]:
    """The user's function, without a decorator of Numba's."""
    found = getattr(_module(source_of(key)), key.partition(":")[2])
    function: Callable[..., Any] = getattr(found, "py_func", found)
    return function


@pytest.mark.parametrize("size", [1, 2, 9, 33])
@pytest.mark.parametrize("key", RUNNABLE)
def test_runs_under_numpy(key: str, size: int) -> None:
    """No exception, and the argument types are those of the signature."""
    case = CASES[key]
    arguments = case.make(np.random.default_rng(size), size)
    assert len(arguments) == len(case.types)
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
    files = sorted((TESTS / "corpus").glob("*.py"))
    found = {f"{path.stem}:{name}" for path in files for name in _functions(path)}
    examples = [p for p in (TESTS.parent / "examples").glob("*.py") if "_cuda" not in p.stem]
    found |= {f"examples/{path.stem}:{name}" for path in examples for name in _functions(path)}
    assert found == set(CASES)


def _functions(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
