"""PRT401: every thread writes the same element."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values, handed_on, launches_of
from porter.rules.model import Function, Kind, PyFile, stored
from porter.rules.threads import THREAD, Threads, Write


class SameElement(Rule):
    """
    ## What it does

    Finds kernels in which every thread writes the same element of an array: sequential code
    under `@cuda.jit` that never uses a thread index, or a store whose index does not depend on
    the thread.

    ## Why is this bad?

    All threads run the whole code at once and overwrite each other. The result depends on
    which thread comes last, and nothing is gained from having more than one.

    ## Example

    ```python
    @cuda.jit
    def double(x):
        for i in range(x.size):
            x[i] *= 2  # PRT401: every thread doubles every element
    ```

    Give each thread its own element:

    ```python
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2
    ```

    A kernel that this file launches with a single thread only is not reported, nor one that
    stores to fixed elements only and is not launched here: it may be meant for one thread.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT401"
    name = "every-thread-writes-same-element"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            start = cuda.grid(1)
            for i in range(start, x.size, cuda.gridsize(1)):
                x[i] *= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i == 0:
                out[0] = x[0]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            for i in range(x.size):
                x[i] *= 2

        k[1, 1](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array(32, 'f4')
            t = cuda.threadIdx.x
            s[t] = x[t]
            cuda.syncthreads()
            cuda.atomic.add(out, 0, s[t])
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out):
            tx = cuda.threadIdx.x
            pos = tx + cuda.blockIdx.x * cuda.blockDim.x
            row = out[pos]
            for j in range(3):
                row[j] = x[pos]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, found):
            i = cuda.grid(1)
            if i < x.size and x[i] > 3:
                found[0] = True
        ---
        from numba import cuda

        @cuda.jit
        def k(r, x):
            r[()] = x[()] + 1
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            x[1] = cuda.atomic.max(x, 0, 10)

        def check(launch):
            launch(k)
        ---
        from numba import cuda
        from mine import check

        @cuda.jit
        def k(x):
            for i in range(x.size):
                x[i] = i

        check(k)
        ---
        from numba import cuda
        from mine import fixed

        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            at = cuda.local.array(2, 'i8')
            at[0] = i % x.shape[0]
            at[1] = i // x.shape[0]
            x[fixed(at)] = y[i]
        """
    INVALID = """
        --- 6:9
        from numba import cuda

        @cuda.jit
        def k(x):
            for i in range(x.size):
                x[i] *= 2
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[0] = x[i]
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            for j in range(x.size):
                out[j] = x[j] + i
        --- 5:5
        from numba import cuda

        @cuda.jit
        def k(r, x):
            r[0] = x + 1

        def run(r, n):
            k[1, n](r, 1)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first such store of a kernel that has more than one thread."""
        if function.kind is not Kind.KERNEL or _single_thread(file, function):
            return
        threads = Threads(file, function)
        shared = set(function.parameters)
        asks = _asks(file, function)
        launched = bool(launches_of(file, function))
        if not asks and handed_on(file, function):
            return
        for write in threads.writes:
            if write.element.base not in shared or _own(threads, write):
                continue
            if not asks and not _stepped(threads, write):
                if not launched or isinstance(write.value, ast.Constant):
                    continue
            target = file.code(write.element.node)
            if threads.uses_index:
                message = f"every thread writes the same element `{target}`"
                cure = "index with the thread, let one thread write, or use cuda.atomic"
            else:
                message = f"`{function.name}` uses no thread index: every thread writes `{target}`"
                cure = "take an index from cuda.grid(1) and check it against the array's size"
            yield Finding(write.element.node, message, cure)
            return


def _asks(file: PyFile, function: Function) -> bool:
    """Whether the kernel itself asks which thread it is."""
    return any(
        (file.qualified(n, function) or "").startswith(THREAD)
        for n in function.nodes
        if isinstance(n, (ast.Attribute, ast.Name))
    )


def _stepped(threads: Threads, write: Write) -> bool:
    """Whether a loop around the store goes over the elements."""
    around = [at for at in threads.around(write.statement) if isinstance(at, (ast.For, ast.While))]
    stepped = {name for loop in around for name in stored(ast.walk(loop))}
    return any(
        isinstance(n, ast.Name) and n.id in stepped
        for i in write.element.indices
        for n in ast.walk(i)
    )


def _own(threads: Threads, write: Write) -> bool:
    """Whether the store may go to another element in each thread, or does no harm."""
    at = write.element
    if at.base in threads.names or any(threads.varies(i) for i in at.indices):
        return True
    if isinstance(write.statement, ast.Assign) and isinstance(write.value, ast.Constant):
        return threads.uses_index
    return any(_selects(threads, test) for test in threads.conditions(write.statement))


def _selects(threads: Threads, test: ast.expr) -> bool:
    """Whether a condition may leave a single thread: anything but `i < n` and its like."""
    if not threads.varies(test):
        return False
    if isinstance(test, ast.BoolOp):
        return any(_selects(threads, v) for v in test.values)
    if not isinstance(test, ast.Compare):
        return True
    if any(isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) for op in test.ops):
        return True
    sides = (test.left, *test.comparators)
    return any(isinstance(s, (ast.Constant, ast.Subscript)) for s in sides)


def _single_thread(file: PyFile, function: Function) -> bool:
    mine = launches_of(file, function)
    totals = [
        (v.product(x.grid), v.product(x.block)) for x in mine for v in [Values(file, x.scope)]
    ]
    return bool(totals) and all(t == (1, 1) for t in totals)
