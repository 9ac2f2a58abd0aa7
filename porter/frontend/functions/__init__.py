"""The NumPy functions that porter converts: each is a table row or a few lines.

`FUNCTIONS` maps a dotted name to its handler; importing this package fills it.
"""

from porter.frontend.functions import (
    closeness,
    creation,
    elementwise,
    joining,
    linalg,
    reductions,
    scans,
    scatter,
    shaping,
    solvers,
    statistics,
    ufuncs,
)
from porter.frontend.functions.registry import FUNCTIONS

__all__ = [
    "FUNCTIONS",
    "closeness",
    "creation",
    "elementwise",
    "joining",
    "linalg",
    "reductions",
    "scans",
    "scatter",
    "shaping",
    "solvers",
    "statistics",
    "ufuncs",
]
