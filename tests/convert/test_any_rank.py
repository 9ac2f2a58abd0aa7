"""Functions of lines that are no functions of tables: what they are for more axes differs."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"


@pytest.mark.parametrize(
    "body",
    [
        "x.T * 2", "np.transpose(x) * 2", "np.swapaxes(x, 0, -1) * 2", "x.ravel() * 2",
        "x.flatten() * 2", "x.reshape(-1) * 2", "np.repeat(x, 1) * 2", "np.meshgrid(x)[0] * 2",
    ],
)  # fmt: skip
def test_of_a_line_they_are_of_one_dimension(shell: Shell, body: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x):\n    return {body}\n")
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:]", "-o", "-") == 0
    assert "accepts f: x: array of 1 dimension, " in shell.out


@pytest.mark.parametrize("body", ["x * 2", "np.where(x > 0, x, 0)", "np.hstack((x,))", "x[:] - 1"])
def test_others_take_any_rank(shell: Shell, body: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x):\n    return {body}\n")
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:]", "-o", "-") == 0
    assert "accepts f: x: array of any rank" in shell.out


def test_the_rank_of_a_call_is_taken(shell: Shell) -> None:
    """It was a line for an elementwise function, and verification found it wrong."""
    call = 'if __name__ == "__main__":\n    f(np.ones((3, 4)))\n'
    shell.write("f.py", f"{HEAD}def f(table):\n    return table.T * 2\n\n\n{call}")
    assert shell.convert("f.py") == 0
    assert "converted f(float64[:, :])" in shell.out
