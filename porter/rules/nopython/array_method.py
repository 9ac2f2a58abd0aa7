"""PRT106: an array method that Numba does not have."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile, method_on
from porter.rules.nopython.arrays import certain_arrays
from porter.rules.nopython.calls import calls_on_cpu
from porter.support.tables import table

_CURES = {
    "round": "write `np.round(x, decimals)`",
    "searchsorted": "write `np.searchsorted(x, v)`",
    "partition": "write `x = np.partition(x, k)`",
    "argpartition": "write `np.argpartition(x, k)`",
    "trace": "write `np.trace(x)`",
    "swapaxes": "write `x.transpose(...)` with all axes",
    "squeeze": "index the axis of size 1",
    "tolist": "loop over the elements",
    "diagonal": "write `np.diag(x)`",
}


class UnsupportedArrayMethod(Rule):
    """
    ## What it does

    Finds methods of arrays, in functions compiled for the CPU, that Numba does not implement,
    such as `x.round()` or `x.squeeze()`. The list of methods comes from Numba's registries.

    ## Why is this bad?

    The first call of the function ends with "Unknown attribute of type array", even where
    Numba has the NumPy function of the same name.

    ## Example

    ```python
    @njit
    def cents(x):
        return (x * np.ones(x.shape)).sum() + x.round(2)[0]  # PRT106
    ```

    Write `np.round(x, 2)`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT106"
    name = "unsupported-array-method"
    severity = Severity.ERROR
    VALID = """
        def f(x):
            return x.round(2) + x.shape[0]
        ---
        from numba import njit

        @njit
        def f(x):
            return x.squeeze()
        ---
        from numba import njit

        @njit
        def f(x):
            return x.T.copy().ravel()[: x.shape[0]].argsort()
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            y = np.zeros(3)
            y.fill(x)
            return y.nbytes
        """
    INVALID = """
        --- 5:12
        from numba import njit

        @njit
        def f(x):
            return x.round(2)[: x.shape[0]]
        --- 7:12
        import numpy as np
        from numba import njit

        @njit
        def f(n):
            y = np.zeros((n, 1))
            return y.squeeze()
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such method of a name that is certainly an array."""
        arrays = certain_arrays(file, function)
        for call in calls_on_cpu(file, function):
            method = method_on(call, arrays)
            if method is not None and table("cpu").lacks("methods", method.attr):
                cure = _CURES.get(method.attr, "loop over the elements, or do it outside")
                message = f"Numba's arrays have no method `{method.attr}`"
                yield Finding(method, message, cure)
