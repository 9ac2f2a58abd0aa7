"""A list times a size is the list repeated, never its numbers multiplied."""

from __future__ import annotations

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.ir.interp import run
from porter.source.module import SourceModule

SOURCE = """import numpy as np


def weighted(x):
    return np.dot(x, [2.0] * x.shape[1])


def pattern(x):
    return np.array(len(x) * [1.0, 3.0]).cumsum()


def multiplied(x):
    return x * ([2.0] * x.shape[0])


def counted(x, n: int):
    return x + np.array([2.0] * n)
"""


@pytest.mark.parametrize(
    ("name", "signature", "argument"),
    [
        ("weighted", "float64[:, :]", np.arange(12.0).reshape(4, 3)),
        ("weighted", "float64[:, :]", np.ones((2, 1))),
        ("weighted", "float64[:, :]", np.ones((2, 0))),
        ("pattern", "float64[:]", np.ones(1)),
    ],
)
def test_it_is_repeated(name: str, signature: str, argument: np.ndarray) -> None:
    module = SourceModule(SOURCE, "a.py")
    function = next(f for f in module.functions if f.name == name)
    space: dict[str, object] = {}
    exec(SOURCE, space)
    wanted = space[name](argument)  # type: ignore[operator]
    found = run(convert_function(function, signature).program, [argument])
    assert np.asarray(found).dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["multiplied", "counted"])
def test_what_may_be_a_product_is_refused(name: str) -> None:
    # of an argument nobody knows that it is no array of no dimensions: then it is a factor
    module = SourceModule(SOURCE, "a.py")
    function = next(f for f in module.functions if f.name == name)
    with pytest.raises(Refusal) as refused:
        convert_function(function)
    assert refused.value.diagnostic.code == "PRT902"
    assert "how often a list is repeated" in refused.value.diagnostic.message
