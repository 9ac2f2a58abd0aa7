"""What the names in a kernel's source mean: CUDA's own, device functions, anything else."""

from __future__ import annotations

import ast
import builtins
import cmath
import inspect
import math
import pickle
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from porter.emulate.errors import Unsupported
from porter.support.parsing import tree_of

#: where a module's text is found when it stands in no file: under this name in the module
TEXT = "_porter_text"
_MISSING = object()
#: what the simulator puts in place of these modules while a kernel runs: `verify/engines`
_STAND_INS = {"DeviceMath": math, "DeviceCmath": cmath}


@dataclass(frozen=True)
class Cuda:
    """A name of `numba.cuda`, dotted: `threadIdx.x`, `atomic.add`."""

    name: str


class Scope:
    """The names that a Python function sees outside itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.names: dict[str, Any] = dict(function.__globals__)
        code = function.__code__
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            self.names[name] = cell.cell_contents
        self.names = {n: _device_math(n, v) for n, v in self.names.items()}
        self.own = set(code.co_varnames) | set(code.co_cellvars)

    def meaning(self, node: ast.expr) -> Any:
        """The value of a dotted name; `Cuda` for what `numba.cuda` gives; None if unknown."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.own:
            return None
        value = self.names.get(node.id, getattr(builtins, node.id, None))
        if (known := _cuda_member(node.id, value)) is not None:
            return Cuda(".".join([known, *parts]))
        for k, part in enumerate(parts):
            if _is_cuda(value):
                return Cuda(".".join(parts[k:]))
            if not isinstance(value, ModuleType):
                return None
            value = getattr(value, part, None)
        return value


def _is_cuda(value: Any) -> bool:
    names = ("numba.cuda", "numba_cuda_mlir.cuda")
    return isinstance(value, ModuleType) and value.__name__ in names


def _cuda_member(name: str, value: Any) -> str | None:
    """The name that `from numba.cuda import ...` brought in, if it is one of CUDA's own."""
    if isinstance(value, ModuleType) and value.__name__.endswith("cuda.cg"):
        return "cg"
    home = str(getattr(value, "__module__", ""))
    own = getattr(value, "__name__", name)
    return own if home.endswith(("cuda.stubs", "cuda.intrinsics")) else None


def _device_math(name: str, value: Any) -> Any:
    """Generated modules bring a `math` of their own for the simulator: here it is the real one."""
    own = name == "math" and type(value).__name__ == "SimpleNamespace"
    return math if own else _STAND_INS.get(type(value).__name__, value)


def python_function(value: Any) -> Callable[..., Any] | None:
    """The Python function below a kernel, a device function or a CPU dispatcher."""
    # one may lie around another: a kernel made of an `@njit` function
    while not inspect.isfunction(value):
        value = getattr(value, "fn", None) or getattr(value, "py_func", None)
        if value is None:
            return None
    return value


def is_device(value: Any) -> bool:
    """Whether a value is a function that a kernel can call: `@cuda.jit`'s or `@njit`'s."""
    kind = type(value)
    compiled = ".cuda." in kind.__module__ or kind.__name__ == "CPUDispatcher"
    return compiled and python_function(value) is not None


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The function's own source as a tree, with the lines of its file."""
    code = function.__code__
    text = function.__globals__.get(TEXT)
    if text is None:
        return _from_file(function)
    node = _definitions(text).get((code.co_name, code.co_firstlineno))
    if node is not None:
        tree = pickle.loads(node)
        assert isinstance(tree, ast.FunctionDef)
        return tree
    raise Unsupported(f"the source of `{code.co_name}` is not found")


@lru_cache(maxsize=8)
def _definitions(text: str) -> dict[tuple[str, int], bytes]:
    """The functions of a module by name and first line, that of a decorator if there is one.

    Each is pickled: a tree is copied more slowly than it is made anew.
    """
    found = [node for node in ast.walk(tree_of(text)) if isinstance(node, ast.FunctionDef)]
    return {
        (node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])): pickle.dumps(
            node
        )
        for node in found
    }


def _from_file(function: Callable[..., Any]) -> ast.FunctionDef:
    try:
        lines, first = inspect.getsourcelines(function)
        node = tree_of(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise Unsupported(f"the source of `{function.__name__}` is not found") from error
    if not isinstance(node, ast.FunctionDef):
        raise Unsupported(f"`{function.__name__}` is not a `def`", first)
    ast.increment_lineno(node, first - 1)
    return node
