"""Functions that draw random numbers, and what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from porter.source.module import SourceModule

SOURCE = """import math
import random

import numpy as np
from numpy.random import default_rng

RNG = default_rng(7)


def noisy(x):
    return x + np.random.normal(size=x.shape[0])


def read_twice(x):
    z = np.random.normal(1.0, 2.0, size=x.shape[0])
    return x * z + z * z, z


def turned(x):
    z = np.random.rand(x.shape[0])
    return z[::-1] - z


def means(n: int, m: int):
    z = default_rng().standard_normal((n, m))
    return z.mean(axis=1), z.max()


def spread(n: int):
    z = default_rng().exponential(2.0, size=n)
    return z.mean(), z.std()


def product(n: int):
    a = np.random.rand(n, n)
    return a @ a


def running(n: int):
    return np.cumsum(np.random.randn(n))


def in_time(x, steps: int):
    for t in range(steps):
        x = x * 0.5 + np.random.uniform(-1.0, 1.0, x.shape[0])
        x[0] = x[1:].sum()
    return x


def one_a_step(x, steps: int):
    for t in range(steps):
        x = x + random.random()
    return x


def monte_carlo_pi(nsamples: int):
    acc = 0
    for i in range(nsamples):
        x = random.random()
        y = random.random()
        if (x**2 + y**2) < 1.0:
            acc += 1
    return 4.0 * acc / nsamples


def two_totals(n: int):
    low = 0
    high = 0
    for i in range(n):
        u = random.random()
        if u < 0.25:
            low += 1
        if u > 0.5:
            high += 1
    return low, high


def square(n: int, m: int):
    hits = 0
    for i in range(n):
        for j in range(m):
            if random.random() ** 2 + random.random() ** 2 < 1.0:
                hits += 1
    return hits


def step(s):
    return s + random.gauss(0.0, 1.0)


def stopped(paths: int, steps: int):
    out = np.zeros(paths)
    for p in range(paths):
        s = 0.0
        for t in range(steps):
            s = step(s)
            if s > 2.0:
                break
        out[p] = s
    return out


def summed(paths: int, steps: int):
    out = np.zeros(paths)
    for p in range(paths):
        s = 0.0
        for t in range(steps):
            s += random.uniform(0.0, 2.0)
        out[p] = s
    return out


def walks(paths: int, steps: int):
    out = np.zeros((paths, steps))
    for p in range(paths):
        at = 0
        for t in range(steps):
            at += random.choice((-1, 1))
            out[p, t] = at
    return out


def dice(n: int):
    return default_rng().integers(1, 6, size=n, endpoint=True)


def some(a, n: int):
    return np.random.choice(a, n)


def counts(n: int):
    h = np.zeros(5, dtype=np.int64)
    for i in range(n):
        h[random.randint(0, 4)] += 1
    return h


def listed(n: int):
    return np.array([random.expovariate(2.0) for _ in range(n)])


def kept(x):
    return np.where(np.random.random(x.shape[0]) < 0.5, x, -x)


def of_the_module(x):
    return x + RNG.random(x.shape[0])


def in_single(x, n: int):
    rng = default_rng()
    waiting = rng.standard_exponential(x.shape, dtype=np.float32)
    return rng.random(n, dtype=np.float32), rng.standard_normal((n, 2), np.float32), x * waiting


def one_in_single(x, n: int):
    s = default_rng()
    for k in range(n):
        x = x * s.random(dtype=np.float32)
    return x


def seeded(x, start: int):
    rng = default_rng(start)
    return x + rng.random(x.shape[0])


def rejected(n: int):
    out = np.empty(n)
    for i in range(n):
        while True:
            x = 4.0 * random.random()
            if random.random() < math.exp(-0.5 * x * x):
                out[i] = x
                break
    return out


def tried(n: int, p: float):
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        k = 1
        while k < 50 and random.random() > p:
            k += 1
        out[i] = k
    return out


def nested(n: int):
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        while total < 3.0:
            best = 0.0
            for k in range(3):
                g = random.random()
                while g < 0.2:
                    g = g + random.random()
                best = max(best, g)
            total += best
        out[i] = total
    return out


def on_sphere(n: int):
    out = np.empty((n, 2))
    for i in range(n):
        s = 2.0
        while s > 1.0:
            u = np.random.random(2)
            s = u[0] ** 2 + 0.5 * u[1]
        out[i] = u
    return out


def far_away(x, limit: float):
    y = x + 0.0
    while np.abs(y).max() < limit:
        z = np.random.normal(size=y.shape[0])
        y = y + z - 0.5 * z[::-1]
    return y


def passed(x, rng):
    return x + rng.normal(size=x.shape[0])


def handed_on(n: int, rng: np.random.Generator):
    return passed(np.zeros(n), rng) + default_rng(rng).random()


def old_class(n: int, rng):
    return rng.randn(n) + rng.randint(0, 5, n)
"""
MODULE = SourceModule(SOURCE, "a.py")
FUNCTIONS = {f.name: f for f in MODULE.functions if f.name != "step"}
SPACE: dict[str, Any] = {}
exec(SOURCE, SPACE)


def _array() -> np.ndarray:
    return np.linspace(-1.0, 2.0, 7)


Make = Callable[[], list[Any]]
ARGUMENTS: dict[str, Make] = {
    **dict.fromkeys(
        ("noisy", "read_twice", "turned", "kept", "of_the_module"), lambda: [_array()]
    ),
    **dict.fromkeys(("rejected", "nested", "on_sphere"), lambda: [6]),
    "tried": lambda: [6, 0.3],
    "far_away": lambda: [_array(), 3.0],
    "passed": lambda: [_array(), np.random.default_rng(3)],
    "handed_on": lambda: [5, np.random.default_rng(3)],
    "old_class": lambda: [5, np.random.RandomState(3)],
    **dict.fromkeys(("means", "square", "stopped", "summed", "walks"), lambda: [5, 4]),
    **dict.fromkeys(
        ("spread", "product", "running", "monte_carlo_pi", "two_totals", "dice", "counts",
         "listed"),
        lambda: [6],
    ),
    **dict.fromkeys(("in_time", "one_a_step", "some", "seeded", "in_single", "one_in_single"),
        lambda: [_array(), 3]),
}  # fmt: skip
