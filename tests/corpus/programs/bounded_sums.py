"""Sums that stay within bounds, from one element to the next."""

import numpy as np


def largest_sum(x):
    """Kadane's algorithm."""
    best = current = x[0]
    for i in range(1, len(x)):
        current = max(x[i], current + x[i])
        best = max(best, current)
    return best


def largest_sum_by_if(x):
    current = x[0]
    best = x[0]
    for value in x[1:]:
        if current < 0:
            current = value
        else:
            current += value
        if current > best:
            best = current
    return best


def waiting_times(service, gaps):
    """Lindley's recursion."""
    w = np.zeros_like(service)
    for i in range(1, len(service)):
        w[i] = max(0.0, w[i - 1] + service[i - 1] - gaps[i])
    return w


def control_chart(x, target, slack):
    """Both sides of a chart of cumulative sums."""
    high = np.zeros_like(x)
    low = np.zeros_like(x)
    up = 0.0
    down = 0.0
    for i in range(len(x)):
        up = max(0.0, up + x[i] - target - slack)
        down = max(0.0, down - x[i] + target - slack)
        high[i] = up
        low[i] = down
    return high, low


def reservoir(inflow, demand, capacity):
    level = 0.5 * capacity
    out = np.empty_like(inflow)
    for i in range(len(inflow)):
        level += inflow[i] - demand[i]
        if level > capacity:
            level = capacity
        elif level < 0:
            level = 0.0
        out[i] = level
    return out


def clipped_walk(x, low, high):
    acc = np.zeros(len(x))
    at = 0.0
    for i in range(len(x)):
        at = np.clip(at + x[i], low, high)
        acc[i] = at
    return acc


def integrated_charge(current, low, high):
    charge = np.zeros_like(current)
    for i in range(1, len(current)):
        charge[i] = np.minimum(np.maximum(charge[i - 1] + current[i], low[i]), high[i])
    return charge


def saturating_counter(taken):
    out = np.zeros(len(taken), np.int64)
    level = 0
    for i in range(len(taken)):
        level = min(level + 1, 10) if taken[i] else max(level - 1, 0)
        out[i] = level
    return out


def stock(orders, most):
    held = orders.copy()
    for i in range(1, len(orders)):
        held[i] = min(max(held[i - 1] + orders[i], 0), most)
    return held


def bounded_and_weighed(x, a):
    out = np.zeros_like(x)
    y = 0.0
    for i in range(len(x)):
        y = max(0.0, a * y + x[i])
        out[i] = y
    return out
