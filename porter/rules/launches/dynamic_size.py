"""PRT607: a shared or local array whose size is no compile-time constant."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import ON_DEVICE, Function, Kind, PyFile, assigned, keyword

_ARRAYS = {"numba.cuda.shared.array": "shared", "numba.cuda.local.array": "local"}
_RUN_TIME = ("shape", "size", "strides", "nbytes", "itemsize", "x", "y", "z")


class DynamicSize(Rule):
    """
    ## What it does

    Finds `cuda.shared.array` and `cuda.local.array` in kernels with a size that is computed: from
    an argument, from `x.shape`, from `cuda.blockDim`, or by arithmetic on a global.

    ## Why is this bad?

    The size is part of the compiled code, so that Numba refuses any but a constant: a number, a
    global or a closure's variable that holds one (or a tuple of them). It does not fold
    `N + 1` for a global `N` either.

    ## Example

    ```python
    @cuda.jit
    def k(x):
        s = cuda.shared.array(cuda.blockDim.x, float32)  # PRT607
    ```

    Name the size at module level (`THREADS = 256`, `PADDED = THREADS + 1`) and use the name, or
    pass `0` and give the size in bytes at the launch: `k[blocks, threads, stream, nbytes](x)`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT607"
    name = "dynamic-array-size"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda, float32

        N = 16

        @cuda.jit
        def k(x):
            s = cuda.shared.array((N, 2 * 16 + 1), float32)
            s[0, 0] = x[0]
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            n = 32
            s = cuda.shared.array(n, float32)
            t = cuda.local.array(x.ndim, float32)
            s[0] = t[0] = x[0]
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            s = cuda.shared.array(0, float32)
            s[0] = x[0]
        ---
        from numba import cuda, float32

        @cuda.jit(device=True)
        def f(x, n):
            s = cuda.shared.array(n, float32)
            s[0] = x[0]

        @cuda.jit
        def k(x):
            f(x, 32)
        ---
        from numba import cuda, float32

        def make(n, shape):
            m = n + 1

            @cuda.jit
            def k(x):
                s = cuda.shared.array(m, float32)
                t = cuda.local.array(shape[0], float32)
                s[0] = t[0] = x[0]

            return k
        """
    INVALID = """
        --- 5:27
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            s = cuda.shared.array(x.shape[0], float32)
            s[0] = x[0]
        --- 5:36
        from numba import cuda, float32

        @cuda.jit
        def k(x, n):
            s = cuda.local.array(shape=(4, n), dtype=float32)
            s[0, 0] = x[0]
        --- 7:31
        from numba import cuda, float32

        N = 16

        @cuda.jit
        def k(x):
            s = cuda.shared.array((N, N + 1), float32)
            s[0, 0] = x[0]
        --- 6:27
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            n = cuda.blockDim.x
            s = cuda.shared.array(n, float32)
            s[0] = x[0]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every size that the compiler cannot know."""
        if function.kind not in ON_DEVICE or "inline" in function.options:
            return
        for node in function.nodes:
            memory = _memory(file, function, node)
            if memory is None or not isinstance(node, ast.Call):
                continue
            shape = node.args[0] if node.args else keyword(node, "shape")
            for size in shape.elts if isinstance(shape, ast.Tuple) else [shape]:
                if size is not None and _computed(function, size):
                    yield Finding(
                        size,
                        f"the size `{file.code(size)}` of this {memory} array is not a constant",
                        "use a literal or a global constant"
                        + (
                            ", or size 0 with the bytes given at the launch"
                            if memory == "shared"
                            else ""
                        ),
                    )


def _memory(file: PyFile, function: Function, node: ast.AST) -> str | None:
    return _ARRAYS.get(file.callee(node, function))


def _computed(function: Function, size: ast.expr, follow: bool = True) -> bool:
    """Whether a size surely is no constant to Numba; what is not known here is let through."""
    if isinstance(size, ast.Name):
        if size.id in function.parameters:
            # a device function may be given a literal, which Numba passes on as a constant
            return function.kind is Kind.KERNEL
        values = [v for n, v in assigned(function.nodes) if n == size.id] if follow else []
        return any(_computed(function, v, follow=False) for v in values)
    if isinstance(size, ast.BinOp):
        return any(isinstance(n, ast.Name) for n in ast.walk(size))
    if isinstance(size, ast.Subscript):
        return isinstance(size.value, ast.Attribute) and size.value.attr in ("shape", "strides")
    if isinstance(size, ast.Call):
        return isinstance(size.func, ast.Name) and size.func.id in ("len", "int", "min", "max")
    return (
        isinstance(size, ast.Attribute) and size.attr in _RUN_TIME and not _global(function, size)
    )


def _global(function: Function, node: ast.Attribute) -> bool:
    """Whether an attribute is one of a global other than the thread's position."""
    root = node.value
    if isinstance(root, ast.Name):
        return root.id not in function.local_names
    return not (isinstance(root, ast.Attribute) and root.attr in ("blockDim", "gridDim"))
