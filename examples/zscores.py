"""Standardise the columns of a table."""

import numpy as np
from numpy.typing import NDArray


def zscores(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `table` with every column shifted to mean 0 and scaled to deviation 1."""
    mean = np.mean(table, axis=0)
    deviation = np.std(table, axis=0)
    return (table - mean) / deviation
