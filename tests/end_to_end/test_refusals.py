"""What the tool for ranks and kinds says of refused calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.end_to_end.refusals import class_of, cured, names_all, summary

COMMAND = 'run `porter convert f.py -f f --signature "int8[:]"`'
NARROW = f"x is int8, with which NumPy does not compute in float64: {COMMAND}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NARROW, "integers of which NumPy computes narrow floats, or that wrap"),
        (f"x has dtype int64, but the kernels take float64: {COMMAND}", "integers for floats"),
        ("x has dtype int64, but the kernels take complex128", "real for complex"),
        ("x is float32 but y is float64: give them one dtype", "mixed or other widths"),
        ("operands could not be broadcast together: (1,) and (2,)", "broadcast"),
        ("x has 0 dimensions instead of 1 or more", "too few dimensions"),
        ("nothing that is known", "other"),
        ("x and y are int64, of which NumPy makes no floats", "integers for floats"),
        ("z is int8, with which NumPy does not compute in complex128", "real for complex"),
    ],
)
def test_classes(text: str, found: str) -> None:
    assert class_of(text) == found


def test_a_text_names_the_argument_and_a_cure() -> None:
    assert names_all(NARROW, ["x", "y"])
    assert not names_all(NARROW, ["y"])
    assert not names_all("x is int8", ["x"])


def test_a_cure_is_done() -> None:
    def half(x: Any) -> Any:
        return x * 0.5

    def strict(x: Any) -> Any:
        if x.dtype != np.float64:
            raise TypeError
        return half(x)

    call = (np.arange(3),)
    passed = "pass x.astype(np.float64)"
    made = {"int8[:]": half}.__getitem__
    assert cured(f"{NARROW}", ["x"], call, half, strict, made) == "equal"
    assert cured(passed, ["x"], call, half, strict, made) == "equal"
    assert (
        cured("pass x.astype(np.float32)", ["x"], call, half, strict, made) == "raises TypeError: "
    )
    assert cured(passed, ["x"], (3,), half, strict, made).startswith(
        "pass x.astype(np.float64) fails"
    )
    assert cured("x is int64", ["x"], call, half, strict, made) == ""


def test_the_summary() -> None:
    line = {"group": "example", "calls": 5, "more": 1, "wrong": [], "names": ["x"],
            "refused": [NARROW], "after": ["equal"]}  # fmt: skip
    found = summary([line, line | {"group": "rest", "refused": [], "after": []}])
    assert found.split("\n") == [
        "elementwise functions and examples: 1 functions, 5 calls, 3 equal,"
        " 1 taken where NumPy raises, 0 wrong, 1 refused, 1 refused with a cure,"
        " 1 cures tried, 1 equal after the cure",
        "      1 integers of which NumPy computes narrow floats, or that wrap",
        "the rest: 1 functions, 5 calls, 4 equal, 1 taken where NumPy raises, 0 wrong, 0 refused",
    ]
