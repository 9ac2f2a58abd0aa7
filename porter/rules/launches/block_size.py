"""PRT603: a block with too many threads, or not made of whole warps."""

from __future__ import annotations

from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values, launches
from porter.rules.model import PyFile

MOST = 1024
WARP = 32


class BlockSize(Rule):
    """
    ## What it does

    Finds launches whose block, as far as the file shows it, has more than 1,024 threads, or
    more than one warp but not a multiple of 32 threads.

    ## Why is this bad?

    No GPU takes more than 1,024 threads in a block: the launch fails. Threads run in warps of
    32; those that fill up the last warp are idle.

    ## Example

    ```python
    kernel[blocks, (64, 32)](x)  # PRT603: 2,048 threads
    ```

    Use 128 or 256 threads to start with, such as `(16, 16)`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT603"
    name = "block-size"
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[4, 256](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[4, (64, 16)](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[1, 1](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(t):
            k[4, t](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[1, 100](0)
        """
    INVALID = """
        --- 8:6
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        t = (64, 32)
        k[4, t](0)
        --- 7:6
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[4, 100](0)
        """

    def check(self, file: PyFile) -> Findings:
        """Every launch with such a block."""
        for launch in launches(file):
            size = Values(file, launch.scope).product(launch.block)
            if size is None or (size <= MOST and (size <= WARP or size % WARP == 0)):
                continue
            if size <= MOST and Values(file, launch.scope).product(launch.grid) == 1:
                # one block of the array's size: there is nothing to be gained from whole warps
                continue
            if size > MOST:
                message = f"a block of {size:,} threads exceeds the limit of {MOST:,}"
                cure = "use at most 1,024 threads in a block, and more blocks"
            else:
                message = f"a block of {size} threads is not a multiple of the warp size {WARP}"
                cure = "use a multiple of 32, such as 128 or 256"
            yield Finding(launch.block, message, cure)
