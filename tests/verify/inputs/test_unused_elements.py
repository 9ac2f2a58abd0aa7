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


IN_A_BRANCH = """import numpy as np


def f(x, limits):
    for i in range(x.shape[0]):
        if x[i] < limits[i, 0]:
            x[i] = limits[i, 0]
        elif x[i] > limits[i, 1]:
            x[i] = limits[i, 1]
    return x
"""


@pytest.mark.parametrize(("changed", "verified"), [(False, True), (True, False)])
def test_an_axis_too_short_for_a_branch(shell: Shell, changed: bool, verified: bool) -> None:
    """It is refused before the launch, whether or not a thread takes the branch; no other is."""
    shell.write("f.py", IN_A_BRANCH)
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:], float64[:, :]") == 0
    path = shell.folder / "f_cuda.py"
    text = path.read_text()
    check = "limits.shape[1] < 2"
    said = "for axis 1, in a branch that data decide"
    assert check in text and said in text
    if changed:
        text = text.replace(said, "for axis 1")
    path.write_text(text)
    (found,) = verify_module(path, on=("simulator",))
    assert (found.mismatch is None) is verified, found.mismatch
