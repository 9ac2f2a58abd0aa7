"""Numba's basics: a sort compiled in several ways, ufuncs, kernels in one and two dimensions."""

import math
import os

import numpy as np

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
from numba import cuda, float32, float64, int32, jit, vectorize

ordered = np.arange(0.0, 10.0, 0.01, dtype="f4")
mixed = ordered.copy()
np.random.shuffle(mixed)


def bubble(a):
    n = len(a)
    for last in range(n, 1, -1):
        for i in range(last - 1):
            here = a[i]
            if here > a[i + 1]:
                kept = a[i]
                a[i] = a[i + 1]
                a[i + 1] = kept


result = mixed.copy()
bubble(result)


@cuda.jit
def bubble_cuda(a):
    n = len(a)
    for last in range(n, 1, -1):
        for i in range(last - 1):
            here = a[i]
            if here > a[i + 1]:
                kept = a[i]
                a[i] = a[i + 1]
                a[i + 1] = kept


@jit(float64(int32, int32))
def third(x, y):
    return (x + y) / 3.14


@jit("void(f4[:])", nopython=True)
def bubble_nopython(a):
    n = len(a)
    for last in range(n, 1, -1):
        for i in range(last - 1):
            here = a[i]
            if here > a[i + 1]:
                kept = a[i]
                a[i] = a[i + 1]
                a[i + 1] = kept


@vectorize([float32(float32, float32)], target="parallel", fastmath=True)
def plus(x, y):
    total = x + y
    return total


print(plus(np.random.rand(3, 2).astype(np.float32), np.random.rand(3, 2).astype(np.float32)))


@cuda.jit
def increment(data):
    i = cuda.grid(1)
    if i < data.size:
        data[i] += 1


data = np.ones(256)
threads_per_block = 32
blocks_per_grid = (data.size + (threads_per_block - 1)) // threads_per_block
increment[blocks_per_grid, threads_per_block](data)
print(data)


@cuda.jit
def double(data):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    width = cuda.blockDim.x
    i = thread + block * width
    if i < data.size:
        data[i] *= 2


double[blocks_per_grid, threads_per_block](data)
print(data)


@cuda.jit
def double_2d(data):
    row, column = cuda.grid(2)
    if row < data.shape[0] and column < data.shape[1]:
        data[row][column] *= 2


table = np.ones((1024, 1024))
threads = (64, 16)
blocks_x = int(math.ceil(table.shape[0] / threads[0]))
blocks_y = int(math.ceil(table.shape[1] / threads[1]))
blocks = (blocks_x, blocks_y)
double_2d[blocks, threads](table)
print(table)

a = np.ones(100, dtype=np.float64)
b = np.ones(100, dtype=np.float64)


@cuda.jit(device=True)
def grow(a, b):
    for i in range(2):
        a = math.exp(a * b)
    return a


@cuda.jit
def grow_all(a, b, result):
    i = cuda.grid(1)
    if (i < a.shape[0]) and (i < b.shape[0]):
        result[i] = grow(a[i], b[i])


grown = np.zeros(100, dtype=np.float64)
threads_per_block = 32
blocks_per_grid = (a.shape[0] + (threads_per_block - 1)) // threads_per_block
grow_all[threads_per_block, blocks_per_grid](a, b, grown)

table = np.ones((1024, 1024))
cuda.synchronize()
d_table = cuda.to_device(table)
double_2d[blocks, threads](d_table)
cuda.synchronize()
print(d_table.copy_to_host())
