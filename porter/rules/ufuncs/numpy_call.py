"""PRT804: a NumPy function that a CUDA ufunc cannot call."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.kernels.replacement import replacement
from porter.rules.kernels.unsupported_call import cure_of
from porter.rules.model import Function, Kind, PyFile
from porter.rules.ufuncs.array_in_scalar import REDUCTIONS
from porter.support.tables import table


class UnsupportedInDeviceUfunc(Rule):
    """
    ## What it does

    Finds calls in `@vectorize` and `@guvectorize` functions with `target="cuda"` of NumPy and
    math functions that the CUDA target does not support, and in `@vectorize` of those that it
    supports for arrays only.

    ## Why is this bad?

    The ufunc does not compile, although the same function compiles with `target="cpu"`: there
    `np.exp` works on scalars, on the device it does not. What works was asked of numba-cuda
    and of Numba, by compiling a call of each function.

    ## Example

    ```python
    @vectorize(["float32(float32)"], target="cuda")
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))  # PRT804
    ```

    Use `math.exp(-x)`.

    ## Fix safety

    The fix writes `math.exp` for `np.exp` and its like, `abs` for `np.abs`, and imports math
    where that is missing. It is safe, except for `floor`, `ceil` and `trunc`, which give a
    float on the device and an integer in Python.
    """

    code = "PRT804"
    name = "unsupported-in-device-ufunc"
    severity = Severity.ERROR
    VALID = """
        import numpy as np
        from numba import vectorize

        @vectorize(['f4(f4)'])
        def f(x):
            return np.exp(x)
        ---
        import math
        import numpy as np
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return math.exp(x) + np.sin(x) + np.float32(1)
        ---
        import numpy as np
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(n)->()', target='cuda')
        def f(x, out):
            out[0] = np.sum(x)
        ---
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return helper(x)
        """
    INVALID = """
        --- 6:12
        from numpy import exp
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return exp(x)  # rises
        +++
        import math
        from numpy import exp
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return math.exp(x)  # rises
        --- 7:18
        import numpy as np
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(n)->(n)', target='cuda')
        def f(x, out):
            for i in range(x.size):
                out[i] = np.abs(x[i])
        +++
        import numpy as np
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(n)->(n)', target='cuda')
        def f(x, out):
            for i in range(x.size):
                out[i] = abs(x[i])
        --- 6:12
        import numpy as np
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return np.searchsorted(x, 2)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such call in a ufunc or gufunc for the device."""
        if function.kind not in (Kind.VECTORIZE, Kind.GUVECTORIZE) or not function.on_device:
            return
        for node in function.calls:
            name = file.callee(node, function)
            short = name.removeprefix("numpy.")
            cure = cure_of(name) if name else None
            if cure is not None:
                called = file.called(node.func, name)
                message = f"{called} is not available on the device"
                fix = replacement(file, function, node, short) if short != name else None
                yield Finding(node.func, message, cure, fix=fix)
            elif short != name and _needs_array(function, short, node):
                message = f"{file.called(node.func, name)} takes arrays only on the device"
                cure = "compute it outside and pass it in, or use @guvectorize"
                yield Finding(node.func, message, cure)


def _needs_array(function: Function, name: str, call: ast.Call) -> bool:
    """Whether a function that takes arrays only is called with a scalar parameter."""
    if function.kind is not Kind.VECTORIZE or not call.args:
        return False
    first = call.args[0]
    scalar = isinstance(first, ast.Name) and first.id in function.parameters
    # what PRT802 says of every target is not repeated
    return scalar and name in table("cuda").arrays_only["numpy"] and name not in REDUCTIONS
