"""PRT604: neighbouring threads on the slow axis of an array."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values, launches_of
from porter.rules.model import Function, Kind, PyFile
from porter.rules.threads import element


class SlowAxis(Rule):
    """
    ## What it does

    Finds 2-D and 3-D kernels that index the first axis of an array with the first result of
    `cuda.grid`, and its last axis with the last.

    ## Why is this bad?

    The first result of `cuda.grid(2)` is the x axis, along which the threads of a warp are
    neighbours; in a C-ordered array neighbours lie along the last axis. So each thread of a
    warp reads from another row: 32 transactions instead of 4 or fewer. Arrays in Fortran
    order are the exception. Kernels are reported only if this file shows how wide their blocks
    are: in a block that is one thread wide the neighbours are along the other axes.

    ## Example

    ```python
    row, col = cuda.grid(2)  # PRT604
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] *= 2
    ```

    Write `col, row = cuda.grid(2)`, and swap the launch's grid and block likewise.

    ## Fix safety

    There is no automatic fix, since the launches must change with the kernel.
    """

    code = "PRT604"
    name = "threads-on-slow-axis"
    severity = Severity.ADVICE
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            j, i = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                x[i, j] *= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.shape[0]:
                x[i, 0] *= 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                y[j, i] = x[j, i]
        ---
        from numba import cuda

        @cuda.jit
        def t(x, y):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                y[j, i] = x[i, j]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                x[i, j] *= 2

        def run(x):
            t = (1, 64)
            k[(x.shape[0], (x.shape[1] + 63) // 64), t](x)
        """
    INVALID = """
        --- 5:5
        from numba import cuda

        @cuda.jit
        def k(x):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                x[i, j] *= 2

        def run(x, blocks):
            k[blocks, (16, 16)](x)
        --- 5:5
        from numba import cuda

        @cuda.jit
        def k(x):
            row, col = cuda.grid(2)
            if row < x.shape[0] and col < x.shape[1]:
                x[row][col] *= 2

        threads = (32, 8)

        def run(x, blocks):
            k[blocks, threads](x)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The assignment from `cuda.grid` when every access has the axes the slow way round."""
        if function.kind is not Kind.KERNEL or not _wide(file, function):
            return
        for node in function.nodes:
            names = _grid_names(file, function, node)
            if len(names) < 2 or not isinstance(node, ast.Assign):
                continue
            orders = {
                order
                for n in function.nodes
                if (at := element(n)) is not None and at.base in function.parameters
                if (order := _order(at.indices, names)) is not None
            }
            if orders == {"slow"}:
                first, last = names[0], names[-1]
                yield Finding(
                    node.targets[0],
                    f"neighbouring threads differ in `{first}`, which runs along the slow axis",
                    f"let `{last}` be the first result of cuda.grid, and swap grid and block at"
                    " the launch",
                )


def _wide(file: PyFile, function: Function) -> bool:
    """Whether this file launches the kernel, in blocks that it shows to be wider than one."""
    blocks = [
        Values(file, x.scope).axes(x.block) or _first(Values(file, x.scope), x.block)
        for x in launches_of(file, function)
    ]
    return bool(blocks) and all(block and block[0] > 1 for block in blocks)


def _first(values: Values, block: ast.expr) -> tuple[int, ...]:
    """The width of a block alone; empty when the file does not determine it."""
    made = values.definition(block)
    width = values.integer(made.elts[0]) if isinstance(made, ast.Tuple) and made.elts else None
    return () if width is None else (width,)


def _grid_names(file: PyFile, function: Function, node: ast.AST) -> list[str]:
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return []
    if file.qualified(node.value.func, function) != "numba.cuda.grid":
        return []
    target = node.targets[0]
    elements = target.elts if isinstance(target, ast.Tuple) else []
    return [e.id for e in elements if isinstance(e, ast.Name)]


def _order(indices: tuple[ast.expr, ...], names: list[str]) -> str | None:
    used = [{n.id for n in ast.walk(i) if isinstance(n, ast.Name)} & set(names) for i in indices]
    if len(used) < 2:
        return None
    if names[0] in used[-1]:
        return "fast"
    return "slow" if names[0] in used[0] and names[-1] in used[-1] else None
