"""PRT101: a call that Numba cannot compile."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import COMPILED, Function, PyFile
from porter.rules.nopython.calls import uncompilable_calls


class UncompilableCall(Rule):
    """
    ## What it does

    Finds calls inside a compiled function to modules that Numba cannot compile, such as
    hashlib, pandas, scipy, requests, or to builtins such as `open`.

    ## Why is this bad?

    Since Numba 0.59, `@jit` has no fallback to object mode: the first call of the function
    ends with a TypingError. With `forceobj=True` the whole function runs at the speed of the
    interpreter, except for the loops that Numba can lift out of it.

    ## Example

    ```python
    @jit
    def hash_computation(x):
        for i in range(len(x)):
            x[i] = x[i] ** 2
        return hashlib.md5(x).digest()  # PRT101
    ```

    Compile the loop on its own and call hashlib from Python:

    ```python
    @njit
    def square(x):
        for i in range(len(x)):
            x[i] = x[i] ** 2

    def hash_computation(x):
        square(x)
        return hashlib.md5(x).digest()
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT101"
    name = "uncompilable-call"
    severity = Severity.ERROR
    VALID = """
        import hashlib

        def f(x):
            return hashlib.md5(x).digest()
        ---
        from numba import njit
        import math

        @njit
        def f(x):
            return math.sqrt(x)
        ---
        from numba import njit, objmode
        import time

        @njit
        def f():
            with objmode(t='f8'):
                t = time.time()
            return t
        ---
        from numba import njit
        import random

        @njit
        def f():
            return random.random()
        ---
        from numba import njit

        @njit
        def f(open, x):
            return open(x)
        ---
        from numba import njit
        from mine import helper

        @njit
        def f(x):
            return helper(x)
        ---
        import hashlib
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            return hashlib.md5(x).digest()
        ---
        import scipy.linalg
        from numba import njit
        from numba.extending import overload

        @overload(scipy.linalg.norm)
        def norm(a):
            return lambda a: a.max()

        @njit
        def f(a):
            return scipy.linalg.norm(a)
        ---
        from functools import reduce
        from numba import njit

        @njit
        def f(a):
            return reduce(lambda x, y: x + y, a)
        """
    INVALID = """
        --- 6:12
        import hashlib
        from numba import jit

        @jit
        def f(x):
            return hashlib.md5(x).digest()
        --- 5:9
        import numba as nb

        @nb.njit
        def f(p):
            g = open(p)
            return 1
        --- 8:16
        from numba import cuda
        from time import time

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = time()
        --- 6:12
        from numba import njit
        import scipy.linalg as la

        @njit
        def f(a):
            return la.expm(a)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every uncompilable call of a compiled function."""
        if function.kind not in COMPILED:
            return
        for call, name in uncompilable_calls(file, function):
            yield Finding(
                call,
                f"Numba cannot compile the call of {file.called(call.func, name)}",
                "call it from a plain Python function, and compile only the array code",
            )
