"""Complex arrays."""

import numpy as np


def magnitude_squared(z):
    return z.real**2 + z.imag**2


def conjugate_product(a, b):
    return a * np.conj(b)


def phase_shift(z, phi):
    return z * np.exp(1j * phi)


def make_complex(re, im):
    return re + 1j * im


def absolute(z):
    return np.abs(z)


def phasors(x, k):
    return np.exp(-2j * np.pi * k * x)


def overflowing(z):
    """Past what exp, sinh and cosh can hold, beside the axes and on them."""
    far = z * 400.0
    return np.exp(far) + np.sin(far), np.cos(far - far.real), np.exp(far - 1j * far.imag)


def quadratic_map(z, c):
    return z * z + c


def real_part(z):
    return np.real(z) - np.imag(z)


def angle(z):
    return np.arctan2(z.imag, z.real)


def naive_dft(x):
    """The discrete Fourier transform by its definition."""
    n = x.shape[0]
    k = np.arange(n)
    w = np.exp(-2j * np.pi * k[:, None] * k[None, :] / n)
    return w @ x


def dft_loops(x):
    n = len(x)
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        s = 0j
        for t in range(n):
            s += x[t] * np.exp(-2j * np.pi * k * t / n)
        out[k] = s
    return out


def power_spectrum(z):
    return (z * z.conj()).real


def moebius(z, a, b, c, d):
    return (a * z + b) / (c * z + d)


def complex_sum(z):
    return z.sum()


def complex_mean_rows(z):
    return z.mean(axis=1)


def quotients(x, y):
    """By zero too, where Numba's own division ends the thread."""
    y[::2] = 0
    return x / y, 1 / y


def quotients_in_place(x, steps):
    """A variable of the thread divides itself, by zero too."""
    x[0, ::2] = 0
    for _ in range(steps):
        x[0] /= x[0]
    return x.real.copy()


def turned(z, angle):
    return z * complex(np.cos(angle), np.sin(angle))
