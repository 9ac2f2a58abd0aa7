"""What random programs found: each was converted wrongly, or crashed, before it came here."""

import numpy as np


def two_integer_widths(x, k):
    """Arrays of two dtypes: the host function raised TypeError on every call."""
    return x * k


def reversed_rows_of_maxima(y, z):
    """A new index took the name of the reduction's own."""
    z[::-1] = y[0].max(axis=1)
    return z


def inner_part_as_a_line(x):
    """Of an array with one row and one column: (n - 2) * (m - 2) is 1."""
    return x[2:, 1:-1].flatten() * 2


def zero_dimensional(x, y):
    """A ufunc of 0-d arrays gives scalars; an argument is itself."""
    return x, y + 2, np.isnan(y)


def spread_of_nothing_to_fold(x):
    v = x.astype(np.int32)
    return v.max() - v.min()


def scalar_where(x):
    """`np.where` of scalars is a 0-d array."""
    return np.where(x[0] > x[1], x[0], 0), x[1]


def branch_without_elements(x, y, steps):
    """The check of the branch that is not taken."""
    if steps > 100:
        y[1] += np.cos(x[1])
    else:
        y += 1
    return y


def line_that_is_stored_into(x):
    whole = np.zeros(x.shape)
    line = whole.reshape(-1)
    line[1:3] = 5.0
    return whole + x


def part_that_is_flattened(x):
    """`ravel` of a slice is a copy: the store must not reach x."""
    part = x[1:, 1:-1].ravel()
    part[0] = 5.0
    return part


def view_under_a_condition(x, steps):
    """The name becomes a view: a store through it changes the argument."""
    if steps > 1:
        x = x[::-1]
    x[0] = 1.0
    return x + 1


def store_into_the_real_part(z):
    part = z.real
    part[0] = 1.0
    return z * 2


def number_or_row(x, steps):
    """The shape of the result depends on the condition."""
    return x[0, 0] if steps > 1 else x[0]


def half_precision(x):
    """The square root of 8-bit integers is float16 in NumPy."""
    return np.sqrt(x) * x


def rebound_in_a_branch(x, y, a):
    """Twice the old values: the branch stores into y under another name."""
    doubled = y * 2
    if a > 1:
        y[:-1] -= y[1:]
        y = x
    return doubled + y[0]


def value_of_the_last_iteration(x):
    """The loop was dropped: its variable is read when it is over."""
    t = 0.0
    for i in range(x.shape[0]):
        t = x[i] * 2
    return t + x


def search_in_complex(x):
    return np.searchsorted(np.arange(4), x)


def padded_rest(x):
    """Of one element the slice is empty, not of length -1."""
    return np.pad(x[2:], 1), np.insert(x[2:], 0, 1.0)


def mean_in_integers(x):
    return np.mean(x[:2], dtype=np.int64)


def doubled_or_itself(v, s):
    if s > 1:
        return v * 2
    return v


def result_of_a_helper_or_its_argument(y, steps):
    """NumPy gives back `y` itself unless it was doubled."""
    return doubled_or_itself(y, steps)


def part_of_an_argument_or_not(y, steps):
    """A view in one case, a new array in the other."""
    part = y[1:] if steps > 1 else y[1:] + 1.0
    return part


def copy_of_either(y, steps):
    """A copy is a new array however the condition goes."""
    return doubled_or_itself(y, steps).copy()


def large_integers_compared(x, y):
    """By value: as floats, 2**63 - 1 and 2**63 would be equal."""
    near = x + np.int64(2**62) + np.int64(2**62 - 1)
    far = y + np.uint64(2**63)
    return near < far, near >= far, near == far, far > near, far != near


def fold_of_the_inside(x):
    """Of an array of one element the slices are empty, though (1 - 2) * (1 - 2) is 1."""
    inside = x[1:-1, 1:-1]
    return np.sum(inside), np.histogram(inside, bins=3, range=(0.0, 1.0))[0]


def lines_of_the_inside(x, out):
    out[1:-1, 1:-1] = np.cumsum(x[1:-1, 1:-1, :], axis=2)[:, :, -1] + x[1:-1, 1:-1].sum(axis=2)


def later_view(y, z):
    """The loop stores into `z` itself: what is returned is a view of it."""
    for _ in range(3):
        z -= y
    return z[1:]


def scan_before_a_loop(y, w):
    """Computed once, before the loop: not with one array for both."""
    for i in range(y.shape[0]):
        y[i] -= np.cumprod(w[1, ::-1], axis=-1)


def first_column_less_the_sum(z):
    """All threads of a block have read the old element before one of them stores."""
    z[:, -1] = z[:, 0] - z.sum(axis=1)
    z[...] = (z[:, 0] - z.max(axis=1))[:, None]


def real_parts_folded(z):
    """NumPy drops the imaginary parts, and warns of it."""
    return z.sum(dtype=np.float64), z.prod(axis=0, dtype=np.float32), z.mean(dtype=np.float64)


def floor_division_of_integers(i, j):
    """Of the least int64 and -1 as well."""
    i //= j
    return i // -1


def narrow_products_folded(i):
    """A dot product of int8 wraps around before it is summed as int64."""
    return np.dot(i, i[0]).sum(), (i @ i[0]) / 2


def imaginary_part_changed(x):
    """NumPy makes that of real numbers read-only."""
    t = np.imag(x)
    t *= 2.0
    return t


def shifted_by_numbers(i, j):
    """Numba leaves open what shifts by more bits than there are give, and negative ones."""
    return i << j, i >> j, 1 << i


def powers_of_integers(i, j):
    """Of negative ones NumPy raises."""
    return i ** abs(j)


def powers_of_two(x):
    """Above 65536 Numba's own are floats."""
    return 3 ** np.arange(x.shape[0])


def average_of_bytes(i, w):
    """The products are floats."""
    return np.average(i, weights=w), np.average(i, axis=0, weights=i)


def masked_by_itself_after_a_loop(y, z):
    """With one array for both, the sum reads what the statement before has stored."""
    for _ in range(2):
        y -= z[::-1]
        y[:2] = z[:2]
    z[y[..., ::-1] != -1] += 3.0
    return y + z


def sorted_after_a_store(x, y):
    """With one array for both, the sort is of what was stored."""
    y[0, ::-1] -= np.sqrt(np.abs(x[1]))
    return y, np.sort(x, axis=-1)


def halved_until_small(x, y):
    """The host reads `x`, which a kernel may have changed by its other name."""
    for _ in range(4):
        y /= 2.0
        if x[0] < 0.5:
            break
    return x + y


def whole_number_truncated(i, w):
    """Of integers `np.trunc` is the number itself, and this argument has no dimensions."""
    return w[0], np.trunc(i), i[()]


def changed_in_a_loop(x, y, t):
    """An argument that `+=` changes is the same array all the time, and a view of it too."""
    inner = x[1:-1]
    for _ in range(3):
        step = 0.5 * (y - x)
        x += step
        inner *= 0.5
        if np.abs(step).sum() < t:
            break
    return x


def two_arguments_in_step(x, v, a):
    """One thread may make both statements for its element, and with one array for all."""
    v += 0.5 * a
    x += v


def two_arguments_out_of_step(x, v, a):
    """With one array for both, the second statement reads what other threads store."""
    v += 0.5 * a
    x += v[::-1]
    if a[0] > 0.0:
        x += a
    return x


def row_of_one_or_another(x, y, steps):
    """The branch gives `x` a second name; the view of its first row may be the same memory."""
    first = x[0]
    if steps > 1:
        x = x * y
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += first[j]


def integer_or_half(i, n):
    """As the data decides it is an int64, stored as it is, or a float."""
    out = np.zeros_like(i)
    for k in range(i.shape[0]):
        out[k] = i[k] if n / 2 > 0 else n / 2
    return out


def negative_or_unsigned(i, z):
    """A Python integer below zero is no uint32."""
    for k in range(i.shape[0]):
        i[k] -= -k if z[k] > 2 else z[k]


def negative_or_unsigned_variable(i, z):
    """The same, through a variable."""
    for k in range(i.shape[0]):
        v = -k
        if z[k] > 2:
            v = z[k]
        i[k] -= v


def count_or_unsigned(i, z):
    """What counts is one."""
    for k in range(i.shape[0]):
        i[k] -= k + 1 if z[k] > 2 else z[k]


def minus_one_as_a_complex_number(y, z):
    """The imaginary part of the first term is -0.0, and so is the sum's."""
    return np.angle(-np.ones_like(y) + (y - z) * z)


def added_after_another_value(x, z):
    """The branch gives `t` another value before it is added."""
    total = 0.0
    for i in range(1, x.shape[0]):
        t = z[i]
        if z[i] > 0:
            t = x[i] - t
            total += t + x[i]
    x[0] = total
    return z


def column_as_a_line(x):
    """Of an array with gaps `ravel` is a copy, also where `reshape` is none."""
    t = x[:, None].ravel().reshape(x[:, None].shape)
    x[x[0] >= t[:, 0]] += 2.0
    return t.copy()


def column_that_is_none(x, z):
    """The product needs one column, and then the index is divided by none."""
    t = np.append(x, z[:, :-1])
    return t[:, None] @ z[0]


def whole_or_float_unsigned(u, k):
    """An int8 below zero wraps around in uint64, a float is left open."""
    for i in range(u.shape[0]):
        u[i] = max(k[i], k[i] - u[i])


def sums_of_itself(x, steps):
    """Each sum is of terms with the one before in them, not with what has been added so far."""
    out = np.empty(len(x))
    for i in range(len(x)):
        s = 1.0
        for _ in range(steps):
            s = np.sum(x[i] * s)
        out[i] = s
    return out


def products_of_itself(y, w, steps):
    """The same of an element that stays in a variable of the thread."""
    t = np.sqrt(w * w)
    for _ in range(steps):
        y[:] = y[:, np.newaxis] @ t[1::2]


def kept_beside_a_store(x, z, flag):
    """The name of a view in a branch is an array of its own, and so x must not be z."""
    if flag > 0:
        d = x[:, ::-1]
    z += 1.0
    return d.copy()


def flat_beside_a_store(x, z):
    """NumPy's is a view of x, or a copy if x has gaps."""
    flat = x.ravel()
    z += 1.0
    return flat * 2


def from_the_largest(x):
    """The largest is looked for once, not once for each element."""
    out = np.empty(len(x))
    for i in range(len(x)):
        k = np.argmax(x[i])
        out[i] = np.sum(x[i, k:]) + k
    return out


def largest_behind(x, idx):
    """NumPy raises where a row has nothing behind its index, which no thread can."""
    out = np.empty(len(idx))
    for i in range(len(idx)):
        k = idx[i]
        out[i] = np.max(x[i, k:])
    return out


def largest_behind_or_zero(x, idx):
    out = np.empty(len(idx))
    for i in range(len(idx)):
        out[i] = np.max(x[i, idx[i] :], initial=0.0)
    return out


def imaginary_part_rebound(x, steps):
    """Read-only in NumPy, in the first iteration."""
    t = np.imag(x)
    for _ in range(steps):
        t[::-1] -= t
        t = 7 + t
    return t


def filled_in_inner_loops(x, z):
    """An array of each turn, which loops inside store into: its stores lacked the turn's index."""
    out = np.zeros((7, z.shape[0], 3))
    for i in range(7):
        pos = np.zeros((z.shape[0], 3))
        for k in range(z.shape[0]):
            for m in range(3):
                pos[k, m] += x[i, m] + z[k]
        out[i] = pos * pos[0, 0]
    return out


def tangent_beside_narrow(x, y):
    """What `math` gives is Python's on the simulator, where float32 beside it stayed float32."""
    t = np.tanh(x)
    return (t + y).astype(np.int64), t + 15.0 > y, t * y


def folds_of_several_axes(x, z):
    """A fold of each row of a matrix is no part of a fold of the matrix."""
    for i in range(min(x.shape[0], z.shape[0])):
        y = 2 * x[i] - z[0]
        d = z[0] - y.min()
        x[i] = d * (d.sum(axis=-1) ** 2).sum()


def blank_edges(x):
    """A tuple beside other indices is a list of them."""
    result = x * 2
    result[(0, -1), :] = np.nan
    result[:, (0, -1)] = np.nan
    return result


def ends_by_name(x):
    ends, at = [0, -1], (0, 1)
    return x[ends] + x[:, (1, 1)].sum() * x[at]


def first_two_in_turns(x, turns):
    head = np.diag(x[None, :])
    for _ in range(turns):
        inner = x[1:-1]
        x[:2] = np.exp(-(inner[:2] ** 2)) / x[:2]
    return head.copy()
