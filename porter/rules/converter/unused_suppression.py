"""PRT910: a suppression that suppresses nothing."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import ConverterRule


class UnusedSuppression(ConverterRule):
    """
    ## What it does

    Reports `# porter: ignore[...]` comments with a code that is not reported there or does not
    exist.

    ## Why is this bad?

    A comment left behind hides the next finding that is real.

    ## Example

    ```python
    y = x + 1  # porter: ignore[PRT401]: found by PRT910
    ```

    Delete the comment, or the code in it. `# noqa` comments belong to other tools too, and are
    not reported.

    ## Fix safety

    The fix is safe: it deletes codes that suppress nothing, and the comment when no code is
    left.
    """

    code = "PRT910"
    name = "unused-suppression"
    severity = Severity.WARNING
    VALID = """
        x = 1
        ---
        x = 1  # noqa: PRT401
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            return 1  # porter: ignore[PRT301]
        """
    INVALID = """
        --- 1:25
        x = 1  # porter: ignore[PRT401]
        +++
        x = 1
        --- 1:18
        # porter: ignore[PRT999]
        x = 1
        +++
        x = 1
        --- 5:56
        from numba import cuda

        @cuda.jit
        def k(x):
            return 1  # type: ignore  # porter: ignore[PRT301, PRT999] as tested
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            return 1  # type: ignore  # porter: ignore[PRT301] as tested
        """
