"""PRT408: a fold whose result depends on the order of the elements."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class NotAssociative(ConverterRule):
    """
    ## What it does

    Reports a call of what `cuda.reduce` makes of a function that is not associative. It is found by
    trying random numbers, and the message shows those that tell.

    ## Why is this bad?

    Threads fold parts of the array at the same time, and then what they have found. With
    `a - b` each size of the blocks gives another result.

    ## Example

    ```python
    difference = cuda.reduce(lambda a, b: a - b)

    def f(x):
        return difference(x)  # PRT408
    ```

    Fold with a function for which the order does not matter, and do the rest before or after:
    `x[0] - total(x[1:])`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT408"
    name = "not-associative"
    VALID = """
        from numba import cuda

        total = cuda.reduce(lambda a, b: a + b)

        def f(x):
            return total(x)
        ---
        from numba import cuda

        @cuda.reduce
        def largest(a, b):
            return max(a, b)

        def f(x):
            return x / largest(x)
        ---
        from functools import reduce

        def f(x):
            return reduce(lambda a, b: a - b, x, 0.0)
        """
    INVALID = """
        ---
        from numba import cuda

        difference = cuda.reduce(lambda a, b: a - b)

        def f(x):
            return difference(x)
        """
