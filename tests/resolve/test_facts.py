"""What changes a name, also through the arguments of a file's own functions."""

from __future__ import annotations

import time

import pytest

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


MADE = """
import numpy as np

TABLE = np.ones((4, 3))

def added(values, x):
    s = 0.0
    for row in range(values.shape[0]):
        s += values[row, 0] * np.cos(values[row, 1] + values[row, 2] * x)
    return s, s / 2


def largest(values):
    best = 0.0
    for row in values:
        best = row
    return best


def first(values, x):
    found = values
    found += x
    return found


def part(values, x):
    return values[0]


def repeated(values, k):
    return values * 2


def many(values, k):
    n = 3
    return values * n


def joined(values, others):
    return values + others


def behind(values, others):
    start = (1, 2)
    return start + values


def merged(values, others):
    return values | others


def f(x):
    s, half = added(TABLE, x)
    s += x
    return s
"""


def test_what_a_function_computes_is_none_of_its_arguments() -> None:
    top = TopLevel(MADE)
    assert "f:s" not in top.group("TABLE") and not top._facts.get("TABLE")


@pytest.mark.parametrize(
    "called",
    [
        "largest(TABLE)", "first(TABLE, 2.0)", "part(TABLE, 2.0)",
        "repeated([TABLE], 2)", "many([TABLE], 2)", "joined([TABLE], [])",
        "behind((TABLE,), 2)", "merged({1: TABLE}, {})",
        # another function may have the name later, or in its place
        "added(TABLE, 2.0)\n\ndef added(values, x):\n    return values",
        "added(TABLE, 2.0)\nadded = np.asarray",
    ],
)  # fmt: skip
def test_what_a_function_returns_may_be_its_argument(called: str) -> None:
    top = TopLevel(MADE + f"\n\nV = {called}\n")
    assert "V" in top.group("TABLE")


COMPILED = """
import numba
import numpy as np

LIMIT = float(np.log(np.finfo(np.double).max) - 0.1)
TABLE = np.zeros(3)

def _clipped(v, values):
    return values[0] if v < values[0] else v

def _reset(values):
    values[0] = 0

clipped = numba.njit(_clipped)
reset = numba.jit(nopython=True)(_reset)

def main(x):
    x[0] = clipped(x[0], x) + min(x[1], LIMIT)
"""


def test_what_numba_compiles_does_what_its_function_does() -> None:
    top = TopLevel(COMPILED)
    assert top.names.compiled == {"clipped": "_clipped", "reset": "_reset"}
    assert "LIMIT" in top.scalars and "clipped" not in top.group("main:x")
    assert not top._facts.get("TABLE")
    assert TopLevel(COMPILED + "\n\ndef late():\n    reset(TABLE)\n")._facts["TABLE"]
    # another function may have the name
    assert "clipped" not in TopLevel(COMPILED + "\nclipped = min\n").names.compiled


GIVEN_BACK = """
import numpy as np


def escapes(x, y):
    for i in range(20):
        if x + y > 4:
            return i
    return 255


def fill(x, image):
    for i in range(image.shape[0]):
        image[i] = escapes(x, i)
    return image


image = np.zeros(8)
fill(1.0, image)
fill.calls = 1
"""


def test_a_call_does_not_change_the_function_that_gives_its_argument_back() -> None:
    top = TopLevel(GIVEN_BACK)
    # the call fills `image`: it takes as long as it takes, and verification needs none of it
    assert [top.body[k].lineno for k in top.slice({"escapes"})] == [5]
    assert 19 in [top.body[k].lineno for k in top.slice({"image"})]
    # what is set of a function belongs to it, and to no call of it
    assert [top.body[k].lineno for k in top.slice({"fill"})] == [5, 12, 20]


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
