"""What an empty loop would not read is not read by a fold that was taken out of it."""

from __future__ import annotations

import numpy as np
import pytest

from porter.ir.printer import lines
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


PIVOT = """\
import numpy as np

def f(a, b):
    n = len(b)
    for k in range(n - 1):
        p = np.argmax(np.abs(a[k:n, k])) + k
        b[k] = b[p]
        for i in range(k + 1, n):
            a[i, k:] -= a[k, k:]
"""


def test_a_fold_from_a_fold_as_long_has_one_length() -> None:
    """The loop would raise if `a` were shorter than `b`: `n` is the smaller of both in it."""
    *_, last = stages(array_program(PIVOT, "float64[:, :], float64[:]"))
    (largest,) = (line for line in lines(last[1]) if "= max[" in line)
    assert "< b.shape[0] - k]" in largest
