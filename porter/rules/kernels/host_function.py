"""PRT305: a kernel that calls a plain Python function."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import FUNCTIONS, Function, Kind, PyFile


class HostFunctionInKernel(Rule):
    """
    ## What it does

    Finds kernels and device functions that call a function of the same file that has no
    decorator.

    ## Why is this bad?

    Code on the device can only call device functions. The kernel does not compile.

    ## Example

    ```python
    def square(v):
        return v * v

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = square(x[i])  # PRT305
    ```

    Decorate `square` with `@cuda.jit(device=True)`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT305"
    name = "host-function-in-kernel"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        @cuda.jit
        def g(v):
            return v * v

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def g(v):
            return v * v

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        ---
        from numba import cuda, njit

        @njit
        def g(v):
            return v * v

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            def g(v):
                return v * v
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        ---
        from numba import cuda

        def g(v):
            return v

        g = cuda.jit(device=True)(g)

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        """
    INVALID = """
        --- 10:16
        from numba import cuda

        def g(v):
            return v * v

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = g(x[i])
        --- 8:12
        from numba import vectorize

        def g(v):
            return v * v

        @vectorize(["f4(f4)"], target="cuda")
        def f(x):
            return g(x) + 1
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every call of a plain function."""
        if not function.on_device:
            return
        for node in function.calls:
            if not isinstance(node.func, ast.Name):
                continue
            name = node.func.id
            callee = file.defined(name, node.lineno)
            if callee is None or name in function.local_names or callee is function:
                continue
            if callee.kind is not Kind.PLAIN or not _undecorated(file, callee, name):
                continue
            cure = f"decorate `{name}` with @cuda.jit(device=True)"
            message = f"`{function.name}` runs on the device and calls plain Python `{name}`"
            yield Finding(node, message, cure)


def _undecorated(file: PyFile, callee: Function, name: str) -> bool:
    """Whether the name is bound once, by a function without any decorator, at module level."""
    if callee.node.decorator_list or callee.node not in file.tree.body:
        return False
    decorators = [d for f in file.functions for d in f.node.decorator_list]
    if any(isinstance(n, ast.Name) and n.id == name for d in decorators for n in ast.walk(d)):
        # numba.extending's @overload(name) and its kin give the name a meaning on the device
        return False
    bound = [
        n
        for s in file.tree.body
        for n in ast.walk(s)
        if (isinstance(n, FUNCTIONS) and n.name == name)
        or (isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store))
    ]
    return len(bound) == 1 and file.imported(name, callee.node.lineno) is None
