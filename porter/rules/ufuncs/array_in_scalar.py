"""PRT802: an array operation inside a scalar ufunc."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, stored
from porter.rules.words import words

_ATTRIBUTES = words(
    "shape size ndim T sum mean max min std var dot reshape ravel flatten astype copy argmax"
)
#: functions of whole arrays, on every target
REDUCTIONS = words(
    "sum mean max min amax amin std var median prod dot cumsum argmax argmin sort diff matmul "
    "linalg.norm zeros_like empty_like ones_like"
)


class ArrayOperationInUfunc(Rule):
    """
    ## What it does

    Finds subscripts, array attributes and reductions of a parameter in a function decorated
    with `@vectorize`.

    ## Why is this bad?

    Numba calls the function once for each element: its parameters are scalars, which have no
    elements, shape or sum. The function does not compile.

    ## Example

    ```python
    @vectorize
    def centred(x):
        return x - x.mean()  # PRT802
    ```

    Compute the mean outside and pass it in, or use `@guvectorize`, whose parameters are arrays.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT802"
    name = "array-operation-in-ufunc"
    severity = Severity.ERROR
    VALID = """
        from numba import vectorize

        @vectorize
        def f(x, m):
            return x - m
        ---
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x, out):
            out[0] = x.mean()
        ---
        import numpy as np
        from numba import vectorize

        TABLE = np.ones(4)

        @vectorize
        def f(x):
            return TABLE[int(x)] + TABLE.sum()
        ---
        import numpy as np
        from numba import vectorize

        @vectorize
        def f(x):
            return np.maximum(x, 0) + x.real
        """
    INVALID = """
        --- 5:16
        from numba import vectorize

        @vectorize
        def f(x):
            return x - x.mean()
        --- 5:12
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return x[0] + 1
        --- 6:16
        import numpy as np
        from numba import vectorize

        @vectorize
        def f(x):
            return x / np.sum(x)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every array operation on a parameter."""
        if function.kind is not Kind.VECTORIZE:
            return
        scalars = set(function.parameters) - stored(function.nodes)
        for node in function.nodes:
            if _uses_as_array(file, function, node, scalars):
                yield Finding(
                    node,
                    f"`{file.code(node)}` requires an array, but `{function.name}`"
                    " has scalar parameters",
                    "compute it outside and pass it in, or use @guvectorize",
                )


def _uses_as_array(file: PyFile, function: Function, node: ast.AST, scalars: set[str]) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id in scalars
    if isinstance(node, ast.Attribute):
        named = isinstance(node.value, ast.Name) and node.value.id in scalars
        return named and node.attr in _ATTRIBUTES
    if not isinstance(node, ast.Call) or not node.args:
        return False
    first = node.args[0]
    if not (isinstance(first, ast.Name) and first.id in scalars):
        return False
    name = file.qualified(node.func, function) or ""
    if isinstance(node.func, ast.Name) and node.func.id == "len":
        return True
    return name.startswith("numpy.") and name.removeprefix("numpy.") in REDUCTIONS
