"""Library calls whose results kernels read on: linear algebra, transforms, order."""

import numpy as np


def ridge(x, y, lam=0.1):
    gram = x.T @ x + lam * np.eye(x.shape[1])
    return np.linalg.solve(gram, x.T @ y)


def whiten(x):
    centred = x - x.mean(axis=0)
    cov = centred.T @ centred / x.shape[0]
    w, v = np.linalg.eigh(cov + np.eye(x.shape[1]))
    return centred @ (v * v) / np.sqrt(w.sum())


def inverse_and_itself(a):
    shifted = a + 10.0 * np.eye(a.shape[0])
    return np.abs(np.linalg.inv(shifted)) + shifted


def lower_product(a):
    low = np.linalg.cholesky(a @ a.T + 5.0 * np.eye(a.shape[0]))
    return low @ low.T


def scaled_by_det(a):
    return a / np.linalg.det(a + 9.0 * np.eye(a.shape[0]))


def energy_from_svd(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (s * s).sum(), np.abs(u) @ np.abs(vh)


def least_squares(x, y):
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    return y - x @ beta


def orthogonal_part(x, y):
    q, r = np.linalg.qr(x)
    return np.abs(q) @ np.abs(r @ y)


def lowpass(x, keep=3):
    spectrum = np.fft.rfft(x)
    k = np.arange(spectrum.shape[0])
    return np.fft.irfft(np.where(k < keep, spectrum, 0), n=8)


def power_spectrum(x):
    f = np.fft.fft(x)
    return np.abs(f) ** 2 / x.shape[0]


def blur_in_frequency(img):
    f = np.fft.fft2(img)
    n, m = img.shape
    ky = np.arange(n)[:, None]
    kx = np.arange(m)[None, :]
    return np.fft.ifft2(f * np.exp(-0.01 * (ky * ky + kx * kx))).real


def trimmed(x):
    m = np.median(x)
    mad = np.median(np.abs(x - m))
    return (x - m) / (mad + 1e-9)


def row_quantiles(x):
    low = np.percentile(x, 25, axis=1)
    high = np.quantile(x, 0.75, axis=1)
    return (high - low) / (np.abs(high) + 1.0)


def ranked(x):
    order = np.argsort(x)
    return x[order] * 2.0


def sorted_rows(x):
    y = np.sort(x, axis=-1)
    return y[:, 1:] - y[:, :-1]


def sorted_in_place(x):
    x *= 2.0
    x.sort()
    return x + 1.0


def trend(x, y):
    slope, offset = np.polyfit(x, y, 1)
    return y - (slope * x + offset)


def repeated_solve(a, b, steps):
    x = b.copy()
    for _ in range(steps):
        x = np.linalg.solve(a, x + b)
    return x


def in_helper(a):
    return _solved(a, a[0]) + 1.0


def _solved(a, b):
    return np.linalg.solve(a + 9.0 * np.eye(a.shape[0]), b)


def flat_order(x):
    """The order of all elements, whatever their axes."""
    return np.argsort(x * 2.0, axis=None) + 1, np.sort(x, axis=None) * 0.5


def levelled(x):
    """An import of its own, under a name that means something else in another function."""
    import numpy.polynomial.polynomial as part

    return x - part.polyval(x * 2.0, [1.0, 0.5])


def levelled_by_chebyshev(x):
    import numpy.polynomial.chebyshev as part

    return x - part.chebval(x * 2.0, [1.0, 0.5])
