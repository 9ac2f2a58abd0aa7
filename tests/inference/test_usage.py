"""The types that porter takes parameters to have, where nobody gives them."""

import pytest

from porter.diagnostics import UsageError
from porter.inference.signature import candidates, parse_signature
from porter.source.module import SourceModule

GUESSES = {
    "def f(p, v, q):\n o = np.empty(len(q))\n for i, x in enumerate(q):\n"
    "  d = ((p - x) ** 2).sum(axis=1)\n  o[i] = (v[:] / d).sum()\n return o":
        "float64[:, :], float64[:], float64[:, :]",
    "def f(h, cell):\n gy, gx = np.gradient(h, cell)\n return np.hypot(gx, gy)":
        "float64[:, :], float64",
    "def f(s):\n d = np.zeros((9, 9))\n for i in range(9):\n  d[i, 0] = np.sum(s[i] != s[0])\n"
    " return d": "float64[:, :]",
    "def f(y, t, dt, n):\n for _ in range(n):\n  k = -y + np.sin(t + dt / 2)\n  y = y + dt * k\n"
    "  t += dt\n return y": "float64[:], float64, float64, int64",
    "def f(x, bins):\n return np.histogram(x, bins=bins)[0]": "float64[:], int64",
    "def f(x, n):\n return np.histogram(x, n)": "float64[:], int64",
    "def f(x, edges):\n return np.histogram(x, edges)": "float64[:], float64[:]",
    "def f(x, bins):\n return np.histogram(x, bins)[0] / np.diff(bins)": "float64[:], float64[:]",
    "def f(y, p, m):\n for a, b in zip(y, p):\n  m[a, b] += 1": "int64[:], int64[:], float64[:, :]",
    "def f(x):\n for i, v in enumerate(x):\n  t[v] = i": "int64[:]",
    "def f(g, v, k):\n return np.bincount(g, weights=v, minlength=k)":
        "int64[:], float64[:], int64",
    "def f(a, i, v):\n np.add.at(a, i, v[0])": "float64[:], int64[:], float64[:]",
    "def f(s, r):\n for i in range(s.size):\n  a = max(i - r, 0)\n  s[a] = 1": "float64[:], int64",
    "def f(p, t):\n c = np.cos(t)\n return p @ np.array([[c, 0.0], [0.0, c]])":
        "float64[:, :], float64",
    "def f(x, tol):\n while np.abs(x).max() > tol:\n  x *= 0.5": "float64[:], float64",
    "def f(x, old):\n if old is None:\n  return x * 2\n return x.sum()": "float64[:], float64",
    "def f(p, o):\n for i in range(9):\n  d = p[i] - p[0]\n  o[i] = np.sum(d * d)":
        "float64[:, :], float64[:]",
    "def f(x, i, o):\n for k in range(9):\n  d = x[i]\n  o[k] = np.sum(d)":
        "float64[:], int64, float64[:]",
    "def f(x, a):\n o = np.zeros(x.shape)\n o[:, 0] = a * x[:, 0] + (1 - a) * o[:, 1]\n return o":
        "float64[:, :], float64",
    "def f(q, k, v):\n return (q @ k.transpose(0, 2, 1)) @ v":
        "float64[:, :, :], float64[:, :, :], float64[:, :, :]",
    "def f(w, C):\n return w @ C @ w": "float64[:], float64[:, :]",
    "def f(x, W, h, U, b):\n return x @ W + h @ U + b":
        "float64[:, :], float64[:, :], float64[:, :], float64[:, :], float64[:]",
    "def f(u, u_prev):\n v = u[1:, 1:] * 2\n return 2 * u - u_prev":
        "float64[:, :], float64[:, :]",
    "def f(x, v, k):\n for _ in range(3):\n  v = v - k * x[:]\n return v":
        "float64[:], float64[:], float64",
    "def f(img):\n return img[..., 0] * 0.5": "float64[:, :, :]",
    "def f(b):\n p = np.pad(b, 1)\n return p[1:, 1:] | p[:-1, 1:]": "int64[:]",
    "def f(mask, r):\n o = np.zeros_like(mask)\n o[r:, 1:] |= mask[:-r, 1:]\n return o":
        "boolean[:, :], int64",
    "def f(codes, r):\n codes[r:] ^= codes[:-r]": "int64[:], int64",
    "def f(x, c):\n n = np.zeros_like(c)\n n[0, 1] = 1\n return (x[:, None] - c[None]).sum() + n":
        "float64[:, :], float64[:, :]",
    "def f(x, c):\n return ((x[:, np.newaxis] - c[None, :, :]) ** 2).sum(-1)":
        "float64[:, :], float64[:, :]",
    "def f(x, c):\n d = ((x[:, None] - c[None]) ** 2).sum(-1)\n return d.argmin(1)":
        "float64[:, :], float64[:, :]",
    "def f(x, y):\n return x[:, None] * y[None, :]": "float64[:], float64[:]",
    "def f(x, c):\n return x[:, None] * c[0, :, :]": "float64[:], float64[:, :, :]",
    "def f(x, i):\n return np.take_along_axis(x, i[..., None], axis=-1)": "float64[:], int64[:]",
    "def f(e, A):\n for u, v in e:\n  A[u, v] = 1": "int64[:], float64[:, :]",
    "def f(x, g):\n return x.reshape(g, -1)": "float64[:], int64",
    "def f(x, dt):\n return x[1:] * np.sqrt(dt)": "float64[:], float64",
    "def f(x, idx):\n return x[idx].sum()": "float64[:], int64[:]",
    "def f(x, n_rows, n_cols):\n u = np.zeros((n_rows, n_cols))\n for i in range(n_rows):\n"
    "  for j in range(n_cols):\n   u[i, j] = x[i * n_cols + j, 0]\n return u":
        "float64[:, :], int64, int64",
    # compared before anything else has its name
    "def f(s, v):\n if s < v[0]:\n  s = v[0]\n elif s > v[1]:\n  s = np.log(s)\n return s":
        "float64, float64[:]",
    "def f(s, v):\n s = s.max(axis=0)\n if s < v[0]:\n  s = v[0]\n return s":
        "float64[:, :], float64[:]",
    "def g(s, v):\n if s < v[0]:\n  return v[0]\n return s\n\nh = numba.njit(g)\n\n"
    "def f(x, v):\n for i in range(x.shape[0]):\n  x[i] = h(x[i], v[i])":
        "float64[:], float64[:, :]",
    "def f(x, bias):\n return x[1:] + bias": "float64[:], float64[:]",
    "def f(a, w):\n d = w * 0.5\n d[d < 0] += 1\n return a[1, 0] * d[0, 1]":
        "float64[:, :], float64[:, :]",
    "def f(x, rf):\n e = x - rf * 0.5\n return e.mean(axis=0) * x[0]":
        "float64[:, :], float64",
    "def f(Z, K, r, T):\n n, m = Z.shape\n p = np.maximum(Z.mean(axis=1) - K, 0)\n"
    " return np.exp(-r * T) * p": "float64[:, :], float64, float64, float64",
    "def f(z1, z2, rho):\n return z1[0] + np.sqrt(1 - rho**2) * z2[0] + z1[1, 0]":
        "float64[:, :], float64[:, :], float64",
    "def f(x, W1, b1, W2, b2):\n h = np.maximum(0, np.dot(x, W1) + b1)\n"
    " o = np.dot(h, W2) + b2\n return o.max(axis=1)":
        "float64[:, :], float64[:, :], float64[:], float64[:, :], float64[:]",
    "def f(size, s):\n a, b = np.meshgrid(np.arange(size), np.arange(size))\n"
    " k = np.exp(-(a**2 + b**2) / (2 * s**2))\n return k / k.sum()": "int64, float64",
    "def f(v, g):\n m = v == g\n return m.sum() + v[0]": "float64[:], float64",
    "def f(x_rank, y_rank):\n d = x_rank - y_rank\n return np.sum(d**2) / len(x_rank)":
        "float64[:], float64[:]",
    "def f(X, b):\n return 1 / (1 + np.exp(-X @ b))": "float64[:, :], float64[:]",
    "def f(u, v, dt):\n return u + v * dt": "float64[:], float64[:], float64",
    "def f(q, k):\n return q @ k.transpose(0, 1, 3, 2)":
        "float64[:, :, :, :], float64[:, :, :, :]",
    "def f(w, C):\n return w.T @ C @ w": "float64[:], float64[:, :]",
    "def f(p, t):\n return -p[np.arange(p.shape[0]), t].mean()": "float64[:, :], int64[:]",
    "def f(h, c):\n n, m = h.shape\n a = h[:, 1:] * 2\n c_next = a * c + 1\n return c_next":
        "float64[:, :], float64[:, :]",
    "def layer_norm(x, gamma, beta):\n m = x.mean(axis=1, keepdims=True)\n"
    " return gamma * (x - m) + beta": "float64[:, :], float64[:], float64[:]",
    "def f(gray):\n return np.bincount(gray.ravel(), minlength=256)": "uint8[:, :]",
    "def f(x, src, dst, W):\n a = np.zeros_like(x)\n d = np.zeros(len(x))\n"
    " for e in range(len(src)):\n  a[dst[e]] += x[src[e]]\n a /= d[:, None]\n return a @ W":
        "float64[:, :], int64[:], int64[:], float64[:, :]",
    "def f(d, ok):\n return np.where(~ok, np.inf, d)": "float64[:], boolean[:]",
    "def f(x, y):\n return ~x & 0xFF | y": "int64[:], int64[:]",
    "def f(x, k):\n return x[~k]": "float64[:], boolean[:]",
    "def f(n, k):\n x = np.eye(k)\n return x[np.random.choice(k, n)]": "int64, int64",
    "def f(words):\n return np.random.choice(words, 3)": "float64[:]",
    "def f(data):\n x = data\n return sum(np.outer(v[0], v[1]) for v in x) + x.std(0)":
        "float64[:, :]",
}  # fmt: skip


@pytest.mark.parametrize("source", GUESSES)
def test_parameters_are_taken_for_what_their_use_shows(source: str) -> None:
    imports = "import numba\nimport numpy as np\n"
    *_, function = SourceModule(imports + source + "\n", "f.py").functions
    types = next(candidates(function, None))
    assert ", ".join(map(str, types)) == GUESSES[source]


def test_capital_letters_are_tried_as_vectors_too() -> None:
    body = (
        "o = np.zeros(len(T) - len(Q) + 1)\n for i in range(len(o)):\n"
        "  o[i] = np.dot(T[i : i + len(Q)], Q)"
    )
    (function,) = SourceModule(
        f"import numpy as np\ndef f(Q, T):\n {body}\n return o\n", "f.py"
    ).functions
    found = [", ".join(map(str, types)) for types in candidates(function, None)]
    assert found[0] == "float64[:, :], float64[:]" and "float64[:], float64[:]" in found


@pytest.mark.parametrize(
    ("source", "types"),
    [
        ("def f(x, shape):\n    y = np.zeros(shape)\n    y[0, shape[1] - 1] = x[0, 0]\n",
         "float64[:, :], UniTuple(int64, 2)"),
        ("def f(x, size):\n    h, w = size\n    return x[:h, :w] * 2\n",
         "float64[:, :], UniTuple(int64, 2)"),
        ("def f(shape, x):\n    for i in range(shape[0]):\n        x[i] = i\n",
         "UniTuple(int64, 1), float64[:]"),
        ("def f(x, shape):\n    rows, cols = shape\n    y = np.linspace(0, x[0, 0], cols)\n"
         "    return np.tile(y, rows)\n", "float64[:, :], UniTuple(int64, 2)"),
        ("def f(shape):\n    b = 6 / shape[0]\n    return np.random.uniform(-b, b, size=shape)\n",
         "UniTuple(int64, 1)"),
        # numbers that nothing counts with may be an array
        ("def f(x, a):\n    return x[:, 0] * a[0] + a[1]\n", "float64[:, :], float64[:]"),
        # what is computed with as a whole is one
        ("def f(x, n):\n    for i in range(n[0]):\n        x[i] = i\n    return n * 2\n",
         "float64[:], int64[:]"),
        # a hint says what it is, whatever its use suggests
        ("def f(x, j: 'int64[:]'):\n    return x[j[0]] * 2.0\n", "float64[:], int64[:]"),
        ("def f(x, j: np.ndarray):\n    return x[j[0]] * 2.0\n", "float64[:], int64[:]"),
    ],
)  # fmt: skip
def test_a_tuple_of_integers_by_its_use(source: str, types: str) -> None:
    function = SourceModule("import numpy as np\n\n\n" + source, "f.py").functions[0]
    assert ", ".join(map(str, next(candidates(function, None)))) == types


@pytest.mark.parametrize(
    "text", ["UniTuple(float64[:], 2)", "UniTuple(int64, n)", "Tuple(())", "UniTuple(int64)"]
)
def test_tuples_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError, match="in a signature"):
        parse_signature(f"float64[:], {text}")
    assert str(parse_signature("UniTuple(int64, 2)")[0]) == "UniTuple(int64, 2)"
    assert str(parse_signature("f(Tuple((int64, f4)))")[0]) == "Tuple((int64, float32))"


def test_a_type_that_is_given_is_in_every_candidate() -> None:
    source = "def f(a, x: 'float64[:]'):\n    return a * x\n"
    (function,) = SourceModule(source, "f.py").functions
    found = [list(map(str, types)) for types in candidates(function, None)]
    assert len(found) > 1 and {types[1] for types in found} == {"float64[:]"}
