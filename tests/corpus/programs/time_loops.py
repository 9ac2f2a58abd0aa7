"""Steps in time on the host around array work."""

import numpy as np


def heat_1d(u0, k, n_steps):
    u = u0.copy()
    for _ in range(n_steps):
        un = u.copy()
        u[1:-1] = un[1:-1] + k * (un[2:] - 2 * un[1:-1] + un[:-2])
    return u


def heat_rebind(u, alpha, steps):
    """A new array every step."""
    for _ in range(steps):
        lap = np.zeros_like(u)
        lap[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        u = u + alpha * lap
    return u


def wave(u_prev, u, c2, steps):
    """Three buffers that rotate."""
    u_next = np.zeros_like(u)
    for _ in range(steps):
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + c2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev, u, u_next = u, u_next, u_prev
    return u


def wave_rebind_names(u_prev, u, c2, steps):
    for _ in range(steps):
        u_next = np.zeros_like(u)
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + c2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev = u
        u = u_next
    return u


def jacobi_1d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(tsteps, A, B):
    for _ in range(tsteps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )


def fdtd(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def oscillators(x, v, dt, steps):
    """Independent systems, many steps: nothing crosses threads."""
    for _ in range(steps):
        v = v - dt * x
        x = x + dt * v
    return x, v


def logistic_map(r, n):
    x = np.full(r.shape, 0.5)
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def power_iteration(a, x, n):
    for _ in range(n):
        y = a @ x
        x = y / np.linalg.norm(y)
    return x


def relax_until(u, tol, max_steps):
    """Host control flow by a reduction on the device."""
    steps = 0
    change = tol + 1.0
    while change > tol and steps < max_steps:
        new = u.copy()
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        change = np.abs(new - u).max()
        u = new
        steps += 1
    return u, steps


def gray_scott(u, v, feed, kill, steps):
    for _ in range(steps):
        lu = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        lv = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
        uvv = u * v * v
        u = u + 0.16 * lu - uvv + feed * (1 - u)
        v = v + 0.08 * lv + uvv - (feed + kill) * v
    return u, v


def heat_loops(u, alpha, steps):
    n, m = u.shape
    new = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + alpha * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                )
        u, new = new, u
    return u


def heat_with_borders(T, steps, hot=1.0):
    """Boundary conditions inside the loop."""
    for _ in range(steps):
        T[1:-1, 1:-1] = 0.25 * (T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2])
        T[0, :] = hot
        T[-1, :] = T[-2, :]
        T[:, 0] = T[:, 1]
        T[:, -1] = 0.0
    return T


def euler_pendulum(theta, omega, dt, steps):
    for _ in range(steps):
        theta, omega = theta + dt * omega, omega - dt * np.sin(theta)
    return theta, omega


def record_means(x, steps):
    """One number per step into an array."""
    history = np.zeros(steps)
    for t in range(steps):
        x = 0.9 * x + 0.1 * np.roll(x, 1)
        history[t] = x[0]
    return history, x


def advect_burgers(u, dt, dx, nt):
    for _ in range(nt):
        un = u.copy()
        u[1:] = un[1:] - dt / dx * un[1:] * (un[1:] - un[:-1])
        u[0] = 1.0
    return u


def cavity_pressure(p, b, dx, dy, nit):
    pn = np.empty_like(p)
    for _ in range(nit):
        pn[:] = p
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def lattice_boltzmann(F, solid, tau, n):
    """Flow around a solid on nine populations of a cell (Mocz, "Create Your Own Lattice Boltzmann
    Simulation", 2020)."""
    right = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
    down = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
    weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])
    for _ in range(n):
        for i, cx, cy in zip(range(9), right, down, strict=True):
            F[:, :, i] = np.roll(F[:, :, i], cx, axis=1)
            F[:, :, i] = np.roll(F[:, :, i], cy, axis=0)
        bounced = F[solid, :]
        bounced = bounced[:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
        rho = np.sum(F, 2)
        ux = np.sum(F * right, 2) / rho
        uy = np.sum(F * down, 2) / rho
        balance = np.zeros(F.shape)
        for i, cx, cy, w in zip(range(9), right, down, weights, strict=True):
            along = cx * ux + cy * uy
            balance[:, :, i] = (
                rho * w * (1 + 3 * along + 9 * along**2 / 2 - 3 * (ux**2 + uy**2) / 2)
            )
        F += -(1.0 / tau) * (F - balance)
        F[solid, :] = bounced
    return F
