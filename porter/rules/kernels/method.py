"""PRT309: an array method or a parameter that the CUDA target lacks."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.kernels.arrays import array_names
from porter.rules.kernels.unsupported_call import ALLOCATES
from porter.rules.model import ON_DEVICE, Function, PyFile, method_on
from porter.support.tables import table

_CURES = {
    "max": "write `max(x)`, or a loop",
    "min": "write `min(x)`, or a loop",
    "copy": "copy the elements in a loop, into cuda.local.array",
    "astype": "convert the elements: `np.float32(x[i])`",
}


class MethodInKernel(Rule):
    """
    ## What it does

    Finds methods of arrays in device code that the CUDA target does not support (`x.max()`,
    `x.copy()`, `x.astype(...)`), and unsupported parameters of supported functions (`np.sum(x,
    axis=0)`, `np.sin(x, out=y)`).

    ## Why is this bad?

    The kernel does not compile. Numba's simulator takes all of them, so tests that run there
    do not notice. What compiles was asked of numba-cuda and of Numba.

    ## Example

    ```python
    @cuda.jit
    def scale(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i, 0] / x.max()  # PRT309
    ```

    Compute the maximum once, before the launch, and pass it in.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT309"
    name = "method-in-kernel"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.shape[0]:
                x[i, 0] = x.sum() + x.mean() + x.T[0, 0] + x.size + x[i].max
        ---
        from numba import njit

        @njit
        def f(x):
            return x.max() / x.shape[0]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, box):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = box.max
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, m):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = np.sum(x) + np.sin(x[i]) + np.argmax(m[i])
        """
    INVALID = """
        --- 7:25
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] / x.max()
        --- 8:9
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                np.sin(x[i], out=out)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such method of an array, every call with such a parameter."""
        if function.kind not in ON_DEVICE or ALLOCATES in file.text:
            return
        arrays = array_names(function)
        for call in function.calls:
            name = file.callee(call, function)
            short = name.removeprefix("numpy.")
            misfit = table("cuda").misfit("numpy", short, call) if short != name else None
            method = method_on(call, arrays)
            if misfit is not None:
                yield Finding(
                    call,
                    f"`{file.code(call.func)}` on the device does not take {misfit}",
                    "leave it out, or write it with loops over scalars",
                )
            elif method is not None and table("cuda").lacks("methods", method.attr):
                yield Finding(
                    method,
                    f"arrays on the device have no method `{method.attr}`",
                    _CURES.get(method.attr, "loop over the elements, or do it on the host"),
                )
