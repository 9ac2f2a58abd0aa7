"""PRT920: a script that did not end well."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class ScriptFailed(NumbaRule):
    """
    ## What it does

    Reports a script that raised an exception, ended with a nonzero exit code, or was ended by a
    signal under `--run`.

    ## Why is this bad?

    What would have been compiled later is missing from the report. What was compiled until then
    is in it.

    ## Example

    ```python
    raise SystemExit(7)  # PRT920: the script ended with exit code 7
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT920"
    name = "script-failed"
    severity = Severity.ERROR
