"""`np.bincount` reads its argument twice: for the length and for negative ones, and to count."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.shell import Shell

CHILD = """
import json
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

def of(call, given):
    try:
        return call(given, 3).tolist()
    except ValueError as e:
        return str(e)

given = [[2, 0, 2, 7], [], [0]] + ([] if "u" in "DTYPE" else [[5, -1], [-3]])
print(json.dumps([[of(m.f, np.array(x, np.DTYPE)) for x in given] for m in (a, a_cuda)]))
"""


@pytest.mark.parametrize(
    "dtype", ["int8", *(pytest.param(d, marks=pytest.mark.long) for d in ("int64", "uint8"))]
)
def test_the_length_and_negative_ones_are_found_in_one_pass(shell: Shell, dtype: str) -> None:
    shell.write(
        "a.py",
        "import numpy as np\n\n\ndef f(x, n):\n    return np.bincount(x, minlength=n)\n",
    )
    assert shell.convert("a.py", "--no-verify", "--signature", f"{dtype}[:], int64") == 0, shell.out
    module = (shell.folder / "a_cuda.py").read_text()
    assert module.count("@cuda.jit\n") == 4 and module.count("= int(_to_host(") == 1
    assert module.count("if _to_host(") == 0
    done = subprocess.run(
        [sys.executable, "-c", CHILD.replace("DTYPE", dtype)], capture_output=True, text=True,
        check=True, cwd=shell.folder, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    original, own = json.loads(done.stdout)
    assert own == original
