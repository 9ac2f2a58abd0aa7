"""PRT291: a loop that Numba tried to lift and could not."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class FellBack(NumbaRule):
    """
    ## What it does

    Reports a loop that Numba lifted out of an object-mode function but could not compile, with
    Numba's reason.

    ## Why is this bad?

    The loop runs on Python objects, at the speed of the interpreter. Numba says so only in a
    warning at run time, and its own annotation still shows the loop as lifted.

    ## Example

    ```python
    @jit(forceobj=True)
    def lengths(x, out):
        for i in range(len(x)):  # PRT291
            out[i] = len(describe(x[i]))
    ```

    Take the call that Numba does not know out of the loop.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT291"
    name = "loop-not-lifted"
    severity = Severity.WARNING
