"""Functions that read the shape of an expression of an axis that broadcasts elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.shell import Shell

SOURCE = """import numpy as np


def ones(y, z):
    y /= z
    return np.ones_like(z * 0.5)


def more(y, z):
    y /= z
    return np.zeros_like(z[None] * 0.5)


def sizes(y, z):
    y += z
    return np.zeros((z * 2.0).shape)


def counts(y, z):
    y += z
    return np.arange(len(z - 1.0))


def numbered(y, z):
    y *= z[:, -1]
    return np.indices(z[:, :-1].shape)[0]


def cornered(y, z):
    y -= np.triu(z)
    return y * 1.0

"""
CHILD = """
import json
import numpy as np
import a, importlib

found = {}
for name in ("ones", "more", "sizes", "counts", "numbered", "cornered"):
    made = getattr(importlib.import_module(f"{name}_cuda"), name)
    for shape in ((3, 4), (1, 4), (3, 1), (1, 1)):
        y, z = np.ones((3, 3 if name == "numbered" else 4)), np.full(shape, 2.0)
        wanted, given = getattr(a, name)(y.copy(), z), made(y.copy(), z)
        found[f"{name}{shape}"] = [wanted.shape, given.shape]
        np.testing.assert_array_equal(wanted, given)
print(json.dumps(found))
"""


def test_the_shape_is_that_of_the_expression(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    for name in ("ones", "more", "sizes", "counts", "numbered", "cornered"):
        options = ("--no-verify", "--signature", "float64[:, :], float64[:, :]")
        assert shell.convert("a.py", "-f", name, *options, "-o", f"{name}_cuda.py") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        text=True,
        check=True,
        cwd=shell.folder,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert not {name: pair for name, pair in found.items() if pair[0] != pair[1]}
