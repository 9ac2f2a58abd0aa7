"""The device counts the turns of loops whose launches need their number."""

from __future__ import annotations

import pytest

from porter import ir
from porter.convert.function import convert_function
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule
from tests.schedule.children import assert_none_wrong
from tests.support.shell import Shell

SOURCE = """
import numpy as np


def driven(u: "float64[:, :]", f: "float64[:]"):
    for t in range(f.shape[0]):
        u[0, :] = f[t]
        u[1:, :] = 0.5 * (u[1:, :] + u[:-1, :])


def shrinking(u: "float64[:, :]"):
    for t in range(1, u.shape[0]):
        u[t:, :t] *= 0.5
        u[0, :] = u[t, :]


def recorded(u: "float64[:]", n: int):
    out = np.zeros(n)
    for t in range(n):
        u[:] = np.sqrt(u + 1.0)
        out[t] = u.sum()
    return out


def asked(u: "float64[:]", n: int):
    for t in range(n):
        u[:] = u * t
        if u[0] > 3.0:
            u[:] = u - 1.0


def by_steps(u: "float64[:]", n: int):
    for t in range(0, n, 2):
        u[1:] = u[:-1] * t


def powers(u: "float64[:]", n: int):
    for t in range(n):
        u[1:] = u[:-1] / 2**t


def waves(u: "float64[:]", dt: float, n: int):
    for t in range(n):
        u[1:] = u[:-1] + np.sin(t * dt)


def folded_parts(u: "float64[:, :]"):
    for t in range(u.shape[0]):
        u[t] = u[t:].sum(axis=0)
"""


def plan_of(name: str) -> tuple[list[Launch], str]:
    """The launches of a function, and its host function."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    made = convert_function(function)
    items = [i for i in items_of(made.plan.items) if isinstance(i, Launch)]
    return items, made.text.parts[-1]


@pytest.mark.parametrize("name", ["driven", "shrinking", "recorded"])
def test_a_graph_can_replay_the_loop(name: str) -> None:
    launches, host = plan_of(name)
    assert "_repeat(turn, " in host and "for t in" not in host
    assert {i.kernel.turn for i in launches if i.kernel.number} == {"t"}
    # what does not need the number is launched as before
    assert f"{name}_next_step[1, 1, stream](step)" in host


def test_a_launch_is_over_the_elements_of_all_turns() -> None:
    launches, host = plan_of("shrinking")
    (first,) = (i.kernel for i in launches if i.kernel.number and len(i.kernel.axes) == 2)
    assert not any("t" in p.names() for a in first.axes for p in (a.lo, a.hi))
    (branch,) = first.body
    assert isinstance(branch, ir.If)
    assert str(branch.cond) == "((j_ < -t + u.shape[0]) and (k_ < min(t, u.shape[1])))"
    assert "_grid(u.shape[0] - 1, " in host


def test_the_module_is_laid_out(shell: Shell) -> None:
    """What is made before the loop stands apart from the function of a turn."""
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", "recorded", "-o", "-") == 0, shell.err
    assert "done = _counter(stream)\n\n        def turn(stream):" in shell.out


@pytest.mark.parametrize("name", ["asked", "by_steps", "powers", "waves", "folded_parts"])
def test_other_loops_stay_on_the_host(name: str) -> None:
    """The host reads a value or computes one of the number, steps are longer, or a fold is over
    other elements each time."""
    launches, host = plan_of(name)
    assert "for t in range" in host
    assert not any(i.kernel.number for i in launches)


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [5, pytest.param(240, marks=pytest.mark.long)])
def test_random_loops_and_factorisations(engine: str, count: int) -> None:
    assert_none_wrong("steps_child", engine, str(count), "0")
