"""The comparison that judges the corpus finds every kind of difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.corpus.check import compare, variants
from tests.corpus.inputs import CASES

Function = Callable[..., Any]


def add_in_place(x: Any) -> Any:
    """Stands for the user's function."""
    if x.shape[0] == 0:
        raise ValueError("empty")
    x += 1
    return x


def copied(x: Any) -> Any:
    return add_in_place(x.copy())


def unchanged(x: Any) -> Any:
    result = x + 1
    x[...] = result
    return result


def single(x: Any) -> Any:
    return add_in_place(x).astype(np.float32)


def broadcast(x: Any) -> Any:
    add_in_place(x)
    return x[:1]


def one_wrong(x: Any) -> Any:
    add_in_place(x)
    x[-1] *= 1.000001
    return x


def pair(x: Any) -> Any:
    return add_in_place(x), 1


def silent(x: Any) -> Any:
    x += 1
    return x


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (copied, "returned itself"),
        (unchanged, "returned itself"),
        (single, "float32"),
        (broadcast, "instead of float64(4,)"),
        (one_wrong, "1 of 4 differ"),
        (pair, "tuple instead of"),
    ],
)
def test_finds_a_difference(wrong: Function, word: str) -> None:
    x = np.arange(4.0)
    assert compare(add_in_place, add_in_place, (x,)) == ""
    assert word in compare(add_in_place, wrong, (x,))


def test_finds_a_missing_exception() -> None:
    assert "no exception" in compare(add_in_place, silent, (np.zeros(0),))


def test_finds_a_missing_mutation() -> None:
    def original(x: Any) -> None:
        x *= 2

    def idle(x: Any) -> None:
        del x

    assert "argument 0" in compare(original, idle, (np.ones(3),))


def test_finds_a_broken_alias() -> None:
    def original(x: Any, y: Any) -> None:
        y[1:] = x[:-1]
        y[0] = x[1]

    def one_buffer_each(x: Any, y: Any) -> None:
        before = x.copy()
        y[1:] = before[:-1]
        y[0] = before[1]

    arguments = dict(variants(CASES["in_place:swap_arrays"]))
    same = arguments["argument 1 is argument 0"]
    assert same[0] is same[1]
    assert compare(original, one_buffer_each, arguments["n=6"]) == ""
    assert compare(original, one_buffer_each, same) != ""


def test_layouts_are_what_their_names_say() -> None:
    arguments = dict(variants(CASES["matrix:matvec"]))
    assert not arguments["strided"][0].flags.contiguous
    assert arguments["reversed"][0].strides[0] < 0
    assert arguments["float32"][0].dtype == np.float32
    assert arguments["empty"][0].shape[0] == 0
