"""Functions that the modules of this folder were written for, by hand."""

import math

import numpy as np

SCALE = 2.5


def density(x, mean, sigma):
    z = (x - mean) / sigma
    return np.exp(-0.5 * z * z) / (sigma * math.sqrt(2.0 * math.pi))


def difference(x):
    return x[1:] - x[:-1]


def grow(x, amount):
    x += amount * SCALE
    return x


def threshold(x, y):
    mask = x > 1
    count = np.zeros(x.shape, np.int32)
    count[mask] = 3
    return count, np.where(mask, x, y)


if __name__ == "__main__":
    raise SystemExit("never run by the verifier")
