"""What is easily converted wrong: order of evaluation, views, signs, wraparound, rebinding."""

import numpy as np


def swap_rows(a, i, j):
    """The right side is read before anything is stored."""
    a[[i, j]] = a[[j, i]]


def swap_columns_by_tuple(a):
    """Views on both sides: the second store reads what the first has changed."""
    a[:, 0], a[:, 1] = a[:, 1].copy(), a[:, 0].copy()


def swap_columns_of_views(a):
    """Without copies both columns end up alike."""
    a[:, 0], a[:, 1] = a[:, 1], a[:, 0]


def shift_in_place(x):
    """Overlapping regions of one array."""
    x[1:] = x[:-1]


def shift_back_in_place(x):
    """The other direction, and an update."""
    x[:-1] += x[1:]


def mirror_in_place(x):
    """Every element moves."""
    x[:] = x[::-1]


def transpose_in_place(a):
    """A square matrix onto its transpose."""
    a[:] = a.T


def add_transpose(a):
    """Reads its own target at other places."""
    a += a.T


def view_then_write(x):
    """A view sees later stores."""
    v = x[::2]
    x[0] = 5.0
    return v * 2.0


def copy_then_write(x):
    """A copy does not."""
    v = x[::2].copy()
    x[0] = 5.0
    return v * 2.0


def expression_then_write(x):
    """Neither does a result."""
    v = x * 2.0
    x[:] = 0.0
    return v


def rebind_after_alias(x):
    """`y` is x until x means something else."""
    y = x
    x = x + 1.0
    y += 10.0
    return x, y


def augmented_view(x):
    """An augmented store through a view reaches the array."""
    h = x[1:]
    h *= 3.0
    return x.sum()


def chained(x):
    """Both targets get the same value."""
    a = b = x * 0.5
    a += 1.0
    return a, b


def row_view_loop(a):
    """Rows are views."""
    for row in a:
        row -= row[0]


def last_row_first(a):
    """Each row takes the next one's, in order."""
    for i in range(a.shape[0] - 1):
        a[i] = a[i + 1]


def first_row_last(a):
    """Each row takes what the row before has become."""
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


def floor_and_mod(a, b):
    """Python's signs."""
    return a // b, a % b


def float_floor_and_mod(x, y):
    """Signs, infinities and zeros."""
    return x // y, np.mod(x, y), np.fmod(x, y)


def wrap_small(a):
    """Sums of small integers wrap, their totals do not."""
    return a + a, a.sum()


def unsigned_difference(a, b):
    """Below zero wraps."""
    return a - b, np.abs(a.astype(np.int64) - b)


def negative_shift_free(a):
    """Shifts of negative numbers keep the sign."""
    return a >> 2, a << 3


def power_of_integers(a):
    """Integer powers stay integers and wrap."""
    return a**2, a**5


def true_division_of_integers(a, b):
    """Always float64."""
    return a / b, (a + 1) / 2


def bool_arithmetic(p, q):
    """Sums of booleans are or, their counts are integers."""
    return p + q, p * q, p ^ q, (p & ~q).sum(), p.mean()


def compare_nan(x, y):
    """NaN is not equal to itself."""
    return x == y, x != x, np.maximum(x, y), np.fmax(x, y)


def signed_zeros(x):
    """-0.0 stays."""
    return np.where(x > 0, x, -0.0), np.copysign(1.0, x), x * 0.0


def clip_swapped(x):
    """Where the lower bound is above the upper one, the upper one wins."""
    return np.clip(x, 1.0, -1.0)


def argmax_ties(a):
    """The first of equal elements."""
    return np.argmax(a, axis=1), np.argmin(a)


def round_half_even(x):
    """Half goes to even."""
    return np.round(x * 2) / 2, np.rint(x)


def int_truncates(x):
    """Towards zero."""
    return x.astype(np.int32), np.trunc(x), np.floor(x)


def while_halving(x, tol):
    """The number of steps depends on the data."""
    n = 0
    while np.abs(x).max() > tol:
        x = x * 0.5
        n += 1
    return x, n


def nested_function(x, a):
    """A closure sees the variable as it is when called."""
    scale = a

    def f(v):
        return v * scale

    y = f(x)
    scale = 2.0
    return y + f(x)


def conditional_rebinding(x, flag):
    """A name that means different arrays."""
    y = x[::-1]
    if flag > 1.0:
        y = x * 2.0
    return y + x


def loop_rebinding(x, steps):
    """Old and new swap each step."""
    old, new = x, np.zeros_like(x)
    for _ in range(steps):
        new[1:-1] = 0.5 * (old[:-2] + old[2:])
        old, new = new, old
    return old


def accumulate_then_use(x):
    """A running variable is used between its updates."""
    s = 0.0
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = s
        s += x[i]
    return out


def negative_slices(x):
    """Bounds beyond the ends."""
    return x[-3:], x[:-100], x[100:], x[-100:2], x[5:2]


def stepped_back(x):
    """Negative steps with bounds."""
    return x[::-2], x[-2::-1], x[3:0:-1]


def ellipsis_and_none(a):
    """New axes in the middle."""
    return a[:, None, :] - a[None, ...], a[..., -1]


def integer_row_index(a, i):
    """Negative scalar positions count from the end."""
    return a[i] * 2.0, a[-1, :] - a[0]


def diagonal_loop(a):
    """Owner computes on the diagonal."""
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = a[i, i] * 2.0 + a[0, 0]


def every_other_onto_the_end(x):
    """Reads at twice the distance meet stores of other elements."""
    h = np.arange(1.0, 5.0) * x[0]
    h[2:] *= h[::2]
    return h


def product_of_inner_parts(a):
    """Inner parts of small arrays are empty, and so is what is made of two of them."""
    inner = a[1:-1, 1:-1]
    return np.kron(inner.T, inner.T) + 1.0


def chosen_view(x, y, flag):
    """A later store is seen through whichever view was chosen."""
    part = x[1:] if flag > 1.0 else y[1:]
    x[:] = 0.0
    return part + 1.0


def clip_beyond_the_dtype(z):
    """Bounds that no number of the dtype passes change nothing."""
    return np.clip(z, -1, 2), np.clip(z, 3, 300)


def squares_of_booleans(x):
    """The exponent 2 squares: int8 of booleans, any other one gives int64."""
    m = x > 1.0
    return np.square(m), m**2, m**3, np.power(m, 2), np.square(m.any())


def parts_of_no_dimensions(x, z):
    """The parts of a 0-d array are 0-d arrays, not scalars as ufuncs make them."""
    return np.imag(x), np.real(x), z.imag.copy(), z.real.copy()


def part_of_an_argument(z):
    """Of a complex array the parts are views, which cannot be returned."""
    return np.real(z), z.imag


def loops_over_nothing(x, w):
    """Conditions that never hold leave loops without a statement."""
    for i in range(1, w.shape[0]):
        if (2 - 2) > 0:
            w[i] = w[i - 1] + 1.0
    for i in range(w.shape[0]):
        for j in range(3):
            if i - i > 0:
                w[i] = j
    return np.var(x, axis=1)


def index_given_before_its_loop(w, n):
    """A loop that does not run leaves its variable as it was."""
    i = 7
    for i in range(n):
        w[i % 3] += 1.0
    return w + i


def neighbours(grid):
    """A sum over a generator of shifted arrays, with a condition on the shifts."""
    n = sum(
        np.roll(np.roll(grid, i, 0), j, 1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    )
    return ((n == 3) | (grid & (n == 2))).astype(grid.dtype)


def mapped_tuple(a, b, c):
    """`map` over a tuple, unpacked."""
    a, b, c = map(np.radians, (a, b, c))
    return np.sin(a) + np.cos(b) * sum(v for v in (c, a))


def sum_of_negative_zeros(x):
    """Python starts with 0, which makes 0.0 of -0.0."""
    return sum([-x * 0.0]), sum(v for v in (-x * 0.0, -x * 0.0)), sum((x > 1, x > 0))


def close_to_the_least_integer(x):
    """The least integer has no absolute value, so NumPy makes floats first."""
    return np.isclose(x, 2), np.isclose(np.abs(x) % 5, 2 * x)


def rows_from_the_first(z, w):
    """If both are one array, the first iteration changes what all others read."""
    for i in range(w.shape[0]):
        w[i] += z[0] * 1.5
    return np.conjugate(w[:-1] > w[1:])


def percentiles_of_arguments(x, lo, hi):
    """Several percentiles at once, at places that only the caller knows; NumPy's on the host."""
    a, b = np.percentile(x, [lo, hi])
    return np.clip(x, a, b), x - np.quantile(x, lo / 100)


def rows_of_inner_positives(y):
    """The inner part of a small array has no elements, whatever the product of its sizes says."""
    return np.nonzero(y[1:-1, 1:-1] > 0)[0], y[1:-1, 1:-1][y[1:-1, 1:-1] > 1]


def unsigned_beside_negatives(x, n):
    """Python's integers are compared by value, however small the unsigned ones are."""
    y = x.copy()
    for i in range(x.shape[0]):
        if i - 3 < x[i]:
            y[i] = max(min(x[i], 7), -2)
    return x > -1, np.less_equal(x, -1), x == -3, x > n - 5, y


def selection_stored_into_in_a_branch(x, steps):
    """What a branch stores into is the array that is returned."""
    t = np.nonzero(x[::2] > 0)[0]
    if steps > 1:
        x[0] += 1.0
    else:
        t[:2] = t[:2] - t[:2]
    return t


def helper_gives_its_argument(w, s):
    """A helper returns a view of an argument, or a new array: the store reaches one of them."""

    def _doubled(v, s):
        if s > 1:
            return v * 2
        return v

    t = _doubled(w[:, 0], s)
    for i in range(t.shape[0]):
        t[i] -= abs(t[i])
    return t + 0.0


def outer_with_a_number(y):
    """Numbers become arrays of their own dtype first."""
    return np.outer(y[:, :1], 0.5 - 2j)[:, ::2] * y[:, :1]


def product_of_one_row(x, y):
    """An inner product that only an array of one row allows, broadcast afterwards."""
    t = np.isnan(x[:, 0])
    y[::2] = np.dot(t[:, None], x[:, 0]) * (y[:2] + x[:, ::-1])
    return t


def row_read_by_no_iteration(x, y):
    """The first row is read only if there is an iteration, and may be missing if there is none."""
    for i in range(x.shape[0]):
        x[i] += np.cumsum(y[0])
    for i in range(x.shape[0]):
        x[i] -= y[0].sum()
    return x


def helper_stores_into_a_selection(y):
    """What a helper stores into a part of a selection is seen in all of it."""

    def _add_into(target, v):
        target += v

    t = np.flatnonzero(y[::-1] > 0)
    _add_into(t[:3], t[:3] * t[:3])
    return t


def branch_on_an_argument_of_no_dimensions(y, z):
    """The host reads the one element where it is: an argument that is not on the device."""
    if y > 0.5:
        z[:, 0] = z[:, 0] * 2.0
    return z[:, 0].copy(), np.array([]), np.concatenate([z[0], []])


def flat_of_a_selection(x):
    """The elements one after the other, which they are already."""
    v = x[x > 0]
    return np.sum(v.flat)


def flattened_before_a_store(x, y):
    """Of an array with gaps, `reshape` made a copy before the store."""
    t = x[0].reshape(1, -1)
    x[:, 1:] = y[:, 1:]
    return t.copy()


def number_of_either_width(z, x):
    """The 2 has the dtype of z here, and that of x in NumPy."""
    y = np.empty(z.shape[0], np.int64)
    for i in range(z.shape[0]):
        y[i] = (2 if z[i] > 0 else z[i]) + x[i]
    return y


def literal_that_wraps(z):
    """Python's 100 times 100 is 10,000, which no int8 holds."""
    y = np.empty(z.shape[0], np.int64)
    for i in range(z.shape[0]):
        v = 100
        if z[i] < 0:
            v = z[i]
        y[i] = v * 100
    return y


def variable_of_two_widths(z, x):
    """NumPy multiplies in the width of the element that was taken."""
    y = np.empty(z.shape[0], np.int64)
    for i in range(z.shape[0]):
        v = z[i] if x[i] > 0 else x[i]
        y[i] = max(z[i], x[i])
        y[i] -= abs(v)
    return y


def literal_that_is_rounded(x):
    """0.1 of float64 is stored, where x is float32."""
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = 0.1 if x[i] > 0 else x[i]
    return y


def numbers_of_either_dtype(z, x, w):
    """What data decides about the dtype, and what comes to the same."""
    y = np.empty(z.shape[0])
    total = 0
    for i in range(z.shape[0]):
        total = 0
        for k in range(i):
            total += z[k] * 0.5
        v = 0.0 if w[i] > 0 else w[i]
        u = z[i] if z[i] > 3 else -1
        y[i] = total * x[i] + v * 0.5 + v * z[i] + u * 2 + max(z[i], x[i])
    return y


def sizes_met_in_a_branch(x, z):
    """Lengths that only the device knows are compared where the branch runs."""
    t = np.nonzero(x > 0)[0] + 1
    if z[-1] > 0:
        t[::2] //= t[-2::-1]
    return t


def mask_is_a_view_of_the_target(y, z):
    """NumPy reads the mask while it stores."""
    y[y[::-1]] = z[y[::-1]]
    return y


def argument_given_back_early(x, mask, p, training=True):
    """The argument itself, in its own shape, although the kernels see arrays of one dimension."""
    if not training:
        return x
    return x * mask / (1.0 - p)


def array_or_argument_in_a_branch(y, z, n):
    """The store would have to reach z where y is z."""
    if n % 2 == 0:
        z[-1] = y[-1]
    else:
        y = (y - y[::-1]) if n > 1 else z
    y[0] = n
    return z, y + 1.0


def energy_of_pairs(pos, eps):
    """What an inner loop adds up in a variable of each pair."""
    n = pos.shape[0]
    e = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            r2 = 0.0
            for d in range(pos.shape[1]):
                r2 += (pos[i, d] - pos[j, d]) ** 2
            far = 1.0
            if r2 > 2.0:
                far = 0.5
            s = 1.0 / (r2 + eps)
            e += (s * s - s) * far
    return e


def unsigned_and_signed_angles(x, y):
    """The loop of float32 takes both, although their common dtype is int32."""
    return np.hypot(x, y), np.arctan2(y, x)


def positions_in_nothing(x):
    """The axis of length 0 has no element whose subscripts were asked for."""
    pairs = np.stack([x[:, 1:], x[:, :-1]], axis=-1)
    return np.nonzero(pairs[1:-1, 1:-1, 2:] > 0)[0], pairs


def row_seen_through_a_view(x, y, steps):
    """The view of its first row is the memory of `x`, which `*=` changes in place."""
    first = x[0]
    if steps > 1:
        x *= y
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += first[j]
    return x


def coupled_fields(u, v, rate, steps):
    """The second update reads neighbours of the first: one array given twice keeps the order."""
    for _ in range(steps):
        both = u * v * v
        u += rate * np.roll(u, 1, 0) - both
        v += rate * np.roll(v, -1, 0) + both
    return u, v


def last_element_in_time(x, y, n):
    """Three subtractions of one element are a sum: not so where y is x."""
    if n > 1:
        y = np.heaviside(y[::-1], x)
    for _ in range(3):
        y[-1] = y[-1] - x[-1]
    return y[:1] * 2.0


def decayed_in_registers(z, y, steps):
    """A thread keeps its element of z to itself during the loop: y must be another array."""
    for _ in range(steps):
        z -= y
    return z.copy()


def flattened_before_a_loop(z, y):
    """Of an array with gaps `ravel` is a copy, which the loop's stores do not reach."""
    line = z.ravel()
    for _ in range(3):
        z -= y
    return line * 1.0


def column_flattened_before_a_loop(z, y):
    """The column of an array of one column is a view of it."""
    line = z[:, 0].ravel()
    for _ in range(3):
        z -= y
    return line.copy()


def wider_array_after_a_loop(x, y, z, steps):
    """The loop gives y the dtype of x, and z, which x meets behind it, allows only these two."""
    for _ in range(steps):
        total = y.sum()
        y = x - total
    for i in range(z.shape[0]):
        z[i, 0] += min(z[i, 0], x[i, 0])
    return total


def read_behind(x, y):
    """One array for both: an iteration reads what the one before has stored."""
    for i in range(1, x.shape[0] - 1):
        x[i] = x[i + 1] + y[i - 1]


def read_ahead(x, y):
    """One array for both, and all that is read is old."""
    for i in range(1, x.shape[0] - 1):
        x[i] = x[i + 1] + y[i] * y[i + 1]
