"""Escape-time pictures, as people write them."""

import numpy as np


def mandelbrot_complex(xmin, xmax, ymin, ymax, width, height, maxiter):
    """With Python complex numbers per pixel."""
    r1 = np.linspace(xmin, xmax, width)
    r2 = np.linspace(ymin, ymax, height)
    n3 = np.zeros((height, width), dtype=np.int32)
    for i in range(height):
        for j in range(width):
            c = r1[j] + 1j * r2[i]
            z = c
            for n in range(maxiter):
                if abs(z) > 2:
                    n3[i, j] = n
                    break
                z = z * z + c
    return n3


def mandelbrot_scalar(width, height, max_iter):
    image = np.zeros((height, width), dtype=np.uint8)
    for y in range(height):
        for x in range(width):
            cr = -2.0 + 3.0 * x / width
            ci = -1.5 + 3.0 * y / height
            zr = 0.0
            zi = 0.0
            n = 0
            while zr * zr + zi * zi <= 4.0 and n < max_iter:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            image[y, x] = n
    return image


def mandel_point(x, y, max_iters):
    """Escape time of one point."""
    i = 0
    c = complex(x, y)
    z = 0.0j
    for i in range(max_iters):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return max_iters


def mandelbrot_helper(xs, ys, iters):
    out = np.zeros((ys.shape[0], xs.shape[0]), dtype=np.int64)
    for i in range(ys.shape[0]):
        for j in range(xs.shape[0]):
            out[i, j] = mandel_point(xs[j], ys[i], iters)
    return out


def julia(zr0, zi0, cr, ci, iterations):
    n, m = zr0.shape
    count = np.zeros((n, m), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            zr = zr0[i, j]
            zi = zi0[i, j]
            k = 0
            while k < iterations and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                k += 1
            count[i, j] = k
    return count


def mandelbrot_masked(c, steps):
    """Whole-array iteration with a mask of the points still bounded."""
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        alive = np.abs(z) < 2.0
        z = np.where(alive, z * z + c, z)
        count += alive
    return count


def mandelbrot_mask_store(C, maxiter, horizon):
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        inside = abs(Z) < horizon
        N[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    N[N == maxiter - 1] = 0  # noqa: SIM300
    return Z, N


def newton_fractal(x, y, steps):
    """Which cube root of one Newton's method finds (by sign of the imaginary part)."""
    z = x[None, :] + 1j * y[:, None]
    for _ in range(steps):
        z = z - (z**3 - 1) / (3 * z**2 + 1e-12)
    return z.imag > 0


def burning_ship(re, im, limit):
    out = np.empty(re.shape, np.int32)
    for p in range(re.shape[0]):
        x = 0.0
        y = 0.0
        for n in range(limit):  # noqa: B007
            x2 = x * x
            y2 = y * y
            if x2 + y2 > 4.0:
                break
            y = abs(2.0 * x * y) + im[p]
            x = x2 - y2 + re[p]
        else:
            n = limit
        out[p] = n
    return out
