"""PRT906: a result whose size depends on the data."""

from __future__ import annotations

from porter.rules.base import Bad, ConverterRule


class DataDependentShape(ConverterRule):
    """
    ## What it does

    Reports results whose shape is known only after looking at the values: `x[x > 0]`,
    `np.nonzero`, `np.unique`.

    ## Why is this bad?

    The host allocates the result before the kernel runs, so it has to know the size.

    ## Example

    ```python
    def positives(x):
        return x[x > 0]  # PRT906
    ```

    Keep the shape and mark what is left out (`np.where(x > 0, x, 0)`), or do this step on the
    host.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT906"
    name = "data-dependent-shape"
    VALID = (
        """
        import numpy as np

        def f(x):
            return np.where(x > 0, x, 0)
        """,
        """
        import numpy as np

        def f(x):
            return np.sum(x > 0)
        """,
        """
        import numpy as np

        def f(x):
            x[x > 1] = 1
            return np.sin(x)
        """,
    )
    INVALID = (
        Bad(
            """
            import numpy as np

            def f(x):
                return np.sin(x[x > 0])
            """,
        ),
        Bad(
            """
            import numpy as np

            def f(x):
                return np.where(x > 0)
            """,
        ),
    )
