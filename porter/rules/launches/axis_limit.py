"""PRT605: a grid or a block that is too long along one axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values, launches
from porter.rules.model import PyFile

#: CUDA's limits for x, y and z, the same for every GPU since compute capability 3.0
GRID = (2**31 - 1, 65_535, 65_535)
BLOCK = (1024, 1024, 64)


class AxisLimit(Rule):
    """
    ## What it does

    Finds launches with more than 65,535 blocks along y or z, more than 2,147,483,647 along x,
    or more than 64 threads of a block along z, as far as the file shows the numbers.

    ## Why is this bad?

    The launch fails with "invalid argument" on every GPU. The limits of y and z are far below
    that of x, so code that worked for small arrays fails for tall ones. The simulator does not
    check it.

    ## Example

    ```python
    kernel[(1, 100_000), (256, 1)](x)  # PRT605
    ```

    Put the long axis on x, `kernel[(100_000, 1), (256, 1)](x)`, or let each thread stride over
    the rows with `cuda.gridsize`.

    ## Fix safety

    There is no automatic fix, since the kernel must change with the launch.
    """

    code = "PRT605"
    name = "grid-axis-limit"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[100_000, 256](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[(100_000, 65_535), (16, 16)](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(n):
            k[(1, n), (16, 16)](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[1, (4, 4, 64)](0)
        """
    INVALID = """
        --- 7:7
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[(1, 65_536), (256, 1)](0)
        --- 9:3
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        n = 2_000_000
        grid = (1, n // 16 + 1)
        k[grid, (16, 16)](0)
        --- 7:13
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[4, (1, 2, 128)](0)
        """

    def check(self, file: PyFile) -> Findings:
        """Every axis of a launch that is longer than a GPU takes."""
        for launch in launches(file):
            values = Values(file, launch.scope)
            for given, limits, what in (
                (launch.grid, GRID, "blocks in a grid"),
                (launch.block, BLOCK, "threads in a block"),
            ):
                for at, axis, size in _long(values, given, limits):
                    # PRT603 speaks of a block that has too many threads whatever their axes
                    if what.startswith("threads") and size > max(BLOCK):
                        continue
                    yield Finding(
                        at,
                        f"{size:,} {what} along {axis} exceeds the limit of"
                        f" {limits['xyz'.index(axis)]:,}",
                        "put the longest axis on x, or use a grid-stride loop",
                    )


def _long(
    values: Values, given: ast.expr, limits: tuple[int, int, int]
) -> Iterator[tuple[ast.expr, str, int]]:
    """Where an axis is too long, which one, and how long it is."""
    shape = values.definition(given)
    parts = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [given]
    for part, axis, limit in zip(parts, "xyz", limits, strict=False):
        size = values.integer(part)
        if size is not None and size > limit:
            yield (part if shape is given else given), axis, size
