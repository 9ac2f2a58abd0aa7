"""PRT302: arithmetic on whole arrays in a kernel."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.kernels.arrays import array_names, has_slice, is_array
from porter.rules.model import ON_DEVICE, Function, PyFile


class KernelArrayExpression(Rule):
    """
    ## What it does

    Finds array expressions and array assignments in kernels and device functions:
    `x[i, :] / s`, `x + y` of two arrays, `out[i, :] = x[i, :]`.

    ## Why is this bad?

    The CUDA target compiles scalar code. An array expression needs a temporary array, and a
    kernel cannot allocate one, so it does not compile. (Filling a slice with a scalar does.)

    ## Example

    ```python
    @cuda.jit
    def normalize(x):
        i = cuda.grid(1)
        x[i, :] = x[i, :] / x[i, :].mean()  # PRT302
    ```

    Write loops over the elements, or let `porter convert` write them:

    ```python
    @cuda.jit
    def normalize(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            mean = x[i, :].mean()
            for j in range(x.shape[1]):
                x[i, j] /= mean
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT302"
    name = "array-expression-in-kernel"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.shape[0]:
                x[i, 0] = x[i, :].mean()
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.shape[0]:
                x[i, :] = 0.0
        ---
        from numba import njit

        @njit
        def f(x):
            for i in range(x.shape[0]):
                x[i, :] = x[i, :] / x[i, :].mean()
        ---
        from numba import cuda

        @cuda.jit
        def k(x, y, a):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = a * x[i] + y[i]
        """
    INVALID = """
        --- 6:15
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i, :] = x[i, :] / x[i, :].mean()
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            if i < x.shape[0]:
                y[i, :] = x[i, :]
        --- 7:13
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            if i < x.size:
                z = x + y
                y[i] = z[i]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The outermost array expression of each statement."""
        if function.kind not in ON_DEVICE:
            return
        names = array_names(function)
        inside: set[int] = set()
        for node in function.nodes:
            if id(node) in inside or not isinstance(node, (ast.BinOp, ast.Assign, ast.AugAssign)):
                continue
            at = _offence(node, names)
            if at is None:
                continue
            inside |= {id(n) for n in ast.walk(at)}
            yield Finding(
                at,
                f"`{file.code(at)}` works on a whole array in "
                + ("a kernel" if function.kind.value == "kernel" else "a device function"),
                "loop over the elements and compute with scalars, or let `porter convert` write"
                " the kernel",
            )


def _offence(node: ast.AST, names: set[str]) -> ast.expr | None:
    if isinstance(node, ast.BinOp):
        return node if is_array(node, names) else None
    if isinstance(node, ast.Assign):
        copied = isinstance(node.value, (ast.Subscript, ast.Name)) and is_array(node.value, names)
        for target in node.targets:
            if copied and isinstance(target, ast.Subscript) and has_slice(target):
                return target
        return None
    if isinstance(node, ast.AugAssign) and is_array(node.target, names):
        return node.target
    return None
