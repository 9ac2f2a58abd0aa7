"""PRT290: a loop that Numba lifted, and with which types."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class LiftedTypes(NumbaRule):
    """
    ## What it does

    Reports a loop that Numba lifted out of an object-mode function and compiled to machine
    code, with the types of its inputs.

    ## Why is this bad?

    It is not wrong, but only this loop is fast: moved into a function of its own, it needs no
    object mode around it and can become a kernel. The types are those its parameters would
    have.

    ## Example

    ```python
    @jit(forceobj=True)
    def fingerprint(x):
        for i in range(len(x)):  # PRT290: Numba lifts this loop for x: float64[::1]
            x[i] = x[i] ** 2
        return hashlib.md5(x).hexdigest()
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT290"
    name = "loop-was-lifted"
    severity = Severity.ADVICE
