"""Control flow of loops in every position."""

import numpy as np


def for_else(x, limit):
    """The `else` of a loop runs when no `break` did."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > limit:
                out[i] = j
                break
        else:
            out[i] = -1
    return out


def while_else(x, limit):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        v = x[i]
        k = 0
        while k < 20:
            v = v * 1.5
            if v > limit:
                break
            k += 1
        else:
            v = -1.0
        out[i] = v
    return out


def variable_after_loop(x, limit):
    """The loop's variable after an early exit."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        for k in range(10):
            if x[i] * k > limit:
                break
        out[i] = k
    return out


def last_index(x):
    s = 0.0
    for i in range(5):
        s += x[i]
    return s * i


def mandelbrot_loops(re, im, most):
    n, m = re.shape[0], im.shape[0]
    out = np.zeros((n, m), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            zr, zi = 0.0, 0.0
            for k in range(most):
                if zr * zr + zi * zi > 4.0:
                    break
                zr, zi = zr * zr - zi * zi + re[i], 2 * zr * zi + im[j]
                out[i, j] = k
    return out


def newton_each(x, tol):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        g = x[i]
        for _ in range(50):
            step = (g * g - x[i]) / (2 * g)
            g -= step
            if abs(step) < tol:
                break
        out[i] = g
    return out


def continue_in_inner(x):
    s = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] < 0:
                continue
            if x[i, j] > 2:
                break
            s[i] += x[i, j]
    return s


def early_return_while(x, tol, most):
    """A `return` inside a time loop."""
    for k in range(most):
        new = 0.5 * (x + np.roll(x, 1))
        if np.abs(new - x).max() < tol:
            return new, k
        x = new
    return x, most


def return_in_while(x, tol):
    n = 0
    while True:
        x = 0.5 * x
        n += 1
        if x.max() < tol:
            return x, n


def break_on_change(x, tol, most):
    for it in range(most):
        old = x.copy()
        x[1:-1] = 0.5 * (old[:-2] + old[2:])
        diff = np.sum(np.abs(x - old))
        if diff < tol:
            break
    return x, it


def while_continue(x, most):
    k = 0
    while k < most:
        k += 1
        if k % 2 == 0:
            continue
        x = x * 0.5
    return x


def while_norm_continue(x, tol):
    """`continue` where the condition is a reduction."""
    n = 0
    while np.abs(x).max() > tol and n < 40:
        n += 1
        if n % 3 == 0:
            continue
        x = 0.5 * x
    return x, n


def while_residual(x, b, tol):
    r = np.linalg.norm(b - 2.0 * x)
    while r > tol:
        x = 0.5 * (x + 0.5 * b)
        r = np.linalg.norm(b - 2.0 * x)
    return x


def game_of_life(grid, steps):
    n, m = grid.shape
    for _ in range(steps):
        new = np.zeros_like(grid)
        for i in range(n):
            for j in range(m):
                total = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di == 0 and dj == 0:
                            continue
                        total += grid[(i + di) % n, (j + dj) % m]
                if (grid[i, j] == 1 and (total == 2 or total == 3)) or (
                    grid[i, j] == 0 and total == 3
                ):
                    new[i, j] = 1
        grid = new
    return grid


def sieve(n):
    """Every multiple in parallel, primes in order."""
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return prime


def sieve_slices(n):
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[0] = False
    prime[1] = False
    for i in range(2, n + 1):
        if prime[i]:
            prime[2 * i :: i] = False
    return prime


def kmeans(points, centers, steps):
    n, d = points.shape
    k = centers.shape[0]
    labels = np.zeros(n, dtype=np.int64)
    for _ in range(steps):
        for i in range(n):
            best = np.inf
            for c in range(k):
                dist = 0.0
                for j in range(d):
                    dist += (points[i, j] - centers[c, j]) ** 2
                if dist < best:
                    best = dist
                    labels[i] = c
        for c in range(k):
            for j in range(d):
                total = 0.0
                count = 0
                for i in range(n):
                    if labels[i] == c:
                        total += points[i, j]
                        count += 1
                if count > 0:
                    centers[c, j] = total / count
    return labels, centers


def rows_by_name(x):
    out = np.zeros(x.shape[0])
    k = 0
    for row in x:
        out[k] = row.max() - row.min()
        k += 1
    return out


def zip_rows(a, b):
    out = np.zeros(a.shape[0])
    for i, (p, q) in enumerate(zip(a, b)):
        out[i] = np.dot(p, q)
    return out


def reversed_rows(x):
    out = np.zeros_like(x)
    for i in reversed(range(x.shape[0])):
        out[i] = x[x.shape[0] - 1 - i]
    return out


def reversed_array(x):
    s = np.zeros_like(x)
    for i, v in enumerate(reversed(x)):
        s[i] = v
    return s


def enumerate_from_one(x):
    out = np.zeros_like(x)
    for i, v in enumerate(x, 1):
        out[i - 1] = v * i
    return out


def enumerate_start(x):
    out = np.zeros_like(x)
    for i, v in enumerate(x, start=2):
        out[i - 2] = v / i
    return out


def over_arange(x):
    out = np.zeros_like(x)
    for k in np.arange(x.shape[0]):
        out[k] = x[k] + x[0]
    return out


def over_constants(x):
    out = np.zeros_like(x)
    for w in [0.25, 0.5, 0.25]:
        out += w * x
    return out


def over_shape(x):
    size = 1
    for n in x.shape:
        size *= n
    return x.sum() / size


def ndindex_sizes(x, y):
    out = np.zeros((x.shape[0], y.shape[0]))
    for i, j in np.ndindex(x.shape[0], y.shape[0]):
        out[i, j] = x[i] - y[j]
    return out


def ndenumerate_loop(x):
    out = np.zeros_like(x)
    for (i, j), v in np.ndenumerate(x):
        out[i, j] = v * (i + 1) - j
    return out


def zip_ranges(x, y):
    for i, j in zip(range(x.shape[0]), range(1, x.shape[0] + 1)):
        y[i] = x[i] * j


def triple_range(x):
    out = np.zeros_like(x)
    for i in range(len(x) - 1, -1, -2):
        out[i] = x[i]
    return out


def break_in_constants(x):
    """`break` in a loop over a tuple."""
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for t in (1.0, 2.0, 4.0):
            if x[i] < t:
                out[i] = t
                break
    return out


def swapped_buffers(a, steps):
    b = np.zeros_like(a)
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        a, b = b, a
    return a


def bisect_each(keys, x):
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        lo = 0
        hi = keys.shape[0]
        while lo < hi:
            mid = (lo + hi) // 2
            if keys[mid] < x[i]:
                lo = mid + 1
            else:
                hi = mid
        out[i] = lo
    return out


def gcd_table(n):
    out = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            a, b = i + 1, j + 1
            while b:
                a, b = b, a % b
            out[i, j] = a
    return out


def first_index(x, value):
    """Linear search: the first match is the smallest index."""
    for i in range(x.shape[0]):
        if x[i] > value:
            return i
    return -1


def any_above(x, value):
    for i in range(len(x)):
        if x[i] > value:
            return True
    return False


def count_until(x, value):
    n = 0
    for v in x:
        if v > value:
            break
        n += 1
    return n


def best_pair(x):
    best = x[0] - x[0]
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            d = abs(x[i] - x[j])
            if d > best:
                best = d
    return best


def argmax_loop(x):
    best = x[0]
    where = 0
    for i in range(1, x.shape[0]):
        if x[i] > best:
            best = x[i]
            where = i
    return where, best


def mean_variance(x):
    s = 0.0
    s2 = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        s2 += x[i] * x[i]
    m = s / x.shape[0]
    return m, s2 / x.shape[0] - m * m


def medians_of_three(x):
    out = x.copy()
    for i in range(1, x.shape[0] - 1):
        a, b, c = x[i - 1], x[i], x[i + 1]
        if a > b:
            a, b = b, a
        if b > c:
            b = c
        if a > b:
            b = a
        out[i] = b
    return out


def selection_rows(x):
    """A sort of each row: the rows are independent."""
    n, m = x.shape
    for r in range(n):
        for i in range(m - 1):
            k = i
            for j in range(i + 1, m):
                if x[r, j] < x[r, k]:
                    k = j
            t = x[r, i]
            x[r, i] = x[r, k]
            x[r, k] = t
    return x


def odd_even_sort(x):
    n = x.shape[0]
    for phase in range(n):
        for i in range(phase % 2, n - 1, 2):
            if x[i] > x[i + 1]:
                t = x[i]
                x[i] = x[i + 1]
                x[i + 1] = t
    return x


def lagged_products(x, max_lag):
    """The end of the second slice counts from behind in every iteration."""
    products = np.empty(max_lag + 1)
    products[0] = np.dot(x, x)
    for lag in range(1, max_lag + 1):
        products[lag] = np.dot(x[lag:], x[:-lag])
    return products


def neighbour_code(x):
    """A bit for each neighbour, from a list of shifts that is counted."""
    shifts = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    inner = x[1:-1, 1:-1]
    code = np.zeros(inner.shape, dtype=np.uint8)
    for bit, (dy, dx) in enumerate(shifts):
        near = x[1 + dy : x.shape[0] - 1 + dy, 1 + dx : x.shape[1] - 1 + dx]
        code |= ((near >= inner).astype(np.uint8) << bit).astype(np.uint8)
    return code


def streamed(f):
    """Constant lists beside a range of constants."""
    steps = [0, 1, -1]
    out = np.zeros(f.shape)
    for i, step, weight in zip(range(3), steps, [0.5, 0.25, 0.25]):
        out[i] = weight * np.roll(f[i], step)
    return out


def relaxed_with_messages(u, steps, tol):
    """What a loop over time prints and raises is the host's."""
    for t in range(steps):
        v = u.copy()
        u[1:-1] = 0.5 * (v[:-2] + v[2:])
        err = np.abs(u - v).max()
        if t % 2 == 0:
            print(f"step {t}: {err}")
        if err > 1e6:
            raise FloatingPointError("diverged at step %d" % t)  # noqa: UP031
        if err < tol:
            break
    return u


def rows_that_are_checked(x):
    total = 0.0
    for i in range(x.shape[0]):
        assert x[i].sum() > -1e9
        total += x[i].max()
    return total


def progress_of_elements(x, y):
    """A loop over elements that prints has no place on a GPU."""
    for i in range(x.shape[0]):
        y[i] = x[i] * 2
        if i % 100 == 0:
            print(i)


def pooled_by_counters(a, size, stride):
    """Windows whose places two `while` loops count: their emptiness is tested in the loops."""
    n = (a.shape[0] - size) // stride + 1
    out = np.zeros((n, n))
    i = 0
    r = 0
    while i + size <= a.shape[0]:
        j = 0
        c = 0
        while j + size <= a.shape[0]:
            out[r][c] = np.max(a[i : i + size, j : j + size])
            j += stride
            c += 1
        i += stride
        r += 1
    return out


def column_of_positive(x, y, w):
    """A thread that has nothing to store leaves the loop's body, not the statement behind it."""
    z = x * 0.5 + w[:, None]
    for i in range(y.shape[0]):
        if w[i] < 0.5:
            continue
        y[i, 0] = w[i]
    y *= z
    return z
