"""Functions as research code has them: several idioms at once, checks and defaults included."""

import math

import numpy as np


def bilateral_filter(img, sigma_s=1.5, sigma_r=0.2, radius=2):
    """Edge-preserving smoothing."""
    h, w = img.shape
    padded = np.pad(img, radius, mode="edge")
    out = np.zeros_like(img)
    norm = np.zeros_like(img)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            shifted = padded[radius + dy : radius + dy + h, radius + dx : radius + dx + w]
            weight = np.exp(
                -(dy**2 + dx**2) / (2 * sigma_s**2) - (shifted - img) ** 2 / (2 * sigma_r**2)
            )
            out += weight * shifted
            norm += weight
    return out / norm


def unsharp_mask(img, amount=1.0):
    """Sharpen with a 3x3 box blur."""
    p = np.pad(img, 1, mode="reflect")
    blur = (
        sum(p[i : i + img.shape[0], j : j + img.shape[1]] for i in range(3) for j in range(3)) / 9
    )
    return np.clip(img + amount * (img - blur), 0.0, 1.0)


def sobel_edges(img):
    """Gradient magnitude, normalised to its maximum."""
    if img.ndim != 2:
        raise ValueError("img must be 2-D")
    gx = np.zeros_like(img)
    gy = np.zeros_like(img)
    gx[1:-1, 1:-1] = (
        img[:-2, 2:]
        + 2 * img[1:-1, 2:]
        + img[2:, 2:]
        - img[:-2, :-2]
        - 2 * img[1:-1, :-2]
        - img[2:, :-2]
    )
    gy[1:-1, 1:-1] = (
        img[2:, :-2]
        + 2 * img[2:, 1:-1]
        + img[2:, 2:]
        - img[:-2, :-2]
        - 2 * img[:-2, 1:-1]
        - img[:-2, 2:]
    )
    mag = np.hypot(gx, gy)
    peak = mag.max()
    if peak > 0:
        mag /= peak
    return mag


def otsu_threshold(gray, bins=64):
    """The threshold that separates two classes best."""
    hist, edges = np.histogram(gray, bins=bins, range=(0.0, 1.0))
    p = hist / hist.sum()
    centers = (edges[:-1] + edges[1:]) / 2
    w0 = np.cumsum(p)
    w1 = 1.0 - w0
    mu = np.cumsum(p * centers)
    total = mu[-1]
    between = np.where((w0 > 0) & (w1 > 1e-12), (total * w0 - mu) ** 2 / (w0 * w1 + 1e-300), 0.0)
    return centers[np.argmax(between)]


def integral_image(img):
    """Summed-area table with a leading row and column of zeros."""
    out = np.zeros((img.shape[0] + 1, img.shape[1] + 1))
    out[1:, 1:] = img.cumsum(axis=0).cumsum(axis=1)
    return out


def max_pool_2x2(x):
    """Non-overlapping maxima."""
    h, w = x.shape[0] // 2, x.shape[1] // 2
    return x[: 2 * h, : 2 * w].reshape(h, 2, w, 2).max(axis=(1, 3))


def rgb_to_hsv_value(rgb):
    """Value and saturation of an RGB image (h, w, 3)."""
    mx = rgb.max(axis=-1)
    mn = rgb.min(axis=-1)
    sat = np.zeros_like(mx)
    mask = mx > 0
    sat[mask] = (mx[mask] - mn[mask]) / mx[mask]
    return mx, sat


def zscore_clip(x, axis=0, limit=3.0):
    """Standardise, then limit outliers."""
    mu = np.mean(x, axis=axis, keepdims=True)
    sd = np.std(x, axis=axis, keepdims=True)
    return np.clip((x - mu) / sd, -limit, limit)


def trimmed_mean(x, lo, hi):
    """The mean of what lies between two bounds."""
    inside = x[(x >= lo) & (x <= hi)]
    if inside.size == 0:
        return 0.0
    return inside.mean()


def pearson(x, y):
    """Correlation coefficient."""
    xm = x - x.mean()
    ym = y - y.mean()
    return float(np.sum(xm * ym) / np.sqrt(np.sum(xm**2) * np.sum(ym**2)))


def autocorrelation(x, max_lag):
    """Autocorrelation up to a lag."""
    n = len(x)
    d = x - np.mean(x)
    c0 = np.dot(d, d) / n
    r = np.empty(max_lag + 1)
    for k in range(max_lag + 1):
        r[k] = np.dot(d[: n - k], d[k:]) / n / c0
    return r


def ecdf_at(sample, points):
    """Empirical distribution function at given points."""
    return np.searchsorted(sample, points, side="right") / sample.size


def weighted_quantile_bins(x, w, nbins=16):
    """Weight per equal-width bin."""
    idx = np.minimum((x * nbins).astype(np.int64), nbins - 1)
    out = np.zeros(nbins)
    np.add.at(out, idx, w)
    return out / w.sum()


def kernel_density(points, grid, h):
    """Gaussian kernel density estimate on a grid."""
    u = (grid[:, None] - points[None, :]) / h
    return np.exp(-0.5 * u * u).sum(axis=1) / (len(points) * h * np.sqrt(2 * np.pi))


def bootstrap_means(x, idx):
    """Means of resampled data, indices given."""
    return x[idx].mean(axis=1)


def log_returns_stats(prices):
    """Annualised mean and volatility."""
    r = np.diff(np.log(prices))
    return r.mean() * 252, r.std(ddof=1) * math.sqrt(252)


def max_drawdown(prices):
    """The largest fall from a running maximum."""
    peak = np.maximum.accumulate(prices)
    return np.max((peak - prices) / peak)


def ewma_columns(x, alpha):
    """Exponentially weighted mean down each column."""
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, x.shape[0]):
        out[t] = alpha * x[t] + (1 - alpha) * out[t - 1]
    return out


def bond_prices(rates, coupon, years):
    """Present value of annual coupons for many rates."""
    t = np.arange(1, years + 1)
    disc = 1.0 / (1.0 + rates[:, None]) ** t
    return coupon * disc.sum(axis=1) + 100.0 * disc[:, -1]


def binomial_call(s0, strikes, r, sigma, steps):
    """European calls by a tree, all strikes at once."""
    dt = 1.0 / steps
    u = np.exp(sigma * np.sqrt(dt))
    d = 1.0 / u
    q = (np.exp(r * dt) - d) / (u - d)
    j = np.arange(steps + 1)
    s = s0 * u**j * d ** (steps - j)
    v = np.maximum(s[None, :] - strikes[:, None], 0.0)
    for i in range(steps):
        v[:, : steps - i] = np.exp(-r * dt) * (
            q * v[:, 1 : steps - i + 1] + (1 - q) * v[:, : steps - i]
        )
    return v[:, 0].copy()


def portfolio_var(weights, cov, z=1.645):
    """Parametric value at risk of many portfolios."""
    variance = np.einsum("ij,jk,ik->i", weights, cov, weights)
    return z * np.sqrt(variance)


def sma_crossover(prices, fast, slow):
    """Signals of two moving averages."""
    c = np.concatenate(([0.0], np.cumsum(prices)))
    f = (c[fast:] - c[:-fast]) / fast
    s = (c[slow:] - c[:-slow]) / slow
    n = s.size
    return np.sign(f[-n:] - s)


def leapfrog_oscillators(x, v, k, dt, steps):
    """Independent oscillators, kick-drift-kick."""
    x = x.copy()
    v = v.copy()
    for _ in range(steps):
        v -= 0.5 * dt * k * x
        x += dt * v
        v -= 0.5 * dt * k * x
    return x, v


def nbody_accelerations(pos, mass, softening=0.1):
    """Gravitational accelerations, all pairs."""
    d = pos[None, :, :] - pos[:, None, :]
    r2 = np.sum(d**2, axis=-1) + softening**2
    inv = mass / (r2 * np.sqrt(r2))
    return np.einsum("ij,ijk->ik", inv, d)


def ising_energy(spins, coupling):
    """Energy of a periodic spin lattice."""
    neighbours = np.roll(spins, 1, axis=0) + np.roll(spins, 1, axis=1)
    return -coupling * np.sum(spins * neighbours)


def wave_step(u, u_prev, c):
    """One step of the 2-D wave equation with fixed edges."""
    lap = np.zeros_like(u)
    lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return 2 * u - u_prev + c * c * lap


def lattice_boltzmann_moments(f, cx, cy):
    """Density and velocity of a D2Q9 lattice (h, w, 9)."""
    rho = f.sum(axis=2)
    ux = np.sum(f * cx, axis=2) / rho
    uy = np.sum(f * cy, axis=2) / rho
    return rho, ux, uy


def particle_deposit(x, q, n):
    """Cloud-in-cell charge deposition on a periodic grid."""
    rho = np.zeros(n)
    left = np.floor(x).astype(np.int64)
    frac = x - left
    for p in range(len(x)):
        rho[left[p] % n] += q[p] * (1.0 - frac[p])
        rho[(left[p] + 1) % n] += q[p] * frac[p]
    return rho


def spectral_power(re, im):
    """Power of complex amplitudes in decibel."""
    z = re + 1j * im
    return 10 * np.log10(np.abs(z) ** 2 + 1e-12)


def page_rank(src, dst, outdeg, n, iterations):
    """Power iteration over an edge list."""
    rank = np.full(n, 1.0 / n)
    for _ in range(iterations):
        contrib = np.zeros(n)
        for e in range(src.shape[0]):
            contrib[dst[e]] += rank[src[e]] / outdeg[src[e]]
        rank = 0.15 / n + 0.85 * contrib
    return rank


def coo_matvec(row, col, val, x, n):
    """Sparse matrix times vector in coordinate form."""
    y = np.zeros(n)
    for k in range(len(val)):
        y[row[k]] += val[k] * x[col[k]]
    return y


def csr_row_sums(data, indptr):
    """Row sums of a sparse matrix."""
    n = len(indptr) - 1
    out = np.zeros(n)
    for i in range(n):
        out[i] = data[indptr[i] : indptr[i + 1]].sum()
    return out


def label_propagation(labels, src, dst):
    """One sweep of minimum labels over edges."""
    new = labels.copy()
    np.minimum.at(new, dst, labels[src])
    return new


def neighbour_means(values, neighbours):
    """Mean over a padded neighbour table; -1 means none."""
    valid = neighbours >= 0
    gathered = np.where(valid, values[neighbours], 0.0)
    count = valid.sum(axis=1)
    return gathered.sum(axis=1) / np.maximum(count, 1)


def layer_norm_gelu(x, gamma, beta, eps=1e-5):
    """Layer normalisation and the tanh GELU."""
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    y = gamma * (x - mu) / np.sqrt(var + eps) + beta
    return 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))


def attention(q, k, v):
    """Scaled dot-product attention of one head."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores -= scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(axis=-1, keepdims=True)
    return w @ v


def cross_entropy(logits, labels):
    """Mean negative log-likelihood of integer labels."""
    m = logits.max(axis=1, keepdims=True)
    logz = np.log(np.exp(logits - m).sum(axis=1)) + m[:, 0]
    return (logz - logits[np.arange(len(labels)), labels]).mean()


def one_hot(labels, classes):
    """Indicator rows."""
    out = np.zeros((labels.size, classes))
    out[np.arange(labels.size), labels] = 1.0
    return out


def conv1d_valid(x, w, b):
    """Channels-last 1-D convolution: (n, c_in) with (k, c_in, c_out)."""
    n = x.shape[0] - w.shape[0] + 1
    out = np.zeros((n, w.shape[2]))
    for i in range(w.shape[0]):
        out += x[i : i + n] @ w[i]
    return np.maximum(out + b, 0)


def lstm_cell(x, h, c, wx, wh, b):
    """One step of an LSTM."""
    z = x @ wx + h @ wh + b
    n = h.shape[1]
    i = 1 / (1 + np.exp(-z[:, :n]))
    f = 1 / (1 + np.exp(-z[:, n : 2 * n]))
    g = np.tanh(z[:, 2 * n : 3 * n])
    o = 1 / (1 + np.exp(-z[:, 3 * n :]))
    c = f * c + i * g
    return o * np.tanh(c), c


def batch_norm_eval(x, mean, var, gamma, beta, eps=1e-5):
    """Normalisation with running statistics (n, c, h, w)."""
    scale = gamma / np.sqrt(var + eps)
    shift = beta - mean * scale
    return x * scale[None, :, None, None] + shift[None, :, None, None]


def kmeans_assign(x, centers):
    """Nearest centre and its squared distance."""
    d = ((x[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return d.argmin(axis=1), d.min(axis=1)


def kmeans_update(x, labels, k):
    """New centres, empty ones stay at zero."""
    sums = np.zeros((k, x.shape[1]))
    counts = np.zeros(k)
    for i in range(x.shape[0]):
        counts[labels[i]] += 1.0
        for d in range(x.shape[1]):
            sums[labels[i], d] += x[i, d]
    return sums / np.maximum(counts, 1.0)[:, None]


def embedding_bag(table, idx, weights):
    """Weighted sums of rows of a table."""
    return (table[idx] * weights[:, :, None]).sum(axis=1)


def rotary(x, theta):
    """Rotary position embedding of (n, d)."""
    half = x.shape[1] // 2
    angles = np.arange(x.shape[0])[:, None] * theta[None, :]
    a, b = x[:, :half], x[:, half : 2 * half]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles),
                           a * np.sin(angles) + b * np.cos(angles)], axis=1)  # fmt: skip


def gradient_magnitude(f, dx=1.0):
    """Central differences."""
    gy, gx = np.gradient(f, dx)
    return np.sqrt(gx**2 + gy**2)


def simpson(y, dx):
    """Simpson's rule for an odd number of samples."""
    return dx / 3 * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum())


def power_iteration(a, v, steps=20):
    """Dominant eigenvalue by Rayleigh quotients."""
    for _ in range(steps):
        w = a @ v
        v = w / np.linalg.norm(w)
    return v @ (a @ v)


def jacobi_solve(a, b, tol=1e-6, max_iter=50):
    """Jacobi's method until the update is small."""
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(max_iter):
        new = (b - (a @ x - d * x)) / d
        if np.max(np.abs(new - x)) < tol:
            x = new
            break
        x = new
    return x


def haversine_matrix(lat, lon):
    """All pairwise great-circle distances in km."""
    lat, lon = np.radians(lat), np.radians(lon)
    dlat = lat[:, None] - lat[None, :]
    dlon = lon[:, None] - lon[None, :]
    a = np.sin(dlat / 2) ** 2 + np.cos(lat)[:, None] * np.cos(lat)[None, :] * np.sin(dlon / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(a))
