"""A fold that the function makes twice is made once."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule

#: what is returned -> how many folds the kernels make
RETURNED = {
    "x.max(), x.argmax()": 2,
    "x.argmax(), x.max()": 2,
    "x.max(), x.max(), x.argmax()": 2,
    "x / x.max(), x.max()": 1,
    "x.min(), x.argmax()": 3,
}


def folds(source: str, signature: str) -> int:
    function = SourceModule(f"import numpy as np\n\n{source}", "f.py").functions[0]
    launches = [i for i in items_of(plan(convert_function(function, signature).program).items)
                if isinstance(i, Launch)]  # fmt: skip
    return sum(len(i.kernel.reductions) for i in launches)


@pytest.mark.parametrize("values", RETURNED)
def test_each_fold_once(values: str) -> None:
    assert folds(f"def f(x):\n    return {values}\n", "float64[:]") == RETURNED[values]


def test_rows() -> None:
    source = "def f(x):\n    return x.max(axis=1), x.argmax(axis=1)\n"
    assert folds(source, "float64[:, :]") == 2


def test_not_behind_a_store() -> None:
    source = "def f(x):\n    a = x.max()\n    x[0] = 2.0\n    return a, x.max()\n"
    assert folds(source, "float64[:]") == 2
