"""PRT699: a number of blocks that is a float."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import launches
from porter.rules.model import PyFile


class FloatGrid(Rule):
    """
    ## What it does

    Finds launches whose number of blocks is a quotient by `/`.

    ## Why is this bad?

    The quotient is a float, and Numba raises TypeError at the launch.

    ## Example

    ```python
    kernel[n / 256, 256](x)  # PRT699
    ```

    ## Fix safety

    There is no automatic fix: whether to round up is not known.
    """

    code = "PRT699"
    name = "float-grid"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[8 // 2, 32](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[int(8 / 2), 32](0)
        ---
        data = {}
        data[8 / 2, 32](0)
        """
    INVALID = """
        --- 7:3
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[8 / 2, 32](0)
        --- 8:7
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x):
            k[x.size / 32, 32](x)
        """

    def check(self, file: PyFile) -> Findings:
        """Every launch with such a number of blocks."""
        for launch in launches(file):
            grid = launch.grid
            if isinstance(grid, ast.BinOp) and isinstance(grid.op, ast.Div):
                message = "the number of blocks is a float"
                yield Finding(grid, message, "divide with `//`, and round up")
