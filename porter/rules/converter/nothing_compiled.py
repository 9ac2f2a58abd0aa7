"""PRT922: a script in which Numba compiled nothing."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class NothingCompiled(NumbaRule):
    """
    ## What it does

    Reports a script that `--run` ran to its end without Numba compiling anything.

    ## Why is this bad?

    Numba compiles a function when it is first called, so a script that only defines functions
    shows nothing.

    ## Example

    ```python
    @njit
    def total(x):  # PRT922: never called
        return x.sum()
    ```

    Call the functions with typical arguments, or use `--compile`, which needs no calls.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT922"
    name = "nothing-compiled"
    severity = Severity.WARNING
