"""PRT102: a statement that Numba's nopython compiler does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, is_text
from porter.rules.nopython.calls import in_objmode, is_objmode


class UnsupportedStatement(Rule):
    """
    ## What it does

    Finds Python syntax that no version of Numba compiles in nopython mode: `with` (other than
    `objmode`), `except` with a class other than Exception, `except ... as`, `yield from`,
    generator expressions, `class`, `import`, assignment to globals, starred assignment targets,
    `raise ... from`, `raise` alone, `:=`, `del` of a name, `**kwargs`, format specifications in
    f-strings, `%` and `.format` on strings, `print` with keywords.

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
    VALID = """
        def f(p):
            with open(p) as g:
                return g.read()
        ---
        from numba import njit, objmode

        @njit
        def f(x):
            with objmode():
                print('%d' % x, end='')
            return x
        ---
        from numba import njit

        @njit
        def f(x):
            try:
                return x[0]
            except Exception:
                return 0.0
        ---
        from numba import njit

        @njit
        def f(x):
            return [v * 2 for v in x]
        ---
        from numba import njit

        @njit
        def f(x, *more):
            print(f'{x} of {len(more)}')
            if x % 2:
                raise ValueError(f'odd {x}')
            return ','.join(['a', 'b'])
        ---
        from numba import njit

        @njit
        def f(x):
            d = {'a': 1}
            return d['a'] + x
        ---
        from numba import njit

        @njit
        def f(x):
            for v in x:
                yield v
        """
    INVALID = """
        --- 6:26
        from numba import njit

        @njit
        def f(x):
            if x[0] > 9:
                raise ValueError('bad value %d' % 3)
            return x[0]
        --- 4:12
        from numba import njit

        @njit
        def f(x, **options):
            return x
        --- 5:5
        from numba import njit

        @njit
        def f(x):
            print(x, end='')
            return f'{x:.2f}'
        --- 5:15
        from numba import njit

        @njit
        def f(x):
            return sum(v * v for v in x)
        --- 7:12
        from numba import njit

        @njit
        def f(x):
            try:
                return x[0]
            except IndexError:
                return 0.0
        --- 5:5
        from numba import njit

        @njit
        def f(p):
            with p:
                return 1
        --- 5:5
        from numba import jit

        @jit
        def f(x):
            import math
            return x
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such statement of a function compiled for the CPU."""
        if function.kind is not Kind.NOPYTHON:
            return
        options = function.node.args.kwarg
        if options is not None:
            what, cure = f"`**{options.arg}`", "declare each parameter by name"
            yield Finding(options, f"Numba cannot compile {what}", cure)
        inside = in_objmode(file, function)
        for node in function.nodes:
            if id(node) in inside:
                continue
            for at, what, cure in (*_unsupported(file, node), *_text(file, node)):
                message = f"Numba cannot compile {what}"
                yield Finding(at, message, cure)


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
    elif isinstance(node, ast.Raise) and node.exc is None:
        yield node, "`raise` alone", "raise a new exception"
    elif isinstance(node, ast.NamedExpr):
        yield node, "`:=`", "assign in a statement of its own"
    elif isinstance(node, ast.Delete) and any(isinstance(t, ast.Name) for t in node.targets):
        yield node, "`del` of a name", "leave it out"
    elif isinstance(node, ast.Call) and any(k.arg is None for k in node.keywords):
        yield node, "a call with `**`", "give the arguments one by one"


def _text(file: PyFile, node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """What formats text in a way that Numba does not have."""
    plain = "use an f-string without a format specification, or format outside"
    if isinstance(node, ast.FormattedValue) and (node.format_spec or node.conversion != -1):
        yield node.value, "a format specification in an f-string", plain
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_text(node.left):
        yield node, "`%` formatting of a string", plain
    elif isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "format" and is_text(func.value):
            yield node, "`.format` of a string", plain
        elif isinstance(func, ast.Name) and func.id == "print" and node.keywords:
            if "print" not in file.by_name:
                yield node, "`print` with keywords", "leave the keywords out"


def _handler(file: PyFile, node: ast.ExceptHandler) -> Iterator[tuple[ast.AST, str, str]]:
    if node.name:
        yield node, f"`except ... as {node.name}`", "catch Exception without a name"
    elif node.type is not None and ast.unparse(node.type) != "Exception":
        what = f"`except {file.code(node.type)}`"
        yield node.type, what, "catch Exception, or test the condition before"
