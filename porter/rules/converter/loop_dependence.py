"""PRT904: a loop whose iterations need each other."""

from __future__ import annotations

from porter.rules.base import Bad, ConverterRule


class LoopCarriedDependence(ConverterRule):
    """
    ## What it does

    Reports a loop in which one iteration reads or overwrites what another one writes.

    ## Why is this bad?

    The iterations of such a loop must run one after the other, and threads do not.

    ## Example

    ```python
    def smooth(x, out):
        for i in range(1, x.shape[0]):
            out[i] = 0.5 * out[i - 1] + x[i]  # PRT904
    ```

    Write into a second array where that is what you mean. A true recurrence stays on the CPU, or
    runs on one thread of the GPU with `--allow-serial`: far slower than on a CPU, but its data
    stays where it is.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT904"
    name = "loop-carried-dependence"
    effort = "large"
    VALID = (
        """
        import numpy as np

        def f(x):
            for i in range(x.shape[0]):
                x[i] = np.sin(x[i])
        """,
        """
        import numpy as np

        def f(x, y):
            for i in range(1, x.shape[0]):
                y[i] = x[i - 1] + x[i]
        """,
        """
        import numpy as np

        def f(x):
            x[1:] = x[:-1] + np.sin(x[1:])
        """,
    )
    INVALID = (
        Bad(
            """
            import numpy as np

            def f(x, b):
                for i in range(1, x.shape[0]):
                    x[i] = 0.5 * x[i - 1] + b[i]
            """,
        ),
        Bad(
            """
            import numpy as np

            def f(x):
                for i in range(x.shape[0] - 1):
                    x[i + 1] = x[i + 1] - x[i]
            """,
        ),
    )
