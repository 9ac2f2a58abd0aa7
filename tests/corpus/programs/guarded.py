"""Values that Python computes only where a condition allows it."""

import numpy as np

WEIGHTS: dict[str, float] = {"flat": 1.0, "half": 0.5}


def mean_change(x):
    return (x[-1] - x[0]) / (len(x) - 1) if len(x) > 1 else np.nan


def mean_curvature(x):
    n = len(x)
    curvature = (x[-1] - x[-2] - x[1] + x[0]) / (2 * (n - 2)) if n > 2 else 0.0
    return curvature * x


def begins_high(x, limit):
    return np.sum(x) if len(x) > 0 and x[0] > limit else np.sum(np.abs(x))


def begins_low_or_is_short(x, limit):
    if len(x) < 2 or x[1] < limit:
        return x * 0.5
    return x * 2.0


def mean_of_many(x, least):
    return np.mean(x) if len(x) > least else np.nan


def last_of(x):
    if len(x) > 3:
        return x[3]
    return x[-1] if len(x) else x.sum()


def fourth(x, scale):
    return last_of(x) * scale


def weighed(x, kind="flat"):
    try:
        weight = WEIGHTS[kind]
    except KeyError:
        weight = float(kind)
    return x * weight


def weighted(x, kind="half"):
    return weighed(x, kind) + 1


def quietly_divided(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return a / b


def one_more_than_a_ratio(x, y):
    return quietly_divided(x, y) + 1


def product_of_firsts(x, y):
    return x[0] * y[0] if len(x) and len(y) else 0.0


def scaled_if_asked(x, n, k):
    if n and not (k and len(x) > 40):
        return x * n
    return x + k


def either_size(x, y):
    total = 0.0
    while total < 3 and (len(x) or len(y)):
        total += 1.0
    return x * total


def first_above(x, t):
    s = x[x > t]
    return s[0] if len(s) > 0 else 0.0


def doubled_at_last_above(x, t):
    where = np.flatnonzero(x > t)
    k = where[-1] if where.size > 1 else 0
    return x[k] * 2


def span_above(x, t):
    s = x[x > t]
    lowest, highest = (s[0], s[-1]) if s.size else (x[0], x[0])
    return highest - lowest


def first_if_large(x, t):
    s = x[x > t]
    if len(s) > 0 and s[0] > 1.0:
        return s[0]
    return 0.0
