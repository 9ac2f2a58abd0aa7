"""A function that `cuda.reduce` decorates, as one of the array that it folds."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from porter.resolve.definitions import check_function
from porter.resolve.globals import Globals
from porter.resolve.reducers import is_decorated
from porter.resolve.values import Function, Reducer
from porter.source.module import FunctionSource

_BINARY = "porter_binary"
_TEXT = f"""
def fold(arr: np.ndarray, init=0):
    return {_BINARY}(arr, init=init)
"""


def for_reduction(function: FunctionSource, scope: Globals) -> tuple[FunctionSource, Globals]:
    """The function with the parameters that Numba gives it; others are left as they are."""
    if not is_decorated(scope, function.node):
        return function, scope
    check_function(scope, function.node, top=True)
    module = function.module
    (node,) = cst.parse_module(_TEXT).body
    assert isinstance(node, cst.FunctionDef)
    named = node.with_changes(name=function.node.name)
    module.put(named, function.node)
    names = scope.for_module(module)
    plain = function.node.with_changes(decorators=())
    names.names[_BINARY] = Reducer(Function("the binary function", plain))
    return replace(function, node=named), names
