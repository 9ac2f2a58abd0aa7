"""Elements that NumPy reads at indices out of bounds and that no result depends on."""

from __future__ import annotations

import pytest

from porter.verify.run import verify_module
from tests.support.shell import Shell

SOURCE = """import numpy as np


def f(values, index):
    return np.where(index >= 0, values[index], 0.0)
"""


@pytest.mark.parametrize(
    ("right", "wrong", "verified"),
    [
        ("", "", True),
        (" if index[i] >= I(0)", " if index[i] >= I(-1)", False),
        ("position(index[i], values.shape[0], error)", "index[i] % values.shape[0]", False),
    ],
)
def test_they_need_not_be_read(shell: Shell, right: str, wrong: str, verified: bool) -> None:
    """A padded table of neighbours; an index that is too large still raises."""
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:], int64[:]") == 0
    path = shell.folder / "f_cuda.py"
    text = " ".join(path.read_text().split(" "))
    joined = text.replace("\n            if index[i]", " if index[i]")
    assert right in joined
    path.write_text(joined.replace(right, wrong, 1) if right else joined)
    (found,) = verify_module(path, on=("simulator",))
    assert (found.mismatch is None) is verified, found.mismatch
