"""Small blocks for modules that solve systems of equations.

All threads of a solver's block meet at barriers, which takes Numba's simulator long.
"""

from __future__ import annotations

import re

#: panels of several columns, not all of which are in shared memory at a time
PANELS = {
    "BLOCK_X": 4, "STRIP": 2, "EACH": 2, "MANY_THREADS": 8, "PANEL": 18, "WIDTH": 2
}  # fmt: skip
_SOLVERS = re.compile(r"^def (factor_panel|factor_columns)\(", re.M)


def with_small_panels(text: str) -> str:
    """A generated module with these, if it has such kernels."""
    for name, size in PANELS.items() if _SOLVERS.search(text) else ():
        text = re.sub(rf"^{name} = \d+", f"{name} = {size}", text, flags=re.M)
    return text
