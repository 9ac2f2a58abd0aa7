"""PRT806: what another target than the one that was asked for can express."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class BeyondTarget(ConverterRule):
    """
    ## What it does

    Reports a function that converts, but not for the `--target` that was asked for.

    ## Why is this bad?

    A ufunc gets one element of each array and returns one. What reads a neighbour, reduces an axis
    or asks where an element is has no such form. CuPy has most functions of NumPy, but not all, and
    not with all parameters.

    ## Example

    ```python
    def smooth(x):
        return (x[1:] + x[:-1]) / 2  # PRT806 with --target ufunc

    def positive(x):
        return np.sum(x, where=x > 0)  # PRT806 with --target cupy
    ```

    Convert it for another target: kernels (`cuda`) and loops (`loops`) express it.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT806"
    name = "beyond-target"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x)
        ---
        import numpy as np

        def f(x):
            return (x[1:] + x[:-1]) / 2
        ---
        import numpy as np

        def f(x):
            return x / x.sum(axis=1, keepdims=True)
        """
    # raised only for a target that is asked for
    INVALID = ""
