"""Running sums, products and extremes."""

import numpy as np


def running_sum(x):
    """The sum of the elements so far."""
    return np.cumsum(x)


def running_sum_method(x):
    return x.cumsum()


def running_mean_so_far(x):
    c = np.cumsum(x)
    return c / np.arange(1, len(x) + 1)


def moving_average(x, w):
    """Mean of each window of w elements, by differences of the running sum."""
    c = np.cumsum(x)
    out = c[w - 1 :].copy()
    out[1:] -= c[:-w]
    return out / w


def column_running_sum(a):
    return a.cumsum(axis=0)


def row_running_sum(a):
    return np.cumsum(a, axis=1)


def row_running_product(a):
    return np.cumprod(a, axis=-1)


def flattened_running_sum(a):
    return np.cumsum(a)


def integral_image(img):
    """Sums over all rectangles that start in the corner."""
    return img.cumsum(axis=0).cumsum(axis=1)


def box_filter(img, r):
    """The mean over (2r + 1) x (2r + 1) pixels from an integral image."""
    s = np.cumsum(np.cumsum(img, axis=0), axis=1)
    k = 2 * r + 1
    inner = s[k:, k:] - s[:-k, k:] - s[k:, :-k] + s[:-k, :-k]
    return inner / (k * k)


def drawdown(returns):
    """How far below its peak an investment is."""
    wealth = np.cumprod(1 + returns)
    peak = np.maximum.accumulate(wealth)
    return (wealth - peak) / peak


def worst_drawdown(returns):
    wealth = np.cumprod(1.0 + returns)
    peak = np.maximum.accumulate(wealth)
    return np.min(wealth / peak - 1)


def cumulative_return(returns):
    return np.cumprod(1 + returns) - 1


def running_lowest(a):
    return np.minimum.accumulate(a, axis=1)


def running_highest_rows(a):
    return np.maximum.accumulate(a)


def any_so_far(x, limit):
    return np.logical_or.accumulate(x > limit)


def all_so_far(x):
    return np.logical_and.accumulate(x)


def running_count(mask):
    """How many were true so far: positions in a compacted array."""
    return np.cumsum(mask)


def running_sum_of_small_ints(x):
    return np.cumsum(x)


def running_product_of_ints(x):
    return x.cumprod()


def running_sum_in_int32(x):
    return np.cumsum(x, dtype=np.int32)


def running_sum_as_float(x):
    return np.cumsum(x, dtype=np.float64)


def nan_running_sum(x):
    return np.nancumsum(x)


def nan_running_product(a):
    return np.nancumprod(a, axis=0)


def normalised_running_sum(p):
    """A cumulative distribution."""
    c = np.cumsum(p)
    return c / c[-1]


def cumulative_of_density(p):
    c = np.cumsum(p / p.sum())
    return np.minimum(c, 1.0)


def running_sum_of_row_means(a):
    return np.cumsum(a.mean(axis=1))


def running_sum_reversed(x):
    """Sums of what is left."""
    return np.cumsum(x[::-1])[::-1]


def running_sum_stored(x, out):
    np.cumsum(x, out=out)


def running_sum_in_place(x):
    x[:] = np.cumsum(x)


def running_sum_added(x, y):
    y += np.cumsum(x)


def accumulate_add(a):
    return np.add.accumulate(a, axis=1)


def accumulate_multiply(x):
    return np.multiply.accumulate(x)


def trapezoid_running(y, x):
    """The integral up to each point by the trapezoidal rule."""
    return np.cumsum(0.5 * (y[1:] + y[:-1]) * np.diff(x))


def random_walk(steps):
    return np.cumsum(steps, axis=0)


def complex_running_sum(z):
    return np.cumsum(z)


def cube_running_sum(a):
    return np.cumsum(a, axis=1)


def cube_running_sum_last(a):
    return np.cumsum(a, axis=2)


def last_of_running_sum(x):
    """Only one element of it is used."""
    return np.cumsum(x)[-1]


def two_running_sums(x, y):
    return np.cumsum(x) - np.cumsum(y)


def narrow_lines(a):
    """Lines of three elements: one thread each."""
    return np.cumsum(a.reshape(-1, 3), axis=1)


def float32_running_sum(x):
    return np.cumsum(x)


def running_sum_added_where(x, y):
    x[y > 0] += np.cumsum(y)[y > 0]


def running_sum_changed(x):
    c = np.cumsum(x)
    c[0] = 5
    return c


def running_sum_times_row_sum(x, a):
    return np.cumsum(x) * a.sum(axis=1)


def running_sum_of_each_row(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        out[i] = np.cumsum(a[i])
    return out


def extremes_of_window_means(x, width):
    c = np.cumsum(x)
    means = (c[width:] - c[:-width]) / width
    return means.max(), means.argmax()
