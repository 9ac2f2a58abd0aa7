"""What joins the launch of a row, and what must not."""

from __future__ import annotations

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from tests.programs.check import array_program

SOURCE = """
def f(a, out, n):
    u = a * 2.0
    v = a * 3.0
    for t in range(n):
        m = u.max(axis=1)
        u -= m[:, None]
        out[:] = v[::-1].sum(axis=1) + m
        REBIND
    return u, v
"""


def rows_launched(rebind: str) -> int:
    source = "import numpy as np\n" + SOURCE.replace("REBIND", rebind)
    text = plan_text(plan(array_program(source, "float64[:, :], float64[:], int64")))
    return text.count("a block per row")


def test_a_variable_that_may_mean_the_array_that_rows_store_into_is_read_later() -> None:
    """From the second iteration on, `v` is `u`: other blocks must have stored their rows."""
    assert rows_launched("v = u") == 2
    assert rows_launched("v = u.copy()") == 1


def test_a_value_of_a_row_is_read_before_its_elements_are_stored() -> None:
    """A warp that is late would read what another one has stored: a barrier stands between."""
    source = """import numpy as np

def f(x):
    s = x.sum(axis=1) + x[:, 5]
    x -= s[:, None]
    return s
"""
    (function,) = SourceModule(source, "f.py").functions
    kernel = convert_function(function, "float64[:, :]").text.parts[0]
    behind = kernel[kernel.index("x[i, 5]") :]
    assert behind.index("cuda.syncthreads()") < behind.index("x[i, k] = ")
