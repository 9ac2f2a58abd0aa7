"""The functions of the corpus and of the examples, by the keys of their cases."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support.paths import CORPUS, ROOT


def source_of(key: str) -> Path:
    """The file that holds a case's function."""
    stem = key.partition(":")[0]
    folder = ROOT if stem.startswith("examples/") else CORPUS
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
