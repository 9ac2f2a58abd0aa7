"""Loops that one block takes alone where turns have few elements."""

from __future__ import annotations

import re

import pytest

from porter.convert.function import Converted, convert_function
from porter.ir.walk import scalars_of
from porter.schedule.nodes import HostIf
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def fronts(d: "float64[:, :]"):
    for i in range(1, d.shape[0]):
        for j in range(1, d.shape[1]):
            d[i, j] = min(d[i - 1, j], d[i, j - 1]) + d[i - 1, j - 1]


def eliminated(A: "float64[:, :]"):
    for k in range(A.shape[0] - 1):
        A[k + 1:, k] /= A[k, k]
        A[k + 1:, k + 1:] -= A[k + 1:, k, None] * A[k, k + 1:]


def prefixes(x: "float64[:]", out: "float64[:]"):
    for k in range(1, min(x.shape[0], out.shape[0])):
        y = x[:k] * out[k - 1]
        out[k] = y.sum()
        x[:k] -= y * 0.25


def columns(A: "float32[:, :]"):
    for k in range(1, A.shape[0]):
        A[k] -= A[:k].sum(axis=0) * 0.5


def columns_apart(A: "float32[:, :]", out: "float32[:, :]"):
    for k in range(A.shape[0]):
        out[k] = A[:k].sum(axis=0)
        A[k] -= out[k] * 0.5


def levels(u: "float64[:, :, :]"):
    for k in range(1, u.shape[0]):
        u[k, 1:-1, 1:-1] += u[k - 1, :-2, 1:-1] + u[k - 1, 1:-1, 2:]


def turns(x: "float64[:]", n: "int64"):
    for t in range(n):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5


def kept(x: "float64[:]"):
    y = x[:1] * 1.0
    for k in range(1, x.shape[0]):
        y = x[:k] * 2.0
        x[:k] -= y * 0.125
    return y


def read_back(x: "float64[:]"):
    for k in range(1, x.shape[0]):
        x[:k] *= 0.5
        if x.max() < 1.0:
            break
    return x


def steps(x: "float64[:]"):
    path = np.zeros((x.shape[0], 3))
    for k in range(1, x.shape[0]):
        path[k] = path[k - 1, ::-1] * 0.5 + x[k]
    return path


def folded_fronts(d: "float64[:, :]"):
    for i in range(d.shape[0] - 1, -1, -1):
        for j in range(i + 1, d.shape[0]):
            d[i, j] = max(d[i, j], d[i, j - 1], d[i + 1, j])
            for k in range(i + 1, j):
                d[i, j] = max(d[i, j], d[i, k] + d[k + 1, j])


def sparse(indptr: "int64[:]", x: "float64[:]", y: "float64[:]"):
    for t in range(1, y.shape[0]):
        for i in range(t):
            for k in range(indptr[i], indptr[i + 1]):
                y[i] += x[k] * 0.5
        y[t] = y[t - 1]


def cubes(u: "float64[:, :, :]"):
    for k in range(1, u.shape[0]):
        u[k:, 1:, 1:] += u[k - 1:-1, :-1, :-1] * 0.5


def rows_in_order(A: "float64[:, :]"):
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] *= A[i, :j] @ A[i - 1, :j]
        for j in range(i, A.shape[1]):
            A[i, j] += A[i, :i] @ A[i - 1, :i]
"""


CHOSEN = {
    "fronts": "d.shape[0] - 1",
    "eliminated": "(A.shape[0] - BLOCK_X * panels - 1) * (A.shape[1] - BLOCK_X * panels - 1)",
    "levels": "(u.shape[1] - 2) * (u.shape[2] - 2)",
    "columns": "(A.shape[0] - 1) * A.shape[1] <= ALONE and (A.shape[0] - 1) * MANY_THREADS",
}


def converted(name: str) -> Converted:
    """A function, converted."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    return convert_function(function)


def host(name: str) -> str:
    """The host function."""
    return converted(name).text.parts[-1]


@pytest.mark.parametrize("name", CHOSEN)
def test_the_host_function_chooses_by_the_elements_of_a_turn(name: str) -> None:
    text = host(name)
    test = re.search(r"if (.*) <= ALONE:\n +(\w+)\[1, MANY_THREADS, stream\]", text)
    assert test is not None and test[1] == CHOSEN[name], text
    # otherwise each turn is launched
    assert re.search(r"else:\n +for \w+ in range|_repeat\(turn, ", text)


def test_loops_that_a_block_has_taken_count_for_a_turn() -> None:
    """The bound has no index of a loop."""
    (choice,) = (i for i in converted("rows_in_order").plan.items if isinstance(i, HostIf))
    assert scalars_of(choice.cond) == {"A.shape[0]", "A.shape[1]", "ALONE", "MANY_THREADS"}


def test_turns_of_a_few_elements_are_always_one_launch() -> None:
    text = host("steps")
    assert "ALONE" not in text and "for " not in text
    assert text.count("steps_block[1, MANY_THREADS, stream](") == 1, text


@pytest.mark.parametrize(
    "name", ["turns", "kept", "read_back", "cubes", "columns_apart", "folded_fronts", "sparse"]
)
def test_other_loops_have_no_choice(name: str) -> None:
    """A graph replays turns that are alike; what is needed after a loop is made in its turn; two
    arguments may be one array."""
    assert "ALONE" not in host(name)


@pytest.mark.parametrize(
    "name",
    [
        *("columns", "steps"),
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                *(name for name in CHOSEN if name != "columns"),
                *(
                    "rows_in_order",
                    "prefixes",
                    "turns",
                    "kept",
                    "read_back",
                    "cubes",
                    "columns_apart",
                ),
                *("cubes", "columns_apart", "folded_fronts", "sparse"),
            )
        ),
    ],
)
def test_both_ways_are_those_of_numpy(shell: Shell, name: str) -> None:
    """Verification takes the launches of all blocks, too: it makes ALONE 0."""
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-", verify=True) == 0, shell.err
