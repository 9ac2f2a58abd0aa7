"""The assessment of the introduction as it is handed out: kernels that return values."""

import numpy as np
from numba import cuda
from numpy import exp

n = 1000000
greys = np.floor(np.random.uniform(0, 255, n).astype(np.float32))
weights = np.random.normal(0.5, 0.1, n).astype(np.float32)


@cuda.jit
def scale(greys):
    return greys / 255.0


@cuda.jit
def weight(values, weights):
    return values * weights


@cuda.jit
def squash(values):
    return (exp(values) - exp(-values)) / (exp(values) + exp(-values))
