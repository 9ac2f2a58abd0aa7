"""Recurrences: running folds whose terms weigh what came before, or say what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.dtypes.dtype import INT64
from porter.ir.nodes import Const, Expr, Reduce, Scan
from porter.sizes.hashed import hashed_once


@hashed_once
@dataclass(frozen=True)
class Recurrence(Scan):
    """`y = start`, then `y = step` for each value of the only axis, in order.

    But for rounding, `step` is `factor * y + body`, in which a variable called `old` is `y`; with
    `towards` it is no number where `y` is infinite, and with `resets` the factor is 0 where `step`
    does not depend on `y`, and only there.  `start` does not depend on the axis.  The name of the
    operation is `linear`.
    """

    factor: Expr
    start: Expr
    step: Expr
    old: str
    towards: bool = False
    resets: bool = False

    @property
    def olds(self) -> tuple[str, ...]:
        """The variables of its steps."""
        return (self.old,)

    def __str__(self) -> str:
        (axis,) = self.axes
        step = f"{self.old} = {self.step}"
        return f"{self.op}[{axis}]({step}, from {self.start}):{self.dtype.name}"


@hashed_once
@dataclass(frozen=True, kw_only=True)
class Coupled(Recurrence):
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
    own = {"start": r.start, "factor": r.factor, "body": r.body, "step": r.step}
    if not isinstance(r, Coupled):
        return own
    names = ("across", "back", "keep", "other_body", "other_start", "other_step")
    return own | {name: getattr(r, name) for name in names}
