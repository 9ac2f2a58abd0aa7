"""PRT915: a function about which too little could be compared."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class Unverified(ConverterRule):
    """
    ## What it does

    Reports a function whose module was not verified: no case ran a kernel, fewer than half of
    the cases gave results because the original raised in the others, or the original cannot run
    here because something that it imports is not installed.

    ## Why is this bad?

    No difference was found, but none could have been. porter writes no module that it has not
    seen to be right.

    ## Example

    ```python
    import numpy as np

    def weighted(p, x):
        if p.max() > 1e-9:  # nearly all inputs raise
            raise ValueError("p is too large")
        return p * x
    ```

    ```text
    error[PRT915]: `weighted` is unverified: 2 of 24 cases gave results
    ```

    Say what the arguments are, and porter tries such inputs: `# porter: domain 0 <= p <= 1e-9`
    in the function. Or install what is missing. `--no-verify` writes the module as it is.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT915"
    name = "unverified"
    VALID = """
        import numpy as np

        def f(x):
            return np.sin(x)
        ---
        import numpy as np

        def f(x):
            # porter: domain x > 0
            return np.log(x)
        ---
        x = 1
        """
    INVALID = ""
