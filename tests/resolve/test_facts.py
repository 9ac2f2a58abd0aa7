"""What changes a name, also through the arguments of a file's own functions."""

from __future__ import annotations

import time

from porter.resolve.toplevel import TopLevel

PASSED_ON = """
import numpy as np

TABLE = np.zeros(3)
SAFE = np.zeros(3)


def outer(values):
    inner(values)


def inner(values):
    values[0] = 1


def reader(values):
    return values.sum()


def main():
    outer(TABLE)
    reader(SAFE)
"""


def test_a_change_comes_through_the_arguments() -> None:
    top = TopLevel(PASSED_ON)
    assert top._facts["TABLE"]
    assert not top._facts.get("SAFE")
    assert not top.patches_libraries


def test_time_grows_with_the_file() -> None:
    """600 functions that hand each other what all of them change took minutes."""
    functions = [
        f"def f{n}(x, o):\n    o['{n}'] = x\n    return f{(n * 7 + 1) % 600}(x, o)\n"
        for n in range(600)
    ]
    top = TopLevel("\n".join(functions))
    start = time.process_time()
    assert not top.patches_libraries
    assert all(top._facts[f"f{n}:o"] for n in range(600))
    assert time.process_time() - start < 2
