"""PRT303: a function that the CUDA target does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Diagnostic, Severity
from porter.rules.base import Bad, Rule
from porter.rules.model import Function, PyFile
from porter.rules.words import words

#: ufuncs that fail on scalars in a kernel (numba-cuda 0.30, by experiment), and what to write
_UFUNCS = {
    **{n: f"`math.{n}`" for n in words("sqrt exp exp2 expm1 log1p floor ceil trunc copysign")},
    **{n: f"`math.{n}`" for n in words("isinf isfinite fmod nextafter frexp modf ldexp")},
    "abs": "`abs(x)`", "absolute": "`abs(x)`", "fabs": "`math.fabs(x)`", "add": "`a + b`",
    "subtract": "`a - b`", "multiply": "`a * b`", "power": "`a ** b`", "square": "`x * x`",
    "negative": "`-x`", "positive": "`x`", "reciprocal": "`1 / x`", "mod": "`a % b`",
    "remainder": "`a % b`", "floor_divide": "`a // b`", "divmod": "`divmod(a, b)`",
    "cbrt": "`cuda.cbrt(x)`", "rint": "`round(x)`", "float_power": "`a ** b`",
    "sign": "`(x > 0) - (x < 0)`", "where": "`a if c else b`",
    "clip": "a conditional expression", "round": "`round(x)`",
    "heaviside": "a conditional expression", "matmul": "loops",
}  # fmt: skip
_ALLOCATE = words("zeros ones empty full arange linspace zeros_like ones_like empty_like array eye")
_ARRAY = words(
    "dot cumsum cumprod diff interp isclose sort argsort unique einsum concatenate "
    "median percentile quantile stack vstack hstack tile repeat roll outer cross kron "
    "histogram bincount nonzero take convolve correlate gradient pad meshgrid"
)
_MATH = words(
    "comb dist factorial fsum gcd isclose isqrt lcm perm prod sumprod ulp"
)  # fmt: skip


class UnsupportedInKernel(Rule):
    """
    ## What it does

    Finds calls in device code of NumPy and math functions that the CUDA target lacks: most
    NumPy functions on scalars (`np.exp`, `np.sqrt`, `np.where`), everything that allocates
    an array, random numbers other than xoroshiro128p.

    ## Why is this bad?

    The kernel does not compile. The simulator takes all of them, so tests that run there
    do not notice.

    ## Example

    ```python
    @cuda.jit
    def activate(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = np.exp(x[i])  # PRT303
    ```

    Use `math.exp(x[i])`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT303"
    name = "unsupported-in-kernel"
    severity = Severity.ERROR
    VALID = (
        """
        import math
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.exp(x[i])
        """,
        """
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = np.sin(np.float32(x[i]))
        """,
        """
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.exp(x)
        """,
        """
        import numpy as np
        from numba import vectorize

        @vectorize
        def f(x):
            return np.exp(x)
        """,
    )
    INVALID = (
        Bad(
            """
            import numpy as np
            from numba import cuda

            @cuda.jit
            def k(x):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = np.exp(x[i])
            """,
            "8:16",
        ),
        Bad(
            """
            from numpy import exp
            from numba import vectorize

            @vectorize(['f4(f4)'], target='cuda')
            def f(x):
                return exp(x)
            """,
            "6:12",
        ),
        Bad(
            """
            import numpy as np
            from numba import cuda

            @cuda.jit
            def k(x):
                i = cuda.grid(1)
                t = np.zeros(4)
                if i < x.size:
                    x[i] = t[0]
            """,
            "7:9",
        ),
    )

    def check_function(self, file: PyFile, function: Function) -> Iterator[Diagnostic]:
        """Every such call in a function that runs on the device."""
        if not function.on_device:
            return
        for node in function.nodes:
            if not isinstance(node, ast.Call):
                continue
            name = file.qualified(node.func, function) or ""
            cure = _cure(name)
            if cure is not None:
                message = f"{file.called(node.func, name)} is not available on the device"
                yield self.report(file, node.func, message, cure, function=function)


def _cure(name: str) -> str | None:
    module, _, short = name.partition(".")
    if module == "random" or name.startswith(("numpy.random.", "numpy.linalg.", "numpy.fft.")):
        random = "random" in name
        return (
            "use xoroshiro128p_uniform_float32 and its kin from numba.cuda.random"
            if random
            else "call it on the host, or write it with loops over scalars"
        )
    if module == "math" and short in _MATH:
        return "compute it on the host, or write it with operators"
    if module != "numpy":
        return None
    if short in _UFUNCS:
        return f"write {_UFUNCS[short]}"
    if short in _ALLOCATE:
        return "pass the array in, or use cuda.local.array or cuda.shared.array"
    return "write it with loops over scalars" if short in _ARRAY else None
