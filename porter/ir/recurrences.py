"""Linear recurrences of first order: a running fold whose terms also weigh what came before."""

from __future__ import annotations

from dataclasses import dataclass

from porter.ir.nodes import Expr, Reduce, Scan
from porter.sizes.hashed import hashed_once


@hashed_once
@dataclass(frozen=True)
class Recurrence(Scan):
    """`y = start`, then `y = factor * y + body` for each value of the only axis, in order.

    `start` does not depend on that axis. The name of the operation is `linear`.
    """

    factor: Expr
    start: Expr

    def __str__(self) -> str:
        (axis,) = self.axes
        step = f"{self.factor} * y + {self.body}"
        return f"{self.op}[{axis}](y = {step}, from {self.start}):{self.dtype.name}"


def operands(r: Reduce) -> dict[str, Expr]:
    """What a fold computes for each value of its axes, and what it starts from, by their fields."""
    if isinstance(r, Recurrence):
        return {"start": r.start, "factor": r.factor, "body": r.body}
    return {"body": r.body}
