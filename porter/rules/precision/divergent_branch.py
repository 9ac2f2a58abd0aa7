"""PRT704: a branch that takes the threads of a warp two long ways."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, stored, walk_own
from porter.rules.threads import Threads, element

WARP = 32


class DivergentBranch(Rule):
    """
    ## What it does

    Finds branches in kernels that certainly split warps and are expensive: both sides contain a
    loop, and the condition reads an element or picks threads with `%`; or a reduction in shared
    memory picks its threads with `%`, so that fewer and fewer threads of each warp do work.

    ## Why is this bad?

    The 32 threads of a warp run one instruction at a time. If they differ in a branch, the warp
    runs both sides one after the other, each with some of its threads idle.

    ## Example

    ```python
    while s < cuda.blockDim.x:
        if t % (2 * s) == 0:  # PRT704
            part[t] += part[t + s]
        cuda.syncthreads()
        s *= 2
    ```

    Let neighbouring threads work, so that whole warps finish early:

    ```python
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            part[t] += part[t + s]
        cuda.syncthreads()
        s //= 2
    ```

    Where data decides, sort or split it first, so that neighbours go the same way. Short
    branches are not reported: the compiler runs them without a jump.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT704"
    name = "divergent-branch"
    severity = Severity.ADVICE
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                if x[i] > 0:
                    out[i] = x[i]
                else:
                    out[i] = -x[i]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out, n):
            i = cuda.grid(1)
            if n > 3:
                for j in range(n):
                    out[i] += x[j]
            else:
                for j in range(n):
                    out[i] -= x[j]
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            part = cuda.shared.array(128, float32)
            t = cuda.threadIdx.x
            s = 64
            while s > 0:
                if t < s:
                    part[t] += part[t + s]
                cuda.syncthreads()
                s //= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out):
            t = cuda.threadIdx.x
            if t % 32 == 0:
                out[t // 32] = x[t]
        """
    INVALID = """
        --- 9:12
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            part = cuda.shared.array(128, float32)
            t = cuda.threadIdx.x
            s = 1
            while s < 128:
                if t % (2 * s) == 0:
                    part[t] += part[t + s]
                cuda.syncthreads()
                s *= 2
        --- 7:12
        from numba import cuda

        @cuda.jit
        def k(x, y, out):
            i = cuda.grid(1)
            if i < x.size:
                if x[i] > 0:
                    for j in range(y.size):
                        out[i] += y[j]
                else:
                    for j in range(y.size):
                        out[i] -= y[j]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such branch."""
        if function.kind is not Kind.KERNEL:
            return
        threads = Threads(file, function, blocks_differ=False)
        for node in function.nodes:
            if not isinstance(node, ast.If):
                continue
            picks = _remainder(threads, node.test)
            shrinks = picks is not None and _shrinks(threads, node, picks)
            splits = (picks is not None or _reads(threads, node.test)) and _long(node)
            if shrinks or splits:
                yield Finding(
                    node.test,
                    f"`{file.code(node.test)}` splits every warp"
                    + (", whose threads idle in turn" if shrinks else ", which runs both loops"),
                    "let the first threads work: `if t < s`, with `s` halved in each step"
                    if shrinks
                    else "arrange the work so that all 32 threads of a warp take the same branch",
                )


def _remainder(threads: Threads, test: ast.expr) -> ast.expr | None:
    """The divisor of `t % m == c`, if it tells threads of one warp apart."""
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.BinOp)):
        return None
    if not isinstance(test.left.op, ast.Mod) or not threads.varies(test.left.left):
        return None
    divisor = test.left.right
    if isinstance(divisor, ast.Constant):
        whole = isinstance(divisor.value, int) and divisor.value % WARP == 0
        return None if whole else divisor
    return divisor


def _shrinks(threads: Threads, branch: ast.If, divisor: ast.expr) -> bool:
    """Whether a reduction goes on with every second thread, every fourth, and so on."""
    if branch.orelse or isinstance(divisor, ast.Constant):
        return False
    names = {n.id for n in ast.walk(divisor) if isinstance(n, ast.Name)}
    loop = next((n for n in threads.around(branch) if isinstance(n, (ast.For, ast.While))), None)
    stores = any(w.element.base in threads.own_arrays for w in threads.writes)
    return loop is not None and not names.isdisjoint(stored(walk_own(loop))) and stores


def _reads(threads: Threads, test: ast.expr) -> bool:
    """Whether a condition depends on an element that differs between the threads."""
    return any(
        at is not None and any(threads.varies(i) for i in at.indices)
        for n in ast.walk(test)
        for at in [element(n)]
    )


def _long(branch: ast.If) -> bool:
    """Whether both sides of a branch contain a loop."""
    sides = (branch.body, branch.orelse)
    return all(
        any(isinstance(n, (ast.For, ast.While)) for s in side for n in walk_own(s))
        for side in sides
    )
