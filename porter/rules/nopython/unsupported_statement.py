"""PRT102: a statement that Numba's nopython compiler does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Diagnostic, Severity
from porter.rules.base import Bad, Rule
from porter.rules.model import Function, Kind, PyFile
from porter.rules.nopython.calls import is_objmode


class UnsupportedStatement(Rule):
    """
    ## What it does

    Finds Python that no version of Numba's nopython compiler takes: `with` (other than
    `objmode`), `except` with a class other than Exception, `except ... as`, `yield from`,
    generator expressions, `class`, `import`, assignment to globals, starred assignment
    targets, `raise ... from`.

    ## Why is this bad?

    The first call of the function ends with an UnsupportedError or a TypingError, often
    without naming the line.

    ## Example

    ```python
    @njit
    def total(x):
        return sum(v * v for v in x)  # PRT102
    ```

    Use a loop:

    ```python
    @njit
    def total(x):
        acc = 0.0
        for v in x:
            acc += v * v
        return acc
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT102"
    name = "unsupported-statement"
    severity = Severity.ERROR
    VALID = (
        """
        def f(p):
            with open(p) as g:
                return g.read()
        """,
        """
        from numba import njit, objmode

        @njit
        def f(x):
            with objmode():
                print(x)
            return x
        """,
        """
        from numba import njit

        @njit
        def f(x):
            try:
                return x[0]
            except Exception:
                return 0.0
        """,
        """
        from numba import njit

        @njit
        def f(x):
            return [v * 2 for v in x]
        """,
        """
        from numba import njit

        @njit
        def f(x):
            d = {'a': 1}
            return d['a'] + x
        """,
        """
        from numba import njit

        @njit
        def f(x):
            for v in x:
                yield v
        """,
    )
    INVALID = (
        Bad(
            """
            from numba import njit

            @njit
            def f(x):
                return sum(v * v for v in x)
            """,
            "5:15",
        ),
        Bad(
            """
            from numba import njit

            @njit
            def f(x):
                try:
                    return x[0]
                except IndexError:
                    return 0.0
            """,
            "7:12",
        ),
        Bad(
            """
            from numba import njit

            @njit
            def f(p):
                with p:
                    return 1
            """,
            "5:5",
        ),
        Bad(
            """
            from numba import jit

            @jit
            def f(x):
                import math
                return x
            """,
            "5:5",
        ),
    )

    def check_function(self, file: PyFile, function: Function) -> Iterator[Diagnostic]:
        """Every such statement of a function compiled for the CPU."""
        if function.kind is not Kind.NOPYTHON:
            return
        for node in function.nodes:
            for at, what, cure in _unsupported(file, node):
                message = f"Numba cannot compile {what}"
                yield self.report(file, at, message, cure, function=function)


def _unsupported(file: PyFile, node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    if isinstance(node, ast.GeneratorExp):
        yield node, "a generator expression", "write a loop, or a list comprehension"
    elif isinstance(node, ast.With) and not all(is_objmode(file, i) for i in node.items):
        yield node, "this `with` block", "open and close the resource outside the function"
    elif isinstance(node, ast.ExceptHandler):
        yield from _handler(file, node)
    elif isinstance(node, ast.YieldFrom):
        yield node, "`yield from`", "loop over the values and yield each one"
    elif isinstance(node, ast.ClassDef):
        yield node, f"the class `{node.name}` inside a function", "define it at module level"
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node, "an import inside a function", "import at the top of the module"
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        names = ", ".join(f"`{n}`" for n in node.names)
        yield node, f"an assignment to {names} of an outer scope", "return the new value instead"
    elif isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store):
        yield node, "a starred assignment target", "take the elements by index or by slice"
    elif isinstance(node, ast.Raise) and node.cause is not None:
        yield node, "`raise ... from`", "raise the exception without a cause"


def _handler(file: PyFile, node: ast.ExceptHandler) -> Iterator[tuple[ast.AST, str, str]]:
    if node.name:
        yield node, f"`except ... as {node.name}`", "catch Exception without a name"
    elif node.type is not None and ast.unparse(node.type) != "Exception":
        what = f"`except {file.code(node.type)}`"
        yield node.type, what, "catch Exception, or test the condition before"
