"""PRT601: blocks and threads swapped in a launch."""

from __future__ import annotations

import ast
import re

from porter.diagnostics import Fix, Severity, Span
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import configured
from porter.rules.model import PyFile

_THREADS = re.compile(r"thread|tpb|^n?_?block_?(size|dim|shape)s?$|^block$", re.IGNORECASE)
_BLOCKS = re.compile(r"blocks|grid|bpg", re.IGNORECASE)


class SwappedLaunch(Rule):
    """
    ## What it does

    Finds launches whose configuration seems to have threads first and blocks second, judging by
    the names.

    ## Why is this bad?

    The order is `kernel[blocks, threads]`. Swapped, the launch has as many threads as before,
    so small cases still work, but blocks of the wrong size: slow, and an error as soon as
    there are more than 1,024 of what was meant to be blocks.

    ## Example

    ```python
    kernel[threads_per_block, blocks_per_grid](x)  # PRT601
    ```

    Write `kernel[blocks_per_grid, threads_per_block](x)`.

    ## Fix safety

    The fix swaps the two. It is unsafe because it changes how the kernel is launched.
    """

    code = "PRT601"
    name = "swapped-launch-configuration"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        blocks, threads = 4, 32
        k[blocks, threads](1)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[4, 32](1)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(a, b):
            k[a, b](1)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(blocks_per_grid, threads_per_block, s):
            k[blocks_per_grid, threads_per_block, s](1)
        ---
        import numpy as np

        def f(table, threads, blocks):
            return table[threads, blocks](1)
        """
    INVALID = """
        --- 8:7
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(threads, blocks):
            k[threads, blocks](1)
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(threads, blocks):
            k[blocks, threads](1)
        --- 9:3
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        threadsperblock = 32
        blockspergrid = 7
        k[threadsperblock, blockspergrid, 0](1)
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        threadsperblock = 32
        blockspergrid = 7
        k[blockspergrid, threadsperblock, 0](1)
        """

    def check(self, file: PyFile) -> Findings:
        """Every launch whose names say that it is swapped."""
        for launch in configured(file):
            if _role(launch.grid) != "threads" or _role(launch.block) != "blocks":
                continue
            first, second = file.code(launch.grid), file.code(launch.block)
            a, b = file.span(launch.grid), file.span(launch.block)
            span = Span(a.line, a.column, b.end_line, b.end_column)
            yield Finding(
                launch.grid,
                f"`{launch.name}` is launched with `{first}` as blocks and `{second}` as threads",
                f"write `{launch.name}[{second}, {first}]`: blocks come first",
                fix=Fix(span, f"{second}, {first}", safe=False),
            )


def _role(node: ast.expr) -> str | None:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    if _THREADS.search(name):
        return "threads"
    return "blocks" if _BLOCKS.search(name) else None
