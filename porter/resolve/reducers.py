"""Calls that fold an array with a function of two, by `functools.reduce` or `cuda.reduce`."""

from __future__ import annotations

import libcst as cst

from porter.resolve.definitions import meaning
from porter.resolve.globals import Globals
from porter.resolve.values import Reducer

REDUCERS = ("numba.cuda.reduce", "numba.cuda.Reduce")
REDUCE = "functools.reduce"


def reduces(scope: Globals, name: str) -> bool:
    """Whether a name of the module level is what `cuda.reduce` makes of a function."""
    if isinstance(scope.names.get(name), Reducer) or is_assigned(scope, name):
        return True
    node = scope.functions.get(name)
    return node is not None and is_decorated(scope, node)


def is_decorated(scope: Globals, node: cst.FunctionDef) -> bool:
    """Whether `cuda.reduce` decorates a function."""
    return any(meaning(scope, d.decorator) in REDUCERS for d in node.decorators)


def is_assigned(scope: Globals, name: str) -> bool:
    """Whether a name is assigned once, to what `cuda.reduce` makes of a function."""
    node = scope.assigned.get(name)
    made = isinstance(node, cst.Call) and meaning(scope, node.func) in REDUCERS
    return made and len(scope.bindings.get(name, ())) == 1


def folded_by(scope: Globals, call: cst.Call) -> cst.BaseExpression | None:
    """The array that a call folds, if it does that."""
    plain = [a.value for a in call.args if a.keyword is None]
    if isinstance(call.func, cst.Name) and plain and reduces(scope, call.func.value):
        return plain[0]
    if len(plain) > 1 and meaning(scope, call.func) == REDUCE:
        return plain[1]
    return None
