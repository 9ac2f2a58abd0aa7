"""PRT914: a constant of the module whose value nothing fixes."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class UnknownConstant(ConverterRule):
    """
    ## What it does

    Reports a module-level constant that the function reads and whose value cannot be written
    into a kernel: a function rebinds it with `global` or stores into it, `exec` or `globals()`
    may reach it, it differs from run to run, or its value is not a number, string, tuple or
    small array. An attribute of a library that the file replaces, as in `np.sqrt = ...`, counts
    too.

    ## Why is this bad?

    A kernel holds the value that the constant has after the module was imported. If it changes
    later, the kernel would go on computing with the old one.

    ## Example

    ```python
    K = 2

    def set_scale(value):
        global K
        K = value

    def f(x):
        return x * K  # PRT914: `set_scale` rebinds it
    ```

    Pass the value as a parameter: `def f(x, k)`. If it is never changed after the import, use
    `porter convert --run-module`, which runs the whole file once for the values of its constants.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT914"
    name = "unknown-constant"
    VALID = """
        K = 2
        K += 1

        def f(x):
            return x[:] * K
        ---
        import numpy as np

        LUT = np.zeros(4)
        for i in range(4):
            LUT[i] = i * i

        def f(x):
            return x[:4] * LUT
        ---
        K = 2

        def set_scale(value):
            global K
            K = value

        def f(x, k):
            return x[:] * k
        """
    INVALID = """
        ---
        K = 2

        def set_scale(value):
            global K
            K = value

        def f(x):
            return x[:] * K
        ---
        import numpy as np

        W = np.ones(3)

        def learn(rate):
            W[0] -= rate

        def f(x):
            return x[:3] * W
        """
