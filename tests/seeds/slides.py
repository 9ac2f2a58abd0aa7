"""The exercises of the slides: a matrix product, and a vector's norm in shared memory."""

import math

import numpy as np
from numba import cuda, float32

THREADS = 128
WEIGHTS = np.array([0.25, 0.5, 0.25], dtype=np.float32)


@cuda.jit
def matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def sum_of_squares(x, total):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    part[t] = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        part[t] += x[i] * x[i]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


@cuda.jit
def divide(x, total):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] / math.sqrt(total[0])


@cuda.jit
def blur(x, out):
    weights = cuda.const.array_like(WEIGHTS)
    near = cuda.local.array(3, float32)
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        for k in range(3):
            near[k] = weights[k] * x[i - 1 + k]
        out[i] = near[0] + near[1] + near[2]


def product(a, b):
    d_a = cuda.to_device(a)
    d_b = cuda.to_device(b)
    d_c = cuda.device_array((a.shape[0], b.shape[1]), dtype=np.float32)
    threads = (16, 16)
    blocks = ((b.shape[1] + 15) // 16, (a.shape[0] + 15) // 16)
    matmul[blocks, threads](d_a, d_b, d_c)
    return d_c.copy_to_host()


def normalize(x):
    d_x = cuda.to_device(x)
    d_total = cuda.to_device(np.zeros(1, dtype=np.float32))
    blocks = (x.size + THREADS - 1) // THREADS
    sum_of_squares[blocks, THREADS](d_x, d_total)
    divide[blocks, THREADS](d_x, d_total)
    return d_x.copy_to_host()
