"""Python's integers are compared with narrow ones by value, as NumPy 2 does."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell


@pytest.mark.parametrize("dtype", ["uint8", "int64"])
def test_an_index_that_a_byte_has_no_room_for(shell: Shell, dtype: str) -> None:
    body = "    for i in range(x.shape[0]):\n        if i - 3 < x[i]:\n            x[i] = 7\n"
    shell.write("f.py", f"def f(x):\n{body}")
    assert shell.convert("f.py", "--no-verify", "--signature", f"{dtype}[:]", "-o", "-") == 0
    assert "if i - 3 < np.int64(x[i]):" in shell.out
    assert shell.convert("f.py", "--signature", "uint8[:]") == 0, shell.out
