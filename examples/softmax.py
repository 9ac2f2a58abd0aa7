"""Softmax over the rows of a matrix."""

import numpy as np


def softmax(x):
    """Return probabilities that sum to one in every row."""
    # the largest exponent becomes zero, so that exp cannot overflow
    shifted = x - x.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=1, keepdims=True)
