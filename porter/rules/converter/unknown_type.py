"""PRT903: a type or shape that cannot be determined."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnknownType(ConverterRule):
    """
    ## What it does

    Reports a value whose dtype, number of dimensions or shape porter cannot determine, or
    shapes that do not match.

    ## Why is this bad?

    A kernel is compiled for specific types, and its loops depend on the number of axes.

    ## Example

    ```python
    def f(x, y):
        z = np.zeros((3, 4)) + np.zeros((5, 4))  # PRT903
    ```

    Give the types: annotate the parameters (`NDArray[np.float64]`), or pass
    `--signature "float64[:, :], float64"`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT903"
    name = "unknown-type"
    effort = "small"
    VALID = """
        import numpy as np

        def f(x):
            return x[0] + np.sum(x)
        ---
        import numpy as np

        def f(x):
            return np.zeros((3, 4)) + x
        ---
        import numpy as np

        def f(x):
            m, n = x.shape
            return np.ones(m) * n
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            return x + np.zeros((3, 4)) + np.zeros((5, 4))
        """
