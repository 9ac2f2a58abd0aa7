"""Totals of what is stored just before: the threads that store elements fold them, too."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def residual(x: "float64[:]", y: "float64[:]"):
    r = x - 0.5 * y
    return r, r @ r


def planes(x: "float32[:, :, :]"):
    y = np.where(x > 0, x, x * 0.1)
    return y, y.max(), (y * y).sum(), (y > 0.5).any()


def inner(x: "float64[:, :]"):
    y = np.zeros_like(x)
    y[1:-1, 1:-1] = x[1:-1, 1:-1] * 2 - x[:-2, 1:-1]
    return y, y[1:-1, 1:-1].sum()


def scaled(x: "float64[:, :]", steps: "int64"):
    for _ in range(steps):
        x *= 1.5
        if (x * x).sum() > 1e3:
            x /= 40
    return x.min()


def neighbours(x: "float64[:]"):
    y = np.sqrt(np.abs(x))
    return y, y[1:] @ y[:-1]


def backwards(x: "float64[:]"):
    y = x * 3
    return y, (y * y[::-1]).sum()


def integers(x: "int64[:]"):
    y = x * 3
    return y, y.max()


def arguments(x: "float64[:]", y: "float64[:]"):
    x += 2 * y
    return (x * y).sum()


def positions(x: "float64[:]"):
    y = x * x
    return y, y.argmax(), y.max()


def added(x: "float64[:]", k: "int64[:]"):
    h = np.zeros_like(x)
    h[k] += x
    return h, h.sum()


def result_too(x: "float64[:]", n: "int64"):
    out = np.zeros(1)
    y = x.copy()
    for _ in range(n):
        y = y * 0.5 + out[0]
        out[0] = y.sum()
    return y, out


def by_loops(x: "float64[:]"):
    total = 0.0
    for i in range(x.shape[0]):
        x[i] = 2 * x[i] + 1
        total += x[i]
    return total
"""
TOGETHER = ("residual", "planes", "scaled", "positions", "result_too", "by_loops")
APART = ("inner", "neighbours", "backwards", "integers", "arguments", "added")


def kernels(name: str) -> list[str]:
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    return "".join(convert_function(function).text.parts[:-1]).split("@cuda.jit\n")[1:]


@pytest.mark.parametrize("name", [*TOGETHER, *APART])
def test_they_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def storing(name: str) -> list[str]:
    """The kernels of totals in whose loops arrays are stored."""
    found = [k for k in kernels(name) if "_partial" in k and "_finish(" not in k]
    assert found
    return [k for k in found if "] = " in k[: k.index("= block_")]]


@pytest.mark.parametrize("name", TOGETHER)
def test_threads_fold_the_elements_that_they_store(name: str) -> None:
    assert len(storing(name)) == 1


@pytest.mark.parametrize("name", APART)
def test_what_others_may_not_have_stored_yet_is_folded_in_another_launch(name: str) -> None:
    assert not storing(name)


def test_the_position_of_an_extreme_joins_it() -> None:
    assert len(kernels("positions")) == 1 and "first_max(y[i], i, " in storing("positions")[0]


def test_siblings_join_the_pass() -> None:
    (kernel,) = kernels("planes")
    first, last = kernel.split("is_last_block")
    assert first.count("while ") == 3 and first.count("y[i, j, k] = ") == 1
    assert "block_max(" in first and "block_sum(" in first and "block_any(" in first
    assert "y[i" not in last
