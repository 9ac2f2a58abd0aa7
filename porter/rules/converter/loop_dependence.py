"""PRT904: a loop whose iterations need each other."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class LoopCarriedDependence(ConverterRule):
    """
    ## What it does

    Reports a loop in which one iteration reads or overwrites an element or a variable that
    another one writes.

    ## Why is this bad?

    The iterations of such a loop must run in order, but threads run in parallel.

    ## Example

    ```python
    def smooth(x, out):
        for i in range(1, x.shape[0]):
            out[i] = max(0.5 * out[i - 1], x[i])  # PRT904
    ```

    Write into a second array if the old values are meant. `--target loops` converts a true
    recurrence for the CPU. With `--allow-serial` it runs on one GPU thread: that is far slower than
    on a CPU, but the data stays on the device.

    Running sums, products and extremes are no such loops, nor are linear recurrences along one axis
    (`out[i] = a[i] * out[i - 1] + b[i]`, in an array or a variable, and with `out[i - 2]` too):
    they become scans. So do sums within bounds (`max(0.0, w + d[i])`), quotients of linear steps
    and variables that take few values, each decided by the one before.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT904"
    name = "loop-carried-dependence"
    effort = "large"
    VALID = """
        import numpy as np

        def f(x):
            for i in range(x.shape[0]):
                x[i] = np.sin(x[i])
        ---
        import numpy as np

        def f(x, y):
            for i in range(1, x.shape[0]):
                y[i] = x[i - 1] + x[i]
        ---
        import numpy as np

        def f(x):
            x[1:] = x[:-1] + np.sin(x[1:])
        ---
        import numpy as np

        def f(x, b):
            for i in range(1, x.shape[0]):
                x[i] = 0.5 * x[i - 1] + b[i]
        """
    INVALID = """
        ---
        import numpy as np

        def f(x, b):
            for i in range(1, x.shape[0]):
                x[i] = 0.5 * x[i - 1] ** 2 + b[i]
        ---
        import numpy as np

        def f(x):
            for i in range(x.shape[0] - 1):
                x[i + 1] = x[i + 1] / x[i] ** 2
        """
