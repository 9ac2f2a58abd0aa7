"""Variables that a loop sets to one value wherever it sets them."""

import numpy as np


def any_above(x, t):
    found = False
    for i in range(x.shape[0]):
        if x[i] > t:
            found = True
    return found


def any_above_2d(x, t):
    found = False
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > t:
                found = True
    return found


def none_below(x, t):
    """Set to False, and used by what follows."""
    good = True
    for v in x:
        if v < t:
            good = False
    if good:
        x *= 2.0
    return x


def spread_largest(x, indptr, idx):
    """Round after round until nothing changes."""
    y = np.zeros_like(x)
    changed = True
    while changed:
        changed = False
        for i in range(x.shape[0]):
            y[i] = x[i]
            for k in range(indptr[i], indptr[i + 1]):
                if x[idx[k]] > y[i]:
                    y[i] = x[idx[k]]
                    changed = True
        x[:] = y
    return x


def stores_and_says_so(x, y, t):
    changed = False
    for i in range(x.shape[0]):
        if x[i] > t:
            y[i] = x[i]
            changed = True
    return changed


def state_of_several(x, low, high):
    """A number for a flag, counted and extreme values beside it."""
    state = 0
    count = 0
    worst = 0.0
    for i in range(x.shape[0]):
        d = abs(x[i])
        if d > worst:
            worst = d
        if d > high:
            count += 1
            state = 2
    return state, count, worst


def set_to_what_is_stored(x, y):
    """The value that is set differs from iteration to iteration: the last one counts."""
    last = 0.0
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
        if x[i] > 0:
            last = x[i]
    return last


def read_where_it_is_set(x, y):
    """Whether the first has come already decides what is stored."""
    seen = False
    for i in range(x.shape[0]):
        y[i] = 1.0 if seen else 0.0
        if x[i] > 0:
            seen = True
    return seen


def wins_and_draws(a, b):
    """Alternatives that add to one variable."""
    u = 0.0
    for x in a:
        for y in b:
            if x > y:
                u += 1.0
            elif x == y:
                u += 0.5
            else:
                u -= 0.25
    return u


def below_and_above(x, t):
    low = 0
    high = 0
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] < t:
            low += 1
        else:
            high += 1
            total += x[i]
    return low, high, total


def weights_of_pairs(values, coords, bandwidth):
    """`continue` around what the pairs add to two variables."""
    num = 0.0
    total = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[0]):
            if i == j:
                continue
            d2 = (coords[i, 0] - coords[j, 0]) ** 2 + (coords[i, 1] - coords[j, 1]) ** 2
            w = np.exp(-d2 / (2 * bandwidth**2))
            num += w * values[i] * values[j]
            total += w
    return num, total


def remembered_in_a_branch(x, t):
    """A variable of a branch that is read behind it is no variable of the branch alone."""
    total = 0.0
    for i in range(x.shape[0]):
        w = 1.0
        if x[i] > t:
            w = x[i] * 2.0
            total += w
        total += w
    return total


def raised_and_added(x, y):
    """A maximum and a sum in turn: a sum within a bound."""
    level = 1.0
    for i in range(x.shape[0]):
        level = max(level, x[i])
        level += y[i]
    return level


def last_of_two_flags(x):
    """The last iteration that sets it decides, so it is no flag."""
    state = 0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            state = 1
        if x[i] < -0.5:
            state = 2
    return state


def largest_of_two(x, y):
    """Two maxima of one variable are one."""
    level = 1.0
    for i in range(x.shape[0]):
        level = max(level, x[i])
        level = max(level, y[i] * 2.0)
    return level


def without_the_last(x, symmetric):
    w = np.sin(x) ** 2
    return w[:-1] if not symmetric else w


def one_or_two(x, both):
    return (x + 1, x * 2) if both else x - 1


def part_by_size(x):
    return x[:3] * 2 if len(x) > 3 else np.zeros(1) if len(x) == 0 else x


def share_of_each(x, y):
    """Python divides its own number by the length of `y`."""
    width = 1.0 / len(y)
    return x * width + y.sum()
