"""Pi by the Monte Carlo method, as the introduction to CUDA Python with Numba has it."""

import random


def monte_carlo_pi(nsamples):
    """Return four times the share of random points of the unit square within the circle."""
    acc = 0
    for _ in range(nsamples):
        x = random.random()
        y = random.random()
        if (x**2 + y**2) < 1.0:
            acc += 1
    return 4.0 * acc / nsamples
