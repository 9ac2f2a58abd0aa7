"""Which functions may work on arrays, and which refusals of the converter are findings for
someone who did not ask to convert.

Most refusals rest on types that are only guessed, and most functions nobody wants to port: that a
class of numba's own sources cannot become a kernel is true and nobody's problem.  Those stay part
of the verdict.  What the source alone shows about a loop over array elements is a finding: that
its iterations depend on each other, or that it stands beside a call that cannot be compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePath

from porter.diagnostics import Diagnostic
from porter.numpy_functions import method_of
from porter.rules.lifting.loops import only_numbers, works_on_arrays
from porter.rules.model import Function, Kind, PyFile, walk_own
from porter.rules.nopython.calls import uncompilable_calls
from porter.rules.words import words

_ATTRIBUTES = words("shape size ndim T dtype real imag flat")
_OBJECTS = (
    *(ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.Try, ast.With, ast.Raise, ast.Assert),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Delete, ast.Global),
    *(ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Import, ast.ImportFrom),
    *(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef),
)
#: built-in functions of numbers
_NUMBERS = words("range len min max sum abs int float round bool complex pow divmod enumerate zip")
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
        return known or node.attr in _ATTRIBUTES or method_of(node.attr) is not None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id not in _ASKS
    return not isinstance(node, _OBJECTS)


# -- which functions the converter is asked about --------------------------------------------------


def is_array_code(file: PyFile, function: Function) -> bool:
    """Whether a function computes with arrays: it names numpy or scipy, loops over elements of
    a parameter, or is compiled by Numba."""
    if function.kind is not Kind.PLAIN or loops_over_elements(function):
        return True
    return any(n.split(".")[0] in ("numpy", "scipy") for n in names_in(file, function))


def may_work(file: PyFile, function: Function) -> bool:
    """Whether the converter is asked: only of what looks like arithmetic where no array library
    is imported, because it takes milliseconds for each function."""
    if is_array_code(file, function):
        return True
    return may_compute(file, function) if file.uses_arrays else is_arithmetic(file, function)


def may_compute(file: PyFile, function: Function) -> bool:
    """Whether a function has anything that a kernel could do with its parameters."""
    return bool(function.parameters) and any(
        _computes(n) or isinstance(n, (ast.Subscript, ast.Lambda)) or _calls_own(file, n)
        for n in function.nodes
    )


def is_arithmetic(file: PyFile, function: Function) -> bool:
    """Whether a function computes with its parameters and does nothing else: no text, no
    objects, no calls but those of numbers, arrays and functions of the file."""
    nodes = [n for n in function.nodes if not _is_docstring(function, n)]
    called = {id(call.func) for call in function.calls}
    own = function.parameters[:1] if "." in function.name else []
    return (
        bool(function.parameters)
        and any(_computes(n) for n in nodes)
        and all(id(n) in called or _is_of(own, n) or _arithmetic(file, function, n) for n in nodes)
        and all(_plain_call(file, n) for n in nodes)
    )


def _computes(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _ATTRIBUTES or method_of(node.attr) is not None
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return not any(isinstance(s, (ast.JoinedStr, ast.Constant)) and _is_text(s) for s in sides)
    return isinstance(node, (ast.AugAssign, ast.UnaryOp, ast.Compare, ast.For)) or (
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    )


def _is_of(own: list[str], node: ast.AST) -> bool:
    """Whether a node is an attribute of `self`."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in own
    )


def _calls_own(file: PyFile, node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in file.by_name
    )


def _is_text(node: ast.JoinedStr | ast.Constant) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node.value, (str, bytes))


def _is_docstring(function: Function, node: ast.AST) -> bool:
    first = function.node.body[0]
    return isinstance(first, ast.Expr) and node is first.value


def _plain_call(file: PyFile, node: ast.AST) -> bool:
    """Whether a call, if it is one, is of numbers, of an array, or of a function of the file."""
    if not isinstance(node, ast.Call):
        return True
    if isinstance(node.func, ast.Name):
        return node.func.id in _NUMBERS or node.func.id in file.by_name
    return isinstance(node.func, ast.Attribute)


def names_in(file: PyFile, function: Function) -> set[str]:
    """What the imported names in a function and its annotations stand for."""
    return {file.qualified(n, function) or "" for n in _own_nodes(function)}


def _own_nodes(function: Function) -> list[ast.AST]:
    args = function.node.args
    hints = [a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return [*function.nodes, *(n for h in hints if h is not None for n in ast.walk(h))]


def is_test(file: PyFile, function: Function) -> bool:
    """Whether pytest runs the function: nobody ports a test, so its verdict is but noise."""
    module = PurePath(file.path).stem
    of_tests = module.startswith("test_") or module.endswith("_test")
    return of_tests and function.kind is Kind.PLAIN and function.node.name.startswith("test")


def is_typed(function: Function) -> bool:
    """Whether hints say every parameter's type in full, an array among them, as Numba writes
    it: `x: "float64[:, :]", n: int`."""
    args = function.node.args
    hints = [a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    said = ["" if h is None else ast.unparse(h).strip("'\"") for h in hints]
    arrays = ["[:" in h for h in said]
    plain = [h in ("float", "int", "bool", "complex") for h in said]
    return any(arrays) and all(a or p for a, p in zip(arrays, plain, strict=True))


def was_given_arrays(traced: Mapping[str, Mapping[str, str]], function: Function) -> bool:
    """Whether a recorded run called a function with arrays."""
    return any("[" in t for t in traced.get(function.name, {}).values())
