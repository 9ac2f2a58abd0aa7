"""Which refusals of the converter are findings for someone who did not ask to convert.

Most refusals rest on types that are only guessed, and most functions nobody wants to port: that a
class of numba's own sources cannot become a kernel is true and nobody's problem.  Those stay part
of the verdict.  What the source alone shows about a loop over array elements is a finding: that
its iterations depend on each other, or that it stands beside a call that cannot be compiled.
"""

from __future__ import annotations

import ast

from porter.diagnostics import Diagnostic
from porter.rules.lifting.loops import only_numbers, works_on_arrays
from porter.rules.model import Function, PyFile, walk_own
from porter.rules.nopython.calls import uncompilable_calls
from porter.rules.words import words

_ATTRIBUTES = words("shape size ndim T dtype real imag flat")
_METHODS = words(
    "sum mean min max std var prod any all dot copy astype reshape ravel flatten transpose "
    "argmax argmin cumsum cumprod clip fill sort argsort conj round swapaxes squeeze repeat "
    "take trace diagonal nonzero tolist item"
)
_OBJECTS = (
    *(ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.Try, ast.With, ast.Raise, ast.Assert),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Delete, ast.Global),
    *(ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Import, ast.ImportFrom),
    *(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef),
)
#: built-in functions that ask what an object is
_ASKS = words("isinstance issubclass getattr hasattr setattr type callable super print open vars")


def is_fact(file: PyFile, function: Function, refusal: Diagnostic) -> bool:
    """Whether the source alone, without guessed types, shows what a refusal says."""
    loops = [n for n in function.nodes if isinstance(n, ast.For) and _computing(function, n)]
    loops = [n for n in loops if _only_arithmetic(file, function, n)]
    if refusal.code == "PRT904":
        line = refusal.span.line
        return any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in loops)
    calls = [call.lineno for call, _ in uncompilable_calls(file, function)]
    known = any(only_numbers(file, function, n) for n in loops)
    return refusal.code == "PRT901" and known and refusal.span.line in calls


def loops_over_elements(function: Function) -> bool:
    """Whether a `for` loop computes with elements of a parameter at its own index."""
    return any(isinstance(n, ast.For) and _computing(function, n) for n in function.nodes)


def _computing(function: Function, loop: ast.For) -> bool:
    return works_on_arrays(function, loop) and any(
        isinstance(n, (ast.BinOp, ast.AugAssign)) for s in loop.body for n in walk_own(s)
    )


def _only_arithmetic(file: PyFile, function: Function, loop: ast.For) -> bool:
    return all(_arithmetic(file, function, n) for s in loop.body for n in walk_own(s))


def _arithmetic(file: PyFile, function: Function, node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, (int, float, complex, bool))
    if isinstance(node, ast.Attribute):
        known = file.qualified(node, function) is not None
        return known or node.attr in _ATTRIBUTES or node.attr in _METHODS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id not in _ASKS
    return not isinstance(node, _OBJECTS)
