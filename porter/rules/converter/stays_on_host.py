"""PRT912: a statement that is not converted, but runs on the host among the kernels."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import ConverterRule


class StaysOnHost(ConverterRule):
    """
    ## What it does

    Reports a statement that cannot run on the device and that the generated function runs on
    the host instead. The arrays that it reads are copied to the host before it, and those that
    it makes are copied to the device after it.

    ## Why is this bad?

    It is not wrong: results are the same. But every such statement costs the transfers of its
    arrays, and the device waits for it. The verdict on the function is `partly`.

    ## Example

    ```python
    def describe(x):
        y = np.sqrt(np.abs(x))
        return {"mean": y.mean(), "name": "roots"}  # PRT912: the dict is made on the host
    ```

    Use `--refuse-host` to have such functions refused, or `--library cupy` to run linear
    algebra, FFTs and sorts in CuPy on the device's own data.

    ## Fix safety

    There is no automatic fix.
    """

    severity = Severity.ADVICE
    code = "PRT912"
    name = "stays-on-host"
    VALID = """
        import numpy as np

        def f(x):
            if x.ndim != 1:
                raise ValueError(f"{x.ndim} dimensions")
            return np.sqrt(x)
        ---
        import numpy as np

        def f(x):
            y = np.sqrt(x)
            print("done", len(x))
            return y
        ---
        import warnings

        import numpy as np

        def f(x, tol=0.5):
            if tol < 0:
                warnings.warn("negative")
            return x * tol
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            y = np.sqrt(x)
            return {"values": y, "count": len(x)}
        ---
        import numpy as np

        def f(a, b):
            return 2.0 * np.linalg.eigvalsh(a @ b)
        """
