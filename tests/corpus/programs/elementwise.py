"""Maps over one or several arrays."""

import math

import numpy
import numpy as np
from numpy import cos, exp, sin
from numpy.typing import NDArray


def axpy(a, x, y):
    return a * x + y


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(1 + exp(x)) without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def polynomial(x):
    # Horner
    p = 3.0
    p = p * x - 2.0
    p = p * x + 0.5
    p = p * x - 7
    return p


def polar(r, theta):
    """Polar to Cartesian."""
    x = r * cos(theta)
    y = r * sin(theta)
    return x, y


def damped(t, amplitude, decay, omega, phase=0.0):
    envelope = amplitude * exp(-decay * t)
    return envelope * cos(omega * t + phase)


def haversine(lat1, lon1, lat2, lon2):
    """Great-circle distance in km; arguments in degrees."""
    p1 = np.deg2rad(lat1)
    p2 = np.radians(lat2)
    dphi = p2 - p1
    dlam = numpy.deg2rad(lon2 - lon1)
    a = np.sin(dphi / 2) ** 2 + np.cos(p1) * np.cos(p2) * np.sin(dlam / 2) ** 2
    return 2 * 6371.0 * np.arctan2(np.sqrt(a), np.sqrt(1 - a))


def leaky_relu(x, slope: float = 0.01):
    return np.where(x >= 0, x, slope * x)


def gelu(x):
    c = math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + np.tanh(c * (x + 0.044715 * x**3)))


def huber(r, delta):
    a = np.abs(r)
    quadratic = 0.5 * np.square(r)
    linear = delta * (a - 0.5 * delta)
    return np.where(a <= delta, quadratic, linear)


def lennard_jones(r, epsilon=1.0, sigma=1.0):
    s6 = np.power(sigma / r, 6)
    return 4 * epsilon * (s6 * s6 - s6)


def rounding(x):
    return np.floor(x) + np.ceil(x) * 10 + np.rint(x) * 100 + np.trunc(x) * 1000


def clamp(x, lo, hi):
    return np.minimum(np.maximum(x, lo), hi)


def clip_method(x):
    return x.clip(-0.5, 0.5) ** 2


def smoothstep(x):
    t = np.clip((x - 0.25) / 0.5, 0.0, 1.0)
    return t * t * (3 - 2 * t)


def wrap_angle(phi):
    return (phi + np.pi) % (2 * np.pi) - np.pi


def reciprocal_sum(x, y):
    with_sign = np.copysign(x, y)
    return np.reciprocal(1 + with_sign * with_sign) + np.hypot(x, y)


def finite_or_zero(x):
    return np.where(np.isfinite(x), x, 0.0)


def sinc_like(x):
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.sin(safe) / safe)


def negative_and_positive(x):
    return np.negative(x) + np.add(x, 1) * np.subtract(2, x) / np.divide(4.0, 2.0)


def cube_roots(x):
    return np.cbrt(x) + np.sign(x) * np.sqrt(np.fabs(x))


def image_gain(img, gain, bias):
    """Two-dimensional map, float out."""
    return gain * img + bias


def volume_decay(vol):
    """A map over a 3-D array."""
    return np.exp2(-vol) + np.log2(1.0 + vol * vol)
