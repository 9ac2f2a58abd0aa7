"""PRT202: a loop that Numba cannot lift out of an object-mode function."""

from __future__ import annotations

from porter.rules.base import Finding, Findings, Rule
from porter.rules.lifting.loops import falls_back, obstacle, outer_loops, title, works_on_arrays
from porter.rules.model import Function, Kind, PyFile


class StuckLoop(Rule):
    """
    ## What it does

    Finds loops over array elements that stay in object mode: they yield, return, contain
    `break`, are `while` loops, or call something that Numba cannot compile.

    ## Why is this bad?

    Numba lifts a loop only if it is a `for` loop with one way out and a body that compiles.
    (With a single `break` it depends on the Python version, so do not count on it.) All
    other loops of an object-mode function run at the speed of the interpreter.

    ## Example

    ```python
    @jit(forceobj=True)
    def digest(x):
        for i in range(len(x)):  # PRT202
            x[i] = x[i] ** 2
            log.append(hashlib.md5(x).digest())
        return log
    ```

    Take the call out of the loop, or split the loop in two.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT202"
    name = "loop-not-liftable"
    VALID = """
        import hashlib
        from numba import jit

        @jit
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] ** 2
            return hashlib.md5(x).digest()
        ---
        from numba import njit

        @njit
        def f(x):
            while x[0] < 3:
                x[0] += 1
        ---
        import hashlib
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(len(x)):
                for j in range(3):
                    if x[i] > j:
                        break
                    x[i] = 1
            return hashlib.md5(x).digest()
        ---
        import hashlib

        def f(x):
            for i in range(len(x)):
                x[i] = hashlib.md5(x[i]).digest_size
        """
    INVALID = """
        --- 6:5
        import hashlib
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(len(x)):
                x[i] = len(hashlib.md5(x).digest())
        --- 6:5
        import hashlib
        from numba import jit

        @jit
        def f(x):
            for i in range(len(x)):
                if x[i] > 3:
                    break
                x[i] = 1
            return hashlib.md5(x).digest()
        --- 7:5
        import hashlib
        from numba import jit

        @jit
        def f(x):
            i = 0
            while i < 3:
                x[i] = 1
                i += 1
            return hashlib.md5(x).digest()
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every loop that stays in object mode, with what keeps it there."""
        if function.kind is Kind.PLAIN or falls_back(file, function) is None:
            return
        for loop in outer_loops(function):
            found = obstacle(file, function, loop) if works_on_arrays(function, loop) else None
            if found is None:
                continue
            node, reason = found
            yield Finding(
                loop,
                f"{title(file, loop)} cannot be lifted: {reason}",
                "split the loop so that the array code is in a separate loop with one exit",
                notes=[] if node is loop else [(node, reason)],
            )
