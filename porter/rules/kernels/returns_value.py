"""PRT301: a kernel that returns a value."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import handed_on
from porter.rules.model import Function, Kind, PyFile


class KernelReturnsValue(Rule):
    """
    ## What it does

    Finds kernels that return a value.

    ## Why is this bad?

    A kernel runs once in every thread, and has nowhere to return a value to: Numba refuses to
    compile it. Results are written into an array that the caller passes.

    ## Example

    ```python
    @cuda.jit
    def weigh(values, weights):
        return values * weights  # PRT301
    ```

    Write into an output array:

    ```python
    @cuda.jit
    def weigh(values, weights, out):
        i = cuda.grid(1)
        if i < values.size:
            out[i] = values[i] * weights[i]
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT301"
    name = "kernel-returns-value"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i >= x.size:
                return
            x[i] = 1
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def square(v):
            return v * v
        ---
        from numba import cuda

        @cuda.reduce
        def total(a, b):
            return a + b
        ---
        from numba import cuda
        from mine import make_kernel

        @cuda.jit
        def twice(f, v):
            return f(f(v))

        kernel = make_kernel(twice)
        ---
        from numba import cuda

        @cuda.jit
        def power(x, n):
            return x * power(x, n - 1) if n else 1
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            def square(v):
                return v * v
            i = cuda.grid(1)
            if i < x.size:
                x[i] = square(x[i])
            return None
        """
    INVALID = """
        --- 5:5
        from numba import cuda

        @cuda.jit
        def k(x):
            return x / 255.0
        --- 7:9
        import numba.cuda as cu

        @cu.jit()
        def k(x):
            i = cu.grid(1)
            if i < x.size:
                return x[i]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every `return` of a kernel with a value other than None."""
        if function.kind is not Kind.KERNEL or handed_on(file, function):
            return
        for node in function.nodes:
            value = node.value if isinstance(node, ast.Return) else None
            if value is None or (isinstance(value, ast.Constant) and value.value is None):
                continue
            yield Finding(
                node,
                f"kernel `{function.name}` returns a value",
                "write the result into an output parameter, or make it a device function:"
                " @cuda.jit(device=True)",
            )
