"""Arrays of another byte order: what is made of them has the dtype that NumPy computes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.shell import Shell

SOURCE = """def added(x, y):
    x += y
    return x * y


def shifted(x, y):
    x[:] = x[::-1] + y
    return x * 2.0


def chosen(x, y):
    x[x < y] = 0
    return x + y


def summed(x, y):
    x[0] = y.max()
    return x * 0.5


def turned(x, y):
    return y + 1j * x


def alike(x, y):
    return x * y
"""
CHILD = """
import copy, itertools, sys
import numpy as np
import a
made = __import__(sys.argv[1])
counts = {"equal": 0, "refused": 0}


def called(function, args):
    try:
        return [function(*args), *args]
    except Exception as e:
        return e


def same(p, q):
    # a result that NumPy copies has its byte order, and this one the machine's
    native = [np.asarray(v).dtype.newbyteorder("=") for v in (p, q)]
    return native[0] == native[1] and np.allclose(p, q, rtol=1e-5)


dtypes = ["f8", "f4", ">f4", ">f8", ">i4", ">i2", "i4"][:: int(sys.argv[2])]
for name in ["added", "shifted", "chosen", "summed", "turned", "alike"]:
    for d, e in itertools.product(dtypes, [*dtypes, 2.5, np.float32(2.5), np.float64(2.5)]):
        for one in (False, True):
            x = np.arange(1.0, 7.0).astype(d)
            y = x if one else (np.arange(1.0, 7.0) + 1).astype(e) if isinstance(e, str) else e
            if (one and d != e) or (one and not d.startswith(">")) or (
                name == "summed" and not isinstance(e, str)
            ):
                continue
            wanted = called(getattr(a, name), copy.deepcopy([x, y]))
            found = called(getattr(made, name), copy.deepcopy([x, y]))
            if isinstance(wanted, Exception):
                continue
            if isinstance(found, (TypeError, ValueError)):
                counts["refused"] += 1
                continue
            assert not isinstance(found, Exception), (name, d, e, one, found)
            assert all(map(same, wanted, found)), (name, d, e, one, wanted, found)
            counts["equal"] += 1
print(*counts.values())
"""


@pytest.mark.parametrize(
    ("target", "every", "equal"),
    [
        ("cuda", 2, 60),
        pytest.param("cuda", 1, 200, marks=pytest.mark.long),
        pytest.param("loops", 1, 120, marks=pytest.mark.long),
    ],
)
def test_every_call_is_as_numpys_or_refused(
    shell: Shell, target: str, every: int, equal: int
) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--target", target, "--no-verify") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD, f"a_{target}", str(every)], cwd=shell.folder,
        capture_output=True, text=True, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        timeout=500, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    assert int(done.stdout.split()[0]) >= equal, done.stdout


def test_one_array_for_two_arguments_is_refused(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "-f", "added", "--no-verify") == 0, shell.out
    child = (
        "import numpy as np, a_cuda\nx = np.arange(3.0).astype('>f4')\n"
        "try:\n    a_cuda.added(x, x)\nexcept TypeError as e:\n    print(e)\nprint(x.tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", child], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=200, check=False,
    )  # fmt: skip
    text = (
        "y overlaps another argument, and its bytes are in another order: pass y.astype('float32')"
    )
    assert done.stdout == f"{text}\n[0.0, 1.0, 2.0]\n", done.stderr
