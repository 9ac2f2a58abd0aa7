"""Functions that Numba compiles for the CPU, called as they are.

The host functions around them are changed as they are loaded: what they allocate is poisoned, and
calls of compiled functions are counted.  The compiled functions themselves stay as they are, but
for the cache: the file that they belong to need not be there yet.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from porter.support.parsing import tree_of
from porter.verify.compile import ufuncs
from porter.verify.engines.launches import LAUNCHES, POISON, poison
from porter.verify.kernels import is_compiler
from porter.verify.request import Request


class Cpu:
    """The engine of modules that run on this CPU."""

    large = False
    checks_indices = True

    def __init__(self, request: Request) -> None:
        self.watched: list[dict[str, Any]] = []
        POISON.compiled = True
        #: ufuncs for CUDA get arrays of the simulator's device
        self.device = bool(ufuncs.for_cuda(tree_of(Path(request.module).read_bytes())))
        if self.device:
            # start-up: what runs on the CPU alone needs no simulator
            from porter.verify.engines.simulator import install

            install()

    def clear(self) -> None:
        """Nothing is kept."""

    def detail(self) -> dict[str, Any]:
        """That it ran on this CPU, in the place of CUDA or not."""
        return {"ran": "cpu"} | ({"instead_of": "cuda"} if self.device else {})

    def reason(self) -> str:
        """Every call is its evidence."""
        return ""


def _empty(*args: Any, **options: Any) -> Any:
    made = np.empty(*args, **options)
    return poison(made) if made.dtype.kind in "fciub" else made


def _call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    LAUNCHES.count += 1
    return function(*args, **options)


#: what rewritten host functions find among their globals
NAMES = {"_porter_empty": _empty, "_porter_call": _call, **ufuncs.NAMES}


class _Rewrite(ast.NodeTransformer):
    def __init__(self, compiled: set[str]) -> None:
        self.compiled = compiled

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) == "np.empty":
            node.func = ast.copy_location(ast.Name("_porter_empty", ast.Load()), node.func)
        elif isinstance(node.func, ast.Name) and node.func.id in self.compiled:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_porter_call", ast.Load()), node.func)
        return node


def rewrite(tree: ast.Module) -> None:
    """Change a module of compiled functions; other modules stay as they are."""
    if ufuncs.for_cuda(tree):
        ufuncs.rewrite(tree, "_porter_ufunc", "_porter_helper")
        return
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    compiled = {f.name for f in functions if any(map(is_compiler, f.decorator_list))}
    for f in functions if compiled else ():
        if f.name not in compiled:
            _Rewrite(compiled).visit(f)
        for d in f.decorator_list:
            if isinstance(d, ast.Call):
                d.keywords = [k for k in d.keywords if k.arg != "cache"]
    ast.fix_missing_locations(tree)
