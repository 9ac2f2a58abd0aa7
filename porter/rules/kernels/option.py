"""PRT311: an option of `@cuda.jit` that belongs to the CPU."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import ON_DEVICE, Function, PyFile
from porter.rules.options import without_option
from porter.rules.words import words

#: options of @jit that the CUDA target ignores
_IGNORED = words("parallel nogil nopython forceobj looplift error_model")


class KernelOption(Rule):
    """
    ## What it does

    Finds options of `@jit` that are given to `@cuda.jit`: `parallel`, `nogil`, `nopython`,
    `forceobj`, `looplift`, `error_model`.

    ## Why is this bad?

    `@cuda.jit` takes any option and ignores those that it does not know. A kernel is parallel
    over its threads and always in nopython mode; `parallel=True` does not spread its loops.

    ## Example

    ```python
    @cuda.jit(parallel=True)  # PRT311
    def k(x):
        ...
    ```

    Leave the option out.

    ## Fix safety

    Safe: the fix removes the option, which Numba ignores.
    """

    code = "PRT311"
    name = "kernel-option"
    VALID = """
        from numba import cuda

        @cuda.jit(fastmath=True, lineinfo=True, cache=True, max_registers=32)
        def k(x):
            x[cuda.grid(1)] = 1
        ---
        from numba import njit

        @njit(parallel=True)
        def f(x):
            return x
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        """
    INVALID = """
        --- 3:11
        from numba import cuda

        @cuda.jit(parallel=True)
        def k(x):
            x[cuda.threadIdx.x] = 1
        +++
        from numba import cuda

        @cuda.jit()
        def k(x):
            x[cuda.threadIdx.x] = 1
        --- 3:24
        from numba import cuda

        @cuda.jit(device=True, nopython=True)
        def f(v):
            return v
        +++
        from numba import cuda

        @cuda.jit(device=True)
        def f(v):
            return v
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such option."""
        call = function.decorator
        if function.kind not in ON_DEVICE or not isinstance(call, ast.Call):
            return
        for option in call.keywords:
            if option.arg in _IGNORED:
                yield Finding(
                    option,
                    f"`{option.arg}` has no effect on @cuda.jit",
                    "remove it",
                    fix=without_option(file, call, option),
                )
