"""Closures of relations in panels: columns and rows of turns are kept, and turns taken at once."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.schedule.printer import plan_text
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong, programs_of

LOOP = """import numpy as np


def f(x, w):
    u = x.copy()
    for k in range(x.shape[0]):
        TURN
    return u
"""
EACH = "for i in range(len(u)):\n            for j in range(len(u)):\n                "
SHORTEST = "u[:] = np.minimum(u, np.add.outer(u[:, k], u[k]))"


def plan_of(turn: str, types: str = "float64[:, :], int64") -> str:
    return plan_text(plan(array_program(LOOP.replace("TURN", turn), types)))


def test_shortest_paths_take_a_panel_at_once() -> None:
    """The square turn by turn, its columns and its rows by threads, and a fold over tiles."""
    text = plan_of(SHORTEST)
    panel = text[text.index("for panel in") :]
    panel = panel[: panel.index("alloc u_old:")]
    assert panel.count("a thread for each line of a panel, in shared memory") == 4
    assert "fold smallest = min[k" in panel and "tiles in shared memory" in panel
    # the turns that are left
    assert "BLOCK_X * panels .. x.shape[0]" in text


@pytest.mark.parametrize(
    ("turn", "types"),
    [
        ("u |= u[:, k][:, None] & u[k]", "bool[:, :], int64"),
        ("u[:] = np.maximum(u, np.minimum(u[:, k, None], u[k]))", "int32[:, :], int64"),
        ("u[:] = np.minimum(u, np.add.outer(u[:, k], u[k]) + w)", "float32[:, :], int64"),
        ("u[:] = np.minimum(u, u[:, k, None] + u[k] + k)", "float64[:, :], int64"),
        (f"{EACH}u[i, j] = min(u[i, j], u[i, k] + u[k, j])", "float64[:, :], int64"),
        (
            f"{EACH}if u[i, k] + u[k, j] < u[i, j]:\n"
            "                    u[i, j] = u[i, k] + u[k, j]",
            "int32[:, :], int64",
        ),
        (f"{EACH}u[i, j] = u[i, j] or (u[i, k] and u[k, j])", "bool[:, :], int64"),
    ],
)
def test_other_closures_have_panels(turn: str, types: str) -> None:
    assert "for panel in" in plan_of(turn, types)


def test_the_terms_of_a_panel_need_no_memory_for_parts() -> None:
    """Integers have no tiles: a thread for each element takes 32 terms."""
    text = plan_of(SHORTEST, "int32[:, :], int64")
    assert "for panel in" in text and "fold them" not in text and "blocks of columns" not in text


@pytest.mark.parametrize(
    "turn",
    [
        "u += np.outer(u[:, k], u[k])",  # a term that is taken twice counts twice
        "u[:] = np.minimum(u, u[:, k, None] + u[k, k])",  # no row
        "u[1:] = np.minimum(u[1:], np.add.outer(u[1:, k], u[k]))",  # not all elements
        "u[:] = np.minimum(u, np.add.outer(u[:, k], u[k])) + 1.0",  # not the extreme alone
        "u[:] = np.minimum(u, np.add.outer(u[k], u[:, k]).T + x)",  # an array beside it
        f"{EACH}u[i, j] = min(u[i, j], u[i, k] + u[k, j] + u[k, k])",  # its pivot, too
    ],
)
def test_other_turns_have_none(turn: str) -> None:
    assert "for panel in" not in plan_of(turn)


@pytest.mark.parametrize(("engine", "count"), programs_of((8, 5), (40, 24)))
def test_random_closures(engine: str, count: int) -> None:
    """Sizes at the borders of panels, NaN and infinities, turns that are no closures."""
    assert_none_wrong("closures_child", engine, str(count), "0")
