"""PRT606: many blocks of a few threads."""

from __future__ import annotations

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Values, launches
from porter.rules.model import PyFile

WARP = 32
#: a launch that fits in one block is too small for its block size to matter
SMALL = 1024


class TinyBlocks(Rule):
    """
    ## What it does

    Finds launches of many blocks with fewer than 32 threads each, as far as the file shows the
    block size. Launches of at most 1,024 threads in total are not reported.

    ## Why is this bad?

    Threads run in warps of 32, and a warp is never shared by two blocks: of a block of 8
    threads, 24 lanes of its warp do nothing. A multiprocessor also holds no more than 16 to 32
    blocks at a time, so that with tiny ones most of its places for threads stay empty.

    ## Example

    ```python
    kernel[n, 1](x)  # PRT606
    ```

    Use blocks of 128 or 256 threads: `kernel[(n + 127) // 128, 128](x)`, with
    `i = cuda.grid(1)` in the kernel and a guard.

    ## Fix safety

    There is no automatic fix: a kernel that counts on its block's size must change too.
    """

    code = "PRT606"
    name = "tiny-blocks"
    severity = Severity.ADVICE
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x):
            k[x.size // 32 + 1, 32](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        k[1, 1](0)
        k[4, 8](0)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x, t):
            k[x.size, t](x)
            k[x.size, (8, 8)](x)
        """
    INVALID = """
        --- 8:15
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(x):
            k[x.size, 1](x)
        --- 8:15
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        threads = (4, 4)
        k[(256, 256), threads](0)
        """

    def check(self, file: PyFile) -> Findings:
        """Every launch of many such blocks."""
        for launch in launches(file):
            values = Values(file, launch.scope)
            threads, blocks = values.product(launch.block), values.product(launch.grid)
            if threads is None or not 0 < threads < WARP:
                continue
            if blocks is not None and blocks * threads <= SMALL:
                continue
            count = f"{threads} thread" + "s" * (threads > 1)
            yield Finding(
                launch.block,
                f"blocks of {count} leave {WARP - threads} of a warp's {WARP} lanes idle",
                "use blocks of 128 or 256 threads, and fewer of them",
            )
