"""PRT390: a kernel that the CUDA target rejects."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import NumbaRule


class TargetRejects(NumbaRule):
    """
    ## What it does

    Reports a kernel or device function that Numba's CUDA target rejected under `--compile` or
    `--run`, at the line that Numba gives.

    ## Why is this bad?

    The kernel cannot be compiled for these argument types: its launch raises an error. Where
    porter had to assume the types, the message says so and the finding is a warning.

    ## Example

    ```python
    @cuda.jit
    def roots(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = np.sqrt(x[i])  # PRT390: `np.sqrt` of numbers is not available in kernels
    ```

    Use `math.sqrt`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT390"
    name = "cuda-target-rejects"
    severity = Severity.ERROR
