"""PRT103: a dict, a set or a mixed list handed to a compiled function."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Kind, PyFile

_COMPILED = (Kind.NOPYTHON, Kind.KERNEL, Kind.VECTORIZE, Kind.GUVECTORIZE)


class PythonContainerArgument(Rule):
    """
    ## What it does

    Finds calls that pass a Python dict, a set with elements of several types, or a list with
    elements of several types to a function compiled by Numba.

    ## Why is this bad?

    Numba gives every argument one native type. A Python dict has none, and neither has a list
    of numbers and strings: the call ends with "cannot determine Numba type".

    ## Example

    ```python
    @njit
    def cannot_compile(x):
        return x['key']

    cannot_compile(dict(key='value'))  # PRT103
    ```

    Pass the values themselves, a NumPy array, or a `numba.typed.Dict`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT103"
    name = "python-container-argument"
    severity = Severity.ERROR
    VALID = """
        def f(x):
            return x['key']

        f({'key': 1})
        ---
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f([1, 2, 3])
        ---
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f((1, 'a'))
        ---
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            return x['a']

        f({'a': 1})
        ---
        from numba import njit, typed

        @njit
        def f(x):
            return x

        f(typed.Dict())
        """
    INVALID = """
        --- 7:3
        from numba import jit

        @jit
        def f(x):
            return x['key']

        f(dict(key='v'))
        --- 7:3
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f({'a': 1})
        --- 7:3
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f([1, 'a'])
        """

    def check(self, file: PyFile) -> Findings:
        """Every such argument at a call of a function of this file."""
        if not any(f.kind in _COMPILED for f in file.functions):
            return
        for call in ast.walk(file.tree):
            if not isinstance(call, ast.Call):
                continue
            callee = _callee(file, call)
            if callee is None:
                continue
            for argument in (*call.args, *(k.value for k in call.keywords)):
                what = _container(file, argument)
                if what:
                    yield Finding(
                        argument,
                        f"`{callee}` is compiled by Numba, which has no type for {what}",
                        "pass scalars, a NumPy array or a numba.typed container",
                    )


def _callee(file: PyFile, call: ast.Call) -> str | None:
    func = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    if not isinstance(func, ast.Name):
        return None
    function = file.defined(func.id, call.lineno)
    return func.id if function is not None and function.kind in _COMPILED else None


def _container(file: PyFile, node: ast.expr) -> str | None:
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return "a dict"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return None if file.imported("dict", node.lineno) else "a dict"
    if isinstance(node, (ast.List, ast.Set)):
        kinds = {_kind(e) for e in node.elts}
        if len(kinds) > 1 and None not in kinds and "text" in kinds:
            return "a list of mixed types" if isinstance(node, ast.List) else "a mixed set"
    return None


def _kind(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return "text" if isinstance(node.value, (str, bytes)) else "number"
    return None
