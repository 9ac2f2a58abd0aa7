"""PRT902: Python that has no place in a kernel."""

from __future__ import annotations

from porter.rules.base import Bad, ConverterRule


class UnsupportedSyntax(ConverterRule):
    """
    ## What it does

    Reports statements and expressions that cannot be converted: `try`, `with`, generators,
    classes, dicts, sets, f-strings.

    ## Why is this bad?

    Device code has scalars, arrays, loops and branches, and nothing else.

    ## Example

    ```python
    def table(x):
        return {"sum": np.sum(x), "mean": np.mean(x)}  # PRT902
    ```

    Return a tuple, and build the dict in the caller.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT902"
    name = "unsupported-syntax"
    VALID = (
        """
        import numpy as np

        def f(x):
            return np.sum(x), np.mean(x)
        """,
        """
        import numpy as np

        def f(x):
            y = np.zeros_like(x)
            y[1:] = x[:-1]
            return y
        """,
        """
        import numpy as np

        def f(x, n):
            for i in range(n):
                x += np.sin(x)
        """,
    )
    INVALID = (
        Bad(
            """
            import numpy as np

            def f(x):
                return {"sum": np.sum(x)}
            """,
        ),
        Bad(
            """
            import numpy as np

            def f(x):
                try:
                    return np.log(x)
                except ValueError:
                    return x
            """,
        ),
    )
