"""PRT108: a Python list handed to a compiled function."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Kind, PyFile


class ReflectedList(Rule):
    """
    ## What it does

    Finds calls that pass a list or set literal to a function compiled by Numba for the CPU.

    ## Why is this bad?

    Numba unpacks a Python list element by element at each call, and copies it back if the
    function changed it ("reflected list"), which costs more than most loops over it. A list of
    lists does not come back at all, integers mixed with floats are refused, and Numba warns
    that the type will be removed.

    ## Example

    ```python
    @njit
    def total(values):
        acc = 0.0
        for v in values:
            acc += v
        return acc

    total([1.0, 2.0, 3.0])  # PRT108
    ```

    Pass an array, `np.array([1.0, 2.0, 3.0])`, or a `numba.typed.List`.

    ## Fix safety

    There is no automatic fix, since an array is not a list in every respect.
    """

    code = "PRT108"
    name = "reflected-list"
    VALID = """
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f((1, 2, 3))
        ---
        import numpy as np
        from numba import njit, typed

        @njit
        def f(x):
            return x[0]

        f(np.array([1, 2, 3]))
        f(typed.List([1, 2]))
        ---
        from numba import njit

        @njit
        def f(x):
            return x[0]

        @njit
        def g():
            return f([1, 2, 3])
        ---
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            return x[0]

        f([1, 2])
        ---
        from numba import vectorize

        @vectorize
        def f(x):
            return x + 1

        f([1, 2])
        """
    INVALID = """
        --- 7:3
        from numba import njit

        @njit
        def f(x):
            return x[0]

        f([1, 2, 3])
        --- 8:17
        from numba import njit

        @njit
        def f(n, x):
            return x[0]

        def g(rows):
            return f(3, [float(r) for r in rows])
        """

    def check(self, file: PyFile) -> Findings:
        """Every such argument of a call from Python."""
        if not any(f.kind is Kind.NOPYTHON for f in file.functions):
            return
        compiled = {
            id(n)
            for f in file.functions
            if f.kind not in (Kind.PLAIN, Kind.OBJECT)
            for n in f.nodes
        }
        for call in ast.walk(file.tree):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            callee = file.defined(call.func.id, call.lineno)
            if callee is None or callee.kind is not Kind.NOPYTHON or id(call) in compiled:
                continue
            for argument in (*call.args, *(k.value for k in call.keywords)):
                if not isinstance(argument, (ast.List, ast.ListComp, ast.Set, ast.SetComp)):
                    continue
                what = "set" if isinstance(argument, (ast.Set, ast.SetComp)) else "list"
                yield Finding(
                    argument,
                    f"`{call.func.id}` is compiled and is passed a Python {what}",
                    "pass a NumPy array, a tuple or a numba.typed.List",
                )
