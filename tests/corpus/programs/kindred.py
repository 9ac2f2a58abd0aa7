"""Relatives of the examples, as somebody else would have written them."""

import math

import numpy as np

BLUR = (0.0625, 0.25, 0.375, 0.25, 0.0625)
SCALE = np.float32(1.0 / 255.0)


def normalize_by_max(x):
    for i in range(x.shape[0]):
        x[i] = x[i] / np.abs(x[i]).max()


def normalize_columns(x):
    for j in range(x.shape[1]):
        x[:, j] -= x[:, j].mean()
        x[:, j] /= np.sqrt((x[:, j] ** 2).mean())


def normalize_scalar_loops(x):
    """The tutorial's exercise: scalar loops throughout."""
    rows, cols = x.shape
    for i in range(rows):
        total = 0.0
        for j in range(cols):
            total += x[i, j]
        mean = total / cols
        for j in range(cols):
            x[i, j] = x[i, j] / mean


def normalize_rows_return(x):
    out = np.zeros_like(x)
    n = x.shape[0]
    for i in range(n):
        s = x[i, :].sum()
        if s != 0:
            out[i, :] = x[i, :] / s
    return out


def layer_with_bias(x, w, b):
    scaled = x * SCALE
    weighed = scaled @ w
    shifted = weighed + b
    return np.maximum(shifted, 0)


def layer_in_steps(values, weights):
    values = values / 255.0
    values = values * weights
    values = np.tanh(values)
    return values


def layer_loop(values, weights, out):
    for i in range(values.shape[0]):
        v = values[i] / 255.0
        v = v * weights[i]
        out[i] = (math.exp(v) - math.exp(-v)) / (math.exp(v) + math.exp(-v))


def lognormal_pdf(x, mu, sigma):
    return np.exp(-((np.log(x) - mu) ** 2) / (2 * sigma**2)) / (x * sigma * math.sqrt(2 * math.pi))


def gamma_pdf(x, k: int, theta):
    """Density for an integer shape."""
    factorial = 1
    for i in range(1, k):
        factorial *= i
    return x ** (k - 1) * np.exp(-x / theta) / (theta**k * factorial)


def weibull_cdf(x, lam, k):
    return 1 - np.exp(-((x / lam) ** k))


def black_scholes_loop(S, K, T, r, sigma):
    """Element by element with math.erf."""
    n = S.shape[0]
    call = np.empty(n)
    for i in range(n):
        sd = sigma * math.sqrt(T[i])
        d1 = (math.log(S[i] / K[i]) + (r + 0.5 * sigma * sigma) * T[i]) / sd
        d2 = d1 - sd
        nd1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        nd2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        call[i] = S[i] * nd1 - K[i] * math.exp(-r * T[i]) * nd2
    return call


def cumulative_normal(x):
    """With the sign handled by where."""
    a1, a2, a3 = 0.4361836, -0.1201676, 0.9372980
    k = 1 / (1 + 0.33267 * np.abs(x))
    w = 1 - 1 / np.sqrt(2 * np.pi) * np.exp(-x * x / 2) * (a1 * k + a2 * k**2 + a3 * k**3)
    return np.where(x < 0, 1 - w, w)


def put_from_call(call, S, K, r, T):
    return call - S + K * np.exp(-r * T)


def digital_option(S, K, payout):
    return (S > K) * payout


def softmax_masked(x, mask):
    z = np.where(mask, x, -np.inf)
    z = z - z.max(axis=1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


def softmin(x):
    e = np.exp(-(x - x.min(axis=1).reshape(-1, 1)))
    return e / e.sum(axis=1).reshape(-1, 1)


def softmax_rows_loops(x):
    n, m = x.shape
    out = np.empty((n, m), dtype=x.dtype)
    for i in range(n):
        biggest = x[i, 0]
        for j in range(1, m):
            if x[i, j] > biggest:
                biggest = x[i, j]
        total = 0.0
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - biggest)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
    return out


def robust_scale(x):
    """Columns by their range about the middle."""
    lo = np.min(x, axis=0, keepdims=True)
    hi = np.max(x, axis=0, keepdims=True)
    middle = (lo + hi) / 2
    return 2 * (x - middle) / (hi - lo)


def column_moments(x):
    n = x.shape[0]
    s1 = np.sum(x, axis=0)
    s2 = np.sum(x * x, axis=0)
    mean = s1 / n
    return mean, np.sqrt(s2 / n - mean * mean)


def linf_norms(v):
    return np.max(np.abs(v), axis=1)


def norms_loop(v):
    out = np.empty(v.shape[0], dtype=v.dtype)
    for i in range(v.shape[0]):
        out[i] = np.sqrt(np.dot(v[i], v[i]))
    return out


def norms_into(v, out):
    for i in range(len(v)):
        acc = 0
        for k in range(v.shape[1]):
            acc += v[i, k] * v[i, k]
        out[i] = math.sqrt(acc)


def matmul_transposed(a, b):
    return a.T @ b


def matmul_into(a, b, c):
    c[...] = a.dot(b)


def matmul_accumulate(a, b, c):
    c += a @ b


def matmul_bias_scaled(a, b, alpha):
    return alpha * (a @ b) + 1


def syrk_loops(a, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def matmul_float32(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), dtype=np.float32)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            tmp = np.float32(0)
            for k in range(a.shape[1]):
                tmp += a[i, k] * b[k, j]
            c[i, j] = tmp
    return c


def cosine_similarity(x, y):
    xn = x / np.linalg.norm(x, axis=1, keepdims=True)
    yn = y / np.linalg.norm(y, axis=1, keepdims=True)
    return xn @ yn.T


def pairwise_loops_symmetric(x):
    n, d = x.shape
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(d):
                t = x[i, k] - x[j, k]
                s += t * t
            out[i, j] = math.sqrt(s)
    return out


def pairwise_row_expression(x, y):
    out = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        out[i, :] = np.sqrt(np.sum((y - x[i]) ** 2, axis=1))
    return out


def chebyshev_distances(x, y):
    return np.abs(x[:, None, :] - y[None, :, :]).max(axis=2)


def laplace_solve(phi, steps):
    old = phi.copy()
    for _ in range(steps):
        phi[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        phi, old = old, phi
    return old


def diffusion_with_source(u, source, dt, dx, nt):
    c = dt / dx**2
    for n in range(nt):  # noqa: B007
        un = u.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            + c * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            + c * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + dt * source[1:-1, 1:-1]
        )
        u[0, :] = u[-1, :] = 0
        u[:, 0] = u[:, -1] = 0
    return u


def cooling_plate(T, steps):
    """Ping-pong with an explicit pair of loops and a helper for one point."""
    ny, nx = T.shape
    a = T.copy()
    b = T.copy()
    for _ in range(steps):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                b[y, x] = average(a, y, x)
        a, b = b, a
    return a


def average(a, y, x):
    return (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1]) * 0.25


def gaussian_blur_rows(img):
    """Five taps from a tuple of constants."""
    out = img.copy()
    n = img.shape[1]
    out[:, 2:-2] = (
        BLUR[0] * img[:, : n - 4]
        + BLUR[1] * img[:, 1 : n - 3]
        + BLUR[2] * img[:, 2 : n - 2]
        + BLUR[3] * img[:, 3 : n - 1]
        + BLUR[4] * img[:, 4:]
    )
    return out


def prewitt(img):
    gx = img[:-2, 2:] + img[1:-1, 2:] + img[2:, 2:]
    gx = gx - img[:-2, :-2] - img[1:-1, :-2] - img[2:, :-2]
    gy = img[2:, :-2] + img[2:, 1:-1] + img[2:, 2:]
    gy = gy - img[:-2, :-2] - img[:-2, 1:-1] - img[:-2, 2:]
    return np.sqrt(gx * gx + gy * gy)


def emboss_loops(img, out):
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            v = 2 * img[i - 1, j - 1] - img[i + 1, j + 1] + img[i, j]
            out[i, j] = min(max(v, 0.0), 255.0)


def erode_loops(img):
    h, w = img.shape
    out = np.zeros_like(img)
    for i in range(h):
        for j in range(w):
            smallest = img[i, j]
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    y = i + di
                    x = j + dj
                    if 0 <= y < h and 0 <= x < w and img[y, x] < smallest:
                        smallest = img[y, x]
            out[i, j] = smallest
    return out


def julia_set(width, height, cx, cy, limit):
    out = np.zeros((height, width), dtype=np.int32)
    for row in range(height):
        for col in range(width):
            zx = 3.0 * (col - width / 2) / width
            zy = 2.0 * (row - height / 2) / height
            count = 0
            for _ in range(limit):
                if zx * zx + zy * zy >= 4.0:
                    break
                zx, zy = zx * zx - zy * zy + cx, 2.0 * zx * zy + cy
                count += 1
            out[row, col] = count
    return out


def tricorn(c, limit):
    counts = np.zeros(c.shape, dtype=np.int64)
    for i in range(c.shape[0]):
        z = 0j
        for n in range(limit):
            z = z.conjugate() ** 2 + c[i]
            if z.real**2 + z.imag**2 > 4:
                break
            counts[i] = n
    return counts


def smooth_escape(re, im, limit):
    """A real-valued escape time."""
    out = np.zeros((im.size, re.size))
    for i in range(im.size):
        for j in range(re.size):
            x = y = 0.0
            n = 0
            while x * x + y * y <= 16.0 and n < limit:
                xt = x * x - y * y + re[j]
                y = 2 * x * y + im[i]
                x = xt
                n += 1
            if n < limit:
                out[i, j] = n + 1 - math.log(math.log(math.sqrt(x * x + y * y))) / math.log(2)
            else:
                out[i, j] = limit
    return out


def csr_matvec_into(values, columns, row_starts, x, y):
    """Accumulates into the result itself."""
    for row in range(y.size):
        y[row] = 0
        for k in range(row_starts[row], row_starts[row + 1]):
            y[row] += values[k] * x[columns[k]]


def csr_matvec_dot(data, indices, indptr, x):
    n = len(indptr) - 1
    out = np.empty(n)
    for i in range(n):
        s, e = indptr[i], indptr[i + 1]
        out[i] = np.dot(data[s:e], x[indices[s:e]])
    return out


def csr_row_max(data, indptr):
    """The largest entry of every row, zero for empty rows."""
    out = np.zeros(indptr.shape[0] - 1)
    for i in range(out.shape[0]):
        best = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            best = max(best, data[k])
        out[i] = best
    return out


def csr_normalize(data, indptr):
    """Rows scaled to sum one, in place."""
    for i in range(indptr.shape[0] - 1):
        a = indptr[i]
        b = indptr[i + 1]
        data[a:b] /= data[a:b].sum()


def stencil_matrix_apply(diag, off, x):
    n = x.shape[0]
    y = np.empty_like(x)
    for i in range(n):
        s = diag[i] * x[i]
        if i > 0:
            s += off[i - 1] * x[i - 1]
        if i < n - 1:
            s += off[i] * x[i + 1]
        y[i] = s
    return y


def soft_threshold(x, t):
    x[np.abs(x) <= t] = 0
    x[x > t] -= t
    x[x < -t] += t


def mask_two_sided(x, lo, hi, value):
    x[(x > lo) & (x < hi)] = value


def mask_scale(x, t):
    x[np.abs(x) > t] *= 0.5


def mask_from_other(x, noise, level):
    x[noise > level] = np.nan


def mask_copy_back(x, y):
    m = y > x
    x[m] = y[m]


def clip_out(x, lo, hi):
    np.clip(x, lo, hi, out=x)


def minimum_out(x, cap):
    np.minimum(x, cap, out=x)


def mask_rows(a, t):
    """Rows whose sum is small become zero."""
    a[a.sum(axis=1) < t] = 0


def mask_columns_where(a):
    return np.where(a.mean(axis=0) > 0, a, -a)


def mask_where_loop(x, t):
    for i in range(x.shape[0]):
        if abs(x[i]) < t:
            x[i] = 0.0


def ternary_levels(x, lo, hi):
    y = np.zeros(x.shape, dtype=np.int8)
    y[x > hi] = 1
    y[x < lo] = -1
    return y


def count_in_place(x, t):
    """Changes its argument and returns a number."""
    below = x < t
    n = below.sum()
    x[below] = t
    return n
