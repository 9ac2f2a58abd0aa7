"""Floats that have the values of integers, for parameters that kernels take as integers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.convert.test_promotion import converted
from tests.support.paths import ROOT

X_N = "float64[:], int64"
CHILD = """
import json, sys, warnings
import numpy as np
from tests.convert.test_promotion import converted
from tests.corpus.check import compare
from tests.corpus.simulator import install
from tests.end_to_end.ranks import loaded

install()
warnings.simplefilter("ignore")
body = sys.argv[1]
scope = {"np": np}
exec("def f(x, n):\\n    " + body, scope)
function = loaded(converted(body, "float64[:], int64", "x, n"))
values = np.array([0.5, -1.25, 3.0, 7.5, -2.0])
arrays = [values.astype(d) for d in "f8 f4 i8 i1 c16".split()]
arrays += [values.reshape(5, 1), values[:0], np.float64(1.5), np.float32(1.5), 1.5]
numbers = [k(v) for k in (float, np.float32, np.float64, np.float16) for v in (0, 1, 2, 3, -2, 6)]
numbers += [2.5, np.float32(2.5), np.nan, np.float32(np.inf), 5000.0, np.asarray(3.0)]
found = []
for x in arrays:
    for n in numbers:
        name = type(x).__name__ + str(np.asarray(x).dtype)
        found.append((name, repr(n), compare(scope["f"], function, (x, n))))
print(json.dumps(found))
"""


def calls(body: str) -> list[tuple[str, str, str]]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, body], capture_output=True, text=True, timeout=300,
        check=False, cwd=ROOT, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(x, n, said) for x, n, said in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize(
    "body",
    [
        "return np.abs(x) ** n",
        "if n > 1:\n        return x * n\n    return x * 2.0",
        "if n in range(1, 10, 2):\n        return x / n\n    return x + (n - x) * 0.5",
        "if n % 2 == 0 and not n // 2 == 3:\n        x = x - n\n    return np.where(x > n, x, 0.5)",
    ],
)
def test_beside_floats_they_are_integers(body: str) -> None:
    made = converted(body, X_N, "x, n")
    assert made.plan.integral_floats == ("n",)
    found = calls(body)
    for x, n, said in found:
        assert not said or said.startswith(("raises TypeError", "raises ValueError")), (x, n, said)
    taken = {(x, n) for x, n, said in found if not said}
    assert {("ndarrayfloat64", f"np.float32({k}.0)") for k in (0, 1, 2, 3, -2, 6)} <= taken
    assert {("ndarrayfloat64", "2.0"), ("ndarrayfloat32", "3.0")} <= taken
    # what an argument is on one of several ways, results may be, and not without dimensions
    assert ("float64float64", "1.0") in taken or "x = x" in body
    assert ("ndarrayfloat64", "2.5") not in taken


@pytest.mark.parametrize(
    "body",
    [
        # NumPy and Python compute of the number before it meets an array, or refuse a float
        "return x * 0.9**n",
        "return x * (n / 3)",
        "return x[:n] * 2.0",
        "y = x * 1.0\n    for _ in range(n):\n        y = y * 0.5\n    return y",
        "return np.sum(x) * n + np.zeros(n)",
        "return x * 2.0, n",
        "return (x > 0) * n",
        "return np.where(x > 0, n, 2) * x",
        "return x * (n > 0.1)",
        "if n * 4001 - n > 3:\n        return x * 2.0\n    return x * 0.5",
        "k = 2 * n\n    return x * k",
    ],
)
def test_what_is_computed_of_the_number_alone_is_not_the_same(body: str) -> None:
    assert converted(body, X_N, "x, n").plan.integral_floats == ()


def test_arrays_of_integers_would_become_floats() -> None:
    assert converted("return x * n", "int64[:], int64", "x, n").plan.integral_floats == ()
