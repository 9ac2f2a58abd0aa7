"""PRT902: Python that has no place in a kernel."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnsupportedSyntax(ConverterRule):
    """
    ## What it does

    Reports statements and expressions that cannot be converted: `try` (except where nothing
    in it can fail, as for an entry of a dictionary of constants), `with` (except
    `np.errstate`), generators, classes, and dicts, sets or strings within array code. Where
    nothing on the device depends on them, such statements stay on the host (PRT912).

    ## Why is this bad?

    Device code can contain only scalars, arrays, loops and branches.

    ## Example

    ```python
    def guarded(x):
        try:  # PRT902
            return np.log(x)
        except FloatingPointError:
            return x
    ```

    Handle exceptions in the caller.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT902"
    name = "unsupported-syntax"
    VALID = """
        import numpy as np

        def f(x):
            return np.sum(x), np.mean(x)
        ---
        import numpy as np

        def f(x):
            y = np.zeros_like(x)
            y[1:] = x[:-1]
            return y
        ---
        import numpy as np

        def f(x, n):
            for i in range(n):
                x += np.sin(x)
        """
    INVALID = """
        ---
        import numpy as np

        def f(x):
            sums = {"sum": np.sum(x)}
            return x / sums["sum"]
        ---
        import numpy as np

        def f(x):
            try:
                return np.log(x)
            except ValueError:
                return x
        """
