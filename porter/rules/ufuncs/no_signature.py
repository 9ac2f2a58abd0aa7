"""PRT801: a CUDA ufunc without signatures."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile


class UfuncWithoutSignature(Rule):
    """
    ## What it does

    Finds `@vectorize(target="cuda")` and `@guvectorize(..., target="cuda")` without type
    signatures.

    ## Why is this bad?

    For the CUDA target Numba compiles the ufunc for the given signatures only. Without any
    there is nothing to call: every call fails with a TypeError.

    ## Example

    ```python
    @vectorize(target="cuda")  # PRT801
    def add(x, y):
        return x + y
    ```

    Give one signature or more: `@vectorize(["float32(float32, float32)"], target="cuda")`.

    ## Fix safety

    There is no automatic fix, since only you know the types.
    """

    code = "PRT801"
    name = "ufunc-without-signature"
    severity = Severity.ERROR
    VALID = """
        from numba import vectorize

        @vectorize
        def f(x):
            return x
        ---
        from numba import vectorize

        @vectorize(target='parallel')
        def f(x):
            return x
        ---
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return x
        ---
        from numba import vectorize, float32

        @vectorize([float32(float32)], target='cuda')
        def f(x):
            return x
        ---
        import numpy as np

        @np.vectorize
        def f(x):
            return x
        """
    INVALID = """
        --- 3:2
        from numba import vectorize

        @vectorize(target='cuda')
        def f(x):
            return x
        --- 3:2
        import numba

        @numba.vectorize([], target='cuda')
        def f(x):
            return x
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The decorator of such a ufunc."""
        if function.kind not in (Kind.VECTORIZE, Kind.GUVECTORIZE) or function.decorator is None:
            return
        if function.target == "cuda" and not function.signatures:
            yield Finding(
                function.decorator,
                f"CUDA ufunc `{function.name}` has no signature",
                'add the types, for example ["float32(float32, float32)"]',
            )
