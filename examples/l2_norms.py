"""Euclidean lengths of many vectors."""

import numpy as np


def l2_norms(vectors):
    """Return the length of every row."""
    return np.sqrt(np.sum(vectors**2, axis=1))
