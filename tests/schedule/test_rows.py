"""What joins the launch of a row, and what must not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from tests.programs.check import array_program
from tests.support.paths import ROOT
from tests.support.shell import Shell

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


FOLDS = """import numpy as np


def siblings(x: "float64[:, :]"):
    return x.min(axis=1), x.max(axis=1), x[:, ::-1].mean(axis=1), (x * x).sum(axis=1) + x[:, 0]


def in_turn(x: "float32[:, :]"):
    m = x.max(axis=1)
    s = np.exp(x - m[:, None]).sum(axis=1)
    return m, s, x.min(axis=1), (x - m[:, None]).sum(axis=1)


def stored(x: "float64[:, :]"):
    m = x.max(axis=1)
    x[:, 0] = m
    return m, x.sum(axis=1), x.min(axis=1)


def lengths(x: "float32[:, :]", k: "int64"):
    return x[:, 1:].sum(axis=1) - x[:, :-1].max(axis=1), x[:, :k].sum(axis=1), x[:, 1:k].sum(axis=1)
"""


def kernel_of(name: str) -> str:
    function = next(f for f in SourceModule(FOLDS, "f.py").functions if f.name == name)
    (kernel, _) = convert_function(function).text.parts
    return kernel


@pytest.mark.parametrize("name", ["siblings", "in_turn", "stored", "lengths"])
def test_folds_of_rows_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", FOLDS)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def test_folds_over_one_row_share_its_loop() -> None:
    kernel = kernel_of("siblings")
    assert kernel.count("while ") == 2
    loop = kernel[kernel.index("while j") : kernel.index("j += ")]
    assert [loop.count(f) for f in ("minimum(", "maximum(", "total += ", "total2 += ")] == [1] * 4
    # what is stored of a fold comes behind the barriers of that fold
    places = [f"{word}(" for word in ("block_min", "block_max", "block_sum")]
    stores = [f"out{k}[i] = " for k in (1, 2, 3)]
    order = [kernel.index(text) for pair in zip(places, stores, strict=True) for text in pair]
    assert order == sorted(order)


def test_a_fold_of_what_another_one_found_is_a_later_loop() -> None:
    kernel = kernel_of("in_turn")
    assert kernel.count("while ") == 3
    later = kernel[kernel.index("block_max(") :]
    assert all(text in later for text in ("math.exp(", "minimum(", "x[i, k] - row_m"))


def test_a_fold_of_what_was_stored_before_it_waits() -> None:
    kernel = kernel_of("stored")
    assert kernel.count("while ") == 3
    behind = kernel[kernel.index("x[i, 0] = ") :]
    assert behind.index("cuda.syncthreads()") < behind.index("total += ")
    assert behind.count("while ") == 1


def test_domains_of_other_lengths_have_loops_of_their_own() -> None:
    assert kernel_of("lengths").count("while ") == 4


ARGUMENTS = """import numpy as np


def found(x: "float32[:, :]"):
    return x.argmax(axis=1), x.max(axis=1), (x * x - 1).argmin(axis=-1)


def reversed_rows(x: "int32[:, :]"):
    k = np.argmin(np.abs(x[:, ::-1]), axis=1)
    return k * 2, np.argmax(x[:, 1:], axis=1)


def without_nan(x: "float64[:, :]"):
    n = x.shape[1]
    where = np.where(x == x.max(axis=1)[:, None], np.arange(n), n)
    return where.min(axis=1)


def same_dtype(x: "uint8[:, :]"):
    return x.astype(np.int64).argmax(axis=1)
"""


def arguments_of(name: str) -> str:
    function = next(f for f in SourceModule(ARGUMENTS, "f.py").functions if f.name == name)
    (kernel, _) = convert_function(function).text.parts
    return kernel


@pytest.mark.parametrize("name", ["found", "reversed_rows", "without_nan", "same_dtype"])
def test_positions_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", ARGUMENTS)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def test_an_extreme_is_found_with_its_position() -> None:
    kernel = arguments_of("found")
    assert kernel.count("while ") == 2
    assert "if first_max(x[i, j], j, largest, place):" in kernel
    assert "largest, place = block_argmax(largest, place, scratch, scratch2)" in kernel
    assert "block_argmin(" in arguments_of("reversed_rows")


def test_what_is_no_position_of_an_extreme_is_a_fold_of_its_own() -> None:
    """NaN is nowhere equal, and int64 values and positions would share one array."""
    for name in ("without_nan", "same_dtype"):
        kernel = arguments_of(name)
        assert kernel.count("while ") == 3 and "block_arg" not in kernel


def test_a_position_is_the_first_of_all_threads() -> None:
    """Of equal values, of NaN, and where every value is the one that the fold starts from."""
    module: dict[str, Callable[..., bool]] = {}
    text = (ROOT / "templates" / "helpers_device.py.j2").read_text()
    body = text[text.index("def first_{{ op }}(") : text.index('{% if "block_arg" ~ op')]
    for op, sign in (("max", ">"), ("min", "<")):
        source = body.replace("{{ op }}", op).replace("{{ sign }}", sign)
        exec(source.partition("{% endif")[0], module)
    nan, inf = math.nan, math.inf
    values = [nan, inf, 2.0, 0.0, -0.0, -inf]
    for op, best in (("max", np.argmax), ("min", np.argmin)):
        first = module[f"first_{op}"]
        for row in itertools.product(values, repeat=3):
            for order in itertools.permutations(range(3)):
                value, place = (-inf if op == "max" else inf), 3
                for k in order:
                    if first(row[k], k, value, place):
                        value, place = row[k], k
                assert place == best(row), (op, row, order)
