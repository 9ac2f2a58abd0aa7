"""PRT909: a function without array work."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class NothingToConvert(ConverterRule):
    """
    ## What it does

    Reports a function that was named on the command line and does not compute with arrays.

    ## Why is this bad?

    There is no work to distribute over threads.

    ## Example

    ```python
    def area(r: float):  # PRT909
        return math.pi * r * r
    ```

    Convert the function that loops over the arrays and calls this one. This one is inlined into
    it.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT909"
    name = "nothing-to-convert"
    effort = "none"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x)
        ---
        import numpy as np

        def f(x):
            for i in range(x.shape[0]):
                x[i] = x[i] + np.sin(1.0)
        ---
        import numpy as np

        def f(x):
            return x @ np.ones(3)
        """
    # raised only for a function that is asked for by name
    INVALID = ""
