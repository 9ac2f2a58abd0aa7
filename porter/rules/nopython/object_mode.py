"""PRT191: a function that Numba compiled in object mode."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class ObjectMode(NumbaRule):
    """
    ## What it does

    Reports a function that Numba compiled in object mode under `--compile` or `--run` without
    lifting a loop out of it.

    ## Why is this bad?

    In object mode every value is a Python object and every operation a call of the interpreter:
    the function is no faster than without Numba, and none of it can go to the GPU.

    ## Example

    ```python
    @jit(forceobj=True)  # PRT191
    def describe(x):
        return str(x)
    ```

    Remove `forceobj=True`, or the decorator.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT191"
    name = "runs-as-python-objects"
    severity = Severity.WARNING
