"""Running folds written as loops."""

import numpy as np


def sums_so_far(x):
    out = np.empty_like(x)
    acc = 0.0
    for i in range(len(x)):
        acc += x[i]
        out[i] = acc
    return out


def sums_before(x):
    """Without the element itself, and the sum of all."""
    out = np.empty_like(x)
    acc = 0.0
    for i in range(len(x)):
        out[i] = acc
        acc += x[i] * x[i]
    return out, acc


def sum_in_array(x):
    out = np.zeros_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]
    return out


def row_starts(counts):
    """Where each row of a sparse matrix starts."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    for i in range(len(counts)):
        start[i + 1] = start[i] + counts[i]
    return start


def compound_growth(rates, amount):
    value = np.empty(len(rates) + 1)
    value[0] = amount
    for t in range(len(rates)):
        value[t + 1] = value[t] * (1.0 + rates[t])
    return value


def peaks_so_far(x):
    top = x.copy()
    for i in range(1, len(x)):
        top[i] = np.maximum(top[i - 1], x[i])
    return top


def counted_so_far(x):
    """A sum of what holds, and of what does not."""
    above = np.zeros(len(x))
    below = np.zeros(len(x))
    up = 0.0
    down = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            up += x[i]
        down += 1.0
        above[i] = up
        below[i] = down - up
    return above, below


def means_so_far(x):
    out = np.empty(len(x))
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
        out[i] = total / (i + 1)
    return out


def smoothed(x, a):
    """A recurrence with a factor."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + (1 - a) * x[i]
    return y


def leaky(current, decay):
    v = 0.0
    out = np.zeros(current.size)
    for t in range(current.size):
        v = v * decay + current[t]
        out[t] = v
    return out


def volatility(r, omega, a, b):
    """A GARCH(1, 1): the start is a variance of all."""
    s = np.empty_like(r)
    s[0] = r.var()
    for t in range(1, len(r)):
        s[t] = omega + a * r[t - 1] ** 2 + b * s[t - 1]
    return s


def weighted(a, b):
    """Factors of an array: those beyond 1 are not multiplied."""
    y = np.zeros_like(b)
    for i in range(1, b.size):
        y[i] = a[i] * y[i - 1] + b[i]
    return y


def decayed_then_fed(x, decay):
    v = 0.0
    out = np.empty_like(x)
    for t in range(len(x)):
        v *= decay
        v += x[t]
        out[t] = v
    return out


def delayed(y, x, a):
    """In place, and wrong if both were one array: the term would be what was just stored."""
    for i in range(1, len(y)):
        y[i] = a * y[i - 1] + x[i - 1]


def back_substituted(c, d):
    """From the end, as the Thomas algorithm does."""
    x = d.copy()
    for i in range(len(d) - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def swept(c, d, b):
    """The second sweep of the Thomas algorithm; where `b` is 0 it runs in order."""
    x = np.zeros_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(len(d) - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def differences_backwards(x):
    """In place: the old element is read where the new one is stored."""
    for i in range(x.shape[0] - 1):
        x[i + 1] = x[i + 1] - x[i]


def decayed_events(events, decay):
    """Only the last value is asked for, and only some steps change it."""
    level = events[0]
    for t in range(1, len(events)):
        if events[t] > 0:
            level = decay * level + events[t]
    return level


def congruential(seeds, start):
    """Integers that wrap around, as they do in any order."""
    state = start
    out = np.zeros(len(seeds), dtype=np.int64)
    for i in range(len(seeds)):
        state = 77 * state + seeds[i]
        out[i] = state
    return out


def drawn_towards(x, rate):
    """A step towards each element: from an infinite one it is no number."""
    out = np.zeros_like(x)
    v = 0.0
    for i in range(len(x)):
        v = v + rate * (x[i] - v)
        out[i] = v
    return out


def membrane(current, dt, tau, rest):
    """A leaky integrator, by Euler's method."""
    v = np.empty(current.size)
    v[0] = rest
    for t in range(1, current.size):
        v[t] = v[t - 1] + dt / tau * (-(v[t - 1] - rest) + 2.0 * current[t])
    return v


def drawn_twice(x, rate):
    """The old value stands in two products: what is infinite there is another sum."""
    out = np.zeros_like(x)
    v = 0.0
    for i in range(len(x)):
        v = 0.5 * v + rate * (x[i] - v)
        out[i] = v
    return out


def second_order(x, a, b):
    y = x.copy()
    for i in range(2, len(x)):
        y[i] = a * y[i - 1] + b * y[i - 2] + x[i]
    return y


def biquad(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    for n in range(2, x.shape[0]):
        y[n] = b0 * x[n] + b1 * x[n - 1] + b2 * x[n - 2] - a1 * y[n - 1] - a2 * y[n - 2]
    return y


def biquad_of_states(x, b0, b1, a1, a2):
    """Direct form II, transposed."""
    y = np.empty_like(x)
    s1 = 0.0
    s2 = 0.0
    for n in range(len(x)):
        v = x[n]
        out = b0 * v + s1
        s1 = b1 * v - a1 * out + s2
        s2 = v - a2 * out
        y[n] = out
    return y


def double_smoothing(x, alpha, beta):
    """Holt's level and trend."""
    out = np.zeros_like(x)
    level = x[0]
    trend = x[1] - x[0]
    for i in range(1, len(x)):
        before = level
        level = alpha * x[i] + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        out[i] = level + trend
    return out


def accelerated(force, dt):
    """Positions by Verlet's method."""
    x = np.zeros(force.size)
    for n in range(2, force.size):
        x[n] = 2 * x[n - 1] - x[n - 2] + dt * dt * force[n - 1]
    return x


def fibonacci(n):
    f = np.zeros(n + 2, dtype=np.int64)
    f[1] = 1
    for i in range(2, n):
        f[i] = f[i - 1] + f[i - 2]
    return f


def two_unknowns_back(d, p, q):
    """Back substitution with two diagonals."""
    x = d.copy()
    for i in range(d.shape[0] - 3, -1, -1):
        x[i] = (d[i] - p[i] * x[i + 1] - q[i] * x[i + 2]) / 2
    return x


def third_order(x, a):
    y = x.copy()
    for i in range(3, len(x)):
        y[i] = a * y[i - 1] + y[i - 3]
    return y


def sums_of_own_results(x):
    """Each sum reads what the loop stored."""
    out = np.zeros(len(x) + 1)
    acc = 0.0
    for i in range(len(x)):
        acc += out[i]
        out[i + 1] = acc + x[i]
    return out


def relative_strength(close, period):
    """Two averages that begin with means, and a range that begins at an argument."""
    change = np.diff(close)
    gain = np.where(change > 0, change, 0.0)
    loss = np.where(change < 0, -change, 0.0)
    up, down = gain[:period].mean(), loss[:period].mean()
    found = np.full(len(close), np.nan)
    for i in range(period, len(change)):
        up = (up * (period - 1) + gain[i]) / period
        down = (down * (period - 1) + loss[i]) / period
        ratio = up / down if down > 0 else np.inf
        found[i + 1] = 100 - 100 / (1 + ratio)
    return found


def sums_from(x, first):
    out = np.zeros(len(x))
    total = 0.0
    for i in range(first, len(x)):
        total += x[i]
        out[i] = total
    return out


def differences_from(x, lag):
    out = np.zeros_like(x)
    for i in range(lag, x.shape[0]):
        out[i] = x[i] - x[i - lag]
    return out


def downwards_to(x, last):
    out = np.zeros_like(x)
    for i in range(x.shape[0] - 1, last, -1):
        out[i] = x[i] * i
    return out


def highest_by_if(p):
    out = np.empty_like(p)
    high = p[0]
    for i in range(len(p)):
        if p[i] > high:
            high = p[i]
        out[i] = high
    return out


def lowest_and_its_place(p):
    out = np.empty_like(p)
    at = np.empty(len(p), np.int64)
    low = np.inf
    k = -1
    for i in range(len(p)):
        if p[i] < low:
            low = p[i]
            k = i
        out[i] = low
        at[i] = k
    return out, at


def trailing_stop(p, fraction):
    """Where prices are below the highest so far by more than a fraction."""
    high = p[0]
    out = np.zeros(len(p), np.bool_)
    for i in range(1, len(p)):
        high = p[i] if high < p[i] else high
        out[i] = p[i] < high * (1 - fraction)
    return out


def largest_of_integers(p):
    out = np.empty_like(p)
    m = 0
    for i in range(len(p)):
        if p[i] >= m:
            m = p[i]
        out[i] = m
    return out, m


def deepest_fall(p):
    high = p[0]
    deepest = p[0] - p[0]
    for i in range(len(p)):
        if p[i] > high:
            high = p[i]
        fall = high - p[i]
        if fall > deepest:
            deepest = fall
    return deepest


def highest_before(p, out):
    """The branch reads what it changes."""
    high = 0.0
    for i in range(len(p)):
        if p[i] > high:
            out[i] = high
            high = p[i]
    return high


def positives_in_a_row(x):
    out = np.zeros(len(x), np.int64)
    run = 0
    for i in range(len(x)):
        if x[i] > 0:
            run += 1
        else:
            run = 0
        out[i] = run
    return out


def longest_run(x):
    run = 1
    longest = 1
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            run += 1
        else:
            run = 1
        if run > longest:
            longest = run
    return longest


def since_the_last(event):
    out = np.zeros(len(event), np.int64)
    count = 0
    for i in range(len(event)):
        count += 1
        if event[i]:
            count = 0
        out[i] = count
    return out


def sums_since_reset(x, reset):
    out = np.empty_like(x)
    total = 0.0
    for i in range(len(x)):
        total = 0.0 if reset[i] else total + x[i]
        out[i] = total
    return out


def toggled(x):
    out = np.zeros(len(x), np.bool_)
    on = False
    for i in range(len(x)):
        if x[i] > 0.5:
            on = not on
        out[i] = on
    return out, on


def labels_of_runs(x):
    out = np.empty(len(x), np.int64)
    label = 0
    last = 0
    for i in range(len(x)):
        if x[i] != last:
            label += 1
            last = x[i]
        out[i] = label
    return out, last


def doubled_or_reset(n):
    """Python's integers have no end."""
    value = 1
    for i in range(n):
        value = 2 * value if i % 100 else 1
    return value


def drawdown(prices):
    peak = prices[0]
    worst = prices[0] - prices[0]
    for p in prices:
        if p > peak:
            peak = p
        d = (peak - p) / peak
        if d > worst:
            worst = d
    return worst


def hysteresis(x, high, low):
    """Two thresholds: a machine of two states."""
    out = np.zeros(len(x), dtype=np.int64)
    state = 0
    for i in range(len(x)):
        if state == 0 and x[i] > high:
            state = 1
        elif state == 1 and x[i] < low:
            state = 0
        out[i] = state
    return out


def schmitt_trigger(x, high, low):
    """Switched on above one threshold, off below another; what it was last."""
    out = np.zeros(len(x), dtype=bool)
    on = False
    for i in range(len(x)):
        if on:
            if x[i] < low:
                on = False
        elif x[i] > high:
            on = True
        out[i] = on
    return out, on


def positions(signal, returns, entry):
    """Long, short or flat; returns may be fewer, and are read in few states."""
    pnl = np.zeros(len(signal))
    position = 0
    for t in range(1, len(signal)):
        pnl[t] = position * signal[t]
        if position == 0:
            if signal[t] > entry:
                position = 1
            elif signal[t] < -entry:
                position = -1
        elif (position == 1 and returns[t] < 0) or (position == -1 and returns[t] > 0):
            position = 0
    return pnl


def cooldown(x, threshold):
    """No event in the three elements after one."""
    left = np.zeros(len(x), dtype=np.int64)
    wait = 0
    for i in range(len(x)):
        if wait > 0:
            wait -= 1
        elif x[i] > threshold:
            wait = 3
        left[i] = wait
    return left, wait


def debounced(x, start):
    """A counter between two ends, and a switch that moves at them."""
    out = np.zeros(len(x))
    count = 2
    level = start
    for i in range(len(x)):
        count = min(count + 1, 4) if x[i] > 0 else max(count - 1, 0)
        if level == 0 and x[i] > 0.5:
            level = 1
        elif level == 1 and x[i] < -0.5:
            level = 0
        out[i] = count + 10 * level
    return out


def phases(x):
    """The number of the phase, of a cycle of sixteen."""
    out = np.zeros(len(x), dtype=np.int64)
    phase = 0
    for i in range(len(x)):
        if x[i] > 0:
            phase = (phase + 1) % 16
        out[i] = phase
    return out


def states_of_data(x, k):
    """The state is an element: no few values."""
    out = np.zeros(len(x))
    state = 0
    for i in range(len(x)):
        if state == 0:
            state = k[i]
        elif x[i] > state:
            state = 0
        out[i] = state
    return out
