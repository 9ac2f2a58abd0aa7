"""Whose values decide what a kernel executes: the parameters that branches and addresses come from.

A register comes from the parameters that its value was computed of.  What is loaded has the arrays
of its address as its sources of values: a branch on it, or an address made of it, depends on what
these arrays hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from porter.ptx.program.operations import Operation, Parameter, Register, Source
from porter.ptx.program.pieces import Program

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Origins:
    """Parameters by their offsets: arrays whose values decide, and arrays that are written."""

    deciding: frozenset[int]
    written: frozenset[int]


@dataclass
class _Flow:
    """For each register the parameters that it is made of, and those whose memory it is made of."""

    places: dict[str, frozenset[int]] = field(default_factory=dict)
    values: dict[str, frozenset[int]] = field(default_factory=dict)
    #: whose memory was stored in memory of the block or of a thread
    kept: frozenset[int] = _NONE

    def of(self, sources: Iterable[Source]) -> tuple[frozenset[int], frozenset[int]]:
        """What some operands are made of."""
        places, values = _NONE, _NONE
        for source in sources:
            if isinstance(source, Register):
                places |= self.places.get(source.name, _NONE)
                values |= self.values.get(source.name, _NONE)
            elif isinstance(source, Parameter):
                places |= {source.offset}
        return places, values

    def give(self, name: str, places: frozenset[int], values: frozenset[int]) -> bool:
        """Add to what a register is made of; whether that was new."""
        if not name:
            return False
        old = self.places.get(name, _NONE), self.values.get(name, _NONE)
        self.places[name], self.values[name] = old[0] | places, old[1] | values
        return (self.places[name], self.values[name]) != old


def origins(program: Program) -> Origins:
    """What decides, and what is written, over all ways through the program."""
    flow, grows = _Flow(), True
    operations = [o for piece in program.pieces for o in piece.operations]
    while grows:
        grows = any([_passed(flow, operation) for operation in operations])
    deciding, written = _NONE, _NONE
    for piece in program.pieces:
        deciding |= flow.of([piece.on] if piece.on is not None else [])[1]
    for operation in operations:
        if operation.row.kind == "memory" and operation.sources:
            places, values = flow.of([operation.sources[0][0]])
            deciding |= values
            written |= places if operation.row.name != "ld" else _NONE
    return Origins(deciding, written)


def _passed(flow: _Flow, operation: Operation) -> bool:
    """Hand on what an operation's results are made of; whether that was new."""
    places, values = flow.of(source for source, _ in operation.sources)
    grows = False
    if operation.row.kind == "memory":
        own = operation.space != "global"
        if own and operation.row.name != "ld":
            grows = bool(values - flow.kept)
            flow.kept |= values
        # in memory of the block or of a thread may stand whatever was put there
        values |= places | (flow.kept if own else _NONE)
        places = _NONE
    return any([grows, *(flow.give(name, places, values) for name, _ in operation.results)])
