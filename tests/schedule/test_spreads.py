"""Variances in one pass: squares of deviations are folded together with the mean."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.schedule.children import assert_none_wrong
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def of_all(x: "float64[:]"):
    return x.var()


def four(x: "float64[:]"):
    return x.mean(), x.std(ddof=1), x.min(), x.max(), x.argmax()


def of_columns(x: "float64[:, :]"):
    return x.std(axis=0), x.mean(axis=0)


def two(x: "float64[:, :]"):
    m = x.mean()
    d = m - x
    return (d * d).sum(), m


def stored(x: "float64[:]"):
    y = x * 2
    return y, y.var()


def of_others(x: "float64[:]", y: "float64[:]"):
    return ((x - y.mean()) ** 2).sum(), ((x - x.sum()) ** 2).sum(), ((x - x.mean()) ** 4).sum()


def in_a_loop(x: "float64[:]", n: "int64"):
    out = np.zeros(n)
    for t in range(n):
        out[t] = x.std()
        x *= 0.5
        x += 1 + t
    return out


def spellings(x: "float64[:]"):
    v = x.var()
    m = np.mean(x)
    w = np.mean((m - x) ** 2)
    s = np.sqrt(((x - m) * (x - m)).sum() / (x.size - 1))
    return v, w, s, m


def of_columns_again(x: "float64[:, :]"):
    m = x.mean(axis=0)
    c = m - x
    w = (c * c).sum(axis=0) / (x.shape[0] - 1)
    return x.var(axis=0), w, x.std(axis=0, ddof=1)


def of_few(x: "float64[9]"):
    v = x.var()
    m = np.mean(x)
    return x * v, np.mean((x - m) ** 2), m


def place(x: "float64[:]"):
    return x.max(), x.argmax(), x.var()
"""


def kernels(name: str) -> list[str]:
    """The kernels of a function."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    *found, _ = convert_function(function).text.parts
    return "".join(found).split("@cuda.jit\n")[1:]


@pytest.mark.parametrize("name", ["of_all", "four", "two", "in_a_loop", "spellings"])
def test_a_variance_reads_an_array_once(name: str) -> None:
    found = kernels(name)
    assert sum("recentred(" in k for k in found) == 1
    assert not any("recentred(" in k and "**2" in k for k in found)


def test_columns_are_read_once() -> None:
    parts, alone = kernels("of_columns")
    # the block that is done last joins the parts
    assert parts.count("column_spread(") == 2
    # a thread for a short column folds twice
    assert "recentred" not in alone and "**2" in alone


def test_two_spellings_are_one_fold() -> None:
    (first,) = kernels("spellings")
    assert first.count("recentred(") == 1
    parts, finish, alone = kernels("of_columns_again")
    assert parts.count("column_spread(") == finish.count("column_spread(") == 1
    assert alone.count("for ") == 2


def test_what_is_about_something_else_is_folded_by_itself() -> None:
    assert not any("recentred(" in k for k in kernels("of_others"))


def test_no_thread_takes_what_another_one_stores() -> None:
    # the first element of all would be another thread's
    assert not any("recentred(" in k for k in kernels("stored"))


@pytest.mark.parametrize(
    "name",
    ["spellings", "of_columns_again"]
    + [
        pytest.param(name, marks=pytest.mark.long)
        for name in ("stored", "of_others", "in_a_loop", "of_few")
    ],
)
def test_variances_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-", verify=True) == 0, shell.err


@pytest.mark.long
@pytest.mark.parametrize("engine", ["simulator", "emulator"])
def test_awkward_data_has_the_variances_of_numpy(engine: str) -> None:
    assert_none_wrong("spreads_child", engine)


def test_the_header_says_that_roundings_differ(shell: Shell) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", "of_all", "--no-verify", "-o", "-") == 0
    assert "notes of_all: the squared deviations at line 5 are summed in the pass" in shell.out


def test_loops_fold_places_and_squares_after_what_they_are_about(shell: Shell) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", "place", "--target", "loops", "-o", "-") == 0, shell.err
    assert "recentred" not in shell.out
