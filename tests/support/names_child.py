"""Converts sources without verification and compares module and source on the simulator.

Reads a JSON list of [name, source, function, arguments] and prints what is wrong with each.
"""

from __future__ import annotations

import json
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile


def convert(text: str, path: str = "case.py") -> Any:
    options = ConvertOptions((path,), verify=False)
    return convert_file(
        SourceFile(path, text), options, Config(), Path("case_cuda.py"), lambda _: None
    )


def load(text: str) -> types.ModuleType:
    module = types.ModuleType("case")
    exec(compile(text.encode(), "case", "exec", dont_inherit=True), module.__dict__)
    return module


def called(module: types.ModuleType, function: str, arguments: list[Any]) -> Any:
    made = [np.array(a) if isinstance(a, list) else a for a in arguments]
    try:
        return getattr(module, function)(*made)
    except Exception as error:
        return type(error).__name__, str(error)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b))
    return bool(a == b or (not isinstance(a, str) and np.allclose(a, b)))


def fault(source: str, function: str, arguments: list[Any]) -> str:
    """What is wrong with the conversion; empty if nothing is."""
    outcome = convert(source)
    (found,) = [f for f in outcome.functions if f.name == function]
    if found.status != "converted":
        return f"refused: {found.diagnostics[-1].message}"
    module, original = load(outcome.text), load(source)
    if getattr(module, function).__doc__ != getattr(original, function).__doc__:
        return "another docstring"
    wanted, got = (called(m, function, arguments) for m in (original, module))
    return "" if same(wanted, got) else f"{got} instead of {wanted}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    cases = json.loads(sys.stdin.read())
    print(json.dumps({name: fault(*rest) for name, *rest in cases}))
