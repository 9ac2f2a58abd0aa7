"""Layers of neural networks."""

import numpy as np

LEAK = 0.01


def relu(x):
    return np.maximum(0, x)


def linear(x, W, b):
    return x @ W.T + b


def dense_tanh(inputs, weights, bias):
    z = np.dot(inputs, weights) + bias
    return np.tanh(z)


def normalize_weigh_activate(pixels, weights):
    normalized = pixels / 255.0
    weighed = normalized * weights
    return (np.exp(weighed) - np.exp(-weighed)) / (np.exp(weighed) + np.exp(-weighed))


def hidden_out(x, w, out):
    scaled = x * (1 / 255)
    out[:] = np.tanh(scaled * w)


def swish(x, beta=1.0):
    return x / (1.0 + np.exp(-beta * x))


def elu(x, alpha: float = 1.0):
    return np.where(x > 0, x, alpha * (np.exp(x) - 1))


def leaky(x):
    return np.maximum(x, LEAK * x)


def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


def glu(x):
    """Halves of the last axis."""
    n = x.shape[1] // 2
    return x[:, :n] * (1 / (1 + np.exp(-x[:, n:])))


def bias_add_relu_inplace(x, b):
    x += b
    x[x < 0] = 0


def dropout_mask(x, mask, p):
    return x * mask / (1 - p)


def softmax_last(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_3d(x):
    tmp = np.exp(x - x.max(-1, keepdims=True))
    tmp /= tmp.sum(-1, keepdims=True)
    return tmp


def softmax_temperature(logits, temperature):
    z = logits / temperature
    z = z - np.max(z, axis=1)[:, None]
    p = np.exp(z)
    return p / np.sum(p, axis=1)[:, None]


def softmax_columns(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def mse_gradient(pred, target):
    return 2.0 * (pred - target) / pred.size


def mse_per_sample(pred, target):
    return ((pred - target) ** 2).mean(axis=1)


def sgd_momentum(w, v, g, lr, mu):
    v[:] = mu * v - lr * g
    w += v


def adam(w, g, m, s, lr, b1, b2, t):
    m[:] = b1 * m + (1 - b1) * g
    s[:] = b2 * s + (1 - b2) * g**2
    mhat = m / (1 - b1**t)
    shat = s / (1 - b2**t)
    w -= lr * mhat / (np.sqrt(shat) + 1e-8)


def batch_norm_inference(x, mean, var, gamma, beta):
    return gamma * (x - mean) / np.sqrt(var + 1e-5) + beta


def instance_norm(x):
    mu = x.mean(axis=(1, 2), keepdims=True)
    sd = x.std(axis=(1, 2), keepdims=True)
    return (x - mu) / (sd + 1e-5)


def one_hot(labels, k):
    return (labels[:, None] == np.arange(k)[None, :]).astype(np.float64)


def cross_entropy_labels(p, labels):
    n = p.shape[0]
    loss = np.zeros(n)
    for i in range(n):
        loss[i] = -np.log(p[i, labels[i]])
    return loss


def embedding(table, ids):
    return table[ids, :]


def attention(q, k, v):
    scores = q @ k.T * (1.0 / np.sqrt(k.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def conv2d_strided(x, w, bias, stride):
    """Patches that a stride of the caller's places."""
    n, _, height, width = x.shape
    f, _, kh, kw = w.shape
    rows, columns = (height - kh) // stride + 1, (width - kw) // stride + 1
    out = np.zeros((n, f, rows, columns))
    for i in range(rows):
        for j in range(columns):
            y, z = i * stride, j * stride
            patch = x[:, :, y : y + kh, z : z + kw]
            out[:, :, i, j] = np.tensordot(patch, w, axes=([1, 2, 3], [1, 2, 3])) + bias
    return out
