"""PRT405: shared memory read without a barrier."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import ON_DEVICE, Function, PyFile
from porter.rules.threads import Threads, element


class MissingBarrier(Rule):
    """
    ## What it does

    Finds device functions that write a shared array at one index and read it at another, and
    have no barrier at all.

    ## Why is this bad?

    Another thread wrote what is read, and without `cuda.syncthreads()` nothing says that it
    has done so yet. Within one warp it often works by luck; with larger blocks, or on another
    GPU, it does not.

    ## Example

    ```python
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    out[t] = s[255 - t]  # PRT405
    ```

    Put `cuda.syncthreads()` between the write and the read.

    ## Fix safety

    There is no automatic fix: the barrier must stand where every thread reaches it.
    """

    code = "PRT405"
    name = "shared-memory-without-barrier"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda, float32

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            cuda.syncthreads()
            out[t] = s[255 - t]
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            out[t] = s[t] * 2
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x, out):
            s = cuda.local.array(2, float32)
            t = cuda.threadIdx.x
            s[0] = x[t]
            s[1] = s[0] + 1
            out[t] = s[1 - 0]
        ---
        from numba import cuda, float32
        from mine import barrier

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            barrier()
            out[t] = s[255 - t]
        """
    INVALID = """
        --- 8:14
        from numba import cuda, float32

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            out[t] = s[255 - t]
        --- 9:21
        from numba import cuda, float32

        @cuda.jit
        def k(x, out):
            s = cuda.shared.array((16, 16), float32)
            i, j = cuda.grid(2)
            s[i, j] = x[i, j]
            if i < 8:
                out[i, j] = s[j, i]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first such read."""
        if function.kind not in ON_DEVICE:
            return
        threads = Threads(file, function, unknown_differs=False)
        shared = threads.shared_arrays
        if not shared or any(_may_wait(file, function, c) for c in function.calls):
            return
        written: dict[str, ast.Subscript] = {}
        for node in function.nodes:
            at = element(node)
            if at is None or at.base not in shared:
                continue
            first = written.get(at.base)
            if isinstance(at.node.ctx, ast.Store):
                if any(threads.varies(i) for i in at.indices):
                    written.setdefault(at.base, at.node)
            elif first is not None and file.code(first.slice) != file.code(at.node.slice):
                yield Finding(
                    at.node,
                    f"`{file.code(at.node)}` may be read before another thread has written it",
                    "call cuda.syncthreads() between the write and the read",
                    notes=[(first, "written here")],
                )
                return


def _may_wait(file: PyFile, function: Function, node: ast.Call) -> bool:
    """Whether a call is, or may contain, a barrier."""
    name = file.qualified(node.func, function)
    if name is not None:
        barrier = "sync" in name or "cg." in name
        return barrier or name.split(".")[0] not in ("math", "numpy", "numba", "cmath")
    plain = isinstance(node.func, ast.Name) and node.func.id in (
        "range", "len", "min", "max", "abs", "int", "float", "round", "print",
    )  # fmt: skip
    return not plain
