"""PRT403: an accumulation that threads share, without an atomic."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, assigned
from porter.rules.threads import Threads, Write, element

_ATOMICS: dict[object, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}


class SharedAccumulation(Rule):
    """
    ## What it does

    Finds `a[i] += ...` in kernels where `i` comes out of an array (a histogram, a scatter): two
    threads may have the same index.

    ## Why is this bad?

    `+=` reads, adds and writes. Threads that do it to one element at the same time lose
    updates, a different number of them in each run.

    ## Example

    ```python
    @cuda.jit
    def histogram(bins, counts):
        i = cuda.grid(1)
        if i < bins.size:
            counts[bins[i]] += 1  # PRT403
    ```

    Use an atomic: `cuda.atomic.add(counts, bins[i], 1)`.

    ## Fix safety

    There is no automatic fix: an index array without repeated values needs no atomic.
    """

    code = "PRT403"
    name = "accumulation-without-atomic"
    severity = Severity.WARNING
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(b, c):
            i = cuda.grid(1)
            if i < b.size:
                cuda.atomic.add(c, b[i], 1)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1
        ---
        from numba import njit

        @njit
        def f(b, c):
            for i in range(b.size):
                c[b[i]] += 1
        ---
        from numba import cuda

        @cuda.jit
        def k(b, c):
            t = cuda.local.array(8, 'i4')
            i = cuda.grid(1)
            if i < b.size:
                t[b[i]] += 1
                c[i] = t[0]
        ---
        from numba import cuda

        @cuda.jit
        def k(b, c):
            i = cuda.grid(1)
            if i < b.shape[0]:
                c[i, b[i]] += 1
        """
    INVALID = """
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(b, c):
            i = cuda.grid(1)
            if i < b.size:
                c[b[i]] += 1
        --- 8:9
        from numba import cuda

        @cuda.jit
        def k(x, h):
            i = cuda.grid(1)
            if i < x.size:
                j = int(x[i] * 10)
                h[j] += x[i]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such accumulation."""
        if function.kind is not Kind.KERNEL:
            return
        threads = Threads(file, function)
        loaded = _loaded(threads)
        for write in threads.writes:
            op = getattr(write.statement, "op", None)
            if type(op) not in _ATOMICS or write.element.base not in function.parameters:
                continue
            if not _gathered(threads, write, loaded):
                continue
            target = file.code(write.element.node)
            at = ", ".join(file.code(i) for i in write.element.indices)
            at = f"({at})" if len(write.element.indices) > 1 else at
            yield Finding(
                write.element.node,
                f"several threads may update `{target}` at the same time",
                f"use cuda.atomic.{_ATOMICS[type(op)]}({write.element.base}, {at}, ...)",
            )


def _loaded(threads: Threads) -> set[str]:
    """Names computed from an element that depends on the thread."""
    found: set[str] = set()
    for name, value in assigned(threads.function.nodes):
        if _loads(threads, value, found):
            found.add(name)
    return found


def _loads(threads: Threads, value: ast.expr, loaded: set[str]) -> bool:
    return any(
        (isinstance(n, ast.Name) and n.id in loaded)
        or (element(n) is not None and threads.varies(n))
        for n in ast.walk(value)
        if not isinstance(n, ast.Attribute)
    )


def _gathered(threads: Threads, write: Write, loaded: set[str]) -> bool:
    """Whether the index comes out of an array, and no other index tells the threads apart."""
    varying = [i for i in write.element.indices if threads.varies(i)]
    return bool(varying) and all(_loads(threads, i, loaded) for i in varying)
