"""PRT909: a function without array work."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class NothingToConvert(ConverterRule):
    """
    ## What it does

    Reports a function that was asked for by name and does nothing with arrays.

    ## Why is this bad?

    There is nothing that threads could share.

    ## Example

    ```python
    def area(r):
        return math.pi * r * r  # PRT909
    ```

    Convert the function that loops over the arrays; this one is inlined into it.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT909"
    name = "nothing-to-convert"
    effort = "none"
    VALID = (
        """
        import numpy as np

        def f(x):
            return np.sin(x)
        """,
        """
        import numpy as np

        def f(x):
            for i in range(x.shape[0]):
                x[i] = x[i] + np.sin(1.0)
        """,
        """
        import numpy as np

        def f(x):
            return x @ np.ones(3)
        """,
    )
    # raised only for a function that is asked for by name
    INVALID = ()
