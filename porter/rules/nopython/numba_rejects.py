"""PRT190: what Numba itself rejects, when it was asked."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class NumbaRejects(NumbaRule):
    """
    ## What it does

    Reports a function that Numba's compiler rejected under `--compile` or `--run`, with the
    line and the reason that Numba gives.

    ## Why is this bad?

    The function cannot be compiled for these argument types: calling it raises an error. Where
    porter had to assume the types, the message says so and the finding is a warning.

    ## Example

    ```python
    @njit
    def pick(x):
        if x > 0:
            found = 1.0
        else:
            found = "none"
        return found  # PRT190: `found` is float64 and also str
    ```

    Give each variable one type, call what Numba does not know outside of the function, or
    name the right types in `[tool.porter.signatures]`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT190"
    name = "numba-rejects"
    severity = Severity.ERROR
