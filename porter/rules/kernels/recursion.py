"""PRT306: device functions that call each other in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile


class RecursionInKernel(Rule):
    """
    ## What it does

    Finds device functions that call each other recursively.

    ## Why is this bad?

    The CUDA target compiles a function that calls itself, but not two that call each other,
    although `@njit` does: the launch ends with an AttributeError that names neither the
    function nor the line. Numba's simulator takes it, so tests that run there do not notice.

    ## Example

    ```python
    @cuda.jit(device=True)
    def even(n):
        return True if n == 0 else odd(n - 1)  # PRT306

    @cuda.jit(device=True)
    def odd(n):
        return False if n == 0 else even(n - 1)
    ```

    Make one function of them, or a loop:

    ```python
    @cuda.jit(device=True)
    def even(n):
        return n % 2 == 0
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT306"
    name = "recursion-in-kernel"
    severity = Severity.ERROR
    VALID = """
        from numba import njit

        @njit
        def f(n):
            return 1 if n < 2 else n * f(n - 1)
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def g(a, b):
            while b != 0:
                a, b = b, a % b
            return a

        @cuda.jit(device=True)
        def f(a, b):
            return g(a, b) + g(b, a)
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def f(a, f):
            return f(a)
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def f(n):
            return 1 if n < 2 else n * f(n - 1)
        """
    INVALID = """
        --- 5:12
        from numba import cuda

        @cuda.jit(device=True)
        def f(n):
            return g(n - 1) if n > 0 else 0

        @cuda.jit(device=True)
        def h(n):
            return f(n - 1)

        @cuda.jit(device=True)
        def g(n):
            return h(n) + 1
        --- 5:32
        from numba import cuda

        @cuda.jit(device=True)
        def even(n):
            return True if n == 0 else odd(n - 1)

        @cuda.jit(device=True)
        def odd(n):
            return False if n == 0 else even(n - 1)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first call that leads back to the function through another."""
        if not function.on_device:
            return
        for call, callee in _callees(file, function):
            if function is not callee and function in _reached(file, callee):
                yield Finding(
                    call,
                    f"`{function.name}` and `{callee.node.name}` call each other on the device",
                    "merge them into one function, or use a loop",
                )
                return


def _callees(file: PyFile, function: Function) -> Iterator[tuple[ast.Call, Function]]:
    for node in function.calls:
        if isinstance(node.func, ast.Name):
            name = node.func.id
            callee = None if name in function.local_names else file.defined(name, node.lineno)
            if callee is not None and callee.on_device:
                yield node, callee


def _reached(file: PyFile, function: Function) -> set[Function]:
    found: set[Function] = set()
    todo = [function]
    while todo:
        for _, callee in _callees(file, todo.pop()):
            if callee not in found:
                found.add(callee)
                todo.append(callee)
    return found
