"""PRT911: a kernel that does not compute the same."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class VerificationFailed(ConverterRule):
    """
    ## What it does

    Reports a generated module that gave another result than the original function, or did not
    compile.

    ## Why is this bad?

    porter writes no module that fails verification. If it is not edited by hand, this is a
    mistake in porter: please report it with the function.

    ## Example

    ```python
    porter convert heat.py  # PRT911: the module differs at out[3, 7]
    ```

    `porter verify MODULE` prints the first element that differs, and the command that repeats
    the case.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT911"
    name = "verification-failed"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x)
        ---
        import numpy as np

        def f(x):
            return np.sum(x)
        ---
        x = 1
        """
    INVALID = ""
