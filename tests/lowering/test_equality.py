"""Comparisons that are refused, each with a sentence and a cure."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule
from tests.support.shell import Shell

REFUSED = [
    ("x in (x[::-1], 1.0)", "the truth value of an array is ambiguous"),
    ("'a' in x", "`in` is not supported for this value"),
    ("x == None", "`==` compares every element of this array"),
    ("x.dtype == x", "the dtype in this comparison is not known at conversion"),
    ("x.dtype.str == 'f'", "the attribute `.str` of a dtype is not supported"),
]


@pytest.mark.parametrize(("test", "message"), REFUSED)
def test_refused(test: str, message: str) -> None:
    text = f"def f(x):\n    for k in range(x.shape[0]):\n        x[k] = 2.0 if {test} else 1.0\n"
    module = SourceModule(text, "s.py")
    with pytest.raises(Refusal) as refused:
        convert_function(module.functions[0], "float64[:]")
    assert refused.value.diagnostic.message == message and refused.value.diagnostic.help


IDENTITY = """def f(x, out):
    if out is not x:
        out[:] = x
    out *= 2.0


def g(x, y):
    return x * 2.0 if x is y else x + y
"""


def test_two_arguments_are_different_objects(shell: Shell) -> None:
    shell.write("a.py", IDENTITY)
    types = "float64[:], float64[:]"
    assert shell.convert("a.py", "--signature", types, verify=True) == 0, shell.out + shell.err
    calls = "x = np.ones(3); out = np.zeros(3); f(x, out); print(out)"
    same = "x = np.ones(3); f(x, x)"
    listed = "x = [1.0, 2.0]; print(g(x, x))"
    for code, said in (
        (calls, "[2. 2. 2.]"),
        (same, "ValueError: out and x are one array"),
        (listed, "TypeError: x must be an array, not list"),
        ("print(g(2.0, 2.0))", "4.0"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", f"import numpy as np\nfrom a_cuda import f, g\n{code}"],
            cwd=shell.folder, capture_output=True, text=True, timeout=120, check=False,
            env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        )  # fmt: skip
        assert said in done.stdout + done.stderr
