"""Helpers of a generated module, without the module."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


def helper(text: str, name: str) -> Callable[..., Any]:
    """A helper of the module."""
    sizes = {"LARGE", "LONG", "STRIP", "WIDE", "TILE", "EACH", "MOST_PARTIALS", "MAX_BLOCKS"}
    wanted = {name, "_blocks", *sizes}
    body: list[ast.stmt] = [
        s for s in ast.parse(text).body
        if (isinstance(s, ast.FunctionDef) and s.name in wanted)
        or (isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) in wanted)
    ]  # fmt: skip
    module: dict[str, Callable[..., Any]] = {}
    exec(compile(ast.Module(body, []), "module", "exec"), module)
    return module[name]
