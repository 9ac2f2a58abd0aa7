"""PRT608: shared arrays that are larger than a block's shared memory."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.dtypes.dtype import ITEMSIZE
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values
from porter.rules.model import ON_DEVICE, Function, PyFile

#: bytes of shared arrays in one kernel; the same for every GPU
LIMIT = 48 * 1024
_OWNERS = ("numba", "numba.types", "numba.core.types", "numpy")


class SharedLimit(Rule):
    """
    ## What it does

    Finds kernels and device functions whose shared arrays take more than 48 KiB together, as far
    as the file shows their shapes and dtypes.

    ## Why is this bad?

    The kernel does not compile: the linker says "uses too much shared data". The limit is the
    same on every GPU, also on those with more shared memory. The simulator does not check it.

    ## Example

    ```python
    @cuda.jit
    def k(x):
        tile = cuda.shared.array((128, 128), float32)  # PRT608
    ```

    A tile of 64 by 64 takes 16 KiB; or let each thread keep several elements in registers.

    ## Fix safety

    There is no automatic fix, since the block size usually changes with the array.
    """

    code = "PRT608"
    name = "shared-memory-limit"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            s = cuda.shared.array((128, 96), float32)
            s[0, 0] = x[0]
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            s = cuda.shared.array(128 * 128, np.int8)
            t = cuda.local.array(128 * 128, np.float64)
            s[0] = t[0] = x[0]
        ---
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            s = cuda.shared.array((128, 128), x.dtype)
            t = cuda.shared.array(shape)
            t[0] = 0
            unused = cuda.shared.array((128, 128), float32)
            s[0, 0] = x[0]
        ---
        from numba import cuda, float32

        N = 128

        def make(N):
            @cuda.jit
            def k(x):
                s = cuda.shared.array((N, N), float32)
                s[0, 0] = x[0]

            return k
        """
    INVALID = """
        --- 5:9
        from numba import cuda, float32

        @cuda.jit
        def k(x):
            s = cuda.shared.array((128, 97), float32)
            s[0, 0] = x[0]
        --- 8:9
        import numpy as np
        from numba import cuda

        TILE = 64

        @cuda.jit
        def k(x):
            a = cuda.shared.array((TILE, TILE), np.float64)
            b = cuda.shared.array(shape=(TILE, TILE), dtype=np.float64)
            a[0, 0] = b[0, 0] = x[0]
        --- 6:9
        from numba import cuda, types

        @cuda.jit(device=True)
        def f(x):
            n = cuda.shared.array(1, types.int32)
            s = cuda.shared.array(4096, types.complex128)
            s[n[0]] = x[0]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The largest array of a function that has too many or too large ones."""
        # a name of an enclosing function is not known here
        if function.kind not in ON_DEVICE or function.node not in file.tree.body:
            return
        sizes = [(node, _bytes(file, function, node)) for node in _arrays(file, function)]
        total = sum(size for _, size in sizes)
        if total > LIMIT:
            largest = max(sizes, key=lambda sized: sized[1])[0]
            message = (
                f"`{function.name}` has {total:,} bytes of shared arrays; the limit is {LIMIT:,}"
            )
            yield Finding(largest, message, "make the arrays smaller")


def _arrays(file: PyFile, function: Function) -> Iterator[ast.Call]:
    """The shared arrays that are used, and that no condition leaves out."""
    used = {n.id for n in function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for statement in function.node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                full = file.qualified(call.func, function)
                if full == "numba.cuda.shared.array" and name in used:
                    yield call


def _bytes(file: PyFile, function: Function, call: ast.Call) -> int:
    """The size of a shared array, 0 where the file does not show it."""
    given = dict(zip(("shape", "dtype"), call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg in ("shape", "dtype")}
    shape = Values(file, function.node).axes(given.get("shape"))
    dtype = given.get("dtype")
    full = file.qualified(dtype, function) if dtype is not None else None
    owner, _, name = (full or "").rpartition(".")
    if shape is None or owner not in _OWNERS:
        return 0
    return math.prod(shape) * ITEMSIZE.get(name, 0)
