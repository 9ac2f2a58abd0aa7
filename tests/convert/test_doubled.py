"""Arrays of float32 beside others of double precision, where kernels take those alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.convert.test_promotion import converted
from tests.support.paths import ROOT

CHILD = """
import itertools, json, sys, warnings
import numpy as np
from tests.convert.test_promotion import converted
from tests.corpus.check import compare
from tests.corpus.simulator import install
from tests.end_to_end.ranks import loaded

install()
warnings.simplefilter("ignore")
signature, body = sys.argv[1:]
scope = {"np": np}
exec("def f(x, y):\\n    " + body, scope)
function = loaded(converted(body, signature, "x, y"))
values = np.array([0.5, -1.25, 3.0, 7.5, -2.0, 0.1])
arrays = [values.astype(d) for d in "f8 f4 i8 i1 c16 c8".split()]
arrays += [values.astype("f4")[::-2], values[::2], values[:0], values[:1] > 0]
arrays += [2.5, 2, np.float32(0.1)]
arrays += [np.asarray(0.1), np.asarray(0.1, "f4")]
found = []
for x, y in itertools.product(arrays, repeat=2):
    if not (np.ndim(x) or np.ndim(y)):
        continue
    names = [type(a).__name__ + " " + str(np.asarray(a).dtype) for a in (x, y)]
    found.append((*names, compare(scope["f"], function, (x, y))))
print(json.dumps(found))
"""


def calls(signature: str, body: str) -> list[tuple[str, str, str]]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, signature, body], capture_output=True, text=True,
        timeout=300, check=False, cwd=ROOT, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(x, y, said) for x, y, said in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize(
    ("signature", "body", "names", "taken"),
    [
        # an angle that is Python's makes double numbers, and float32 makes single ones
        ("complex128[:], float64", "return x * np.exp(1j * y)", ("x",), ["float float64"]),
        ("complex128[:], complex128[:]", "return x * np.conj(y)", ("x",), ["ndarray complex128"]),
        ("float64[:], complex128[:]", "return np.cos(x) + y", (), ["ndarray complex128"]),
        ("float64[:], float64[:]", "return y + 1j * x", ("x",), ["ndarray float64"]),
        ("float64[:], float64[:]", "return np.abs(y + 1j * x) ** 2", ("x",), ["ndarray float64"]),
        # given back as it came, also where an axis of size 1 broadcasts
        (
            "float32[:], bool[:]",
            "y[1::2] |= y[::2]; return x, np.full(np.shape(x), 2.5)",
            ("x",),
            ["ndarray bool"],
        ),
        ("float32[:], float64", "return x, np.full(np.shape(x), 2.5)", ("x",), ["float float64"]),
        # a single number is rounded, or the result is of single precision
        ("complex128[:], float64", "return x * 1j * y", (), []),
        ("float64[:], float64[:]", "return y * 1j + np.floor(np.abs(x * 1j))", ("y",), []),
    ],
)
def test_one_array_of_float32(
    signature: str, body: str, names: tuple[str, ...], taken: list[str]
) -> None:
    assert converted(body, signature, "x, y").conversions.doubled == names
    found = calls(signature, body)
    for x, y, said in found:
        assert not said or said.startswith(("raises TypeError", "raises ValueError")), (x, y, said)
    good = {(x, y) for x, y, said in found if not said}
    assert {("ndarray float32", y) for y in taken} <= good
