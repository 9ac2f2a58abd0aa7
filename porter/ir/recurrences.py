"""Recurrences: running folds whose terms weigh or bound what came before, or divide by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from porter.dtypes.dtype import INT64, DType
from porter.ir.nodes import Const, Expr, Reduce, Scan
from porter.sizes.hashed import hashed_once


@hashed_once
@dataclass(frozen=True)
class Recurrence(Scan):
    """`y = start`, then `y = step` for each value of the only axis, in order.

    In `step` a variable called `old` is `y`.  `start` does not depend on the axis.
    """

    start: Expr
    step: Expr
    old: str

    @property
    def olds(self) -> tuple[str, ...]:
        """The variables of its steps."""
        return (self.old,)

    def __str__(self) -> str:
        (axis,) = self.axes
        step = f"{self.old} = {self.step}"
        return f"{self.op}[{axis}]({step}, from {self.start}):{self.dtype.name}"


@hashed_once
@dataclass(frozen=True)
class Linear(Recurrence):
    """But for rounding, `step` is `factor * y + body`.

    With `towards` it is no number where `y` is infinite, and with `resets` the factor is 0 where
    `step` does not depend on `y`, and only there.  The name of the operation is `linear`.
    """

    factor: Expr
    towards: bool = False
    resets: bool = False


@hashed_once
@dataclass(frozen=True)
class Bounded(Recurrence):
    """But for rounding, `step` is `min(max(y + body, low), high)`; `low` is never above `high`.

    That holds for numbers of no more than `limit_of(dtype)`, and a bound of plus or minus
    `endless(dtype)` is none.  What is NaN or larger is for `step` alone.  The name of the
    operation is `bounded`.
    """

    low: Expr
    high: Expr


@hashed_once
@dataclass(frozen=True)
class Quotient(Recurrence):
    """But for rounding, `step` is `(factor * y + body) / (weight * y + rest)`, of floats.

    That holds where nothing that `step` computes on the way is infinite or no number; elsewhere
    `step` counts.  The name of the operation is `quotient`.
    """

    factor: Expr
    weight: Expr
    rest: Expr


def endless(dtype: DType) -> float | int:
    """What stands for a bound that is not there: no sum of two numbers up to the limit exceeds it.

    Twice that is still an integer of 64 bits.
    """
    return math.inf if dtype.kind == "f" else 3 * 2**60


def limit_of(dtype: DType) -> float | int:
    """How large numbers may be whose sums are computed in another order.

    A few of them add up to no infinity, also in float32, and integers to less than `endless` ones.
    """
    return 1e37 if dtype.kind == "f" else 2**60


@hashed_once
@dataclass(frozen=True, kw_only=True)
class Coupled(Linear):
    """Two values that weigh each other: `y, z = start, other_start`, then at once
    `y, z = step, other_step`; its value is `y`.

    But for rounding, the steps are `factor * y + across * z + body` and
    `back * y + keep * z + other_body`; `other` is the variable for `z`.
    """

    across: Expr
    back: Expr
    keep: Expr
    other_body: Expr
    other_start: Expr
    other_step: Expr
    other: str

    @property
    def olds(self) -> tuple[str, ...]:
        """The variables of its steps."""
        return self.old, self.other

    @property
    def weights(self) -> tuple[Expr, Expr, Expr, Expr, Expr, Expr]:
        """What a step multiplies with, row by row, and what it adds."""
        return self.factor, self.across, self.back, self.keep, self.body, self.other_body

    def __str__(self) -> str:
        (axis,) = self.axes
        step = f"{self.old}, {self.other} = {self.step}, {self.other_step}"
        start = f"{self.start}, {self.other_start}"
        return f"{self.op}[{axis}]({step}, from {start}):{self.dtype.name}"


#: bits of a field of a map, and how many states it has room for
FIELD = 4
MOST_STATES = 16


@hashed_once
@dataclass(frozen=True, kw_only=True)
class StateMaps(Scan):
    """Maps of `count` states to states, composed in order: the value says for each state where all
    maps up to that of the axis lead from there.

    A map is an integer of 64 bits: its four bits from `4 * s` on are the state that follows state
    `s`, and the bits beyond those of the last state are 0.  The sixteenth field has the sign in it.
    The name of the operation is `states`.
    """

    count: int


def packed(states: Sequence[int]) -> Expr:
    """The map that leads from state `s` to `states[s]`."""
    bits = sum(state << FIELD * s for s, state in enumerate(states))
    return Const(bits - 2**64 if bits >= 2**63 else bits, INT64)


def operands(r: Reduce) -> dict[str, Expr]:
    """What a fold computes for each value of its axes, and what it starts from, by their fields."""
    if not isinstance(r, Recurrence):
        return {"body": r.body}
    own = {"start": r.start, "body": r.body, "step": r.step}
    if isinstance(r, Bounded):
        return own | {"low": r.low, "high": r.high}
    if isinstance(r, Quotient):
        return own | {"factor": r.factor, "weight": r.weight, "rest": r.rest}
    if isinstance(r, Linear):
        own["factor"] = r.factor
    if not isinstance(r, Coupled):
        return own
    names = ("across", "back", "keep", "other_body", "other_start", "other_step")
    return own | {name: getattr(r, name) for name in names}
