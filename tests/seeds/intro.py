"""The introduction to CUDA Python: functions for the CPU, ufuncs, device functions, transfers."""

import math
import random

import numpy as np
from matplotlib import pyplot as plt
from numba import cuda, guvectorize, jit, njit, vectorize


@jit
def hypotenuse(a, b):
    a = abs(a)
    b = abs(b)
    small = min(a, b)
    a = max(a, b)
    small = small / a
    return a * math.sqrt(1 + small * small)


hypotenuse(3.0, 4.0)


@jit
def estimate_pi(samples):
    inside = 0
    for _ in range(samples):
        u = random.random()
        v = random.random()
        if (u**2 + v**2) < 1.0:
            inside += 1
    return 4.0 * inside / samples


@jit
def lookup_jit(table):
    return table["key"]


lookup_jit(dict(key="value"))


@jit(nopython=True)
def lookup_nopython(table):
    return table["key"]


lookup_nopython(dict(key="value"))


@njit
def lookup_njit(table):
    return table["key"]


lookup_njit(dict(key="value"))


@vectorize
def plus_ten(number):
    return number + 10


p = np.array([1, 2, 3, 4])
q = np.array([10, 20, 30, 40])
r = np.arange(4 * 4).reshape((4, 4))
plus_ten(np.arange(10))


@vectorize(["int64(int64, int64)"], target="cuda")
def plus(a, b):
    return a + b


plus(p, q)
plus(q, r)

ROOT_2PI = np.float32((2 * math.pi) ** 0.5)


@vectorize(["float32(float32, float32, float32)"], target="cuda")
def bell(x, centre, width):
    """The density of the normal distribution."""
    return math.exp(-0.5 * ((x - centre) / width) ** 2) / (width * ROOT_2PI)


@vectorize
def cpu_bell(x, centre, width):
    """The density of the normal distribution, for the CPU."""
    return math.exp(-0.5 * ((x - centre) / width) ** 2) / (width * ROOT_2PI)


values = np.random.uniform(-3, 3, size=1000000).astype(np.float32)
bell(values, np.float32(0.0), np.float32(1.0))


@cuda.jit(device=True)
def cartesian(radius, angle):
    x = radius * math.cos(angle)
    y = radius * math.sin(angle)
    return x, y


@vectorize(["float32(float32, float32, float32, float32)"], target="cuda")
def distance(r1, a1, r2, a2):
    x1, y1 = cartesian(r1, a1)
    x2, y2 = cartesian(r2, a2)
    return ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5


@vectorize
def suppress(value, threshold):
    if value < threshold:
        result = 0
    else:
        result = value
    return result


@vectorize(["int16(int16, int16)"], target="cuda")
def suppress_cuda(value, threshold):
    if value < threshold:
        result = 0
    else:
        result = value
    return result


@vectorize(["float32(float32, float32)"], target="cuda")
def add(a, b):
    return a + b


n = 100000
noise = (np.random.normal(size=n) * 3).astype(np.float32)
t = np.arange(n, dtype=np.float32)
t_device = cuda.to_device(t)
noise_device = cuda.to_device(noise)
out_device = cuda.device_array(shape=(n,), dtype=np.float32)
add(t_device, noise_device, out=out_device)
print(out_device.copy_to_host()[:10])


@vectorize(["float32(float32, float32, float32)"], target="cuda")
def pulses(i, period, amplitude):
    return max(math.sin(i / period) - 0.3, 0.0) * amplitude


period = n / 23
train = pulses(t, period, 100.0)
signal = add(train, noise)
plt.plot(signal)

kept = pulses(t, period, 100.0, out=out_device)
add(kept, noise, out=out_device)
signal = out_device.copy_to_host()


@guvectorize(["(float32[:], float32[:])"], "(i)->()", target="cuda")
def length(vector, out):
    total = 0.0
    for value in vector:
        total += value**2
    out[0] = math.sqrt(total)


angles = np.random.uniform(-np.pi, np.pi, 10)
points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
print(length(points))
