"""Whether a function is one of numbers, which a ufunc may call for the elements of arrays."""

from __future__ import annotations

import libcst as cst

from porter.dtypes.dtype import KINDS
from porter.inference.usage import usage_of
from porter.numpy_functions.spec import Dotted, known
from porter.resolve.definitions import meaning
from porter.resolve.globals import Globals
from porter.resolve.values import Function
from porter.source.module import FunctionSource
from porter.source.walk import children

_UFUNC = "numba.vectorize"


def is_ufunc(function: FunctionSource, scope: Globals) -> bool:
    """Whether Numba's `vectorize` decorates it."""
    return any(
        meaning(scope, d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator)
        == _UFUNC
        for d in function.node.decorators
    )


def is_of_numbers(function: FunctionSource, scope: Globals) -> bool:
    """Whether nothing in it is about a whole array: no axes of an argument, and no call that
    gives another result for an array than for each of its elements."""
    if any(u.arrays.has_axes or u.arrays.in_product for u in usage_of(function).values()):
        return False
    return _calls_alike(function.node.body, scope, {function.name})


def _calls_alike(node: cst.CSTNode, scope: Globals, seen: set[str]) -> bool:
    if isinstance(node, cst.Call) and not _is_alike(node.func, scope, seen):
        return False
    return all(_calls_alike(child, scope, seen) for child in children(node))


def _is_alike(func: cst.BaseExpression, scope: Globals, seen: set[str]) -> bool:
    """Whether a call of it with an array is a call with each element."""
    called = scope.names.get(func.value) if isinstance(func, cst.Name) else None
    if isinstance(called, Function) and isinstance(called.node, cst.FunctionDef):
        if called.name in seen:
            return True
        seen.add(called.name)
        return _calls_alike(called.node.body, called.scope or scope, seen)
    name = Dotted(meaning(scope, func))
    if name.library == "numpy":
        return known(name).inputs is not None or name.short in KINDS or name == "numpy.where"
    return name.library in ("math", "cmath", "builtins")
