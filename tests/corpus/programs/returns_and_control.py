"""Control flow on the host, returns of many kinds, argument checks."""

import numpy as np


def sign_flip(x, flip: bool):
    if flip:
        return -x
    return x * 1.0


def norm_order(x, p: int):
    if p == 1:
        r = np.abs(x).sum()
    elif p == 2:
        r = np.sqrt((x**2).sum())
    else:
        r = np.max(np.abs(x))
    return r


def activation_by_number(x, kind: int):
    if kind == 0:
        y = np.tanh(x)
    elif kind == 1:
        y = np.maximum(x, 0)
    else:
        y = 1 / (1 + np.exp(-x))
    return y


def early_return(x, n: int):
    if n <= 0:
        return x.copy()
    return x**n


def checked(x, y):
    if x.shape != y.shape:
        raise ValueError("x and y must have the same shape")
    return x * y - y


def asserted(a):
    assert a.ndim == 2
    assert a.shape[0] == a.shape[1], "square matrices only"
    return a - a.T


def checked_scalar(x, sigma):
    """Raises before it computes."""
    if sigma <= 0:
        raise ValueError(f"sigma must be positive, got {sigma}")
    return np.exp(-((x / sigma) ** 2))


def five_results(x):
    return x.sum(), x.mean(), x.min(), x.max(), x.std()


def array_and_scalar(x):
    y = x * 2
    return y, y.sum(), x.shape[0]


def nothing(x):
    x[0] = 1.0
    return None


def constant_arrays(n: int):
    return np.zeros(n), np.ones((n, 2)), np.full(n, 7.0), np.arange(n)


def identity_plus(n: int, a: float):
    return a * np.eye(n) + np.ones((n, n))


def arange_steps(n: int):
    return np.arange(0, 2 * n, 2) * 0.5


def arange_float(n: int):
    return np.arange(n, dtype=np.float32) / 4


def countdown(x, k: int):
    while k > 0:
        x = x * 0.5 + 1
        k -= 1
    return x


def doubling(x, limit):
    scale = 1.0
    n = 0
    while scale < limit:
        scale *= 2
        n += 1
    return x * scale, n


def conditional_expression(x, scale=None):
    factor = 1.0 if scale is None else scale
    return x * factor


def chained_assignment(x):
    a = b = x + 1
    return a * b


def swap_names(x, y):
    a = x + y
    b = x - y
    a, b = b, a
    return a * 2, b


def rebind_dimension(x):
    """A name that changes its number of dimensions."""
    y = x * 2
    y = y.sum(axis=0)
    y = y - y.mean()
    return y


def host_arithmetic(x, n: int):
    half = n // 2
    rest = n - 2 * half
    scale = 2.0**half + rest
    return x / scale


def shape_as_value(a):
    n, m = a.shape
    return a * n + m, a.size, len(a)


def default_arguments(x, a=2, b=0.5, c=True):
    y = x * a
    if c:
        y += b
    return y


def annotated_assignment(x: np.ndarray) -> np.ndarray:
    total: float = 0.5
    y: np.ndarray = x + total
    y *= 3
    return y


def list_of_axes_loop(x):
    for k in range(3):
        x = x + k
    return x


def unused_work(x):
    """A result that nobody uses."""
    y = x * 100
    z = y - 1  # noqa: F841
    return x + 1


def scalar_only(a: float, b: float):
    return a * b + 1.0
