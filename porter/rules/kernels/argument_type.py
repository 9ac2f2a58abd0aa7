"""PRT310: a launch argument that has no type on the device."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Launch, Values, launches
from porter.rules.model import PyFile


class KernelArgumentType(Rule):
    """
    ## What it does

    Finds launches that pass a string, a list or a set to a kernel.

    ## Why is this bad?

    A kernel takes arrays, numbers, tuples of numbers and records. The launch ends with an
    error that does not name the argument.

    ## Example

    ```python
    smooth[blocks, threads](x, [0.25, 0.5, 0.25])  # PRT310
    ```

    Pass a tuple or an array, and a number instead of a text that selects something.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT310"
    name = "kernel-argument-type"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x, w):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = w[0]

        def run(x):
            k[1, 32](x, (0.25, 0.5))
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, w):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = w[0]

        def run(x):
            w = [0.25, 0.5]
            w = np.array(w)
            k[1, 32](x, w)
        ---
        def run(k, x):
            k[1, 32](x, 'sum')
        """
    INVALID = """
        --- 10:17
        from numba import cuda

        @cuda.jit
        def k(x, mode):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = 1

        def run(x):
            k[1, 32](x, 'sum')
        --- 11:17
        from numba import cuda

        @cuda.jit
        def k(x, w):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = w[0]

        def run(x):
            w = [0.25, 0.5]
            k[1, 32](x, w)
        """

    def check(self, file: PyFile) -> Findings:
        """Every such argument of a launch of a kernel of this file."""
        for launch in launches(file):
            if "extensions" in launch.kernel.options:
                continue
            for argument in launch.call.args:
                what = _untyped(file, launch, argument)
                if what:
                    yield Finding(
                        argument,
                        f"`{launch.name}` is passed {what}, which has no device type",
                        "pass a number, a tuple of numbers or an array",
                    )


def _untyped(file: PyFile, launch: Launch, argument: ast.expr) -> str | None:
    value = Values(file, launch.scope).definition(argument)
    if isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes)):
        return "a string"
    if isinstance(value, ast.JoinedStr):
        return "a string"
    if isinstance(value, (ast.List, ast.ListComp)):
        return "a list"
    return "a set" if isinstance(value, (ast.Set, ast.SetComp)) else None
