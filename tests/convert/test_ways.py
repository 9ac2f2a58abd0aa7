"""Integers for floats where a loop runs or a number leads to a branch that makes floats of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.convert.test_promotion import converted
from tests.support.paths import ROOT

X_N = "float64[:], int64"
SERIES = """total = np.ones_like(x)
    term = np.ones_like(x)
    for k in range(1, n):
        term = term * x / k
        total = total + term
    return total"""
HALVED = """low = np.full_like(x, -8)
    high = np.full_like(x, 8)
    for _ in range(9):
        middle = 0.5 * (low + high)
        low = np.where(middle < x, middle, low)
        high = np.where(middle < x, high, middle)
    return low"""
NAMED = """if n == 0:
        y = np.sqrt(np.abs(x * 1.0))
    elif n == 1:
        y = np.maximum(x, 0)
    else:
        y = x / 2
    return y"""
TWICE = """y = np.zeros_like(x)
    for k in range(n):
        for _ in range(2):
            y = y + x / 3
    return y"""
BOTH = """y = x
    if n % 2 == 0:
        y = y / 4
    for k in range(n - 2):
        y = y * 0.5
    return y"""
CHILD = """
import itertools, json, sys
import numpy as np
from tests.convert.test_promotion import converted
from tests.corpus.check import compare
from tests.corpus.simulator import install
from tests.end_to_end.ranks import loaded

install()
names, body = sys.argv[1:]
count = names.count(",")
scope = {"np": np}
exec(f"def f({names}):\\n    {body}", scope)
function = loaded(converted(body, ", ".join(["float64[:]"] * count + ["int64"]), names))
values = np.array([0, 1, 3, 5, 7, 100, -3, -100])
if count == 1:
    arrays = [values.astype(d) for d in "i8 i4 i2 i1 u1 u4 u8 ? f8 f4".split()]
    arrays += [part for a in arrays for part in (a[::-2], a[:0], a[:4].reshape(2, 2))]
else:
    arrays = [np.arange(1, 6).astype(d) for d in "i8 i1 ? f8 f4".split()]
    arrays += [np.ones(s) for s in [(1,), (), (2, 5), (3, 1), (0,)]] + [3.5, 2, np.float32(2)]
found = []
with np.errstate(all="ignore"):
    for given in itertools.product(arrays, repeat=count):
        for n in (-1, 0, 1, 2, 3, 4, 7) if count == 1 else (-1, 0, 1, 3):
            kinds = " ".join(str(np.asarray(a).dtype) + str(np.shape(a)) for a in given)
            found.append((kinds, n, compare(scope["f"], function, (*given, n))))
print(json.dumps(found))
"""
REFUSED = ("raises TypeError", "raises ValueError")


def calls(body: str, names: str = "x, n") -> list[tuple[str, int, str]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, names, body], capture_output=True,
        text=True, timeout=300, check=False, cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout.splitlines()[-1])
    return [(kinds, n, said) for kinds, n, said in found]


@pytest.mark.parametrize(
    ("body", "where", "taken"),
    [
        (SERIES, "n > 1", {2, 3, 4, 7}),
        (HALVED, "", {-1, 0, 1, 2, 3, 4, 7}),
        # and for n == 1 there are kernels for integers
        (NAMED, "n != 1", {-1, 0, 1, 2, 3, 4, 7}),
        (TWICE, "n > 0", {1, 2, 3, 4, 7}),
        (BOTH, "n > 2", {3, 4, 7}),
    ],
)
def test_integers_become_floats_where_numbers_say_so(
    body: str, where: str, taken: set[int]
) -> None:
    made = converted(body, X_N, "x, n")
    assert made.conversions.names == ("x",)
    assert made.conversions.where == where
    found = calls(body)
    for kinds, n, said in found:
        assert not said or said.startswith("raises TypeError"), (kinds, n, said)
        dtype = kinds.partition("(")[0]
        if dtype in ("float64", "float32") or (dtype in ("int64", "int32") and n in taken):
            assert not said, (dtype, n)
        elif dtype == "int64":
            assert said, n


@pytest.mark.parametrize(
    "body",
    [
        # the arrays stay of integers, or wrap around, whatever is counted
        "y = np.ones_like(x)\n    for k in range(n):\n        y = y * x\n    return y",
        "y = x\n    for k in range(n):\n        y = y // 2 * 0.5\n    return y > 100",
        # how often it runs is not known before the kernels do
        "y = x\n    while n > 0:\n        y = y * 0.5\n        n = n - 1\n    return y",
        "y = x * 1\n    for k in range(x.shape[0] - 3):\n        y = y * 0.5\n    return y",
    ],
)
def test_what_is_not_known_to_become_float_is_not_converted(body: str) -> None:
    assert not converted(body, X_N, "x, n").conversions.where
    for dtype, n, said in calls(body):
        assert not said or said.startswith(REFUSED), (dtype, n)


def test_an_argument_that_no_turn_changes_is_given_back_whole() -> None:
    found = calls("y = x\n    for k in range(n):\n        y = y * 0.5\n    return y")
    assert not [f for f in found if f[2] and not f[2].startswith("raises TypeError")]


PRICES = """price = x * n
    for k in range(1, n + 1):
        price = price + y * (1 + x) / k
    return price"""


@pytest.mark.parametrize(
    ("body", "turns", "met"),
    [
        (PRICES, ["n"], "n > 0"),
        # two names, each from both
        ("a = x + 1\n    b = x * 2\n    for k in range(n):\n        a = b + y\n        b = a * x\n"
         "    return b", ["n"], "n > 0"),
        ("a = x * 2\n    if n > 2:\n        a = a + 1.5\n    for k in range(3):\n"
         "        a = a + y\n    return a", ["3"], ""),
    ],
)  # fmt: skip
def test_a_loop_that_runs_makes_the_common_shape(body: str, turns: list[str], met: str) -> None:
    made = converted(body, "float64[:], float64[:], int64", "x, y, n")
    assert list(map(str, made.plan.turns.counts)) == turns
    assert not made.plan.strict
    assert made.conversions.met == met
    found = calls(body, "x, y, n")
    for kinds, n, said in found:
        assert not said or said.startswith(REFUSED), (kinds, n, said)
        if kinds.count("float64") == 2 and (n > 0 or kinds.endswith("float64()")):
            assert not said or "broadcast together with shapes" in said, (kinds, n, said)
    floats = {"float64(5,) float32(5,)", "float32(5,) float64(5,)"}
    assert not [f for f in found if f[0] in floats and f[1] > 0 and f[2]]


@pytest.mark.parametrize(
    "body",
    [
        # the last turn decides alone, or every second one
        "a = x + y\n    for k in range(n):\n        a = x * k\n    return a",
        "a = x\n    b = y\n    for k in range(n):\n        c = a\n        a = b * 2\n"
        "        b = c + 1\n    return a",
        "a = x\n    while n > 0:\n        a = a + y\n        n = n - 1\n    return a",
        "a = x\n    if n > 1:\n        a = a + y\n    return a",
    ],
)
def test_other_shapes_stay_refused(body: str) -> None:
    made = converted(body, "float64[:], float64[:], int64", "x, y, n")
    assert not made.plan.turns.counts
    assert made.plan.strict
    for kinds, n, said in calls(body, "x, y, n"):
        assert not said or said.startswith(REFUSED), (kinds, n, said)
