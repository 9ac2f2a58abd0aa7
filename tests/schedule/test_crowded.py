"""Updates of arrays that turn out to be small: blocks add them up in shared memory first."""

from __future__ import annotations

import re

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def counts(x: "int64[:]", n: "int64"):
    return np.bincount(x, minlength=n)


def weighted(idx: "int64[:]", w: "float32[:]", n: "int64"):
    out = np.zeros(n, np.float32)
    np.add.at(out, idx, w)
    return out


def in_a_loop(idx: "int64[:, :]", w: "float64[:, :]", out: "float64[:]"):
    for i in range(idx.shape[0]):
        for j in range(idx.shape[1]):
            if w[i, j] > 0:
                out[idx[i, j]] += w[i, j]


def two(idx: "int64[:]", w: "float64[:]", n: "int64"):
    total, count = np.zeros(n), np.zeros(n, np.int64)
    for i in range(idx.shape[0]):
        total[idx[i]] += w[i]
        count[idx[i]] += 1
    return total, count


def of_pairs(i: "int64[:]", j: "int64[:]", n: "int64"):
    out = np.zeros((n, n))
    np.add.at(out, (i, j), 1.0)
    return out


def largest(idx: "int64[:]", w: "float64[:]", n: "int64"):
    out = np.zeros(n)
    np.maximum.at(out, idx, w)
    return out
"""

CROWDED = {
    "counts": "x.shape[0], max(length, n)",
    "weighted": "idx.shape[0], n",
    "in_a_loop": "idx.shape[0] * idx.shape[1], out.shape[0]",
    "two": "idx.shape[0], n, n",
}


def parts(name: str) -> list[str]:
    """The kernels and the host function."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    return [*convert_function(function).text.parts]


@pytest.mark.parametrize("name", CROWDED)
def test_the_host_function_chooses_by_both_sizes(name: str) -> None:
    *kernels, host = parts(name)
    test = re.search(r"if _is_crowded\((.*)\):\n +(\w+)\[", host)
    assert test is not None and test[1] == CROWDED[name], host
    kernel = next(k for k in kernels if f"def {test[2]}(" in k)
    assert "cuda.shared.array(CELLS, " in kernel
    # the only updates of the array itself are those after the last barrier
    assert (
        kernel.rindex("cuda.syncthreads()")
        < re.search(r"cuda\.atomic\.add\((?!block_)", kernel).start()
    )  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["of_pairs", "largest"])
def test_other_updates_meet_in_global_memory(name: str) -> None:
    assert "_is_crowded" not in parts(name)[-1]


@pytest.mark.parametrize("name", [*CROWDED, "of_pairs", "largest"])
def test_both_ways_are_those_of_numpy(shell: Shell, name: str) -> None:
    """Verification takes the way for many elements, too: it makes CROWD 0."""
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err
