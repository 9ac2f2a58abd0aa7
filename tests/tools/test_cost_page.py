"""docs/cost.md has the errors of the plan's estimate as they are."""

from __future__ import annotations

from tests.tools.make_cost_page import MARK, PAGE, counted, rows, shown, table


def test_the_rows_of_the_examples_are_up_to_date() -> None:
    text = PAGE.read_text("utf-8").split(MARK)[1]
    found = list(rows("examples/"))
    assert len(found) >= 15
    stale = [r.key for r in found if shown(r) not in text.splitlines()]
    assert not stale, "run `python -m tests.tools.make_cost_page`"


def test_the_functions_are_those_that_are_counted() -> None:
    text = PAGE.read_text("utf-8").split(MARK)[1]
    listed = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    keys = {key for key, _ in counted()}
    # the others depend on values
    assert listed <= keys and len(listed) >= 0.9 * len(keys)


def test_the_estimate_is_near_for_most() -> None:
    """Within a factor of two of what the compiled kernels execute, if they are those of the plan.

    For medium products the host function takes others than the first one, which the plan counts,
    and of a loop over time the plan counts each turn, also where tiles do several in a launch.
    """
    every = list(rows("examples/"))
    found = [r for r in every if r.plan[0] == r.machine[0]]
    assert len(found) >= len(every) - 3
    near = [r for r in found if all(0.5 <= ratio <= 2 for ratio in r.ratios)]
    assert len(near) >= 0.9 * len(found)
    assert "functions: as many launches for" in table(every)
