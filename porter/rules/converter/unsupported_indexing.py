"""PRT905: an index that cannot be converted."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnsupportedIndexing(ConverterRule):
    """
    ## What it does

    Reports indices other than integers, slices, new axes, masks and integer arrays, and stores
    through views that porter cannot follow.

    ## Why is this bad?

    porter turns an index into arithmetic on thread indices, which it can do for those only.

    ## Example

    ```python
    def f(x):
        return x["price"]  # PRT905
    ```

    Extract the column on the host, or index with integers and slices.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT905"
    name = "unsupported-indexing"
    effort = "small"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x[1:-1, ::2])
        ---
        import numpy as np

        def f(x):
            x[x < 0] = 0
            return np.sqrt(x)
        ---
        import numpy as np

        def f(x):
            return np.sin(x[:, None] - x[None, :])
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            return np.sin(x["price"])
        ---
        import numpy as np

        def f(x: "float64[:]"):
            zeros = np.imag(-x)
            zeros[0] += 3
            return zeros
        """
