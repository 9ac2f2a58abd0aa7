"""Sizes that meet in a branch or an iteration are compared there; a mask without elements fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from porter import ir
from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal
from porter.ir.interp import run
from porter.ir.walk import statements
from porter.source.module import SourceModule
from tests.corpus.check import compare

#: each with two arrays and an integer that decides
BRANCHES = {
    "stored": "if n > 1:\n        y[1:-1] -= x[:-2]\n    return x.sum(), y",
    "rebound": "if n > 1:\n        x = x * y\n    else:\n        y = y + 1\n    return x, y",
    "behind it": "if n > 1:\n        y += x\n    x += 1\n    return x * 2, y[::-1].copy()",
    "in the branch": (
        "if n > 1:\n        y[:] = 3\n        if n > 2:\n            y += x\n    return x, y"
    ),
}
#: sizes that depend on the index of a loop of the host
ITERATIONS = {
    "windows": (
        "for d in range(-n, n + 1):\n"
        "        lo, hi = max(0, d), min(len(x), len(x) + d)\n"
        "        x[lo:hi] += 0.5 * y[lo - d:hi - d]\n"
        "    return x, y"
    ),
    "nested": (
        "out = np.zeros((3, len(x)))\n"
        "    for k in range(3):\n"
        "        for d in range(n):\n"
        "            p, q = max(k - d, 0), min(len(x), len(y) - d)\n"
        "            out[k, p:q] = out[k, p:q] + y[p + d:q + d] * x[p:q]\n"
        "    return out"
    ),
}
LEFT_EARLY = "if n < 1:\n        y[:] = 2\n        return y\n    x += y\n    return x"
#: masks of n elements
MASKS = {
    "stored": "t = x.copy()\n    t[np.ones(n) > 0] += y[0]\n    return t, x.sum()",
    "selected": "return x[np.ones(n, dtype=bool)], y * 2",
}


def converted(body: str) -> tuple[str, Converted]:
    source = f"import numpy as np\n\ndef f(x, y, n):\n    {body}\n"
    function = SourceModule(source, "f.py").functions[0]
    return source, convert_function(function, "float64[:], float64[:], int64")


def differences(body: str) -> dict[tuple[int, int, int], str]:
    source, made = converted(body)
    scope: dict[str, object] = {}
    exec(source, scope)
    rng = np.random.default_rng(0)
    found = {}
    for n, m, count in itertools.product((4, 5, 7), (4, 5, 7), (0, 1, 2, 4, 5)):
        arguments = rng.random(n), rng.random(m), count
        found[n, m, count] = compare(scope["f"], lambda *a: run(made.program, a), arguments)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("body", [*BRANCHES.values(), *MASKS.values()], ids=[*BRANCHES, *MASKS])
def test_whatever_the_sizes_are(body: str) -> None:
    assert not {f for f in differences(body).values() if f}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(text, id=name, marks=[pytest.mark.long] * (name == "nested"))
        for name, text in ITERATIONS.items()
    ],
)
def test_in_each_iteration(body: str) -> None:
    found = differences(body)
    # NumPy repeats an element where a size is 1
    assert all(not f or f.startswith("raises ValueError") for f in found.values())
    assert sum(not f for f in found.values()) > 0.9 * len(found)
    message = "the sizes of the arrays differ"
    assert any(message in s.text for s in statements(converted(body)[1].program.body)
               if isinstance(s, ir.Host))  # fmt: skip


def test_not_for_a_launch_an_element() -> None:
    body = "for k in range(n):\n        x[k] = (x[k:n] * y[max(k - 1, 0):n]).sum()\n    return x"
    with pytest.raises(Refusal, match="may differ"):
        converted(body)


def test_a_store_before_sizes_meet_keeps_its_own() -> None:
    found = differences(LEFT_EARLY)
    assert all(not f or f.startswith("raises ValueError") for f in found.values())
    assert not any(f for (n, m, count), f in found.items() if count or n == m)


def test_what_is_tested_in_the_branch_is_not_tested_outside() -> None:
    _, made = converted(BRANCHES["stored"])
    (test,) = made.program.checks
    assert test.conditions
