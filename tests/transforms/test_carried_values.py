"""Loops that carry several values: which of them need no order."""

from __future__ import annotations

import pytest

from tests.transforms.test_held_values import converts

#: bodies of a loop over i, with v = 0.0, out, and n = m = 0 before it
COUNTED = {
    "if x[i] > 0:\n    out[n] = x[i]\n    n += 1": True,
    "if x[i] > 0:\n    n += 1\n    out[n - 1] = x[i]": True,
    "if x[i] > 0:\n    if y[i] > 0:\n        out[n] = x[i]\n    n += 2": True,
    "if x[i] > 0:\n    out[n] = x[i]\n    out[n + 1] = y[i]\n    n += 2": True,
    "if x[i] > 0 and y[i] > 0:\n    out[n] = x[i]\nif x[i] > 0 and y[i] > 0:\n    n += 1": True,
    # two stores may meet
    "out[n] = x[i]\nif x[i] > 0:\n    n += 1": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    out[n + 1] = y[i]\n    n += 1": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    n += 1\nelif y[i] > 0:\n    n -= 1": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    n += 1\nelse:\n    n = 0": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    n += 1\nelif y[i] > 0:\n    out[n] = y[i]": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    n += 1\nelse:\n    out[0] = y[i]": False,
    "if x[i] > 0:\n    out[n] = x[i]\n    m += 1\nif y[i] > 0:\n    n += 1": False,
    # a position that starts below 0 comes from the end
    "if x[i] > 0:\n    out[n - 1] = x[i]\n    n += 1": False,
    # what is stored is read again
    "if x[i] > 0:\n    out[n] = out[i] + x[i]\n    n += 1": False,
}
SEVERAL = {
    "if x[i] > 0:\n    n += 1\n    v += y[i]\nelse:\n    n = 0\n    v = 0.0\nout[i] = n * v": True,
    "d = x[i] - v\nv += d / (i + 1)\nout[i] = d * (x[i] - v)": True,
    "before = v\nv = 0.5 * v + x[i]\nout[i] = v - before": True,
    "if x[i] > v:\n    out[i] = v\n    v = x[i]\n    n = i": True,
    "if x[i] > 0:\n    continue\nv += x[i]\nout[i] = v": True,
    "if i > 0:\n    out[i] = 0.5 * out[i - 1] + x[i]": True,
    "v = 0.0 if x[i] > 0 else 0.5 * v + y[i]\nout[i] = v": True,
    # a third value that both others wait for
    "v = 0.5 * v + n\nif v > x[i]:\n    n += 1\nout[i] = v": False,
    # elements that are not those before
    "if i > 0:\n    out[i] = 0.5 * out[0] + x[i]\n    out[i - 1] = x[i]": False,
    "if i > 0:\n    out[i] = 0.5 * out[i - 1] * out[i - 1]": False,
    # what an earlier iteration may have changed
    "v += y[i]\nif i > 0:\n    y[i - 1] = v": False,
    "v += y[i]\nif i < x.shape[0] - 1:\n    y[i + 1] = v": False,
}


@pytest.mark.parametrize(("body", "expected"), COUNTED.items())
def test_a_store_at_a_counted_position(body: str, expected: bool) -> None:
    assert converts(body) == expected


@pytest.mark.parametrize(("body", "expected"), SEVERAL.items())
def test_several_values_of_one_loop(body: str, expected: bool) -> None:
    assert converts(body) == expected
