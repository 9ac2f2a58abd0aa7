"""Rows and pairs of rows with arrays of their own, and what a loop leaves to what follows it."""

import numpy as np


def minimum_image(positions, box):
    """Energy of particles in a periodic box: an array is changed before it is folded."""
    n = positions.shape[0]
    energy = np.zeros(n)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            d = positions[i] - positions[j]
            d -= box * np.round(d / box)
            r2 = (d**2).sum()
            if r2 < 6.25:
                s6 = 1.0 / (r2 + 0.5) ** 3
                energy[i] += 2.0 * (s6 * s6 - s6)
    return energy


def gravity(x, mass):
    """The sum is the same for all elements of the row: once for each pair."""
    f = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                d = x[j] - x[i]
                f[i] += mass[j] * d / (d @ d + 0.25) ** 1.5
    return f


def both_ways(x):
    """Two threads may add to one row."""
    f = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            d = x[i] - x[j]
            w = 1.0 / (1.0 + np.sum(d * d))
            f[i] += d * w
            f[j] -= d * w
    return f


def potential(x):
    """A grid-wide sum of what pairs give."""
    e = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            d = x[i] - x[j]
            e += 1.0 / (1.0 + np.linalg.norm(d))
    return e


def distances(x):
    """Half of a matrix, then mirrored."""
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            d = x[i] - x[j]
            out[i, j] = np.sqrt((d * d).sum())
            out[j, i] = out[i, j]
    return out


def upper(x):
    """Half of a matrix."""
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(i, x.shape[0]):
            d = np.abs(x[i] - x[j])
            out[i, j] = d.max()
    return out


def neighbours(x, reach):
    """A count, in a branch."""
    count = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            d = x[i] - x[j]
            if np.sum(d * d) < reach:
                count[i] += 1
    return count


def centred(x):
    """A mean of the row, then what is left of it: two steps of one thread."""
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        d = x[i] - x[i].mean()
        if d[0] > 0:
            e[i] = (d * d).sum()
        else:
            e[i] = d.max()
    return e


def nearest(x, centres):
    """Squared distance to the nearest centre."""
    best = np.full(x.shape[0], np.inf)
    for i in range(x.shape[0]):
        for k in range(centres.shape[0]):
            d = x[i] - centres[k]
            best[i] = min(best[i], (d * d).sum())
    return best


def changed_between(x, y):
    """What the array is made of is stored into before it is read."""
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if y[i] > 0:
            d = x[i] * 2
            x[i] = 1.0
            e[i] = d.sum()
    return e


def added_below(x, y):
    """The subscript is good only where the inner loop runs."""
    for i in range(x.shape[0]):
        for j in range(i + 2, y.shape[0]):
            y[i + 1] += x[i, 0] * j
    return y.sum()


def added_rows(x, y):
    """`y` may be shorter where the rows have no elements."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i] += x[i, j]
    return y.sum()


def added_between(x, y, first):
    """How often the innermost loop runs is read in another one."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            lo = first[j, 0]
            for k in range(lo, 5):
                y[i] += x[i, j] * k
    return y.sum()


def counted_rows(x, y):
    """A branch of data, and one that keeps the subscript inside."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                y[i] += 1.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i < y.shape[0] and x[i, j] < 0:
                y[i] -= 1.0
    return y.sum()


def last_row(x):
    """The array of the last iteration."""
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        d = x[i] - 2.0
        e[i] = d @ d
    return e, d


def last_of_each(x):
    """The last array of an inner loop."""
    e = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t = x[i] * (j + 1)
            e[i, j] = t[j]
        e[i] += t
    return e


def last_made(x):
    """An array that is allocated in every iteration."""
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        t = np.zeros(x.shape[1])
        t[:] = x[i]
        out[i] = t * 2
    return out, t


def last_stored_into(x, y):
    """The array of the last iteration is stored into behind the loop."""
    for i in range(x.shape[0]):
        t = x[i] * 2
        y[i] = t.sum()
    t[-1] = y[0]
    return t


def last_view(x):
    """A row, which is read once more behind the loop."""
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        d = x[i]
        e[i] = d @ d
    return e, d * 2


def last_change(u, steps):
    """What the last step added; unbound without a step."""
    for _ in range(steps):
        change = np.zeros_like(u)
        change[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u = u + 0.1 * change
    return u, change


def last_sum(u, steps):
    """A number of the device; unbound without a step."""
    for _ in range(steps):
        u = u * 0.5
        s = u.sum()
    return u, s


def until_small(u, tol):
    """Bound by the first iteration of a `while`, if there is one."""
    err = 1.0
    while err > tol:
        d = 0.5 * u
        err = np.abs(d - u).max()
        u = d
    return u, d


def named_in_a_branch(u, flag):
    """Another name for an array, if the flag is set."""
    d = u * 2
    if flag > 0:
        row = d
    return d + 1, row


def viewed_in_a_branch(u, flag):
    """A view of an argument, if the flag is set."""
    if flag > 0:
        d = u[1:]
    return d * 2


def best_row(x):
    """The name has a value before the loop."""
    best = 0.0
    row = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        d = x[i] * 2
        s = d.sum()
        if s > best:
            best = s
            row = d
    return best, row


def best_row_unbound(x):
    """Nobody knows which iteration binds it last."""
    best = -1e9
    for i in range(x.shape[0]):
        d = x[i] * 2
        s = d.sum()
        if s > best:
            best = s
            row = d
    return best, row
