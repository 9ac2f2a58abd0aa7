"""Divisions by sizes: Python raises for its own numbers, NumPy does not for its own."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell


@pytest.mark.parametrize(
    ("body", "raised"),
    [
        ("return x * (1.0 / len(x))", "division by zero"),
        ("return x * (7 // x.shape[0])", "integer division or modulo by zero"),
        ("return x + 7 % x.size", "integer division or modulo by zero"),
        ("return x.sum() / len(x)", ""),
        ("return x / len(x)", ""),
        ("return x * (1.0 / len(x) if len(x) else 0.0)", ""),
        ("return x * (1.0 / (len(x) + 1))", ""),
        ("if len(x) == 0:\n        return x + 1\n    return x * (1.0 / len(x))", ""),
    ],
)
def test_where_the_host_raises(shell: Shell, body: str, raised: str) -> None:
    shell.write("f.py", f"def f(x):\n    {body}\n")
    assert shell.convert("f.py", "--signature", "float64[:]", "-o", "-") == 0
    assert ("raise ZeroDivisionError" in shell.out) == bool(raised)
    assert f'raise ZeroDivisionError("{raised}")' in shell.out or not raised
