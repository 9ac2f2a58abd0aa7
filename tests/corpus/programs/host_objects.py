"""Statements that stay on the host: dicts, text, lists, checks, warnings."""

import warnings

import numpy as np


def table(x):
    return {"sum": x.sum(), "mean": x.mean()}


def report(x):
    return f"mean {x.mean():.3f}"


def described(x):
    y = np.sqrt(np.abs(x))
    stats = {"mean": y.mean(), "name": "roots", "count": len(x)}
    stats["max"] = float(y.max())
    return y, stats


def labels(x):
    y = x * 2
    out = []
    for k in range(3):
        out.append(f"{k}: {y.sum():.1f}")
    return y, " ".join(out)


def text_of_first(x, digits=2):
    y = np.cumsum(x)
    parts = [round(v, digits) for v in y.tolist()]
    return " ".join(str(p) for p in parts)


def elementwise_of_one_axis(x):
    if x.ndim != 1:
        raise ValueError("x must be 1-D")
    return 2 * x


def checked(x, w, order=2):
    if x.ndim != 1:
        raise ValueError(f"x must be 1-D, got {x.ndim}-D")
    if x.shape[0] != w.shape[0]:
        raise ValueError(f"x and w differ: {x.shape} {w.shape}")
    if not isinstance(order, (int, np.integer)):
        raise TypeError("order must be an int")
    if order < 1:
        raise ValueError("order must be at least 1")
    return w * x**order


def negative_refused(x):
    if np.any(x < 0):
        raise ValueError(f"the smallest is {x.min():.3f}")
    return np.sqrt(x)


def warned(x, tol=0.5):
    if tol <= 0:
        warnings.warn("tol is not positive", stacklevel=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = tol / x
    return np.where(np.isfinite(y), y, 0.0)


def imported_inside(x):
    import math

    return math.sqrt(2.0) * np.exp(-x)


def printed(x, verbose=False):
    n = x.shape[0]
    if verbose:
        print(f"running on {n} elements")
    y = np.sin(x)
    del n
    return y


def kinds(x):
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return x.sum(axis=1)
    raise TypeError("two dimensions are needed")


def as_floats(x):
    x = np.asarray(x, dtype=float)
    if x.size == 0:
        raise ValueError("x is empty")
    return (x - x.mean()) / (x.std() + 1.0)


def copied_count(x, n):
    flags = []
    if n > 2:
        flags.append("large")
    return x * n, ",".join(flags)


def histogram_text(x):
    y = np.abs(x) + 1.0
    counts = {}
    for v in np.floor(y).tolist():
        counts[v] = counts.get(v, 0) + 1
    return y / y.sum(), counts


def two_kinds(x, n):
    result = None
    if n > 2:
        result = x * 2.0
    if result is None:
        return x
    return result


def name_by_branch(x, n):
    kind = "small"
    if n > 2:
        kind = "large"
    if kind == "large":
        return x * 2.0
    return x * 3.0


def previous_none(x, n):
    previous = None
    total = x * 0.0
    for i in range(n):
        if previous is not None:
            total = total + previous
        previous = x * i
    return total


def kept_then_changed(x):
    y = x * 2.0
    kept = {"y": y}
    y += 1.0
    return kept, y
