"""Arrays that a loop names first and something after it reads: those of the last iteration."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from porter import ir
from porter.lowering.evaluation import Body
from porter.lowering.statements.control import made_in, own_copy
from porter.resolve.values import Array, arrays_in
from porter.syntax.liveness import bound, exposed
from porter.syntax.names import contains


def keep_own(
    body: Body,
    before: Collection[str],
    block: Sequence[cst.BaseStatement],
    collected: list[ir.Stmt],
) -> None:
    """At the end of an iteration: what is read after the loop is an array of the iteration.

    Behind the loop such a name stands for what the last iteration made.  Without any iteration
    the host's own variable is unbound, as in Python.  Refuses where an iteration need not bind
    the name.
    """
    live = set[str]().union(*(exposed(rest) for rest in body.flow.rest))
    surely = bound(_until_left(block))
    for name in [n for n in body.env if n in live and n not in before]:
        value = body.env[name]
        arrays = list(arrays_in(value))
        if arrays and name not in surely:
            raise body.b.refuse(
                "PRT902", f"`{name}` is read after the loop, but may be unassigned there",
                f"give `{name}` a value before the loop")  # fmt: skip
        made = made_in(collected)
        if all(a.is_buffer and a.view is not None and a.view.buffer in made for a in arrays):
            continue
        if not isinstance(value, Array):
            raise body.b.refuse(
                "PRT902",
                f"`{name}` is read after the loop, where it may be a view of another array",
                "take a `.copy()` in the loop, or compute it again after the loop",
            )
        own_copy(body, name, value)


def _until_left(block: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """The statements that every iteration runs: up to the first that may leave it."""
    leaves = (cst.Break, cst.Continue)
    end = next((k for k, s in enumerate(block) if any(contains(s, x) for x in leaves)), len(block))
    return list(block[:end])
