"""What a child process may take, set by itself before any code of the user's runs."""

from __future__ import annotations

import contextlib
import io
import os
import sys

try:
    import resource
except ImportError:  # Windows: there the parent's watch is all
    resource = None  # type: ignore[assignment]

_GIB = 1 << 30
#: bytes of address space: Numba, LLVM and a thousand threads' stacks take up to nine of these
ADDRESS_SPACE = 16 * _GIB
#: bytes of one file, the log of standard error among them
FILE = 64 << 20
#: bytes that a child and what it started may have in memory, at most half of what there is
MEMORY = 4 * _GIB


def memory() -> int:
    """How many bytes a child may have in memory on this machine."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return min(MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return MEMORY


def restrict(*, address_space: bool = True) -> None:
    """Limit this process for good: address space, size of files, no core dumps, no input.

    `address_space` must be False where a GPU's driver is used: it reserves terabytes.
    """
    close_input()
    if resource is None:
        return
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, FILE)]
    if address_space:
        wanted.append((resource.RLIMIT_AS, ADDRESS_SPACE))
    for kind, size in wanted:
        hard = resource.getrlimit(kind)[1]
        size = size if hard == resource.RLIM_INFINITY else min(size, hard)
        # macOS refuses some of them
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (size, size))


def close_input() -> None:
    """Let whoever reads standard input find its end."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
