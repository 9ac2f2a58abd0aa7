"""`break` and `continue`."""

from __future__ import annotations

from porter import ir
from porter.ir.scalars import number
from porter.lowering.evaluation import Body
from porter.lowering.statements.control import (
    move,
)


class Left(Exception):
    """An unrolled iteration ends here: `break` or `continue` that is certain to happen."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Undecided(Exception):
    """A `break` or `continue` of an unrolled loop that depends on data."""


def jump(body: Body, kind: str) -> None:
    """`break` or `continue`."""
    b = body.b
    frame = body.flow.frames[-1]
    if frame.unrolled is not None:
        if b.out.depth > frame.unrolled:
            raise Undecided
        raise Left(kind)
    move(body, frame.arrays)
    if kind == "break" and frame.completed:
        b.let(frame.completed, number(False))
    b.out.emit(ir.Jump(kind, b.place.origin))
