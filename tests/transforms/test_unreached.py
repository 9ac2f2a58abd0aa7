"""What an empty loop would not read is not read by a fold that was taken out of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.check import array_program, interpreted, stages

LOOP = """\
import numpy as np

def f(x, y):
    total = 0.0
    for i in range({turns}):
        inner = 1.0
        for j in range({inner}):
            inner += {term}
        total += inner * inner
    return total
"""
#: the turns, those inside, and what is summed: beyond x where it has one element
LOOPS = [
    ("x.shape[0] - 1", "y.shape[0] - 1", "x[j + 1] + y[j]"),
    ("x.shape[0] - 1", "y.shape[0]", "x[j] * y[j]"),
    ("x.shape[0] - 1", "y.shape[0] - 1", "x[y.shape[0] - 1 - j] + y[0]"),
    ("x.shape[0] - 1", "y.shape[0]", "y[j]"),
]


@pytest.mark.parametrize(("turns", "inner", "term"), LOOPS)
@pytest.mark.parametrize("sizes", [(1, 3), (1, 0), (5, 5), (5, 3), (0, 2)])
def test_an_empty_loop_reads_nothing(
    turns: str, inner: str, term: str, sizes: tuple[int, int]
) -> None:
    source = LOOP.format(turns=turns, inner=inner, term=term)
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=n) for n in sizes)
    scope: dict[str, object] = {}
    exec(source, scope)
    front = array_program(source, "float64[:], float64[:]")
    *_, last = stages(front)
    expected = scope["f"](x, y)  # type: ignore[operator]
    assert np.isclose(interpreted(front, last, x, y), expected)
