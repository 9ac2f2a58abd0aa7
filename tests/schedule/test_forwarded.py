"""Loops whose iterations read what one of them stores, and statements that read their target."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.schedule.printer import plan_text
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong, programs_of

SHORTEST = """import numpy as np


def f(x):
    n = x.shape[0]
    u = x.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                BODY
    return u
"""
STATEMENT = "import numpy as np\n\n\ndef f(x, w):\n    BODY\n"


def plan_of(source: str, body: str, types: str) -> str:
    return plan_text(plan(array_program(source.replace("BODY", body), types)))


@pytest.mark.parametrize(
    "body",
    [
        "u[i, j] = min(u[i, j], u[i, k] + u[k, j])",
        "if u[i, k] + u[k, j] < u[i, j]:\n                    u[i, j] = u[i, k] + u[k, j]",
    ],
)
def test_a_turn_of_shortest_paths_is_two_launches(body: str) -> None:
    """One of the row and the column, with what they become, and one of all other elements."""
    text = plan_of(SHORTEST, body, "float64[:, :]")
    turn = text[text.index("host for k") :]
    assert turn.count("launch ") == 3 and "next_step" in turn  # the third one counts the turns
    assert turn.count("u_new[i2] = ") == turn.count("u_old2[i2] = ") == 1
    assert "(u_new[i] if (k < j) else u_old[i])" in turn


@pytest.mark.parametrize(
    "body",
    [
        "u[i, j] = u[i, k] - u[i - 1, j]",  # each row needs the one before it
        "u[i, j] = u[i, k] + u[j, i]",
        "u[i, j] = u[i, k + 1] + u[k, j]",  # k + 1 may be none of the columns
    ],
)
def test_other_reads_are_not_known_from_old_elements(body: str) -> None:
    text = plan_of(SHORTEST, body, "float64[:, :]")
    assert "u_new" not in text


def test_an_iteration_before_all_others_is_computed_for_each_of_them() -> None:
    text = plan_of(STATEMENT, "for i in range(len(x)):\n        x[i] /= x[0]", "float64[:], int64")
    assert "(x_old[] / x_old[]) if (0 < i) else x_old[]" in text


@pytest.mark.parametrize(
    ("body", "copies"),
    [
        ("x -= x[0]", ["x_old[j_2] = x[0, j_2]"]),
        ("x /= x[:, :1]", ["x_old[i_2] = x[i_2, 0]"]),
        ("x[:] = np.where(x > x[0, 0], x[0], w)", ["x_old[] = x[0, 0]", "x_old2[j_2] = x[0, j_2]"]),
        ("x[x > x[0]] = 0.0", ["x_old[j_2] = x[0, j_2]"]),
    ],
)
def test_a_statement_copies_what_it_reads_where_that_is_less(body: str, copies: list[str]) -> None:
    text = plan_of(STATEMENT, body, "float64[:, :], float64")
    assert "x_new" not in text and "x_mask" not in text
    assert all(copy in text for copy in copies)


@pytest.mark.parametrize(
    "body",
    [
        "x[:] = x[::-1] - x[0]",
        "x[:] = np.where(w > 0, x[w, 0], x[0])",
    ],
)
def test_otherwise_it_copies_what_it_stores(body: str) -> None:
    text = plan_of(STATEMENT, body, "float64[:, :], int64")
    assert "x_old" not in text


@pytest.mark.parametrize(("engine", "count"), programs_of((8, 4), (40, 20)))
def test_random_loops_and_statements(engine: str, count: int) -> None:
    """Shapes of 0 and 1 and others, places in the first and the last row, conditions, integers."""
    assert_none_wrong("forwarded_child", engine, str(count), "0")
