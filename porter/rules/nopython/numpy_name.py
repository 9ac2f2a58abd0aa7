"""PRT104: a NumPy function that Numba does not have."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile
from porter.rules.nopython.calls import calls_on_cpu
from porter.support.tables import table

_CURES = {
    "matmul": "write `a @ b` with two 2-D arrays, or `np.dot`",
    "inner": "write `np.dot`",
    "tensordot": "reshape and use `np.dot`, or write loops",
    "squeeze": "index the axis of size 1, or reshape",
    "einsum": "write loops over the indices",
}


class UnsupportedNumpy(Rule):
    """
    ## What it does

    Finds calls of NumPy functions that Numba does not implement in functions compiled for the
    CPU. The list of implemented functions comes from Numba's registries.

    ## Why is this bad?

    The first call of the function ends with "Use of unsupported NumPy function".

    ## Example

    ```python
    @njit
    def power(x):
        return np.abs(np.fft.rfft(x)) ** 2  # PRT104
    ```

    Call the function outside and hand its result in.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT104"
    name = "unsupported-numpy"
    severity = Severity.ERROR
    VALID = """
        import numpy as np

        def f(x):
            return np.fft.fft(x)
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.sum(x)
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.linalg.norm(x)
        ---
        from numba import njit

        @njit
        def f(np, x):
            return np.einsum(x)
        """
    INVALID = """
        --- 6:12
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.fft.rfft(x)
        --- 6:12
        from numpy import einsum
        from numba import jit

        @jit
        def f(a, b):
            return einsum('ij,jk', a, b)
        --- 6:12
        import numpy as np
        from numba import vectorize

        @vectorize
        def f(x):
            return np.i0(x)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every call of an unsupported NumPy function."""
        for node in calls_on_cpu(file, function):
            name = file.callee(node, function)
            short = name.removeprefix("numpy.")
            if short != name and table("cpu").lacks("numpy", short):
                cure = _CURES.get(short, "call it outside the compiled function")
                message = f"Numba does not have {file.called(node.func, name)}"
                yield Finding(node.func, message, cure)
