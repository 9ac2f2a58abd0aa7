"""Kernels written by hand that the tests run on the emulator."""

import math

import numpy as np
from numba import cuda, float32, int32
from numba.cuda.random import xoroshiro128p_uniform_float32

BINS = 16
TABLE = np.array([1.0, 10.0, 100.0])


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit(device=True)
def block_sum(value, scratch):
    thread = cuda.threadIdx.x
    scratch[thread] = value
    cuda.syncthreads()
    width = cuda.blockDim.x // 2
    while width > 0:
        if thread < width:
            scratch[thread] += scratch[thread + width]
        cuda.syncthreads()
        width //= 2
    result = scratch[0]
    cuda.syncthreads()
    return result


@cuda.jit(device=True)
def block_mean(value, scratch):
    if cuda.blockDim.x == 1:
        return value
    return block_sum(value, scratch) / cuda.blockDim.x


@cuda.jit
def row_sums(x, out):
    scratch = cuda.shared.array(128, x.dtype)
    for i in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        total = x.dtype.type(0)
        for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
            total += x[i, j]
        total = block_sum(total, scratch)
        if cuda.threadIdx.x == 0:
            out[i] = total


@cuda.jit
def means(x, out):
    scratch = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    out[i] = block_mean(x[i], scratch) + block_mean(x[i] * 2, scratch)


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        tile[ty, tx] = x[i, j]
    cuda.syncthreads()
    i, j = cuda.blockIdx.x * 8 + ty, cuda.blockIdx.y * 8 + tx
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[tx, ty]


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(BINS, int32)
    for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        counts[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i], 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(out, k, counts[k])


@cuda.jit
def atomics(x, out, old):
    i = cuda.grid(1)
    old[0, i] = cuda.atomic.add(out, 0, x[i])
    old[1, i] = cuda.atomic.sub(out, 1, x[i])
    old[2, i] = cuda.atomic.max(out, 2, x[i])
    old[3, i] = cuda.atomic.min(out, (3,), x[i])
    old[4, i] = cuda.atomic.exch(out, 4, x[i])
    old[5, i] = cuda.atomic.cas(out, 5, -1, x[i])


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else x.dtype.type(0)
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit
def shuffles(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[0, i] = cuda.shfl_sync(-1, v, 3)
    out[1, i] = cuda.shfl_up_sync(-1, v, 2)
    out[2, i] = cuda.shfl_down_sync(-1, v, 1)
    out[3, i] = cuda.shfl_xor_sync(-1, v, 1)
    if cuda.laneid < 8:
        out[4, i] = cuda.shfl_sync(0xFF, v, 7)
    else:
        out[4, i] = cuda.shfl_xor_sync(0xFFFFFF00, v, 16)


@cuda.jit
def votes(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[0, i] = cuda.all_sync(-1, v > 0)
    out[1, i] = cuda.any_sync(-1, v > 5)
    out[2, i] = cuda.ballot_sync(-1, v == 2)
    out[3, i] = cuda.match_any_sync(-1, v)
    mask, same = cuda.match_all_sync(-1, v)
    out[4, i] = mask
    out[5, i] = same
    out[6, i] = cuda.syncthreads_count(v == 2)
    out[7, i] = cuda.syncthreads_and(v > 0)
    out[8, i] = cuda.syncthreads_or(v > 5)
    out[9, i] = cuda.eq_sync(-1, v == 2)
    if v == 2:
        out[10, i] = cuda.activemask()
    cuda.syncwarp()
    out[11, i] = cuda.popc(v) + cuda.clz(int32(v)) + cuda.ffs(v)


@cuda.jit
def smooth(a, b, steps):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(steps):
        if 0 < i < a.size - 1:
            b[i] = (a[i - 1] + a[i + 1]) / 2
        grid.sync()
        if 0 < i < a.size - 1:
            a[i] = b[i]
        grid.sync()


@cuda.jit
def running(x, out):
    """Local arrays, views, tuples, negative indices, loops that end early."""
    window = cuda.local.array(4, float32)
    place = cuda.grid(2)
    i = place[0]
    if i >= x.shape[0]:
        return
    row = x[i]
    for k in range(4):
        window[k] = row[k]
    best, total = window[0], float32(0)
    for k in range(row.size):
        if row[k] < 0:
            continue
        if row[k] > 90:
            break
        total += row[k]
        best = max(best, window[k % 4])
    out[i, 0], out[i, -1] = total, best
    out[i, 1] = out[i, 2] = x[i, 1:3][1] * TABLE[1] + math.floor(2.5)


@cuda.jit
def dynamic(x, out):
    held = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    held[t] = x[t]
    cuda.syncthreads()
    out[t] = held[cuda.blockDim.x - 1 - t]


@cuda.jit
def share_of_circle(states, tries, out):
    i = cuda.grid(1)
    hits = 0
    for _ in range(tries):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            hits += 1
    out[i] = 4.0 * hits / tries


@cuda.jit
def types(x, n, out):
    """What Numba's typing gives where NumPy's rules give something else."""
    i = cuda.grid(1)
    out[0] = x[i] * 2.0 + 1e-9
    out[1] = (n + n) // 1
    out[2] = math.sqrt(float32(2.0))
    out[3] = n / 0
    out[4] = cuda.fma(0.1, 10.0, -1.0)
    pair = (n, 2.5, x)
    out[6] = pair[1] + pair[-1][i] + pair[0] * 0
    out[5] = math.fmod(-x[i] * 7, 4) + math.fmod(float32(5.5), float32(2))


@cuda.jit
def beyond(x):
    i = cuda.grid(1)
    x[i + 1] = i


@cuda.jit
def divergent(x):
    i = cuda.threadIdx.x
    if i < 7:
        cuda.syncthreads()
    else:
        x[i] = 1
        cuda.syncthreads()


@cuda.jit
def early(x):
    i = cuda.threadIdx.x
    if i > 7:
        return
    cuda.syncthreads()
    x[i] = 1


@cuda.jit
def half_warp(x):
    i = cuda.threadIdx.x
    if i % 2:
        x[i] = cuda.shfl_sync(-1, x[i], 0)
    cuda.syncthreads()


@cuda.jit
def uneven(x):
    for _ in range(1 + cuda.threadIdx.x % 2):
        cuda.syncthreads()
    x[cuda.threadIdx.x] = 1


@cuda.jit
def parted(x):
    if cuda.blockIdx.x == 0:
        return
    cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = 1


@cuda.jit
def unknown(x):
    x[0] = cuda.libdevice.sinf(x[0])


@cuda.jit
def recursive(x):
    x[0] = factorial(x[0])


@cuda.jit(device=True)
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@cuda.jit
def too_much(x):
    big = cuda.shared.array((1000, 100), float32)
    big[0, 0] = 1
    x[0] = big[0, 0]


@cuda.jit
def quotients(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] / y[i]


@cuda.jit
def unwritten(out):
    held = cuda.shared.array(4, float32)
    own = cuda.local.array(2, int32)
    out[0] = held[1]
    out[1] = own[1]
