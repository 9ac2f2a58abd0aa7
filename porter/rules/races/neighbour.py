"""PRT406: a dependence between neighbouring elements, mapped to threads."""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, assigned
from porter.rules.threads import Element, Threads, Write, element

_THREADS = ("numba.cuda.threadIdx",)


class NeighbourRace(Rule):
    """
    ## What it does

    Finds kernels in which a thread writes `x[i]` and reads `x[i - 1]` or `x[i + 1]` of the same
    array, where `i` is its position. Another thread writes that element.

    ## Why is this bad?

    In a loop the iterations run in order, and each sees what the one before wrote. Threads run
    in no order: whether the neighbour's element is old or new is up to chance. The simulator,
    which runs blocks one after the other, often shows the result that was hoped for.

    ## Example

    ```python
    @cuda.jit
    def smooth(x):
        i = cuda.grid(1)
        if 0 < i < x.size:
            x[i] = 0.5 * (x[i] + x[i - 1])  # PRT406
    ```

    If the old value is meant, write into a second array:

    ```python
    @cuda.jit
    def smooth(x, out):
        i = cuda.grid(1)
        if 0 < i < x.size:
            out[i] = 0.5 * (x[i] + x[i - 1])
    ```

    If the new one is meant, the loop is sequential (a scan, a recurrence), and threads must
    divide the work in another way. Kernels with a barrier, and red-black schemes that select
    every other element with `%` or `&`, are not reported.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT406"
    name = "neighbour-race"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if 0 < i < x.size:
                out[i] = x[i] + x[i - 1]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size and i % 2 == 1:
                x[i] = x[i] + x[i - 1]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1) * 2
            if i + 1 < x.size:
                x[i] = x[i + 1]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, n):
            t = cuda.threadIdx.x
            for step in range(n):
                v = x[t + 1]
                cuda.syncthreads()
                x[t] = v
                cuda.syncthreads()
        ---
        from numba import cuda

        @cuda.jit
        def k(p):
            j = cuda.grid(1)
            if j < p.shape[1]:
                for i in range(1, p.shape[0]):
                    p[i, j] += p[i - 1, j]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i == 0:
                x[i] = x[i + 1]
        """
    INVALID = """
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if 0 < i < x.size:
                x[i] = 0.5 * (x[i] + x[i - 1])
        --- 8:9
        from numba import cuda

        @cuda.jit
        def k(u, a):
            i, j = cuda.grid(2)
            if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
                new = a * (u[i - 1, j] + u[i + 1, j] - 2 * u[i, j])
                u[i, j] += new
        --- 7:9
        from numba import cuda

        @cuda.jit
        def prefix(x):
            i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
            if i + 1 < x.shape[0]:
                x[i + 1] += x[i]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first such store of a kernel."""
        if function.kind is not Kind.KERNEL or _waits(file, function):
            return
        threads = Threads(file, function)
        positions = _positions(threads)
        if not positions:
            return
        for write in threads.writes:
            base = write.element.base
            if base not in function.parameters or _selected(threads, write):
                continue
            read = _neighbour(function, write.element, positions)
            if read is None:
                continue
            yield Finding(
                write.element.node,
                f"`{file.code(write.element.node)}` is written while another thread reads it as"
                f" `{file.code(read)}`",
                "write into a second array, or run the dependent steps one after the other",
                notes=[(read, "read here")],
            )
            return


def _waits(file: PyFile, function: Function) -> bool:
    """Whether anything in the kernel may order the threads."""
    names = [file.code(call.func) for call in function.calls]
    return any("sync" in n or "atomic" in n or n.startswith("cg.") for n in names)


def _positions(threads: Threads) -> set[str]:
    """Names bound once, to consecutive numbers in neighbouring threads."""
    nodes = threads.function.nodes
    bound = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    found = threads.bound_to(partial(_consecutive, threads))
    return {name for name in found if bound[name] == 1}


def _consecutive(threads: Threads, value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return threads.file.qualified(value.func, threads.function) == "numba.cuda.grid"
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return any(_thread(threads, side) for side in (value.left, value.right))
    return _thread(threads, value)


def _thread(threads: Threads, node: ast.expr) -> bool:
    """Whether an expression is cuda.threadIdx along an axis, by itself or under a name."""
    if isinstance(node, ast.Attribute):
        name = threads.file.qualified(node.value, threads.function)
        return name in _THREADS
    if not isinstance(node, ast.Name):
        return False
    values = [value for n, value in assigned(threads.function.nodes) if n == node.id]
    return len(values) == 1 and isinstance(values[0], ast.Attribute) and _thread(threads, values[0])


def _selected(threads: Threads, write: Write) -> bool:
    """Whether a condition may leave so few threads that none is another's neighbour."""
    nodes = [n for test in threads.conditions(write.statement) for n in ast.walk(test)]
    picks = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.Mod, ast.BitAnd, ast.In)
    return any(isinstance(n, (*picks, ast.Call)) for n in nodes)


def _neighbour(function: Function, written: Element, positions: set[str]) -> ast.Subscript | None:
    """The read of the same array at a constant distance from what the thread writes."""
    mine = [_offset(i, positions) for i in written.indices]
    if not any(m is not None for m in mine):
        return None
    for node in function.nodes:
        at = element(node)
        if at is None or at.base != written.base or not isinstance(at.node.ctx, ast.Load):
            continue
        if len(at.indices) != len(mine):
            continue
        pairs = [
            _apart(a, b, m, _offset(b, positions))
            for a, b, m in zip(written.indices, at.indices, mine, strict=True)
        ]
        if None not in pairs and any(pairs):
            return at.node
    return None


def _apart(
    a: ast.expr, b: ast.expr, mine: tuple[str, int] | None, other: tuple[str, int] | None
) -> bool | None:
    """Whether two subscripts lie a constant apart; None when that is not known."""
    if ast.dump(a) == ast.dump(b):
        return False
    if mine is None or other is None or mine[0] != other[0]:
        return None
    return mine[1] != other[1]


def _offset(index: ast.expr, positions: set[str]) -> tuple[str, int] | None:
    """`i`, `i + 1`, `i - 1` as a position and its offset."""
    if isinstance(index, ast.Name):
        return (index.id, 0) if index.id in positions else None
    if not (isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub))):
        return None
    left, right = index.left, index.right
    if isinstance(left, ast.Constant) and isinstance(index.op, ast.Add):
        left, right = right, left
    if not (isinstance(left, ast.Name) and left.id in positions):
        return None
    if not (isinstance(right, ast.Constant) and isinstance(right.value, int)):
        return None
    return left.id, right.value if isinstance(index.op, ast.Add) else -right.value
