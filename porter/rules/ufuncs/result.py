"""PRT805: a ufunc whose result is no number."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile


class UfuncResult(Rule):
    """
    ## What it does

    Finds `@vectorize` functions that return nothing, a tuple, a list or a string.

    ## Why is this bad?

    A ufunc puts one number per element into its result. NumPy has no dtype for anything else,
    so the function does not compile.

    ## Example

    ```python
    @vectorize
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)  # PRT805
    ```

    Write a ufunc for each, or a `@guvectorize` function with two outputs.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT805"
    name = "ufunc-result"
    severity = Severity.ERROR
    VALID = """
        from numba import vectorize

        @vectorize
        def f(x):
            if x > 0:
                return x
            return 0.0
        ---
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x, out):
            out[0] = x[0]
        ---
        from numba import njit

        @njit
        def f(x):
            return x, x
        ---
        from numba import vectorize

        @vectorize
        def f(x):
            raise ValueError
        """
    INVALID = """
        --- 4:5
        from numba import vectorize

        @vectorize
        def f(x):
            y = x + 1
        --- 5:12
        from numba import vectorize

        @vectorize(['f8(f8)'])
        def f(x):
            return x, x + 1
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such `return`, or the function that has none."""
        if function.kind is not Kind.VECTORIZE:
            return
        results = [n.value for n in function.nodes if isinstance(n, ast.Return)]
        if not results and not any(isinstance(n, ast.Raise) for n in function.nodes):
            yield self._returns(function, function.node, "nothing")
        for value in results:
            if isinstance(value, (ast.Tuple, ast.List, ast.JoinedStr)):
                kinds = {ast.Tuple: "a tuple", ast.List: "a list", ast.JoinedStr: "a string"}
                yield self._returns(function, value, kinds[type(value)])

    def _returns(self, function: Function, at: ast.AST, what: str) -> Finding:
        message = f"ufunc `{function.name}` returns {what}"
        return Finding(at, message, "return one number, or use @guvectorize for several outputs")
