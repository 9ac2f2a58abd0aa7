"""PRT107: a variable or a result with two types."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import COMPILED, Function, PyFile
from porter.rules.nopython.kinds import conflicts


class VariableChangesType(Rule):
    """
    ## What it does

    Finds variables of compiled functions that hold a number after one branch and an array, a
    string, a list, a dict or a tuple after the other (or tuples of different length), and
    functions that return values of such different types.

    ## Why is this bad?

    A compiled variable has one type where branches meet, and so has a result. The first call
    ends with "Cannot unify". (A number or None is fine, and so is an integer or a float.)

    ## Example

    ```python
    @njit
    def smooth(x, n):
        kernel = 0
        if n > 1:
            kernel = np.ones(n)  # PRT107
        return kernel
    ```

    Give the variable the same type on both ways, here an array of one element:

    ```python
    @njit
    def smooth(x, n):
        kernel = np.zeros(1)
        if n > 1:
            kernel = np.ones(n)
        return kernel
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT107"
    name = "variable-changes-type"
    severity = Severity.ERROR
    VALID = """
        from numba import njit

        @njit
        def f(x):
            a = 0
            a = 'text'
            if x > 1:
                a = 'more'
            return a
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x, out=None, full=False):
            a = 0
            if out is None:
                a = np.zeros(3)
            if full:
                return a, 1
            return a
        ---
        from numba import njit

        @njit
        def f(x):
            a = None
            b = 0
            for v in x:
                a = v
                b = b + 0.5
            if b > 1:
                return None
            return b
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            a = 0
            if x[0] > 0:
                a = np.zeros(3)
                return a[0]
            return a
        ---
        def f(x):
            a = 0
            if x:
                a = 'text'
            return a
        """
    INVALID = """
        --- 7:9
        from numba import njit

        @njit
        def f(x):
            a = 0
            if x[0] > 0:
                a = 'text'
            return a
        --- 8:9
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            total = 0
            for i in range(3):
                total = np.zeros(3)
            return total
        --- 7:12
        from numba import njit

        @njit
        def f(x):
            if x[0] > 3:
                return 0.0
            return 1, 2
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such variable, and the result."""
        if function.kind not in COMPILED:
            return
        for found in conflicts(file, function):
            one, other = found.first.kind, found.second.kind
            if found.name:
                message = f"`{found.name}` is {one} or {other} depending on the branch"
            else:
                message = f"`{function.name}` returns {one} or {other}"
            yield Finding(
                found.second.node,
                message,
                "give it one type on every path, or use two variables",
                notes=[(found.first.node, one)],
            )
