"""PRT308: what `print` cannot do on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.kernels.arrays import array_names
from porter.rules.model import Function, PyFile, is_text


class PrintInKernel(Rule):
    """
    ## What it does

    Finds `print` in device code with keywords (`end=`, `sep=`) or of a whole array, and strings
    formatted with `%` or `.format`.

    ## Why is this bad?

    On the device, `print` takes numbers, tuples and constant texts, one after the other. All
    else does not compile. Numba's simulator takes all of it, so tests that run there do not
    notice.

    ## Example

    ```python
    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        if i < x.size:
            print("x[%d] = %f" % (i, x[i]))  # PRT308
    ```

    Write `print("x", i, x[i])`. The output appears when the host synchronises.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT308"
    name = "print-in-kernel"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                print('x', i, x[i], x.shape)
        ---
        from numba import njit

        @njit
        def f(x):
            print(x)
        ---
        def f(x):
            print('%d' % x, end='')
        ---
        from numba import cuda

        @cuda.jit
        def k(x, n):
            i = cuda.grid(1)
            if i < x.size and i % n == 0:
                print(n, x[i])
        """
    INVALID = """
        --- 7:15
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                print('x[%d]' % i)
        --- 7:21
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                print(x[i], end='')
        --- 7:15
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                print(x)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such argument and every such text."""
        if not function.on_device:
            return
        arrays = array_names(function)
        for node in function.nodes:
            for at, what in _offences(node, arrays):
                yield Finding(
                    at,
                    f"the CUDA target cannot print {what}",
                    "print numbers and constant strings only: `print('x', i, x[i])`",
                )


def _offences(node: ast.AST, arrays: set[str]) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_text(node.left):
        yield node, "a string formatted with `%`"
    if not isinstance(node, ast.Call):
        return
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr == "format" and is_text(func.value):
        yield node, "a string formatted with `.format`"
    if isinstance(func, ast.Name) and func.id == "print":
        yield from ((k, f"with `{k.arg}=`") for k in node.keywords[:1])
        for argument in node.args:
            if isinstance(argument, ast.Name) and argument.id in arrays:
                yield argument, f"the array `{argument.id}`"
