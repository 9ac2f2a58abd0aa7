"""PRT710: a function that a GPU cannot make faster."""

from __future__ import annotations

from porter.cost.result import RESIDENT, TOO_LIGHT, Run, shown_seconds
from porter.diagnostics import Diagnostic, Severity, Span
from porter.rules.base import ConverterRule

#: functions that take less of a run than this are not worth a word
SHARE = 0.01


class TooLight(ConverterRule):
    """
    ## What it does

    Reports a convertible function whose recorded calls a GPU would not make faster.

    It needs a trace (`porter trace SCRIPT`) and leaves out functions that took less than 1 % of
    the run. The time on a GPU is that of the model of cost.

    ## Why is this bad?

    Every call copies its arrays to the device and the results back, at some 12 GB/s, and each
    launch takes about 10 microseconds. A function that does little with each element, or that is
    called with small arrays, loses more than it gains.

    ## Example

    ```python
    def scale(x):  # PRT710: called with 100 elements, 2 microseconds on the host
        return 2.0 * x
    ```

    Convert the function around it instead, so that the data stay on the device between the
    steps, call it with more data at once, or leave it on the host. The constants of the model
    are those of `[tool.porter.cost]` (docs/cost.md).

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT710"
    name = "too-light-for-gpu"
    severity = Severity.ADVICE
    VALID = """
        import numpy as np

        def f(x):
            return 2.0 * np.sin(x)
        ---
        import numpy as np

        def f(x, y):
            return x @ y
        ---
        import numpy as np

        def f(x):
            return x.sum()
        """
    INVALID = ""

    @classmethod
    def of(cls, run: Run, whole: float, name: str, span: Span) -> Diagnostic | None:
        """The finding for recorded calls in a run that took `whole` seconds, if there is one."""
        if run.seconds < SHARE * whole or run.gain >= 1 or run.advice not in (TOO_LIGHT, RESIDENT):
            return None
        here, there = (shown_seconds(s / run.calls) for s in (run.seconds, run.gpu_seconds))
        stays = run.advice == RESIDENT
        why = "for its transfers" if stays else "for a GPU"
        kernels = shown_seconds((run.gpu_seconds - run.transfer_seconds) / run.calls)
        apart = f"without transfers {kernels}: keep the arrays on the device, or "
        message = f"`{name}` is too light {why}: {here} per call, {there} on a GPU"
        help = (apart if stays else "") + "convert what calls it, or leave it on the host"
        return cls.at("", span, message, help)
