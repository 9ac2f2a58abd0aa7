"""The `else` of a loop that does not run gives its variable a value."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell

ESCAPE = """import numpy as np


def f(x, limit):
    out = np.empty(x.shape, np.int64)
    for i in range(x.shape[0]):
        y = x[i]
        for n in range(limit):
            if y > 4.0:
                break
            y = y * y
        else:
            n = {value}
        out[i] = n
    return out
"""


@pytest.mark.parametrize(("value", "raises"), [("limit", False), ("n + 1", True)])
def test_its_variable_is_bound(shell: Shell, value: str, raises: bool) -> None:
    shell.write("f.py", ESCAPE.replace("{value}", value))
    signature = "float64[:], int64"
    assert shell.convert("f.py", "--no-verify", "--signature", signature, "-o", "-") == 0
    assert ("raise UnboundLocalError" in shell.out) is raises
    assert raises or shell.convert("f.py", "--signature", signature) == 0, shell.out
