"""PRT404: a barrier that not all threads of a block reach."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import ON_DEVICE, Function, PyFile
from porter.rules.threads import Threads

_BARRIERS = ("numba.cuda.syncthreads",)


class DivergentBarrier(Rule):
    """
    ## What it does

    Finds `cuda.syncthreads()` under a condition that depends on the thread, or below an early
    `return` that only some threads take.

    ## Why is this bad?

    `syncthreads` waits for all threads of the block. If some never come, the kernel hangs or
    goes on with half-written shared memory. The simulator shows neither.

    ## Example

    ```python
    @cuda.jit
    def k(x):
        s = cuda.shared.array(256, float32)
        i = cuda.grid(1)
        if i >= x.size:
            return
        s[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()  # PRT404
        ...
    ```

    Guard the loads and stores, and let every thread reach the barrier.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT404"
    name = "barrier-in-divergent-code"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1
            cuda.syncthreads()
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            s = 128
            while s > 0:
                if cuda.threadIdx.x < s:
                    x[cuda.threadIdx.x] += 1
                cuda.syncthreads()
                s //= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x, flag):
            if flag:
                cuda.syncthreads()
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            row = cuda.blockIdx.x
            if row >= x.shape[0]:
                return
            cuda.syncthreads()
        ---
        from numba import cuda
        import cluster

        @cuda.jit
        def k(x):
            if cluster.my_rank() != 0:
                cuda.syncthreads()
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
                if row > 3:
                    cuda.syncthreads()
        """
    INVALID = """
        --- 6:9
        from numba import cuda

        @cuda.jit
        def k(x):
            if cuda.threadIdx.x < 16:
                cuda.syncthreads()
        --- 9:5
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i >= x.size:
                return
            x[i] = 1
            cuda.syncthreads()
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every barrier that some threads may not reach."""
        if function.kind not in ON_DEVICE:
            return
        threads = Threads(file, function, blocks_differ=False, unknown_differs=False)
        for node in function.calls:
            if not file.callee(node, function).startswith(_BARRIERS):
                continue
            for test in threads.conditions(node):
                if threads.varies(test):
                    yield Finding(
                        node,
                        f"whether a thread reaches this barrier depends on `{file.code(test)}`",
                        "let every thread reach it, and guard only the loads and stores",
                        notes=[(test, "decides which threads go on")],
                    )
                    break
