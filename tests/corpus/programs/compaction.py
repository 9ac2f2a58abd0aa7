"""Selections by a mask that become arrays of their own."""

import numpy as np


def positive(x):
    return x[x > 0]


def positive_scaled(x):
    """Work on what was selected runs over what is left."""
    kept = x[x > 0]
    return kept * 2 + 1


def without_nan(x):
    return x[~np.isnan(x)]


def without_outliers(x):
    z = (x - x.mean()) / x.std()
    return x[np.abs(z) < 1.5]


def mean_without_outliers(x):
    z = np.abs(x - x.mean()) / x.std()
    return x[z < 1.5].mean()


def positions_of_positive(x):
    return np.nonzero(x > 0)


def positions_flat(a):
    return np.flatnonzero(a > 0)


def positions_where(a):
    rows, columns = np.where(a > 0)
    return rows, columns


def positions_as_rows(a):
    return np.argwhere(a > 0)


def alive_particles(pos, vel, alive, dt):
    """Both selections have one length: it is counted once."""
    p = pos[alive]
    v = vel[alive]
    return p + dt * v


def how_many_alive(pos, alive):
    p = pos[alive]
    return p.sum(axis=0), len(p)


def rows_kept(a, keep):
    return a[keep]


def rows_kept_explicitly(a, keep):
    return a[keep, :]


def columns_kept(a):
    """The columns that have something in them."""
    return a[:, (a > 0.5).any(axis=0)]


def column_of_kept_rows(a, keep):
    return a[keep, 0]


def rows_kept_scaled(a, keep, w):
    """A whole row of weights for each selected row."""
    return a[keep] * w


def row_sums_of_kept(a, keep):
    return a[keep].sum(axis=1)


def column_means_of_kept(a, keep):
    return a[keep].mean(axis=0)


def elements_of_matrix(a):
    return a[a > 0]


def elements_summed_along(a):
    """The selection has one axis, whatever the mask has."""
    return a[a > 0].sum(axis=0)


def largest_selected(x):
    return x[x < 0.5].max()


def first_selected(x):
    return x[x > -10][0]


def every_other_selected(x):
    return x[x > 0][::2]


def gaps_between_selected(x):
    return np.diff(x[x > 0])


def selected_then_changed(x):
    kept = x[x > 0]
    kept[: kept.size // 2] = 0
    kept += 1
    return kept


def selected_twice(x):
    kept = x[x > 0]
    return kept[kept < 1]


def running_sum_of_selected(x):
    return np.cumsum(x[x > 0])


def empirical_distribution(x, at):
    """How many of the selected lie below each point."""
    kept = x[x > 0]
    return np.cumsum(np.ones(len(kept))) / max(len(kept), 1)


def sparse_from_dense(a):
    """Coordinates and values of what is not zero."""
    rows, columns = np.nonzero(a > 0.5)
    return rows, columns, a[rows, columns]


def where_first(x):
    idx = np.where(x > 0)[0]
    return x[idx] * idx


def zero_where(x):
    x[np.where(x > 0)] = 0.0


def compressed(x, keep):
    return np.compress(keep, x)


def compressed_columns(a, keep):
    return np.compress(keep, a, axis=1)


def extracted(a, limit):
    return np.extract(a > limit, a)


def dot_of_selected(x, y):
    kept = x > 0
    return x[kept] @ y[kept]


def selected_and_whole(x, y):
    """A selection beside an array that is as long: NumPy compares the lengths."""
    return x[x > -100] + y


def variance_of_selected(x):
    return x[x > -1].var()


def count_selected(x):
    return x[x > 0].size


def shape_of_selected(a, keep):
    return a[keep].shape


def selected_ints(k):
    return k[k % 2 == 0]


def sorted_out(x, limit):
    """The two halves of a partition."""
    low = x[x < limit]
    high = x[x >= limit]
    return low, high


def partitioned(x, limit):
    low = x < limit
    return np.concatenate([x[low], x[~low]])


def selected_float32(x):
    return np.sqrt(x[x > 0])


def positions_by_gather(x, y):
    """Subscripts that only the lengths bound."""
    return x[np.arange(len(y))]


def sum_loop_over_selected(x):
    total = x[0]
    for v in x[x > 0]:
        total += v * v
    return total


def stored_by_mask(x, mask, values):
    """As many values as the mask selects, in order."""
    x[mask] = values[: mask.sum()]


def scattered_back(x):
    """A selection worked on by itself and put back."""
    kept = x[x > 0]
    kept = kept - kept.mean()
    x[x > 0] = kept[::-1]


def rows_where(a, keep):
    """Rows by the positions of a mask."""
    return a[np.flatnonzero(keep)]


def length_of_positions(x):
    idx = np.flatnonzero(x > 0)
    return np.zeros(len(idx)) + idx.sum()


def two_names_of_a_selection(x):
    """In place: both names see it."""
    kept = x[x > 0]
    same = kept
    kept += 1
    return kept, same


def mask_changed_afterwards(x):
    m = x > 0
    kept = x[m]
    m[:] = False
    return kept


def source_changed_afterwards(x):
    y = x.copy()
    kept = y[y > 0]
    y[:] = 0
    return kept, y


def first_few_selected(x, n):
    few = x[x > 0][:n]
    return few * few


def zero_crossings(x):
    """Between which elements the sign changes."""
    at = np.flatnonzero(np.diff(np.sign(x)) != 0)
    return (at + 1) * 0.5


def center_of_positive(a):
    rows, columns = np.where(a > 0)
    return rows.sum(), columns.sum(), len(rows)


def kept_in_a_loop(x, steps):
    """The length differs in each iteration."""
    for k in range(steps):
        x = x[x > k * 0.1]
    return x


def below_running_sum(x, t):
    return x[np.cumsum(x) < t]


def parts_of_selected(x):
    """The imaginary part of real numbers is as long as they are."""
    chosen = x[x > 0.5]
    return chosen.imag, np.real(chosen) + np.imag(chosen)


def _without_neighbours(a):
    if not len(a):
        return a
    mask = np.diff(a) != 0
    mask = np.append(mask, [True])
    return a[mask]


def unlike_pairs(y):
    """A helper returns one of two arrays, as long as the data decides."""
    pairs = np.reshape(np.add.outer(np.flatnonzero(y > 0), [0, 1]), -1)
    return _without_neighbours(pairs)
