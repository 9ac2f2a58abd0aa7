"""PRT204: an option that means nothing in object mode."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.lifting.loops import outer_loops
from porter.rules.model import Function, Kind, PyFile, is_true

_WHY = {
    "nogil": "object mode holds the GIL",
    "parallel": "object mode runs in one thread",
    "cache": "a function with lifted loops is not cached",
}


class ObjectModeOption(Rule):
    """
    ## What it does

    Finds `nogil=True`, `parallel=True`, and (where there is a loop to lift) `cache=True` on
    functions in object mode.

    ## Why is this bad?

    Object mode works on Python objects, for which it holds the GIL and which it cannot spread
    over threads; and Numba does not cache functions out of which it lifted loops. Numba warns
    at run time, and does without the option.

    ## Example

    ```python
    @jit(forceobj=True, parallel=True)  # PRT204
    def digest(x):
        for i in range(len(x)):
            x[i] = x[i] ** 2
        return hashlib.md5(x).digest()
    ```

    Put the loop into an `@njit(parallel=True)` function of its own.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT204"
    name = "object-mode-option"
    VALID = """
        from numba import njit

        @njit(parallel=True, nogil=True, cache=True)
        def f(x):
            return x
        ---
        from numba import jit

        @jit(forceobj=True, cache=True)
        def f(x):
            return open(x)
        ---
        from numba import jit

        @jit(forceobj=True, nogil=False)
        def f(x):
            return open(x)
        ---
        from numba import jit

        @jit(forceobj=True, cache=True, looplift=False)
        def f(x):
            for i in range(3):
                print(i)
            return open(x)
        """
    INVALID = """
        --- 3:21
        from numba import jit

        @jit(forceobj=True, nogil=True)
        def f(x):
            return open(x)
        --- 3:21
        from numba import jit

        @jit(forceobj=True, cache=True)
        def f(x):
            for i in range(len(x)):
                x[i] = 1
            return open(x)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such option."""
        call = function.decorator
        if function.kind is not Kind.OBJECT or not isinstance(call, ast.Call):
            return
        lifts = function.options.get("looplift")
        off = isinstance(lifts, ast.Constant) and lifts.value is False
        lifted = not off and any(isinstance(n, ast.For) for n in outer_loops(function))
        for option in call.keywords:
            if option.arg not in _WHY or not is_true(option.value):
                continue
            if option.arg != "cache" or lifted:
                yield Finding(
                    option,
                    f"`{option.arg}=True` has no effect: {_WHY[option.arg]}",
                    "move the loops into an @njit function, and give that the option",
                )
