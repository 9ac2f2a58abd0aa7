"""Eliminations run in panels, with the same results at the borders of blocks and panels."""

from __future__ import annotations

import pytest

from porter import ir
from porter.convert.function import convert_function
from porter.schedule.nodes import HostLoop, Launch, Plan, items_of
from porter.schedule.printer import plan_text
from porter.schedule.schedules.panel import PanelLines
from porter.schedule.schedules.tile import Tile
from porter.source.module import SourceModule
from tests.schedule.children import assert_none_wrong, programs_of
from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"
GAUSS = """\
def f(A):
    n = A.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
"""
WITH_RIGHT_SIDE = """\
def f(A, b):
    n = b.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
"""
WITH_TESTS = """\
def f(A, b):
    n = b.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                factor = A[i, k] / A[k, k]
                A[i, k + 1:] -= factor * A[k, k + 1:]
                b[i] -= factor * b[k]
"""
CHOLESKY = """\
def f(A):
    n = A.shape[0]
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] ** 2
        A[j, j] = np.sqrt(A[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
"""
#: what no panel may be made of: rows that change later, sums of other rows, what a turn reads of
#: others that are not finished
OTHERS = (
    "A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:])\n        A[k, k + 1:] *= 2",
    "A[k + 1:, k + 1:] -= A[k + 1:, k + 1:].sum() * np.outer(A[k + 1:, k], A[k, k + 1:])",
    "A[k + 1:, k + 1:] -= np.outer(A[k + 1:, -1], A[k, k + 1:])",
    "A[k + 1:, k + 1:] *= np.outer(A[k + 1:, k], A[k, k + 1:])",
    "A[k + 1:, k + 1:] = A[k + 1:, k + 1:] - A[k + 1:, k + 1:] * A[k, k + 1:]",
    "A[k:, k:] -= np.outer(A[k:, k], A[k, k:])",
)


def plan_of(source: str, signature: str = "float64[:, :]") -> Plan:
    """The plan of a function."""
    (function,) = SourceModule(HEAD + source, "f.py").functions
    return convert_function(function, signature).plan


def panels_of(plan: Plan) -> list[HostLoop]:
    """The loops over panels."""
    loops = [i for i in items_of(plan.items) if isinstance(i, HostLoop)]
    return [i for i in loops if i.origin.text.startswith("each panel")]


@pytest.mark.parametrize(
    ("source", "signature", "schedules"),
    [
        (GAUSS, "float64[:, :]", ["block", "panel", "panel", "tile"]),
        (WITH_RIGHT_SIDE, "float64[:, :], float64[:]", ["block", "panel", "panel", "tile", "rows"]),
        (WITH_TESTS, "float64[:, :], float64[:]", ["block", "panel", "panel", "tile", "rows"]),
        (CHOLESKY, "float32[:, :]", ["block", "panel", "rows", "tile"]),
    ],
)
def test_launches_of_a_panel(source: str, signature: str, schedules: list[str]) -> None:
    """The square, the rows below it, the columns beside it, all that is left."""
    (loop,) = panels_of(plan_of(source, signature))
    launches = [x for x in loop.body if isinstance(x, Launch)]
    assert [x.kernel.schedule.name for x in launches] == schedules


def test_the_last_turns_are_one_block_s() -> None:
    """There are no more than 95, so that nothing is asked."""
    items = list(items_of(plan_of(GAUSS).items))
    loops = [i for i in items if isinstance(i, HostLoop)]
    assert len(loops) == 1
    last = [i for i in items if isinstance(i, Launch)][-1]
    assert last.kernel.schedule.name == "block"


def test_what_a_row_asks_is_kept_for_its_terms() -> None:
    """A turn may change what it has asked of a row; the terms of a panel come later."""
    plan = plan_of(WITH_TESTS, "float64[:, :], float64[:]")
    text = plan_text(plan)
    assert "holds_panel[i" in text and "alloc holds_panel: bool[b.shape[0], BLOCK_X]" in text
    twice = WITH_TESTS.replace("if A", "factor = 0.5\n            if A")
    assert panels_of(plan_of(twice, "float64[:, :], float64[:]")) == []


@pytest.mark.parametrize("body", OTHERS)
def test_other_loops_keep_their_turns(body: str) -> None:
    source = f"def f(A):\n    for k in range(A.shape[0]):\n        {body}\n"
    assert panels_of(plan_of(source)) == []


def test_two_arguments_that_may_be_one_array_keep_their_turns() -> None:
    """Of one array, a turn would change what the next ones read."""
    source = (
        "def f(A, B):\n    for k in range(A.shape[0]):\n"
        "        A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], {}[k + 1:])\n"
    )
    one, other = "float64[:, :], float64[:, :]", "float64[:, :], float64[:]"
    assert panels_of(plan_of(source.format("B[k]"), one)) == []
    assert panels_of(plan_of(source.format("B"), other)) != []


@pytest.mark.parametrize(("dtype", "name"), [("float64", "panel"), ("complex128", "map")])
def test_lines_that_have_no_room_stay_in_memory(dtype: str, name: str) -> None:
    """Of A and L the rows and the square, of complex128 64 kB."""
    source = (
        "def f(A):\n    L = np.zeros_like(A)\n    for k in range(A.shape[0]):\n"
        "        for i in range(k + 1, A.shape[0]):\n"
        "            L[i, k] = A[i, k] / A[k, k] - L[k, k]\n"
        "            for j in range(k + 1, A.shape[0]):\n"
        "                A[i, j] -= L[i, k] * A[k, j]\n    return L\n"
    )
    (loop,) = panels_of(plan_of(source, f"{dtype}[:, :]"))
    names = [x.kernel.schedule.name for x in loop.body if isinstance(x, Launch)]
    assert names == ["block", name, "panel", "tile"]


def test_a_tile_stores_where_the_condition_holds() -> None:
    (loop,) = panels_of(plan_of(CHOLESKY))
    (tile,) = (
        x.kernel for x in loop.body
        if isinstance(x, Launch) and isinstance(x.kernel.schedule, Tile)
    )  # fmt: skip
    (fold,) = tile.folds
    assert fold.store is not None and isinstance(fold.store.body, ir.Select)


def test_the_text_of_lines(shell: Shell) -> None:
    """They and the square are in shared memory, and loaded in the order of memory."""
    shell.write("f.py", HEAD + GAUSS)
    assert shell.convert("f.py", "--signature", "float64[:, :]", "--no-verify", "-o", "-") == 0
    rows = shell.out.split("def f_lines(")[1].split("@cuda.jit")[0]
    assert "A_lines[tx, t] = A[first + t, tx + start]" in rows
    assert "A_square[t, tx] = A[t + start, tx + start]" in rows
    assert "total += A_lines[k, tx] * A_square[k, c - start]" in rows
    columns = shell.out.split("def f_lines2(")[1].split("@cuda.jit")[0]
    assert "A_lines[t, tx] = A[t + start, first + tx]" in columns
    tiles = shell.out.split("def f_tiled(")[1].split("@cuda.jit")[0]
    assert "A[i, j] = A[i, j] - total" in tiles


def test_lines_match_only_turns_of_a_panel() -> None:
    (loop,) = panels_of(plan_of(GAUSS))
    rows = [x.kernel for x in loop.body if isinstance(x, Launch)][1]
    assert isinstance(rows.schedule, PanelLines)
    stage = ir.Stage(rows.axes, rows.body, rows.origin)
    buffers = plan_of(GAUSS).buffers
    assert rows.schedule.matches(stage, buffers)
    (turns,) = rows.body
    assert isinstance(turns, ir.For)
    longer = ir.For(turns.index, turns.lo, turns.hi + 1, 1, turns.body, turns.origin)
    assert not rows.schedule.matches(ir.Stage(rows.axes, (longer,), rows.origin), buffers)
    (line,) = rows.axes
    overlapping = ir.Axis(line.name, line.hi, line.lo - 1)
    assert not rows.schedule.matches(ir.Stage((overlapping,), rows.body, rows.origin), buffers)


@pytest.mark.parametrize(("engine", "count"), programs_of((9, 5), (45, 22)))
def test_random_eliminations(engine: str, count: int) -> None:
    """Sizes at the borders of panels, blocks and tiles; wide and high matrices; no eliminations."""
    assert_none_wrong("panels_child", engine, str(count), "0")
