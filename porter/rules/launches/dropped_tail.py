"""PRT602: a grid by floor division, which drops the tail of the array."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Launch, Values, launches
from porter.rules.model import PyFile


class DroppedTail(Rule):
    """
    ## What it does

    Finds grids computed as `n // threads`, for kernels without a grid-stride loop.

    ## Why is this bad?

    When `n` is not a multiple of `threads`, the last elements have no thread: they are
    silently left out. An array smaller than one block gets a grid of no blocks, which is an
    error.

    ## Example

    ```python
    blocks = n // threads  # PRT602
    kernel[blocks, threads](x)
    ```

    Round up: `blocks = (n + threads - 1) // threads`.

    A division that this file shows to be exact is not reported.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT602"
    name = "grid-drops-tail"
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            b = (x.size + t - 1) // t
            k[b, t](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            b = x.size // t
            if x.size % t:
                b += 1
            k[b, t](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            b = -(-x.size // t)
            k[b, t](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                x[i] += 1

        def run(x, t):
            k[x.size // t, t](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        n = 16 * 1024
        t = 512
        b = n // t
        k[b, t](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            k[x.size // t + 1, t](x)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        A = np.zeros((1024, 512))
        t = 32
        b = A.shape[1] // t
        k[b, t](A)
        ---
        from numba import cuda
        import settings

        @cuda.jit
        def k(x):
            pass

        if settings.small:
            n, m, tpb = 4, 4, 2
        else:
            n, m, tpb = 256, 256, 32

        def run(x):
            t = (tpb, tpb)
            k[(n // t[0], m // t[1]), t](x)
        """
    INVALID = """
        --- 8:9
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            b = x.size // t
            k[b, t](x)
        --- 8:3
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        n = 1000
        k[n // 256, 256](0)
        --- 9:10
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x):
            t = (16, 16)
            b = (int(x.shape[0] / t[0]), x.shape[1] // t[1])
            k[b, t](x)
        """

    def check(self, file: PyFile) -> Findings:
        """The first division of each launch that may drop elements."""
        seen: set[ast.expr] = set()
        for launch in launches(file):
            if _strides(file, launch):
                continue
            division = _division(file, launch)
            if division is None or division in seen:
                continue
            seen.add(division)
            yield Finding(
                division,
                f"`{file.code(division)}` rounds down: the last elements get no thread",
                "round up: `(n + threads - 1) // threads`",
                notes=[(launch.call, "launched here")],
            )


def _strides(file: PyFile, launch: Launch) -> bool:
    """Whether the kernel goes over the array whatever the grid is."""
    names = {file.qualified(n, launch.kernel) or "" for n in launch.kernel.nodes}
    return any(n.startswith(("numba.cuda.gridsize", "numba.cuda.gridDim")) for n in names)


def _division(file: PyFile, launch: Launch) -> ast.expr | None:
    values = Values(file, launch.scope)
    grid = values.definition(launch.grid)
    block = values.definition(launch.block)
    grids = grid.elts if isinstance(grid, ast.Tuple) else [grid]
    for n, one in enumerate(grids):
        expression = values.definition(one) if one is not None else None
        if expression is None:
            continue
        parts = _floor(expression)
        if parts is not None and _by_block(file, parts[1], launch.block, block, n):
            if not _divides(values, *parts):
                return expression
    return None


def _divides(values: Values, total: ast.expr, size: ast.expr) -> bool:
    """Whether the file shows the division to be exact, in each branch that sets the two."""
    totals, sizes = values.alternatives(total), values.alternatives(size)
    if len(totals) != len(sizes):
        shorter = totals if len(totals) == 1 else sizes
        shorter *= max(len(totals), len(sizes)) if len(shorter) == 1 else 1
    pairs = list(zip(totals, sizes, strict=False))
    return len(totals) == len(sizes) and all(t is not None and s and t % s == 0 for t, s in pairs)


def _floor(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Numerator and denominator of `a // b` and `int(a / b)`; None when it rounds up."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
        inner = node.args[0] if len(node.args) == 1 else None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Div, ast.FloorDiv)):
            return _plain(inner)
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _plain(node)
    return None


def _plain(node: ast.BinOp) -> tuple[ast.expr, ast.expr] | None:
    rounded = isinstance(node.left, (ast.BinOp, ast.UnaryOp)) and not (
        isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mult)
    )
    return None if rounded else (node.left, node.right)


def _by_block(
    file: PyFile, divisor: ast.expr, given: ast.expr, block: ast.expr | None, axis: int
) -> bool:
    """Whether the divisor is the block's size (along its axis)."""
    text = file.code(divisor)
    known = {file.code(given), f"{file.code(given)}[{axis}]"}
    if isinstance(block, ast.Tuple):
        known |= {file.code(e) for e in block.elts}
    elif block is not None:
        known.add(file.code(block))
    return text in known
