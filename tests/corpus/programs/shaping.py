"""Arrays taken apart, put together and looked at through indices from data."""

import numpy as np


def gather_from_views(x, idx):
    """Negative positions count from the end of the view, not of the array behind it."""
    return x[1:][idx] + x[::-1][idx]


def gather_from_computed(x, idx):
    y = x * 2
    return y[idx] + np.flip(y)[idx]


def gather_from_counting(idx, n):
    table = np.arange(n) * 2
    return table[idx]


def store_through_asarray(x):
    """The argument itself for int64: the store is the caller's to see."""
    y = np.asarray(x, dtype=np.int64)
    y[0] = 1
    return y.sum()


def periodic_laplacian(u):
    """Neighbours across the border by rolling."""
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def edge_blur(image):
    """A box filter over an image whose border is repeated."""
    p = np.pad(image, 1, mode="edge")
    total = np.zeros_like(image)
    for i in range(3):
        for j in range(3):
            total += p[i : i + image.shape[0], j : j + image.shape[1]]
    return total / 9


def reflect_smooth(x, width):
    """A moving average that mirrors the signal at its ends."""
    p = np.pad(x, width, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(p, 5)
    return windows.mean(axis=1)


def zero_padded_convolution(image, kernel):
    h, w = kernel.shape
    padded = np.pad(image, ((h // 2, h // 2), (w // 2, w // 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (h, w))
    return np.einsum("ijkl,kl->ij", windows, kernel)


def row_sums_padded(a):
    """A sum within a padded array: it is made once, not where the padding is."""
    return np.pad(a.sum(axis=1), (1, 2), constant_values=-1.0)


def totals_and_tail(a, tail):
    return np.concatenate([a.sum(axis=1), tail, a.mean(axis=1)])


def upsample(image):
    """Every pixel four times."""
    return np.repeat(np.repeat(image, 2, axis=0), 2, axis=1)


def upsample_kron(image):
    return np.kron(image, np.ones((2, 2)))


def checkerboard(n):
    rows, columns = np.indices((n, n))
    return np.where((rows + columns) % 2 == 0, 1.0, 0.0)


def patches(x):
    """Pairs of rows side by side: only sizes change."""
    n, m = x.shape
    return (x * 2.0).reshape(n * m).reshape(n, m) + x.ravel().reshape(x.shape)


def batch_norm(x):
    """Over all but the last axis, flattened first."""
    flat = x.reshape(-1, x.shape[-1])
    mean = flat.mean(axis=0)
    scale = np.sqrt(flat.var(axis=0) + 1e-5)
    return ((flat - mean) / scale).reshape(x.shape)


def flat_fill(a, value):
    """Writes through `.flat`, whatever the memory looks like."""
    a.flat[:] = value
    a.flat[0] = 0.0
    return a.sum()


def heads(x):
    """Attention heads: split the last axis and bring the new one forward."""
    n, d = x.shape
    return np.ascontiguousarray(x.reshape(n, 2, d // 2).transpose(1, 0, 2)) * 1.0


def bilinear_table(x, xs, ys):
    """Interpolation in a table, and the slope beside it."""
    value = np.interp(x, xs, ys)
    k = np.clip(np.searchsorted(xs, x) - 1, 0, len(xs) - 2)
    slope = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
    return value, slope


def rank_in_bins(x):
    edges = np.linspace(-2.0, 2.0, 9)
    return np.digitize(x, edges)


def gradient_magnitude(image, h):
    dy, dx = np.gradient(image, h)
    return np.sqrt(dx**2 + dy**2)


def line_integral(y, x):
    return np.trapezoid(y, x)


def angular_momentum(position, momentum):
    return np.cross(position, momentum).sum(axis=0)


def vandermonde_fit(x, c0, c1, c2):
    return np.vander(x, 3) @ np.array([c2, c1, c0])


def horner(x):
    return np.polyval([0.5, -1.0, 2.0, 3.0], x)


def smoothed(x):
    return np.convolve(x, np.array([0.25, 0.5, 0.25]), mode="same")


def correlation(x, template):
    return np.correlate(x, template)


def mask_known(ids, known):
    return np.where(np.isin(ids, known), ids, -1)


def piecewise_material(strain):
    low = np.abs(strain) < 0.5
    return np.piecewise(strain, [low, ~low], [lambda e: 2.0 * e, lambda e: np.sign(e)])


def grade(x):
    return np.select([x > 1.0, x > 0.0, x > -1.0], [3.0, 2.0, 1.0], default=0.0)


def pick(a, columns):
    return np.take_along_axis(a, columns[:, None], axis=1)[:, 0]


def sensor_grid(x, y):
    gx, gy = np.meshgrid(x, y)
    return np.hypot(gx, gy)


def distances_on_grid(n, h):
    gy, gx = np.mgrid[0:n, 0:n]
    return np.sqrt(((gx - n / 2) * h) ** 2 + ((gy - n / 2) * h) ** 2)


def split_halves(x):
    """Both halves of rows in their own arithmetic."""
    first, second = np.split(np.concatenate([x, x[::-1]]), 2)
    return first * 2.0 - second


def banded(d, e):
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def with_diagonal(a, value):
    np.fill_diagonal(a, value)
    return np.trace(a)


def three_views(a, b, c):
    return np.dstack([a, b, c]), np.column_stack((a[:, 0], b[:, 0]))


def contracted(t, w):
    return np.tensordot(t, w, axes=([1, 2], [0, 1])), np.einsum("ijk,jk->i", t, w)


def cumulative_gaps(x):
    return np.ediff1d(x, to_begin=0.0) + np.diff(x, prepend=x[0])


def sampled_wave(duration, rate):
    """As many samples as the host counts."""
    t = np.arange(0.0, duration, 1.0 / rate)
    return np.sin(2.0 * np.pi * t)


def store_through_ravel(a, value):
    """The rows of a contiguous argument in one line."""
    flat = a.ravel()
    flat[1:] = value
    return a.sum()


def positions_by_arange(a):
    n = a.shape[0]
    k = np.arange(n)
    return a[k, k] + a[k, (k + 1) % n]


def insert_and_delete(x, value):
    return np.insert(x, 1, value), np.delete(x, 0), np.append(x, value)


def helper_names(position, k):
    """Names that the helpers of a kernel have, too."""
    maximum = np.maximum(position[k], 0.5)
    return maximum * np.maximum(position[k], 2.0) + maximum


def pairwise_upper(points):
    """Distances of all pairs, each once."""
    i, j = np.triu_indices(points.shape[0], 1)
    return np.sqrt(((points[i] - points[j]) ** 2).sum(axis=1))


def hottest(field):
    """Where the largest element is, and what stands beside it."""
    i, j = np.unravel_index(np.argmax(field), field.shape)
    return i, j, field[i, j - 1]


def polynomial_features(x):
    return np.stack([x**k for k in range(1, 4)], axis=1)


def palette(index, low, middle, high):
    return np.choose(index, [low, middle, high])


def only_axis(x):
    """An axis that could be 1 long is no part of the result's shape."""
    return np.squeeze(x[:, None]) * 2.0


def outer_without_single_axes(x, y):
    """Which axes the result has is known when the lengths are."""
    return np.squeeze(x[:, None] * y)


def sums_without_single_axes(x, y):
    rows = x + y[:, None]
    return np.squeeze(rows), rows.sum(axis=0).squeeze()


def both_halves(x):
    """A list is returned as a list."""
    return [part.sum() for part in np.array_split(x, 2)]


def every_kth(x, k):
    return x[::k] * 2


def clear_every_kth(x, k):
    x[1::k] = 0
    return x


def pooled(x, size):
    """Maxima of tiles, tile size from the caller."""
    rows, columns = x.shape[0] // size, x.shape[1] // size
    out = np.full((rows, columns), -np.inf)
    for i in range(size):
        for j in range(size):
            out = np.maximum(out, x[i : rows * size : size, j : columns * size : size])
    return out


def phases(x, k):
    total = 0.0
    for i in range(k):
        total += x[i::k].sum()
    return total


def sieve_of(n):
    flags = np.ones(n + 1, dtype=np.bool_)
    flags[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = False
    return np.nonzero(flags)[0]


def local_maxima(x, radius):
    """Windows that the borders cut."""
    n = x.size
    out = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        low, high = max(0, i - radius), min(n, i + radius + 1)
        out[i] = x[i] == x[low:high].max() and x[i] > 0
    return out


def low_pass(spectrum, radius):
    """Only frequencies near 0, which lies in the middle after the first shift."""
    centred = np.fft.fftshift(spectrum)
    rows = np.arange(centred.shape[0]) - centred.shape[0] // 2
    columns = np.arange(centred.shape[1]) - centred.shape[1] // 2
    near = rows[:, None] ** 2 + columns**2 <= radius**2
    return np.fft.ifftshift(np.where(near, centred, 0))
