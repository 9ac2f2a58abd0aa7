"""PRT906: a result whose size depends on the data."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class DataDependentShape(ConverterRule):
    """
    ## What it does

    Reports arrays whose shape depends on values, where that shape differs between the
    iterations of a loop: `x[x > 0]` or `np.nonzero(x)` inside the loop.

    ## Why is this bad?

    The host allocates an array before a kernel fills it. Outside of loops it reads the number
    of selected elements back, once. Inside a loop this would be a synchronization in every
    iteration, and iterations that run in parallel cannot wait for the host at all.

    ## Example

    ```python
    def thinned(x, steps):
        total = 0.0
        for k in range(steps):
            kept = x[x > k]
            total += kept[0]  # PRT906
        return total
    ```

    Keep the shape and mark what is left out (`np.where(x > k, x, 0)`). Sums, means and other
    reductions of a selection, and stores to it, are converted everywhere.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT906"
    name = "data-dependent-shape"
    VALID = """
        import numpy as np

        def f(x):
            return np.where(x > 0, x, 0)
        ---
        import numpy as np

        def f(x):
            return np.sum(x > 0)
        ---
        import numpy as np

        def f(x):
            x[x > 1] = 1
            return np.sin(x)
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            total = 0.0
            for k in range(9):
                total += x[x > k][0]
            return total
        ---
        import numpy as np

        def f(x):
            out = np.zeros(9)
            for k in range(9):
                out[k] = np.diff(x[x > k]).sum()
            return out
        """
