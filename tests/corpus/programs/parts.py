"""Updates of parts of an array, beside the statements that make and use the whole."""

import numpy as np


def interior_added(u):
    v = u.copy()
    v[1:-1] += 0.5 * (u[2:] + u[:-2])
    return v


def from_both_sides(u):
    v = u.copy()
    v[1:] += u[:-1]
    v[:-1] += u[1:]
    return v * 2.0


def slopes_2d(u):
    gx = np.zeros_like(u)
    gy = np.zeros_like(u)
    gx[:, :-1] = u[:, 1:] - u[:, :-1]
    gy[:-1, :] = u[1:, :] - u[:-1, :]
    return np.sqrt(gx * gx + gy * gy)


def part_then_whole(u, w):
    """The part comes first, in an array of the caller."""
    w[2:] *= u[2:]
    w += u
    return w


def shifted_by(u, s):
    v = u.copy()
    v[s:] += u[: len(u) - s]
    return v


def placed(u, w, s):
    """What is not known to be inside stays apart."""
    v = u.copy()
    v[s : s + len(w)] += w
    return v


def ends_set(u, first):
    """One index each."""
    v = u * 2.0
    v[0] = first
    v[-1] += 1.0
    return v + u


def inverted(u):
    """A part that data choose."""
    v = np.sqrt(np.abs(u))
    v[v > 0.5] = 1.0 / v[v > 0.5]
    return v


def inverted_total(u):
    """Nothing but the total leaves the kernel."""
    v = np.sqrt(np.abs(u))
    v[v > 0.5] = 1.0 / v[v > 0.5]
    return v.sum()


def steepest(u):
    """Two folds of one array that is not kept."""
    v = u.copy()
    v[1:] -= u[:-1]
    return v.max(), np.abs(v).sum()


def kept_and_folded(u):
    v = u * 2.0
    v[v < 0] = 0.0
    return v, v.sum()


def narrow_total(u):
    """What is not kept wraps around, too."""
    v = u.astype(np.int8)
    v[1:] += 100
    v[2:] *= np.int8(3)
    return v.sum()


def totals_in_a_loop(u, n):
    s = 0.0
    for i in range(n):
        v = u * i
        v[v > 1.0] = 0.0
        s += v.sum()
    return s


def named_alike(u):
    """The loops have the same names for their indices, of other axes."""
    v = np.empty_like(u)
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = u[i, j] * 2.0
    for i in range(v.shape[1]):
        v[0, i] += u[0, i]
    for j in range(v.shape[0]):
        v[j, 0] -= u[j, 0]
    return v


def rows_set(u, top):
    """Rows and columns."""
    v = u * 2.0
    v[0, :] = top
    v[:, -1] = 0.0
    v[-1, :] = -top
    v[1, 1:-1] -= u[1, 1:-1]
    return v


def mirrored_rows(u):
    """Rows that other threads store stay apart."""
    v = u * 2.0
    v[0, :] = v[1, :]
    v[-1, :] = -v[-2, :]
    return v


def border_last(u):
    v = np.empty_like(u)
    v[1:-1] = 0.5 * (u[2:] + u[:-2])
    v[0] = u[0]
    v[-1] = 2.0 * u[-1]
    return v


def border_first(u, w):
    """In an array of the caller."""
    w[0] = u[0]
    w[-1] = u[-1]
    w[1:-1] *= 0.5 * (u[2:] + u[:-2])


def frame_set(u, edge):
    v = np.empty_like(u)
    v[1:-1, 1:-1] = u[1:-1, 1:-1] - u[:-2, 1:-1]
    v[0] = edge
    v[-1] = -edge
    v[:, 0] = 0.0
    v[:, -1] = 1.0
    return v


def denoised(u, f, weight, step):
    """The divergence is added up in the kernel that uses it."""
    gx = np.zeros_like(u)
    gy = np.zeros_like(u)
    gx[:-1, :] = u[1:, :] - u[:-1, :]
    gy[:, :-1] = u[:, 1:] - u[:, :-1]
    norm = np.sqrt(gx**2 + gy**2 + 1e-8)
    px = gx / norm
    py = gy / norm
    div = np.zeros_like(u)
    div[1:, :] += px[1:, :] - px[:-1, :]
    div[0, :] += px[0, :]
    div[:, 1:] += py[:, 1:] - py[:, :-1]
    div[:, 0] += py[:, 0]
    return u + step * (div - weight * (u - f))


def inflow(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        du = np.zeros_like(u)
        du[1:] = u[1:] - u[:-1]
        u = u - c * du
        u[0] = 1.0
    return u


def of_a_neighbour(u):
    """The second store reads what another thread has stored."""
    v = u * 2.0
    v[1:] += v[:-1]
    return v


def widths_of_parts(u, k):
    """Elements of 8 bits wrap around at each store."""
    v = u.astype(np.int8)
    v[1:] += k[:-1]
    v[:-1] *= np.int8(3)
    v[2:-2] -= k[2:-2]
    return v + k


def region_grown(image, seed, threshold):
    grown = seed.copy()
    while True:
        new = grown.copy()
        new[1:, :] |= grown[:-1, :]
        new[:-1, :] |= grown[1:, :]
        new[:, 1:] |= grown[:, :-1]
        new[:, :-1] |= grown[:, 1:]
        new &= image > threshold
        if (new == grown).all():
            return new
        grown = new
