"""PRT921: a script that ran out of time."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class TimeLimit(NumbaRule):
    """
    ## What it does

    Reports a script that `--run` stopped, together with its child processes, because it
    exceeded `--timeout`.

    ## Why is this bad?

    What would have been compiled later is missing from the report. What was compiled until then
    is in it.

    ## Example

    ```python
    while True:  # PRT921: the script was stopped after 60 s
        pass
    ```

    Give it more time with `--timeout SECONDS`, or a smaller problem.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT921"
    name = "time-limit"
    severity = Severity.ERROR
