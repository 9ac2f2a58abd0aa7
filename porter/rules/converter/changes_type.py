"""PRT908: a name that changes its type."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class ChangesType(ConverterRule):
    """
    ## What it does

    Reports a variable that has a different type on different paths through the function.

    ## Why is this bad?

    In a kernel every variable has one type.

    ## Example

    ```python
    def summary(x, total):
        result = np.sin(x)
        if total > 0:
            result = np.sum(x)  # PRT908
        return result
    ```

    Use two variables, or give both values the same type.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT908"
    name = "changes-type"
    effort = "small"
    VALID = """
        import numpy as np

        def f(x):
            r = 0.0
            if x.shape[0] > 0:
                r = np.sum(x)
            return r
        ---
        import numpy as np

        def f(x):
            y = np.sin(x)
            y = y * 2
            return y
        ---
        import numpy as np

        def f(x):
            a = np.sum(x)
            b = x / a
            return b
        """
    INVALID = """
        ---
        import numpy as np

        def f(x, total):
            result = np.sin(x)
            if total > 0:
                result = np.sum(x)
            return result
        """
