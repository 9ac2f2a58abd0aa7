"""Module constants, helper functions, aliases of modules."""

import math as m

import numpy as N
import numpy as np

G = 9.81
COEFFS = (0.5, -1.25, 2.0)
WEIGHTS = np.array([0.25, 0.5, 0.25])
TWO_PI = 2 * np.pi
EPS = 1e-12


def square(x):
    return x * x


def norm2(x, y):
    return N.sqrt(square(x) + square(y))


def fall(t, v0):
    """Height lost after t seconds."""
    return v0 * t + 0.5 * G * t**2


def _scale(x, lo, hi):
    return (x - lo) / (hi - lo)


def rescale(x):
    return _scale(x, x.min(), x.max())


def smooth_weights(x):
    w = WEIGHTS
    return w[0] * x[:-2] + w[1] * x[1:-1] + w[2] * x[2:]


def horner(x):
    a, b, c = COEFFS
    return (a * x + b) * x + c


def waves(t):
    return N.sin(TWO_PI * t) + m.cos(0.0) * N.cos(TWO_PI * t / 2)


def erf_approx(x):
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    y = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return np.sign(x) * (1.0 - y * np.exp(-x * x))


def normal_cdf_erf(x, mu=0.0, sigma=1.0):
    return 0.5 * (1.0 + erf_approx((x - mu) / (sigma * m.sqrt(2.0))))


def minmod(a, b):
    return 0.5 * (np.sign(a) + np.sign(b)) * np.minimum(np.abs(a), np.abs(b))


def limited_slopes(q):
    """A helper applied to slices."""
    s = np.zeros_like(q)
    s[1:-1] = minmod(q[1:-1] - q[:-2], q[2:] - q[1:-1])
    return s


def flux(q):
    return 0.5 * q * q


def rusanov(q, dt, dx):
    """Helpers, slices and a store of a slice."""
    left = q[:-1]
    right = q[1:]
    speed = np.maximum(np.abs(left), np.abs(right))
    f = 0.5 * (flux(left) + flux(right)) - 0.5 * speed * (right - left)
    out = q.copy()
    out[1:-1] = q[1:-1] - dt / dx * (f[1:] - f[:-1])
    return out


def pixel(img, i, j):
    return img[i, j] * 2.0


def loop_with_helper(img):
    out = np.empty_like(img)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pixel(img, i, j) + 1.0
    return out


def set_borders(a, value):
    """A helper that writes its argument."""
    a[0] = value
    a[-1] = value


def step_with_borders(a, value):
    b = a * 0.5
    set_borders(b, value)
    return b


def default_chain(x, power=2, offset=1.0):
    return x**power + offset


def call_with_keywords(x):
    return default_chain(x, offset=3.0) + default_chain(offset=-1.0, x=x, power=3)


def mean_and_dev(x):
    mu = x.mean()
    return mu, np.sqrt(((x - mu) ** 2).mean())


def unpack_helper(x):
    mu, dev = mean_and_dev(x)
    return (x - mu) / (dev + EPS)


def infinity_norm(x):
    best = -np.inf
    for i in range(x.shape[0]):
        best = max(best, abs(x[i]))
    return best


RATES = {"low": 0.25, "high": 2.0, 3: 7.0, (1, 2): 1.5}


TRANSFORMS = {"root": np.cbrt, "sine": np.sin, "square": lambda t: t * t}
LIMITS = {"x": {"lower": -1.0, "upper": 1.0}}


def rate_by_name(x, mode="high"):
    """A dictionary of the module is read at a key that the default fixes."""
    return x * RATES[mode] + RATES.get("none", 3) - RATES[1, 2]


def transform_by_name(x, kind="root"):
    if kind not in TRANSFORMS:
        raise ValueError(f"no transform {kind}")
    return TRANSFORMS[kind](x) + TRANSFORMS["square"](x)


def limits_by_name(x):
    return np.clip(x, LIMITS["x"]["lower"], LIMITS["x"]["upper"])
