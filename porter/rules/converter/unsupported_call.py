"""PRT901: a call that cannot be converted."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnsupportedCall(ConverterRule):
    """
    ## What it does

    Reports a call for which porter has no conversion: a function outside NumPy and math, a
    method of an unknown object, or a NumPy function that porter does not support.

    ## Why is this bad?

    Every value in a kernel has to be computed by code that runs on the device.

    ## Example

    ```python
    def digest(x):
        y = x * 2
        return hashlib.md5(y).digest()  # PRT901
    ```

    Keep the call on the host, and move the array code into a separate function.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT901"
    name = "unsupported-call"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x)
        ---
        import math

        def f(x):
            for i in range(x.shape[0]):
                x[i] = math.exp(x[i])
        ---
        import numpy as np

        def g(x):
            return x * 2.0

        def f(x):
            return g(np.abs(x))
        """
    INVALID = """
        ---
        import hashlib
        import numpy as np

        def f(x):
            y = np.abs(x)
            return hashlib.md5(y).digest()
        ---
        import numpy as np

        def f(x):
            return np.roots(x)
        """
