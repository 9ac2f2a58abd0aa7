"""Kernels with one race each, whose two lines end in `# race`, and kernels without."""

from numba import cuda, float32, int32

N = 64


@cuda.jit
def no_barrier_after_filling(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    held[t] = x[t]  # race
    out[t] = held[N - 1 - t]  # race


@cuda.jit
def no_barrier_before_refilling(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    for start in range(0, x.size, N):
        held[t] = x[start + t]  # race
        cuda.syncthreads()
        out[start + t] = held[(t + 1) % N]  # race


@cuda.jit
def no_atomic(x, out):
    i = cuda.grid(1)
    out[0] += x[i]  # race


@cuda.jit
def neighbours_in_place(x, out):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        left = x[i - 1]  # race
        x[i] = left / 2  # race


@cuda.jit
def no_barrier_in_the_loop(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    held[t] = x[t]
    cuda.syncthreads()
    width = N // 2
    while width > 0:
        if t < width:
            other = held[t + width]  # race
            held[t] = held[t] + other  # race
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = held[0]


@cuda.jit
def trusts_the_warp(x, out):
    held = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t >= 32:
        return
    held[t] = x[t]
    cuda.syncwarp()
    if t < 16:
        other = held[t + 8]  # race
        held[t] = held[t] + other  # race


@cuda.jit
def clears_while_others_count(x, out):
    counts = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        counts[t] = 0  # race
    cuda.atomic.add(counts, t % 8, 1)  # race
    cuda.syncthreads()
    if t < 8:
        out[t] = counts[t]


@cuda.jit
def blocks_that_do_not_wait(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2  # race
    cuda.syncthreads()
    x[i] = out[(i + N) % out.size]  # race


@cuda.jit
def two_write_one(x, out):
    i = cuda.grid(1)
    out[i // 2] = x[i]  # race


@cuda.jit(device=True)
def total(value, held):
    t = cuda.threadIdx.x
    held[t] = value  # race
    cuda.syncthreads()
    width = N // 2
    while width > 0:
        if t < width:
            held[t] += held[t + width]
        cuda.syncthreads()
        width //= 2
    return held[0]  # race


@cuda.jit
def scratch_used_again(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    out[t] = total(x[t], held) + total(x[t] * 2, held)


@cuda.jit
def rows_and_columns(x, out):
    tile = cuda.shared.array((8, 8), float32)
    i, j = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    tile[i, j] = x[i * 8 + j]  # race
    cuda.syncwarp()
    out[i * 8 + j] = tile[j, i]  # race


# -- none here -----------------------------------------------------------------------------


@cuda.jit
def right_reduction(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    held[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    width = N // 2
    while width > 0:
        if t < width:
            held[t] += held[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        cuda.atomic.add(out, 0, held[0])


@cuda.jit
def right_refilling(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    for start in range(0, x.size, N):
        held[t] = x[start + t]
        cuda.syncthreads()
        if cuda.blockIdx.x == 0:
            out[start + t] = held[(t + 1) % N]
        cuda.syncthreads()


@cuda.jit
def right_histogram(x, out):
    counts = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, int32(x[cuda.grid(1)] * 8), 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, counts[t])


@cuda.jit
def right_warp(x, out):
    held = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    held[t] = x[t]
    cuda.syncwarp()
    width = 16
    while width > 0:
        other = held[t + width] if cuda.laneid < width else float32(0)
        cuda.syncwarp()
        held[t] += other
        cuda.syncwarp()
        width //= 2
    if cuda.laneid == 0 and cuda.blockIdx.x == 0:
        out[t // 32] = held[t]


@cuda.jit
def right_shuffles(x, out):
    i = cuda.grid(1)
    value = x[i]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(-1, value, step)
    out[i] = value


@cuda.jit
def right_grid(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(3):
        out[i] = x[(i + N) % x.size]
        grid.sync()
        x[i] = out[i] / 2
        grid.sync()


@cuda.jit
def right_flag(x, out):
    """Many threads set one flag: whoever is first, it is set."""
    i = cuda.grid(1)
    if x[i] > 0.25:
        out[0] = 1


@cuda.jit
def right_scan(x, out):
    held = cuda.shared.array((2, N), float32)
    t = cuda.threadIdx.x
    held[0, t] = x[t]
    cuda.syncthreads()
    now, step = 0, 1
    while step < N:
        value = held[now, t]
        if t >= step:
            value += held[now, t - step]
        now = 1 - now
        held[now, t] = value
        cuda.syncthreads()
        step *= 2
    if cuda.blockIdx.x == 0:
        out[t] = held[now, t]


@cuda.jit
def right_last_block(x, out):
    """The last block adds up what all left, ordered by a fence and a counter."""
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        out[1 + cuda.blockIdx.x] = x[cuda.grid(1)]
        cuda.threadfence()
        last[0] = cuda.atomic.add(out, out.size - 1, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] == 1 and t == 0:
        for k in range(cuda.gridDim.x):
            out[0] += out[1 + k]


@cuda.jit
def right_votes(x, out):
    i = cuda.grid(1)
    lane = cuda.laneid
    mask = cuda.ballot_sync(-1, x[i] > 0.5)
    before = cuda.popc(mask & ((1 << lane) - 1))
    first = i - lane
    if x[i] > 0.5:
        out[first + before] = x[i]
    count = cuda.syncthreads_count(x[i] > 0.5)
    if cuda.threadIdx.x == 0 and cuda.popc(mask) == 0:
        out[first] = count


@cuda.jit
def right_tiles(x, out):
    """One array as two factors, a product by tiles."""
    left = cuda.shared.array((8, 8), float32)
    right = cuda.shared.array((8, 8), float32)
    i, j = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    value = float32(0)
    for k in range(2):
        left[i, j] = x[i * 16 + k * 8 + j]
        right[i, j] = x[(k * 8 + i) * 8 + j]
        cuda.syncthreads()
        for s in range(8):
            value += left[i, s] * right[s, j]
        cuda.syncthreads()
    out[cuda.grid(1)] = value
