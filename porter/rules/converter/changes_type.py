"""PRT908: a name that changes its type."""

from __future__ import annotations

from porter.rules.base import Bad, ConverterRule


class ChangesType(ConverterRule):
    """
    ## What it does

    Reports a name that holds values of kinds that do not fit together, depending on the path
    taken.

    ## Why is this bad?

    In a kernel every name has one type.

    ## Example

    ```python
    def summary(x, total):
        result = np.sin(x)
        if total > 0:
            result = np.sum(x)  # PRT908
        return result
    ```

    Give the two values names of their own, or the same type.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT908"
    name = "changes-type"
    effort = "small"
    VALID = (
        """
        import numpy as np

        def f(x):
            r = 0.0
            if x.shape[0] > 0:
                r = np.sum(x)
            return r
        """,
        """
        import numpy as np

        def f(x):
            y = np.sin(x)
            y = y * 2
            return y
        """,
        """
        import numpy as np

        def f(x):
            a = np.sum(x)
            b = x / a
            return b
        """,
    )
    INVALID = (
        Bad(
            """
            import numpy as np

            def f(x, total):
                result = np.sin(x)
                if total > 0:
                    result = np.sum(x)
                return result
            """,
        ),
    )
