"""PRT803: a gufunc whose layout does not match its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Diagnostic, Severity
from porter.rules.base import Bad, Rule
from porter.rules.model import Function, Kind, PyFile


class GufuncLayout(Rule):
    """
    ## What it does

    Finds `@guvectorize` functions whose layout string names another number of arrays than the
    function has parameters, or that return a value.

    ## Why is this bad?

    Each parameter needs its entry in the layout, outputs included: `(i),(i)->()` belongs to
    three parameters. A gufunc writes its results into its last parameters, and Numba refuses
    one that returns.

    ## Example

    ```python
    @guvectorize(["(float32[:], float32[:])"], "(i)->()")
    def l2_norm(vec, out):
        return math.sqrt((vec * vec).sum())  # PRT803
    ```

    Write `out[0] = ...`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT803"
    name = "gufunc-layout"
    severity = Severity.ERROR
    VALID = (
        """
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x, out):
            out[0] = x[0]
        """,
        """
        from numba import guvectorize

        @guvectorize(['(f4[:,:], f4[:,:], f4[:,:])'], '(m,n),(n,p)->(m,p)')
        def f(a, b, out):
            out[0, 0] = a[0, 0]
        """,
        """
        from numba import guvectorize

        @guvectorize(['(f4[:], f4, f4[:])'], '(n),()->(n)')
        def f(x, a, out):
            if a == 0:
                return
            out[0] = x[0]
        """,
    )
    INVALID = (
        Bad(
            """
            from numba import guvectorize

            @guvectorize(['(f4[:], f4[:])'], '(i)->()')
            def f(x):
                x[0] = 1
            """,
            "3:34",
        ),
        Bad(
            """
            from numba import guvectorize

            @guvectorize(['(f4[:], f4[:])'], '(i)->()')
            def f(x, out):
                return x[0]
            """,
            "5:5",
        ),
    )

    def check_function(self, file: PyFile, function: Function) -> Iterator[Diagnostic]:
        """The layout, and every `return` with a value."""
        if function.kind is not Kind.GUVECTORIZE:
            return
        layout = _layout(function)
        if layout is not None:
            count, wanted = str(layout.value).count("("), len(function.parameters)
            if count != wanted:
                yield self.report(
                    file,
                    layout,
                    f"layout {file.code(layout)} has {count} arrays, `{function.name}` has"
                    f" {wanted} parameters",
                    "give every parameter its entry, outputs after the arrow",
                    function=function,
                )
        for node in function.nodes:
            if isinstance(node, ast.Return) and node.value is not None:
                message = f"gufunc `{function.name}` returns a value"
                cure = "write the result into the last parameter"
                yield self.report(file, node, message, cure, function=function)


def _layout(function: Function) -> ast.Constant | None:
    call = function.decorator
    if not isinstance(call, ast.Call):
        return None
    for value in (*call.args, *(k.value for k in call.keywords)):
        text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        if text and isinstance(value, ast.Constant) and "->" in str(value.value):
            return value if "[" not in str(value.value) else None
    return None
