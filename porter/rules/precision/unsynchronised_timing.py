"""PRT703: a clock that stops while the kernel still runs."""

from __future__ import annotations

import ast

from porter.diagnostics import Fix, Span
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import own_nodes
from porter.rules.model import Function, PyFile
from porter.rules.precision.timers import Timing, launched, timings
from porter.rules.transfers.scopes import device_arrays, host_arrays

_QUIET = ("print", "range", "len", "int", "float", "round", "min", "max", "str", "append", "format")
_QUIET_MODULES = ("time.", "math.", "timeit.")
_ALLOCATES = ("device_array", "device_array_like", "grid", "stream")


class UnsynchronisedTiming(Rule):
    """
    ## What it does

    Finds time measurements of launches with device arrays that stop without synchronization.

    ## Why is this bad?

    A launch returns as soon as the work is queued, after some microseconds. That is what the
    clock shows, however long the kernel runs.

    ## Example

    ```python
    start = time.perf_counter()
    kernel[blocks, threads](d_x)
    elapsed = time.perf_counter() - start  # PRT703
    ```

    Wait first:

    ```python
    start = time.perf_counter()
    kernel[blocks, threads](d_x)
    cuda.synchronize()
    elapsed = time.perf_counter() - start
    ```

    Events (`cuda.event(timing=True)`) measure the device's time alone. Launches that take NumPy
    arrays are not reported: copying those back waits for the kernel.

    ## Fix safety

    The fix inserts `cuda.synchronize()` before the clock is read. It is safe: it only waits.
    """

    code = "PRT703"
    name = "timing-without-synchronising"
    VALID = """
        import time
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        d = cuda.device_array(9)
        k[1, 32](d)
        start = time.time()
        k[1, 32](d)
        cuda.synchronize()
        print(time.time() - start)
        ---
        import time
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        d = cuda.device_array(9)
        k[1, 32](d)
        start = time.time()
        k[1, 32](d)
        h = d.copy_to_host()
        print(time.time() - start)
        ---
        import time
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, y):
            pass

        d = cuda.device_array(9)
        h = np.ones(9)
        k[1, 32](d, h)
        start = time.time()
        k[1, 32](d, h)
        print(time.time() - start)
        ---
        import time
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, stop):
            k[1, 32](d)
            start = time.time()
            k[1, 32](d)
            print(time.time() - start)
        """
    INVALID = """
        --- 11:1
        import time
        from numba import cuda

        @cuda.jit("void(f8[:])")
        def k(x):
            pass

        d = cuda.device_array(9)
        start = time.time()
        k[1, 32](d)
        end = time.time()  # microseconds
        print(end - start)
        +++
        import time
        from numba import cuda

        @cuda.jit("void(f8[:])")
        def k(x):
            pass

        d = cuda.device_array(9)
        start = time.time()
        k[1, 32](d)
        cuda.synchronize()
        end = time.time()  # microseconds
        print(end - start)
        --- 13:9
        from time import perf_counter
        import numba.cuda as nc

        @nc.jit("void(f8[:])")
        def k(x):
            pass

        def main(n):
            d = nc.device_array(n)
            for _ in range(9):
                start = perf_counter()
                k[n, 32](d)
                print(perf_counter() - start)
        +++
        from time import perf_counter
        import numba.cuda as nc

        @nc.jit("void(f8[:])")
        def k(x):
            pass

        def main(n):
            d = nc.device_array(n)
            for _ in range(9):
                start = perf_counter()
                k[n, 32](d)
                nc.synchronize()
                print(perf_counter() - start)
        """

    def check(self, file: PyFile) -> Findings:
        """Every such clock."""
        for timing in timings(file):
            call, kernel = _running(file, timing)
            if call is None or kernel is None:
                continue
            yield Finding(
                timing.stop,
                f"the clock stops while `{kernel.node.name}` may still run",
                "call cuda.synchronize() before the clock is read",
                notes=[(call, "this returns at once")],
                fix=_fix(file, timing.stop, kernel),
            )


def _running(file: PyFile, timing: Timing) -> tuple[ast.Call | None, Function | None]:
    """The last launch in a timing that nothing waits for."""
    devices, hosts = device_arrays(file, timing.scope), host_arrays(file, timing.scope)
    last: tuple[ast.Call | None, Function | None] = (None, None)
    inner = {id(c.func) for c in timing.calls}
    for call in timing.calls:
        kernel = launched(file, call)
        if kernel is not None:
            names = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
            last = (call, kernel) if names & devices and not names & hosts else (None, None)
        elif id(call) not in inner and not _quiet(file, call):
            last = (None, None)
    return (None, None) if _by_events(timing) else last


def _quiet(file: PyFile, call: ast.Call) -> bool:
    """Whether a call surely waits for nothing on the device."""
    name = file.qualified(call.func) or ""
    plain = call.func.attr if isinstance(call.func, ast.Attribute) else file.code(call.func)
    return name.startswith(_QUIET_MODULES) or plain in (*_QUIET, *_ALLOCATES)


def _by_events(timing: Timing) -> bool:
    """Whether the scope measures by events too: then the clock is for the host's part."""
    return any(
        isinstance(n, ast.Attribute) and n.attr in ("record", "elapsed_time")
        for n in own_nodes(timing.scope)
    )


def _fix(file: PyFile, stop: ast.stmt, kernel: Function) -> Fix | None:
    decorator = kernel.decorator
    jit = decorator.func if isinstance(decorator, ast.Call) else decorator
    span = file.span(stop)
    indent = file.lines[span.line - 1][: span.column - 1]
    if indent.strip() or not isinstance(jit, ast.Attribute):
        return None
    at = Span(span.line, span.column, span.line, span.column)
    return Fix(at, f"{file.code(jit.value)}.synchronize()\n{indent}", safe=True)
