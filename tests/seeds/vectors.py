"""Numba for GPUs: a vector addition, with its data on the device."""

import numba.cuda as cuda
import numpy as np


@cuda.jit
def _add_vectors(z, x, y):
    """One thread adds one element."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i >= n:
        return

    z[i] = x[i] + y[i]


n = 1000
x = np.random.rand(n)
y = np.random.rand(n)

d_x = cuda.to_device(x)
d_y = cuda.to_device(y)
d_z = cuda.device_array_like(x)

block_size = 128
num_blocks = n // block_size
if n % block_size:
    num_blocks += 1

_add_vectors[num_blocks, block_size](d_z, d_x, d_y)
result = d_z.copy_to_host()
assert np.allclose(x + y, result)
