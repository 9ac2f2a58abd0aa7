"""Arguments that are returned as they came, and results of the original's type."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """import numpy as np


def scaled(x, a, n):
    return x * a, x, a, n


def beside(x, y, a):
    return x + a, y.sum(), x * 2, np.sin(x), a


def converted(x, a):
    a = float(a)
    return x * a, a


def kept(x, y):
    y[0] = 1.0
    return y, x


if __name__ == "__main__":
    x = np.ones(3)
    scaled(x, 0.5, 3)
    beside(x, x, 0.5)
    converted(x, 0.5)
    kept(x, x)
"""
CHILD = """
import json, sys
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
x, y = np.arange(1.0, 6.0), np.arange(4.0)
bad = []

def kinds(results, given):
    return [
        (type(r).__name__, np.asarray(r).dtype.name, np.asarray(r).tolist(),
         [k for k, g in enumerate(given) if g is r and isinstance(g, (np.ndarray, list))])
        for r in results
    ]

def compare(name, *given):
    wanted = kinds(getattr(a, name)(*given), given)
    found = kinds(getattr(a_cuda, name)(*given), given)
    if wanted != found:
        bad.append(f"{name}{given}: {found} instead of {wanted}")

for first in (x, 2.0, np.float64(2.0), np.asarray(2.0)):
    for number in (0.5, np.float64(0.5), np.asarray(0.5)):
        compare("scaled", first, number, 3)
        compare("scaled", first, number, np.asarray(3))
        compare("beside", first, y, number)
compare("converted", x, 0.5)
for first in (x, 2.0, [1.0, 2.0], np.asarray(2.0)):
    compare("kept", first, y)
print(json.dumps(bad))
"""


def test_results_have_the_types_of_the_original(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def host_of(text: str, signature: str) -> str:
    module = SourceModule("import numpy as np\n" + text, "a.py")
    return convert_function(module.by_name["f"], signature).texts[0].parts[-1]


def test_pythons_bools_are_told_from_arrays_of_bools() -> None:
    for text, signature in (("~x", "bool[:]"), ("~(x > 0.0)", "float64[:]")):
        host = host_of(f"def f(x):\n    return {text}\n", signature)
        assert "if _plain(x):\n        raise TypeError" in host


def test_numbers_have_no_second_name() -> None:
    text = "def f(x):\n    a = b = x * 0.5\n    a += 1.0\n    return a, b\n"
    assert "if not shape:\n        raise ValueError" in host_of(text, "float64[:]")
    alone = text.replace("a = b", "a").replace(", b", "")
    assert "if not shape:" not in host_of(alone, "float64[:]")


def test_numpys_integers_promote_arrays_of_a_fixed_dtype() -> None:
    host = host_of("def f(x, n):\n    return x.astype(np.int16) ^ n\n", "int64[:], int64")
    assert '_integer(n, "n", np.int16)' in host


@pytest.mark.parametrize("text", ["~flag", "~(a > 0)"])
def test_inversion_of_pythons_bool_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="which is true"):
        host_of(f"def f(x, flag, a):\n    return x * ({text})\n", "float64[:], bool, float64")
