"""PRT307: an exception in device code that nobody sees."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile


class ExceptionInKernel(Rule):
    """
    ## What it does

    Finds `raise` and `assert` in device code that is compiled without `debug=True`.

    ## Why is this bad?

    Without `debug=True` the CUDA target keeps no error code: the thread that raises ends, all
    others go on, and the launch succeeds. The results of that thread are missing, and nothing
    says so. Numba's simulator does raise, so tests that run there do not notice.

    ## Example

    ```python
    @cuda.jit
    def invert(x):
        i = cuda.grid(1)
        if i < x.size:
            if x[i] == 0:
                raise ZeroDivisionError  # PRT307
            x[i] = 1 / x[i]
    ```

    Check on the host, or write a flag into an array that the host reads:

    ```python
    @cuda.jit
    def invert(x, bad):
        i = cuda.grid(1)
        if i < x.size:
            if x[i] == 0:
                bad[0] = 1
            else:
                x[i] = 1 / x[i]
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT307"
    name = "exception-in-kernel"
    VALID = """
        from numba import cuda

        @cuda.jit(debug=True, opt=False)
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                assert x[i] > 0
        ---
        from numba import njit

        @njit
        def f(x):
            if x.size == 0:
                raise ValueError('empty')
            return x[0]
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def f(v):
            if v < 0:
                raise ValueError
            return v

        @cuda.jit(debug=DEBUG)
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = f(x[i])
        """
    INVALID = """
        --- 7:9
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i >= x.size:
                raise IndexError('past the end')
            x[i] = 1
        --- 5:5
        from numba import cuda

        @cuda.jit(device=True, debug=False)
        def f(v):
            assert v > 0
            return v
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every `raise` and `assert`, unless some device code of the file is debugged."""
        if not function.on_device or any(_debugged(f) for f in file.functions if f.on_device):
            return
        for node in function.nodes:
            if isinstance(node, (ast.Raise, ast.Assert)):
                word = "raise" if isinstance(node, ast.Raise) else "assert"
                yield Finding(
                    node,
                    f"`{word}` in `{function.name}` ends one thread without reporting to the host",
                    "check on the host, or store a flag in an array; `debug=True` reports it",
                )


def _debugged(function: Function) -> bool:
    option = function.options.get("debug")
    return option is not None and not (isinstance(option, ast.Constant) and not option.value)
