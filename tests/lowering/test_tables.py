"""Dictionaries of the module level: read with known keys, else refused."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell

HEAD = """import numpy as np

RATES = {"a": 1.0, "b": 2.0, "a": 4.0}
STORED = {"a": 1.0}


def store(x):
    STORED["a"] = 3.0
    return x


"""
REFUSED = {
    "def f(x, k='c'):\n    return x * RATES[k]": "the dict has no key 'c'",
    "def f(x, k):\n    return x * RATES[k]": "the key of a dict is not known at conversion",
    "def f(x):\n    return x * STORED['a']": "the value of `STORED` is not fixed",
    "def f(x):\n    return x * RATES.values()": "`.values()` of a dict cannot be converted",
    "def f(x):\n    RATES['a'] = 2.0\n    return x": "the value of `RATES` is not fixed",
    "def f(x):\n    return x * {**RATES}['a']": "a dict cannot be converted",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_a_known_item_is_refused(shell: Shell, text: str) -> None:
    shell.write("a.py", HEAD + text + "\n")
    assert shell.convert("a.py", "-f", "f") == 1
    assert REFUSED[text] in " ".join(shell.out.split())


def test_the_last_of_two_equal_keys_counts(shell: Shell) -> None:
    shell.write("a.py", HEAD + "def f(x):\n    return x * RATES['a'] + len(RATES.keys())\n")
    assert shell.convert("a.py", "-f", "f", verify=True) == 0, shell.err
    assert "T(4.0) + T(2.0)" in (shell.folder / "a_cuda.py").read_text()
