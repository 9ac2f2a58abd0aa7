"""What is computed once: for a row before its loop over elements, for an element in that loop."""

from __future__ import annotations

import re

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from porter.verify.compile.assembly import link_log
from porter.verify.compile.ptx_report import resources
from tests.support.machine import compiler, module
from tests.support.shell import Shell

ROWS = """import numpy as np


def log_softmax(x: "float64[:, :]"):
    m = x.max(axis=1, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=1, keepdims=True))


def chosen(x: "float64[:, :]"):
    t = x.sum(axis=1)[:, None]
    return np.where(x > 0, x * np.log(t), 0.0)


def layer_norm(x: "float64[:, :]", gamma: "float64"):
    mean = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + 1e-5)


def given(x: "float64[:, :]", s: "float64[:]"):
    t = x.sum(axis=1)
    return x * np.exp(s[0]) + t[:, None] / np.sqrt(np.exp(t))[:, None]


def in_place(x: "float64[:, :]"):
    t = x.sum(axis=1)[:, None]
    x[:, 1:] = x[:, 1:] * np.exp(x[:, :1]) + t


def whole(n: "int64[:, :]"):
    t = n.sum(axis=1)[:, None]
    return n * (7 // t)


def fallible(z: "complex128[:, :]"):
    return z * np.exp(z.sum(axis=1))[:, None]


def clipped(x: "float64[:, :]", w: "float64[:, :]"):
    c = np.clip(x, -1.5, 1.5)
    return c.sum(axis=1), (c * c).sum(axis=1), np.abs(c).max(axis=1), c.argmin(axis=1)


def stored(x: "float64[:, :]"):
    m = x.max(axis=1)[:, None]
    return np.exp(np.tanh(x - m)) + np.tanh(x - m)


def inner(x: "float64[:, :]"):
    z = np.tanh(x)
    return (np.exp(z) * z).sum(axis=1), (np.exp(z) + z).max(axis=1)


def planes(x: "float64[:, :, :]", out: "float64[:, :]"):
    for i in range(2, x.shape[0]):
        out[i, 1:] = x[i, 1:].sum(axis=1)


def rarely(x: "float64[:, :]"):
    t = x.max(axis=1)[:, None]
    return np.where(x > 0, np.where(x > t / 2, np.tanh(x), 0.0), np.where(x < -1, np.tanh(x), 1.0))
"""


def kernel_of(name: str) -> str:
    function = next(f for f in SourceModule(ROWS, "f.py").functions if f.name == name)
    return next(text for text in convert_function(function).text.parts if "row_part" in text
                or "blockIdx" in text)  # fmt: skip


def loops_of(kernel: str) -> list[str]:
    """The bodies of its loops over elements."""
    return [m[1] for m in re.finditer(r"    while .*:\n((?:        .*\n)+)", kernel)]


@pytest.mark.parametrize(
    "name",
    ["log_softmax", "chosen", "layer_norm", "in_place", "whole", "clipped", "stored", "inner",
     "planes", "rarely"],
)  # fmt: skip
def test_rows_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", ROWS)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def test_a_function_of_a_rows_result_is_computed_once_for_the_row() -> None:
    kernel = kernel_of("log_softmax")
    assert kernel.count("math.log(") == 1 and "    log_total = math.log(total)\n" in kernel
    assert [loop.count("log") for loop in loops_of(kernel)] == [0, 0, 1]


def test_what_only_some_elements_need_is_computed_once_all_the_same() -> None:
    assert "    log_t = math.log(t)\n" in kernel_of("chosen")


def test_quotients_and_roots_have_names() -> None:
    """Of one mean, which another statement of the row has as well."""
    kernel = kernel_of("layer_norm")
    assert kernel.count("mean = total / T(x.shape[1])\n") == 1 and "mean2" not in kernel
    *_, last = loops_of(kernel)
    assert "gamma[p] * (x[i, p] - mean) / root" in last


def test_a_value_that_a_row_computes_of_its_results_stays_in_registers() -> None:
    """Every thread computes it: no array, and no wait for the thread that would store it."""
    kernel = kernel_of("layer_norm")
    assert "def layer_norm_rows(x, gamma, out):" in kernel
    assert "row_wait" not in kernel and "threadIdx" not in kernel


def test_elements_of_other_arrays_that_are_there_for_every_row_are_read_before() -> None:
    """One at a constant position may not be there, where no row has an element."""
    *_, last = loops_of(kernel_of("given"))
    assert "math.exp(s[0])" in last and "math.sqrt" not in last


def test_what_may_change_or_fail_stays_in_the_loop() -> None:
    """A zero would end a thread of a row without elements, and the simulator's `cmath` raises."""
    calls = {"in_place": "math.exp(", "whole": "int_floordiv(7, t)", "fallible": "complex_exp("}
    for name, text in calls.items():
        *_, last = loops_of(kernel_of(name))
        assert text in last


def test_what_several_folds_need_of_an_element_has_a_name() -> None:
    (loop,) = loops_of(kernel_of("clipped"))
    assert loop.count("minimum(maximum(") == 1
    assert "total2 += value * value" in loop and "if first_min(value, j, smallest, place):" in loop


def test_what_a_store_needs_twice_has_a_name() -> None:
    *_, last = loops_of(kernel_of("stored"))
    assert last.count("math.tanh(") == 1 and "math.exp(value) + value\n" in last


def test_what_a_named_value_is_made_of_stands_before_it() -> None:
    (loop,) = loops_of(kernel_of("inner"))
    first, second, *_ = loop.splitlines()
    assert first.strip() == "value2 = math.tanh(x[i, j])"
    assert second.strip() == "value = math.exp(value2)"


def test_what_two_branches_need_is_not_computed_in_front_of_both() -> None:
    *_, last = loops_of(kernel_of("rarely"))
    assert last.count("math.tanh(") == 2


def test_the_axes_of_rows_are_taken_apart_in_32_bits() -> None:
    """A division of 64 bits is a loop of its own, and its results might be negative."""
    kernel = kernel_of("planes")
    assert "    i, j = whole_and_rest(row, out.shape[1] - 1)\n    i += 2\n" in kernel
    assert "//" not in kernel and "%" not in kernel


REGISTERS = """import numpy as np


def softmax(x: "float64[:, :]"):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def four(x: "float64[:, :]"):
    return x.min(axis=1), x.max(axis=1), x.mean(axis=1), x.var(axis=1)


def robust(x: "float64[:, :]"):
    c = np.clip(x, -1.5, 1.5)
    return (c - c.mean(axis=1, keepdims=True)) / (c.std(axis=1, keepdims=True) + 1)


def positions(x: "float64[:, :]"):
    return x.argmax(axis=1), x.argmin(axis=1), x.sum(axis=1)
"""


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(
    ("name", "dtype", "most"),
    [("softmax", "float32", 40), ("softmax", "float64", 56), ("four", "float64", 40),
     ("robust", "float64", 48), ("positions", "float64", 40)],
)  # fmt: skip
def test_registers_leave_room_for_three_quarters_of_the_threads(
    shell: Shell, name: str, dtype: str, most: int
) -> None:
    """40 of them do, with blocks of 256 threads.

    The constants of exp of float64 take 24, four divisions at once some more.
    """
    shell.write("f.py", REGISTERS)
    assert shell.convert("f.py", "-f", name, "--no-verify") == 0, shell.err
    made = module(shell.folder / "f_cuda.py", "sm_90")
    kernel, texts = getattr(made, f"{name}_rows"), []
    compiled = kernel.ptx
    kernel.ptx = lambda types: texts.append(compiled(types)) or texts[0]
    getattr(made, name)(np.ones((4, 64), dtype))
    used = resources(link_log(texts[0], "sm_90"))
    assert 0 < used["registers"] <= most and used["spill_bytes"] == 0
