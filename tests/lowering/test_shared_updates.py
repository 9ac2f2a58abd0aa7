"""`+=` changes an array for all that show it: items of tuples, the names of a caller, iterators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal
from porter.ir.interp import run
from porter.source.module import SourceModule
from tests.corpus.check import compare

HELPERS = """
def raised(a):
    a += 1
    return a

def doubled(a):
    a += 1
    return a * 2

def twice(a):
    return raised(a)

def renamed(a):
    q = a
    q += 1
    return a * 2

def stored(a):
    q = a
    q[0] = 3
    return a + q

def lost(a):
    renamed(a)
    return a

def repeated(a, n):
    for i in range(n):
        q = a
        q += 1
    return a
"""
BODIES = {
    "an item of a tuple": "c = x * 2\n    t = (c, 3)\n    c += 1\n    return t[0] * 2",
    "items of a list": "c = x * 2\n    t = [c, c]\n    c += 1\n    return t[0] + t[1]",
    "an item within an item": "c = x * 2\n    t = ((c, 1), 3)\n    c *= c\n    return t[0][0]",
    "in a loop": (
        "c = x * 2\n    t = (c, 3)\n    for i in range(n):\n        c += i\n    return t[0]"
    ),
    "under a condition": (
        "c = x * 2\n    t = (c, 3)\n    if n > 2:\n        c += n\n    return t[0]"
    ),
    "an iterator": (
        "c = x * 2\n    d = enumerate(c)\n    c += 1\n    return np.array([k * v for k, v in d])"
    ),
    "the caller's": "c = x * 2\n    d = raised(c)\n    return c + d",
    "changed for the caller": "c = x * 2\n    d = doubled(c)\n    return c + d",
    "through two calls": "c = x * 2\n    d = twice(c)\n    return c + d",
    "an item of the caller's": "c = x * 2\n    t = (c, n)\n    d = raised(t[0])\n    return c + d",
    "the caller's name again": "c = x * 2\n    c = raised(c)\n    return c * 3",
    "another name of a temporary": "return renamed(x * 2)",
    "a store into another name": "return stored(x * 2) + 1",
    "nobody else's": "c = x * 2\n    d = c + 1\n    d += n\n    return c + d",
}

REFUSED = {"that the caller names": "return lost(x * 2)", "in a loop": "return repeated(x * 2, n)"}


def converted(body: str) -> tuple[Any, Converted]:
    source = f"import numpy as np\n{HELPERS}\ndef f(x, n):\n    {body}\n"
    scope: dict[str, Any] = {}
    exec(source, scope)
    function = next(f for f in SourceModule(source, "f.py").functions if f.name == "f")
    return scope["f"], convert_function(function, "float64[:], int64")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_all_see_the_change(body: str) -> None:
    original, made = converted(body)
    for n in (1, 4):
        arguments = np.arange(5.0), n
        assert not compare(original, lambda *a: run(made.program, a), arguments)


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_a_store_into_what_is_only_computed_is_refused(body: str) -> None:
    with pytest.raises(Refusal) as refused:
        converted(body)
    assert refused.value.diagnostic.code == "PRT905"
