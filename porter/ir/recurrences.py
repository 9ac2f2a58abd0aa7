"""Linear recurrences of first order: a running fold whose terms also weigh what came before."""

from __future__ import annotations

from dataclasses import dataclass

from porter.ir.nodes import Expr, Reduce, Scan
from porter.sizes.hashed import hashed_once


@hashed_once
@dataclass(frozen=True)
class Recurrence(Scan):
    """`y = start`, then `y = step` for each value of the only axis, in order.

    But for rounding, `step` is `factor * y + body`, in which a variable called `old` is `y`; with
    `towards` it is no number where `y` is infinite.  `start` does not depend on the axis.  The name
    of the operation is `linear`.
    """

    factor: Expr
    start: Expr
    step: Expr
    old: str
    towards: bool = False

    def __str__(self) -> str:
        (axis,) = self.axes
        step = f"{self.old} = {self.step}"
        return f"{self.op}[{axis}]({step}, from {self.start}):{self.dtype.name}"


def operands(r: Reduce) -> dict[str, Expr]:
    """What a fold computes for each value of its axes, and what it starts from, by their fields."""
    if isinstance(r, Recurrence):
        return {"start": r.start, "factor": r.factor, "body": r.body, "step": r.step}
    return {"body": r.body}
