"""Loops over halves of tables are threads of whole tables; other loops keep their own shape."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

FUNCTIONS = {f.name: f for f in SourceModule(
    (CORPUS / "triangles.py").read_text("utf-8"), "triangles.py"
).functions}  # fmt: skip
#: how many axes the threads of the last kernel have
AXES = {
    "distances": 2, "lower": 2, "from_the_end": 2, "other_start": 2, "band": 1, "gram_upper": 2,
    "gram_both": 2, "shifted": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", AXES)
def test_the_threads_of_a_triangle(name: str) -> None:
    text = convert_function(FUNCTIONS[name], CASES[f"triangles:{name}"].signature).text
    kernel = text.parts[-2]
    grid = "grid_2d()" if AXES[name] == 2 else "cuda.grid(1)"
    assert kernel.count(grid) == 1 and "for" not in text.parts[-1].split("stream = 0")[-1], kernel


def test_a_chained_assignment_of_sums_is_one_launch() -> None:
    text = convert_function(FUNCTIONS["gram_both"], "float64[:, :]").text
    assert text.parts[-2].count("total +=") == 1
    assert text.parts[-1].count(", stream](") == 2  # the zeros and the products


def test_what_stores_could_exchange_stays_in_order() -> None:
    """The second store of an element comes after the first ones of all elements."""
    source = """import numpy as np

def f(x, out):
    for i in range(x.shape[1]):
        out[i, i:] = out[i, i:][::-1] = x[:, i] @ x[:, i:]
    return out
"""
    (function,) = SourceModule(source, "f.py").functions
    text = convert_function(function, "float64[:, :], float64[:, :]").text
    assert "for i in range(out.shape[1]):" in text.parts[-1]


def test_a_sum_of_a_row_is_computed_once_for_it() -> None:
    source = """import numpy as np

def f(x, data, out):
    for i in range(len(x)):
        out[i, i:] = x[i:] * data[i].sum()
    return out
"""
    (function,) = SourceModule(source, "f.py").functions
    text = convert_function(function, "float64[:], float64[:, :], float64[:, :]").text
    kernel = text.parts[-2]
    # after the sum comes the loop over the elements, in the same thread
    assert "cuda.grid(1)" in kernel and "total +=" in kernel[: kernel.rindex("for ")]
