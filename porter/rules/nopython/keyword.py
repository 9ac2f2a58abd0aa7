"""PRT105: a parameter that Numba's version of a NumPy function does not have."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile, method_on
from porter.rules.nopython.arrays import certain_arrays
from porter.rules.nopython.calls import calls_on_cpu
from porter.support.tables import table

_CURES = {
    "axis": "loop over the axis and call it on each row, or call it outside",
    "keepdims": "index the result with `None`",
    "out": "assign the result: `out[:] = ...`",
    "where": "compute it for all elements, or loop with a condition",
    "dtype": "convert with `.astype(...)`",
    "order": "leave it out, or use `np.asfortranarray`",
    "copy": "leave it out: Numba copies",
}


class UnsupportedKeyword(Rule):
    """
    ## What it does

    Finds calls of NumPy functions and array methods in functions compiled for the CPU that pass
    a parameter which Numba's implementation does not have, such as `np.mean(x, axis=0)`. The
    lists of parameters come from Numba's registries.

    ## Why is this bad?

    Numba implements these functions itself, many with fewer parameters than NumPy. The first
    call ends with "No implementation of function", which does not name the parameter.

    ## Example

    ```python
    @njit
    def centre(x):
        return x - np.mean(x, axis=0)  # PRT105
    ```

    Loop over the axis:

    ```python
    @njit
    def centre(x):
        out = np.empty_like(x)
        for j in range(x.shape[1]):
            out[:, j] = x[:, j] - np.mean(x[:, j])
        return out
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT105"
    name = "unsupported-keyword"
    severity = Severity.ERROR
    VALID = """
        import numpy as np

        def f(x):
            return np.mean(x, axis=0)
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.sum(x, axis=0) + np.zeros(3, dtype=np.float32) + x.sum(0)
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x, args):
            return np.mean(x) + np.clip(x, 0, 1) + np.dot(*args) + np.where(x > 0, x, 0)
        ---
        from numba import njit

        @njit
        def f(x):
            return x.mean(axis=0)
        ---
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return x.argsort(kind='mergesort')[np.round(x, 2) > 0]
        """
    INVALID = """
        --- 6:12
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.mean(x, axis=0)
        --- 6:12
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return np.median(x, 0)
        --- 6:12
        import numpy as np
        from numba import njit

        @njit
        def f(x):
            return x.max(axis=1) + x.shape[0]
        --- 6:5
        import numpy as np
        from numba import njit

        @njit
        def f(x, out):
            np.sqrt(x, out=out)
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every call with such a parameter."""
        arrays = certain_arrays(file, function)
        for node in calls_on_cpu(file, function):
            misfit = _misfit(file, function, node, arrays)
            if misfit is None:
                continue
            cure = _CURES.get(misfit.split("`")[1] if "`" in misfit else "axis", "")
            yield Finding(
                node,
                f"Numba's `{file.code(node.func)}` does not take {misfit}",
                cure or "leave it out, or call the function outside compiled code",
            )


def _misfit(file: PyFile, function: Function, call: ast.Call, arrays: set[str]) -> str | None:
    name = file.callee(call, function)
    if name.startswith("numpy."):
        return table("cpu").misfit("numpy", name.removeprefix("numpy."), call)
    method = method_on(call, arrays)
    return table("cpu").misfit("methods", method.attr, call) if method is not None else None
