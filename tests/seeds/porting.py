"""Porting in stages: object mode, lifted loops, kernels, streams, generators, interfaces."""

import hashlib
import time
from ctypes import CDLL, POINTER, byref, c_size_t, c_void_p
from math import floor

import cupy
import numpy as np
from numba import cuda, jit
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@jit
def digest(x):
    # Numba can lift this loop
    for i in range(len(x)):
        x[i] = x[i] ** 2
    # and not this call
    return hashlib.md5(x).digest()


x = np.arange(100)
digest(x)


@jit(nopython=True)
def squares(x):
    for i in range(len(x)):
        x[i] = x[i] ** 2


@jit
def digest_outlined(x):
    squares(x)
    return hashlib.md5(x).digest()


@jit
def rows_by_mean(x):
    for i in range(x.shape[0]):
        x[i, :] = x[i, :] / x[i, :].mean()


@cuda.jit
def rows_by_mean_cuda(x):
    i = cuda.grid(1)

    x[i, :] = x[i, :] / x[i, :].mean()


x = np.arange(32 * 3).astype(np.float32).reshape((32, 3))
rows_by_mean_cuda[1, 32](x)


@cuda.jit
def rows_by_mean_scalar(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        mean = np.float32(0)
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= x.shape[1]
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] / mean


def rows_by_mean_cupy(x):
    x /= cupy.mean(x, axis=1, keepdims=True)


@cuda.jit
def increment(data, by):
    i = cuda.grid(1)
    data[i] = data[i] + by


stream = cuda.stream()
n = 16 * 1024 * 1024
a = cuda.pinned_array(n, dtype=np.int32)
a[:] = 0
d_a = cuda.device_array_like(a, stream)
threads = 512
blocks = n // threads
start = cuda.event()
stop = cuda.event()
value = 26
increment[blocks, threads, stream](d_a, -value)
increment[blocks, threads, stream](d_a, value)

cuda.synchronize()
begun = time.time()
start.record(stream=stream)
d_a.copy_to_device(a, stream=stream)
increment[blocks, threads, stream](d_a, value)
d_a.copy_to_host(a)
stop.record(stream=stream)
ended = time.time()
turns = 0
while not stop.query():
    turns += 1
print(start.elapsed_time(stop), (ended - begun) * 1000, turns)


@cuda.jit
def pi_parts(states, iterations, out):
    thread = cuda.grid(1)
    inside = 0
    for i in range(iterations):
        u = xoroshiro128p_uniform_float32(states, thread)
        v = xoroshiro128p_uniform_float32(states, thread)
        if u**2 + v**2 <= 1.0:
            inside += 1
    out[thread] = 4.0 * inside / iterations


threads = 64
blocks = 24
states = create_xoroshiro128p_states(blocks * threads, seed=1)
out = np.zeros(threads * blocks, dtype=np.float32)
pi_parts[blocks, threads](states, 10000, out)
print(out.mean())


@cuda.reduce
def total(a, b):
    return a + b


values = np.arange(1234, dtype=np.float64) + 1
total(values)
kept = cuda.device_array(1, dtype=np.float64)
total(values, res=kept)
d_values = cuda.to_device(values)
total(d_values, res=kept)
assert np.allclose(values, d_values.copy_to_host())


@cuda.jit(device=True)
def nearest(x):
    """Round to the nearest integer, halves to even."""
    low = floor(x)
    rest = x - low

    if rest > 0.5:
        low += 1.0
    if rest == 0.5:
        rest = low - 2.0 * floor(0.5 * low)
        if rest == 1.0:
            low += 1.0
    return low


@cuda.jit
def round_all(column, out, decimals):
    i = cuda.grid(1)
    f = 10**decimals

    if i < column.size:
        moved = column[i] * f
        moved = nearest(moved)
        out[i] = moved / f


d_in = cuda.to_device(np.random.random(10))
d_out = cuda.device_array_like(d_in)
round_all.forall(len(d_in))(d_in, d_out, 3)
print(d_in.copy_to_host(), d_out.copy_to_host())


@jit(nopython=True)
def add_trace(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


square = np.arange(4096).astype(np.float64).reshape((64, 64))
first = time.time()
add_trace(square)
last = time.time()
print("compiled and run in", last - first)
first = time.time()
add_trace(square)
last = time.time()
print("run in", last - first)


@cuda.jit
def add(x, y, out):
    first = cuda.grid(1)
    step = cuda.gridsize(1)
    for i in range(first, x.shape[0], step):
        out[i] = x[i] + y[i]


c = cupy.arange(10)
d = c * 2
e = cupy.zeros_like(c)
add[1, 32](c, d, e)
print(c + d, e)


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < len(x):
        x[i] += 1


d_x = cuda.to_device(np.arange(10))
view = cupy.asarray(d_x)
add_one[1, 32](d_x)
view.mean()

FLOAT32_SIZE = 4
cudart = CDLL("libcudart.so")
cudaMalloc = cudart.cudaMalloc
cudaMalloc.argtypes = [POINTER(c_void_p), c_size_t]
cudaFree = cudart.cudaFree
cudaFree.argtypes = [c_void_p]


class Floats:
    """Memory on the device for as long as the object lives."""

    def __init__(self, size):
        self._size = size
        self._typestr = "f4"
        self._pointer = c_void_p()
        error = cudaMalloc(byref(self._pointer), size * FLOAT32_SIZE)
        if error:
            raise RuntimeError(f"cudaMalloc returned {error}")

    def __del__(self):
        cudaFree(self._pointer)

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": (self._size,),
            "typestr": self._typestr,
            "data": (self._pointer.value, False),
            "version": 2,
        }


floats = Floats(32)


@cuda.jit
def fill(x):
    i = cuda.grid(1)
    if i < len(x):
        x[i] = 3.14


fill[1, 32](floats)
print(cuda.as_cuda_array(floats).copy_to_host())
