"""Conditions of `while` that need more than numbers of the host."""

import numpy as np


def halved_while_wide(x):
    """The array that the condition folds is new in each turn."""
    x = x.copy()
    while x.std() > 0.05:
        x = x * 0.5 + 0.1
    return x


def until_steady(x, tol):
    """The test is of what the turn has left."""
    change = 1.0
    while change > tol:
        new = 0.5 * x + 0.125 * (np.roll(x, 1) + np.roll(x, -1))
        change = np.abs(new - x).max()
        x = new
    return x


def highest_sorted(x):
    """The host computes a part of the condition, of the array as the turn before left it."""
    x = x.copy()
    turns = 0
    while np.sort(x)[-1] > 0.1 and turns < 8:
        x *= 0.5
        turns += 1
    else:
        x = x + 1.0
    return x, turns


def halved_while_volume(a, b):
    """What the condition solves is solved again in each turn."""
    turns = 0
    while abs(np.linalg.det(a)) > 0.01 and turns < 4:
        a = a * 0.5
        if b[0] > 0.5:
            turns += 2
            continue
        turns += 1
    return a, turns


def first_high(x):
    """The index may be out of bounds."""
    i = 0
    while x[i] < 0.5:
        i += 1
    return i


def next_high(x, starts):
    """Each thread searches, and its index may be out of bounds."""
    found = np.zeros(starts.shape[0], dtype=np.int64)
    for j in range(found.shape[0]):
        i = starts[j]
        while x[i] < 0.5:
            i += 1
        found[j] = i
    return found


def roots(parent, items):
    """Two loops, one in the other, follow links that may be out of bounds."""
    found = np.zeros(items.shape[0], dtype=np.int64)
    for j in range(items.shape[0]):
        at = items[j]
        hops = 0
        while hops < 3:
            k = at
            while parent[k] > k:
                k = parent[k]
            at = k
            hops += 1
        found[j] = at
    return found


def high_left(x):
    """The branch that leaves the loop is taken at an index that is out of bounds, too."""
    i = 0
    while True:
        v = x[i]
        if v > 0.3:
            if v >= 0.5:
                break
        i += 1
    return i


def high_kept(x):
    """The other branch leaves the loop."""
    i = 0
    while True:
        if x[i] < 0.5:
            i += 1
        else:
            break
    return i


def high_marked(x):
    """What ends the loop is the host's, and data set it."""
    i = 0
    found = False
    while not found:
        if x[i] >= 0.5:
            found = True
        i += 1
    return i


def last_link(parent):
    """Links that may be out of bounds."""
    hops = 0
    at = 0
    while True:
        above = parent[at]
        if above <= at:
            return hops, at
        at = above
        hops += 1
