"""PRT303: a function that the CUDA target does not have."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.numpy_functions import spec_of
from porter.rules.base import Finding, Findings, Rule
from porter.rules.kernels.replacement import CURES, replacement
from porter.rules.model import ON_DEVICE, Function, PyFile
from porter.rules.nopython.calls import NOT_CALLED
from porter.support.tables import table

#: the setting under which numba-cuda can allocate, and then has more than the tables say
ALLOCATES = "ENABLE_NRT"


class UnsupportedInKernel(Rule):
    """
    ## What it does

    Finds calls in kernels and device functions of NumPy, math and Python functions that the
    CUDA target does not support: many NumPy functions on scalars (`np.exp`, `np.sqrt`,
    `np.where`), everything that allocates an array, `sorted`, random numbers other than
    xoroshiro128p. The list of supported functions was made by compiling a call of each one with
    numba-cuda and with Numba.

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

    The fix writes `math.exp` for `np.exp` and its like, `abs` for `np.abs`, and imports math
    where that is missing. It is safe, except for `floor`, `ceil` and `trunc`: on the device
    these give a float as before, in Numba's simulator an integer.
    """

    code = "PRT303"
    name = "unsupported-in-kernel"
    severity = Severity.ERROR
    VALID = """
        import math
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.exp(x[i])
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = np.sin(np.float32(x[i]))
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.exp(x)
        ---
        import numpy as np
        from numba import config, cuda

        config.CUDA_ENABLE_NRT = True

        @cuda.jit
        def k(x):
            t = np.zeros(4)
            x[0] = t[0]
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, sorted):
            i = cuda.grid(1)
            if i < x.size and isinstance(x[i], float):
                x[i] = sorted(x[i]) + np.mean(x) + min(x[i], 2)
        """
    INVALID = """
        --- 8:16
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = np.exp(x[i])
        +++
        import math
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.exp(x[i])
        --- 7:12
        import math as m
        import numpy as np
        from numba import cuda

        @cuda.jit(device=True)
        def f(v):
            return np.sqrt(  # root
                v
            )
        +++
        import math as m
        import numpy as np
        from numba import cuda

        @cuda.jit(device=True)
        def f(v):
            return m.sqrt(  # root
                v
            )
        --- 7:16
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = sorted((x[i], 2.0))[0]
        --- 7:9
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            t = np.zeros(4)
            if i < x.size:
                x[i] = t[0]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such call in a kernel or device function."""
        if function.kind not in ON_DEVICE or ALLOCATES in file.text:
            return
        for node in function.calls:
            name = file.callee(node, function) or _builtin(file, function, node)
            cure = cure_of(name)
            if name.startswith("numpy.") and "CUDA_ENABLE_NRT" in file.text:
                # with numba-cuda's memory manager, off unless asked for, kernels make arrays
                continue
            if cure is not None:
                message = f"{file.called(node.func, name)} is not available on the device"
                short = name.removeprefix("numpy.")
                fix = replacement(file, function, node, short) if short != name else None
                yield Finding(node.func, message, cure, fix=fix)


def _builtin(file: PyFile, function: Function, call: ast.Call) -> str:
    """The called builtin, when nothing of the file hides it."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    hidden = name in function.local_names or name in file.by_name or name in NOT_CALLED
    return "" if hidden or file.imported(name, call.lineno) else name


def cure_of(name: str) -> str | None:
    """What to do instead of calling a function, None when the CUDA target may have it."""
    module, _, short = name.partition(".")
    if module == "random" or name.startswith("numpy.random."):
        return "use numba.cuda.random, for example xoroshiro128p_uniform_float32"
    if not short:
        lacking = table("cuda").lacks("builtins", module)
        return "write it with loops over scalars, or do it on the host" if lacking else None
    if module not in ("numpy", "math") or not table("cuda").lacks(module, short):
        return None
    if module == "math":
        return "compute it on the host, or write it with operators"
    if short in CURES:
        return f"write {CURES[short]}"
    if spec_of(short).creates:
        return "pass the array in, or use cuda.local.array or cuda.shared.array"
    return "write it with loops over scalars, or call it on the host"
