"""The same things said otherwise."""

import numpy as np
from numpy import dot, newaxis, ones, zeros
from numpy import maximum as vmax


def sum_method_dtype(x):
    return x.sum(axis=1, dtype=np.float64)


def add_reduce(x):
    return np.add.reduce(x, axis=1)


def maximum_reduce(x):
    return np.maximum.reduce(x, axis=0)


def amax_amin(x):
    return np.amax(x, axis=1) - np.amin(x, axis=1)


def norm_keepdims(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def norm_one(x):
    return np.linalg.norm(x, ord=1, axis=1)


def norm_inf(x):
    return np.linalg.norm(x, np.inf)


def einsum_rows(a, b):
    return np.einsum("ij,ij->i", a, b)


def einsum_matmul(a, b):
    return np.einsum("ik,kj->ij", a, b)


def inner_vectors(x, y):
    return np.inner(x, y)


def vdot_vectors(x, y):
    return np.vdot(x, y)


def asarray_first(x):
    x = np.asarray(x)
    return x * 2.0


def astype_first(x):
    x = x.astype(np.float64)
    return x / 3


def astype_string(x):
    return x.astype("float32") * 2


def coded_dtypes(x):
    """The codes of NumPy's dtypes: kinds with sizes, byte orders, and those of C's types."""
    a = np.zeros(len(x), "i")
    a[:] = x * 3
    return a + x.astype("<f4") * np.ones(len(x), dtype="f8") + x.astype("=i2"), a > x.astype("d")


def zeros_dtype_float(n: int, m: int):
    a = np.zeros((n, m), float)
    a[:, 0] = 1
    return a


def ones_like_times(x):
    return np.ones_like(x) * x.mean()


def full_like_store(x):
    out = np.full_like(x, 2)
    out[1:] = x[:-1]
    return out


def float32_constants(x):
    a = np.float32(0.5)
    return x * a + np.float32(2)


def transposed_mean(x):
    return x.T.mean(axis=1)


def reshape_rows(x, w: int):
    return x.reshape(-1, w).sum(axis=1)


def ravel_sum(a):
    return a.ravel() * 2


def flatten_dot(a, b):
    return np.dot(a.flatten(), b.flatten())


def squeeze_column(a):
    return np.squeeze(a[:, :1]) + 1


def expand(x):
    return np.expand_dims(x, 1) + np.expand_dims(x, 0)


def swap_and_sum(t):
    return np.swapaxes(t, 0, 1).sum(axis=2)


def transpose_axes(t):
    return np.transpose(t, (2, 0, 1)) * 1.5


def stack_two(x, y):
    return np.stack((x, y), axis=1)


def concatenate_three(x, y):
    return np.concatenate((x, y, x))


def vstack_rows(x, y):
    return np.vstack([x, y])


def pad_zeros(x):
    return np.pad(x, 1)


def pad_edge_average(x):
    p = np.pad(x, 1, mode="edge")
    return (p[:-2] + p[1:-1] + p[2:]) / 3


def flip_functions(a):
    return np.flip(a, axis=0) + np.fliplr(a)


def tile_and_repeat(x):
    return np.repeat(x, 2) + np.tile(x, 2)


def meshgrid_radius(x, y):
    X, Y = np.meshgrid(x, y)
    return np.sqrt(X**2 + Y**2)


def triangle(a):
    return np.triu(a) + np.tril(a, -1) * 2


def cumulative(x):
    return np.cumsum(x)


def running_rows(x):
    return np.cumsum(x, axis=1)


def outer_difference(x, y):
    return np.subtract.outer(x, y)


def relu_import(x):
    return vmax(x, zeros(x.shape))


def affine_import(a, x):
    return dot(a, x) + ones(a.shape[0])


def newaxis_import(x, y):
    return x[:, newaxis] - y[newaxis, :]


def out_argument(x, y):
    np.multiply(x, 2.0, out=y)
    np.add(y, 1.0, out=y)


def out_reuse(x):
    y = np.exp(x)
    np.sqrt(y, out=y)
    return y


def isclose_to_zero(x):
    return np.abs(x) < 1e-8


def nan_reductions(x):
    return np.nansum(x), np.nanmax(x)


def ptp_rows(x):
    return np.ptp(x, axis=1)


def average_weights(x, w):
    return np.average(x, weights=w)


def power_operator(x, y):
    return x**y + x**0.5 + x**-1 + 2.0**y


def mod_float(x, y):
    return x % y + np.fmod(x, y) + x // y


def float_of_bool(x):
    return (x > 0).mean()


def comparison_chain(x):
    return (x >= 0) == (x <= 1)


def lambda_inside(x):
    f = lambda t: t * t + 1  # noqa: E731
    return f(x)


def nested_function(x, a):
    def shifted(v):
        return v - a

    return shifted(x) * shifted(x)


def any_axis_tuple(t):
    return t.max(axis=(0, 2))


def multiple_targets(x):
    a, b, c = x, x * 2, x + 1
    return a + b * c


def item_assignment_scalar(x):
    x[0], x[-1] = x[-1], x[0]


def slice_variables(x, i: int, j: int):
    return x[i:j] * 2


def negative_step_slice(x):
    return x[::-2] + 1


def last_rows(x):
    return x[-2:] - x[:2]


def diag_values(a):
    return np.diag(a) * 2 + np.trace(a)


def round_decimals(x):
    return np.round(x, 2)


def in_the_common_dtype(x, y):
    out = np.empty(x.shape, dtype=np.result_type(x, y, np.float32))
    out[:] = x * y
    return out


def sums_in_a_wider_dtype(x):
    out = np.zeros(x.shape[1], dtype=np.promote_types(x.dtype, int))
    for c in range(x.shape[1]):
        out[c] = np.nansum(x[:, c])
    return out
