"""PRT913: a comment about a function's domain that says nothing."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import ConverterRule


class DomainComment(ConverterRule):
    """
    ## What it does

    Reports `# porter: domain ...` comments that cannot be parsed, that name something other
    than a parameter, or that do not belong to a function.

    ## Why is this bad?

    `porter verify` narrows its inputs to such a domain, and refuses to work with a
    comment that it does not understand: what would be verified is not what the comment looks
    like.

    ## Example

    ```python
    def growth(x, rate):
        # porter: domain speed > 0  (PRT913: `speed` is not a parameter of `growth`)
        return x * (1 + rate)
    ```

    Write conditions such as `rate > 0`, `0 <= k < len(x)`, `mask in (0, 1)`, `finite` or
    `sorted(x)`, separated by commas, in the function or directly above it.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT913"
    name = "domain-comment"
    severity = Severity.ERROR
    VALID = """
        # porter: domain x > 0, finite
        def f(x, n):
            # porter: domain 1 <= n < len(x)
            return x * n
        ---
        class C:
            def step(self, x):
                return x * self.dt  # porter: domain self.dt > 0
        ---
        text = '# porter: domain of discourse'
        ---
        # porter: main loop
        x = 1
        """
    INVALID = """
        --- 2:5
        def f(x):
            # porter: domain y > 0
            return x
        --- 1:1
        # porter: domain x > 0

        def f(x):
            return x
        --- 2:15
        def f(x):
            return x  # porter: domains x > 0
        --- 2:5
        def f(x):
            # porter: domain x is positive
            return x
        """
