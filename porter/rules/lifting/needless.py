"""PRT203: object mode for a function that compiles without it."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile
from porter.rules.nopython.arrays import certain_arrays
from porter.rules.nopython.certain import compiles
from porter.rules.nopython.kinds import conflicts


class NeedlessObjectMode(Rule):
    """
    ## What it does

    Finds functions decorated with `@jit(forceobj=True)` that contain only code that compiles
    without object mode: numbers, arrays, loops, and calls that Numba supports.

    ## Why is this bad?

    Object mode runs at the speed of the interpreter, except for loops that Numba can lift out
    of it. Compiled as a whole, the function is faster and needs no Python objects, which is
    also the first step towards a GPU.

    ## Example

    ```python
    @jit(forceobj=True)  # PRT203
    def scale(x, a):
        for i in range(x.shape[0]):
            x[i] = a * math.sqrt(x[i])
    ```

    Write `@njit`.

    ## Fix safety

    There is no automatic fix: arguments that are no arrays may have been the reason.
    """

    code = "PRT203"
    name = "needless-object-mode"
    severity = Severity.ADVICE
    VALID = """
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(x.shape[0]):
                x[i] = helper(x[i])
        ---
        import hashlib
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(x.shape[0]):
                x[i] = x[i] ** 2
            return hashlib.md5(x).digest()
        ---
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            return x['key']
        ---
        from numba import njit

        @njit
        def f(x):
            for i in range(x.shape[0]):
                x[i] = x[i] ** 2
        ---
        import numpy as np
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(x.shape[0]):
                x[i] = np.mean(x, axis=0)[i]
        """
    INVALID = """
        --- 4:2
        import math
        from numba import jit

        @jit(forceobj=True)
        def f(x, a):
            for i in range(x.shape[0]):
                x[i] = a * math.sqrt(x[i])
        --- 4:2
        import numpy as np
        from numba import jit

        @jit(forceobj=True, looplift=True)
        def f(x):
            out = np.zeros(x.shape[0])
            for i in range(x.shape[0]):
                out[i] = np.sum(x[i]) if i > 3 else 0.0
            return out
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The decorator of such a function."""
        if function.kind is not Kind.OBJECT or function.decorator is None:
            return
        loops = any(isinstance(n, ast.For) for n in function.nodes)
        if loops and _whole(file, function):
            yield Finding(
                function.decorator,
                f"`{function.name}` does not need object mode, since all of it compiles",
                "write @njit",
            )


def _whole(file: PyFile, function: Function) -> bool:
    args = function.node.args
    if args.vararg or args.kwarg or any(True for _ in conflicts(file, function)):
        return False
    arrays = certain_arrays(file, function)
    return all(compiles(file, function, n, arrays) for n in function.nodes)
