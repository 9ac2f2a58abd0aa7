"""PRT702: a timing whose first call is compiled inside it."""

from __future__ import annotations

import ast
import re

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile, uses_of
from porter.rules.precision.timers import Timing, compiled, timings

#: how code says that it measures the compilation on purpose
_MEANT = re.compile(r"compil(?!ed)|warm.?up|prim(ed|ing)", re.IGNORECASE)


class TimedCompilation(Rule):
    """
    ## What it does

    Finds time measurements that include the first call, and so the compilation, of a Numba
    function.

    ## Why is this bad?

    The first call for each combination of types compiles, which takes from a tenth of a second
    to several seconds. That is what is measured then, not the function.

    ## Example

    ```python
    start = time.perf_counter()
    kernel[blocks, threads](x)  # PRT702
    cuda.synchronize()
    print(time.perf_counter() - start)
    ```

    Call it once before, with arguments of the same types; or give the decorator a signature.

    Functions that are called elsewhere in the file too, timings inside a loop, functions with
    `cache=True`, and timings that say that they mean the compilation (`compile_time = ...`,
    `print("with compilation", ...)`) are not reported.

    ## Fix safety

    There is no automatic fix: a call more may change its arguments.
    """

    code = "PRT702"
    name = "timed-compilation"
    VALID = """
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        f(1)
        start = time.time()
        f(2)
        print(time.time() - start)
        ---
        import time
        from numba import njit

        @njit("f8(f8)")
        def f(x):
            return x + 1

        start = time.time()
        f(2.0)
        print(time.time() - start)
        ---
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        times = []
        for _ in range(9):
            start = time.time()
            f(2.0)
            times.append(time.time() - start)
        ---
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        def warm():
            f(1)

        def main():
            warm()
            start = time.time()
            f(2)
            end = time.time()
            print(end - start)
        ---
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        start = time.time()
        f(2)
        print(start)
        ---
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        start = time.time()
        f(2)
        end = time.time()
        print("Elapsed (with compilation)", end - start)
        """
    INVALID = """
        --- 9:1
        import time
        from numba import njit

        @njit
        def f(x):
            return x + 1

        start = time.time()
        f(2)
        end = time.time()
        print(end - start)
        --- 10:5
        from time import perf_counter
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def main(x):
            start = perf_counter()
            k[1, 32](x)
            cuda.synchronize()
            print("took", perf_counter() - start)
            k[1, 32](x)
        """

    def check(self, file: PyFile) -> Findings:
        """The first such call of each function."""
        said: set[str] = set()
        for timing in timings(file):
            for call in timing.calls if not _meant(file, timing) else ():
                function = None if timing.repeated else compiled(file, call)
                if function is None or function.name in said:
                    continue
                if "cache" in function.options or not _first(file, function, call):
                    continue
                said.add(function.name)
                yield Finding(
                    call,
                    f"this measurement includes the compilation of `{function.node.name}`",
                    "call it once before the clock starts, with arguments of the same types",
                    notes=[(timing.stop, "the clock stops here")],
                )


def _meant(file: PyFile, timing: Timing) -> bool:
    """Whether the code where the clock stops, or the lines below it, speak of the compilation."""
    stop = timing.stop
    return any(map(_MEANT.search, file.lines[stop.lineno - 1 : (stop.end_lineno or 0) + 2]))


def _first(file: PyFile, function: Function, call: ast.Call) -> bool:
    """Whether no other call of a function may come before this one."""
    here = file.function_at(call)
    name = function.node.name
    for node in uses_of(name, ast.walk(file.tree)):
        if not isinstance(node.ctx, ast.Load):
            continue
        inside = call.lineno <= node.lineno <= (call.end_lineno or call.lineno)
        if not inside and (file.function_at(node) != here or node.lineno < call.lineno):
            # a name that an older definition of the function has does not count
            if file.defined(name, node.lineno) is function or file.function_at(node) != here:
                return False
    return True
