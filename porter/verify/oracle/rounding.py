"""The original with random roundings: what its own rounding errors amount to.

Monte Carlo arithmetic (D. S. Parker, 1997): every operation of the source that rounds is
moved to a neighbouring number at random.  How far a result moves is the error that the
computation has anyway, cancellation included.  Exact operations are left alone, so that a
comparison of exact numbers stays what it is.

Calls of other functions go through `zeros`, which chooses among equal zeros instead.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from porter.numpy_functions import spec_of
from porter.verify.oracle import zeros

_OPERATORS: dict[type[ast.operator], tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    ast.Add: ("add", operator.add, operator.iadd),
    ast.Sub: ("sub", operator.sub, operator.isub),
    ast.Mult: ("mul", operator.mul, operator.imul),
    ast.Div: ("div", operator.truediv, operator.itruediv),
    ast.Pow: ("pow", operator.pow, operator.ipow),
    ast.MatMult: ("matmul", operator.matmul, operator.imatmul),
}
#: builtins that look at the frame of the caller
_OF_FRAMES = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
_BY_NAME = {name: (plain, in_place) for name, plain, in_place in _OPERATORS.values()}
_RANDOM: list[np.random.Generator | None] = [np.random.default_rng(0)]
#: the zero that is left where numbers cancel, if it is one; how many last places may be left
_ZERO: list[float | None] = [None]
CANCELLED = 256
#: what NumPy finds from deviations from a mean, as a power of those
_SPREADS = {"var": 2, "nanvar": 2, "std": 1, "nanstd": 1}
_WIDE_HELPS = bool(np.finfo(np.longdouble).eps < np.finfo(np.float64).eps)


def reset(seed: int) -> None:
    """Start a new run of random roundings."""
    _RANDOM[0] = np.random.default_rng(seed)


@contextmanager
def exactly() -> Iterator[None]:
    """Nothing is moved meanwhile."""
    kept, _RANDOM[0] = _RANDOM[0], None
    try:
        yield
    finally:
        _RANDOM[0] = kept


@contextmanager
def cancelling(zero: float = 0.0) -> Iterator[None]:
    """Nothing is moved meanwhile, but what numbers leave that cancel each other is this zero."""
    _ZERO[0] = zero
    try:
        with exactly():
            yield
    finally:
        _ZERO[0] = None


class Roughen(ast.NodeTransformer):
    """Routes the arithmetic inside of functions through this module."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators stay: those of Numba are known by their names."""
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a + b` becomes `_porter_op("add", a, b)`."""
        self.generic_visit(node)
        if type(node.op) not in _OPERATORS:
            return node
        return _call("_porter_op", node, _name(node.op), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`x += y` stays in place for arrays, also for items of arrays."""
        self.generic_visit(node)
        if type(node.op) not in _OPERATORS or isinstance(node.target, ast.Attribute):
            return node
        if isinstance(node.target, ast.Name):
            old = ast.Name(node.target.id, ast.Load())
            new = _call("_porter_in_place", node, _name(node.op), old, node.value)
            return ast.copy_location(ast.Assign([node.target], new), node)
        index = ast.Subscript(ast.Name("_porter_index", ast.Load()), node.target.slice, ast.Load())
        item = _call("_porter_item", node, _name(node.op), node.target.value, index, node.value)
        return ast.copy_location(ast.Expr(item), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The results of functions that round are moved too."""
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _SPREADS and all(k.arg != "out" for k in node.keywords):
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_porter_spread", ast.Load()), node)
            return ast.fix_missing_locations(node)
        if spec_of(name).solves:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_porter_solved", ast.Load()), node)
            return ast.fix_missing_locations(node)
        if not spec_of(name).rounds or any(k.arg == "out" for k in node.keywords):
            if name in _OF_FRAMES:
                return node
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_porter_zeros", ast.Load()), node)
            return ast.fix_missing_locations(node)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return _call("_porter_moved", node, node)
        return _call("_porter_called", node, node.func, *node.args)


def _name(op: ast.operator) -> ast.expr:
    return ast.Constant(_OPERATORS[type(op)][0])


def _call(function: str, at: ast.AST, *args: ast.expr) -> ast.expr:
    call = ast.Call(ast.Name(function, ast.Load()), list(args), [])
    return ast.fix_missing_locations(ast.copy_location(call, at))


def roughened(tree: ast.Module) -> ast.Module:
    """The tree with the arithmetic of its functions routed through this module."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            Roughen().visit(statement)
    return ast.fix_missing_locations(tree)


class _Index:
    def __getitem__(self, index: Any) -> Any:
        return index


def _op(name: str, left: Any, right: Any) -> Any:
    result = _BY_NAME[name][0](left, right)
    if _ZERO[0] is not None:
        return _cancelled(name, left, right, result, _ZERO[0])
    return result if _RANDOM[0] is None else _moved(result, _inexact(name, left, right, result))


def _in_place(name: str, left: Any, right: Any) -> Any:
    before = left.copy() if isinstance(left, np.ndarray) else left
    result = _BY_NAME[name][1](left, right)
    if _ZERO[0] is not None:
        moved = _cancelled(name, before, right, result, _ZERO[0])
    elif _RANDOM[0] is None:
        return result
    else:
        moved = _moved(result, _inexact(name, before, right, result))
    if isinstance(result, np.ndarray) and result is left:
        result[...] = moved
        return result
    return moved


def _item(name: str, array: Any, index: Any, value: Any) -> None:
    array[index] = _in_place(name, array[index], value)


def _called(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, moved.

    Python's `math` computes with float64 of NumPy's float32 too; kernels do it in float32.
    """
    result = function(*args)
    if _RANDOM[0] is None:
        return result
    if getattr(function, "__module__", "") == "math" and isinstance(result, float):
        given = [a.dtype for a in args if isinstance(a, (np.generic, np.ndarray))]
        floats = [d for d in given if d.kind == "f"]
        with np.errstate(all="ignore"):
            narrow = np.result_type(*floats).type(result) if floats else result
        # what is beyond the narrow type is no rounding
        result = narrow if math.isfinite(narrow) or not math.isfinite(result) else result
    return _moved(result)


def _solved(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What NumPy gives that eliminates, of arguments that are moved.

    Its result is the exact one of a matrix that differs in its last places (N. J. Higham, Accuracy
    and Stability of Numerical Algorithms, 2002, theorem 9.3): how far that moves a result depends
    on the condition of the matrix, which a moved result does not show.
    """
    if not _is_of_linalg(function):
        return zeros.called(function, *args, **named)
    if _RANDOM[0] is None:
        return function(*args, **named)

    def moved(value: Any) -> Any:
        array = np.asarray(value)
        return _moved(array if array.dtype.kind in "fc" else array + 0.0)

    return _moved(function(*map(moved, args), **{n: moved(v) for n, v in named.items()}))


def _is_of_linalg(function: object) -> bool:
    """Whether it is NumPy's, and not a function of the user's with the same name."""
    return getattr(function, "__module__", "") == "numpy.linalg"


def _spread(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """A variance or a deviation, moved; where numbers cancel, zero if a rounding has made it."""
    result = function(*args, **named)
    own = getattr(function, "__self__", None)
    of_array = isinstance(own, (np.ndarray, np.generic))
    known = of_array or (getattr(function, "__module__", "") == "numpy" and args)
    if _ZERO[0] is None or not known:
        return _moved(result)
    array, *others = (own, *args) if of_array else args
    axis = named.get("axis", others[0] if others else None)
    size = np.max(np.abs(array), axis, keepdims=named.get("keepdims", False), initial=0)
    eps = float(np.finfo(result.dtype).eps)
    with np.errstate(all="ignore"):
        small = result <= (CANCELLED * eps * size) ** _SPREADS[function.__name__]
    made = np.where(small, result.dtype.type(0), result)
    return made if isinstance(result, np.ndarray) else made[()]


def _inexact(name: str, left: Any, right: Any, result: Any) -> Any:
    """Where the operation rounded; True or an array of bools."""
    if not _floating(result) or name == "matmul":
        return True
    double = isinstance(result, float) or result.dtype == np.float64
    if double and not _WIDE_HELPS:
        return True
    try:
        wide = _BY_NAME[name][0](_wide(left), _wide(right))
        return np.asarray(wide != result)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return True


def _cancelled(name: str, left: Any, right: Any, result: Any, zero: float) -> Any:
    """The result of a sum, zero where it is no more than the rounding of its terms."""
    if name not in ("add", "sub") or np.asarray(result).dtype.kind not in "fc":
        return result
    eps = float(np.finfo(np.asarray(result).dtype).eps)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(left), np.abs(right))
        small = np.abs(result) <= CANCELLED * eps * size
    made = np.where(small, np.asarray(result).dtype.type(zero), result)
    return made if isinstance(result, np.ndarray) else type(result)(made[()])


def _wide(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.longdouble)
    return np.longdouble(value)


def _floating(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind == "f"
    return isinstance(value, float)


def _moved(result: Any, where: Any = True) -> Any:
    """The result, its inexact elements moved up or down by one place."""
    if isinstance(result, complex) and not isinstance(result, np.generic):
        return complex(_moved(result.real), _moved(result.imag))
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype.kind == "c":
        moved = np.array(result)
        moved.real, moved.imag = _moved(moved.real), _moved(moved.imag)
        return moved if isinstance(result, np.ndarray) else moved[()]
    random = _RANDOM[0]
    if random is None or not _floating(result):
        return result
    if isinstance(result, np.ndarray):
        up = random.random(result.shape) < 0.5
        other = np.nextafter(result, np.where(up, math.inf, -math.inf).astype(result.dtype))
        return np.where(where & np.isfinite(result) & (result != 0), other, result)
    if not np.all(where) or not math.isfinite(result) or result == 0:
        return result
    direction = math.inf if random.random() < 0.5 else -math.inf
    if isinstance(result, np.generic):
        return np.nextafter(result, type(result)(direction))
    return math.nextafter(result, direction)


def solves(function: Callable[..., Any]) -> bool:
    """Whether a roughened function, or another one of its file, solves systems of equations."""
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    imported = any(map(_is_of_linalg, scope.values()))
    codes = [f.__code__ for f in (function, *scope.values()) if hasattr(f, "__code__")]
    used = (set(code.co_names) for code in codes if "_porter_solved" in code.co_names)
    return any(imported or "linalg" in names for names in used)


#: what a roughened function finds among its globals
NAMES: dict[str, Any] = {
    "_porter_op": _op,
    "_porter_in_place": _in_place,
    "_porter_item": _item,
    "_porter_moved": _moved,
    "_porter_called": _called,
    "_porter_solved": _solved,
    "_porter_spread": _spread,
    "_porter_index": _Index(),
    "_porter_zeros": zeros.called,
}
