"""PRT907: a dtype that kernels do not have."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnsupportedDtype(ConverterRule):
    """
    ## What it does

    Reports dtypes that Numba's CUDA target does not support, and operations that NumPy does not
    define for a dtype: objects, strings, datetimes, long doubles.

    ## Why is this bad?

    A kernel computes with booleans, integers, floats and complex numbers of fixed size.

    ## Example

    ```python
    def f(n):
        return np.zeros(n, dtype=object)  # PRT907
    ```

    Use a numeric dtype.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT907"
    name = "unsupported-dtype"
    effort = "small"
    VALID = """
        import numpy as np

        def f(n: int):
            return np.zeros(n, dtype=np.float32)
        ---
        import numpy as np

        def f(x):
            return np.abs(x.astype(np.int32))
        ---
        import numpy as np

        def f(x):
            return np.isnan(x)
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            return np.abs(x).astype("U8")
        """
