"""The loops of a kernel: their pieces, what decides that they end, and what they carry along.

A loop is known by its mark, the first piece that each of its turns comes to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.ptx.arithmetic.kinds import is_float
from porter.ptx.program.operations import Constant, Operation, Register
from porter.ptx.program.pieces import Piece, Program

#: what makes a predicate of others
_LOGIC = ("and", "or", "xor", "not", "mov")


@dataclass(frozen=True)
class Test:
    """A comparison of integers, by its place in a piece, on which it depends that a loop ends."""

    piece: int
    place: int
    operation: Operation


@dataclass(frozen=True)
class Loop:
    """`carried` are the integers and predicates that a turn has from the one before it.

    `leaving` are the pieces that can end the loop.
    """

    mark: int
    body: frozenset[int]
    leaving: frozenset[int]
    tests: tuple[Test, ...]
    carried: tuple[str, ...]


def loops(program: Program) -> dict[int, Loop]:
    """The loops by their marks, without those whose ends depend on anything but integers."""
    pieces = program.pieces
    before: list[set[int]] = [set() for _ in pieces]
    latches: dict[int, set[int]] = {}
    for piece in pieces:
        for target in piece.targets:
            before[target].add(piece.number)
            if target <= piece.number:
                latches.setdefault(target, set()).add(piece.number)
    found = {}
    whole = _whole(program)
    for header, ends in latches.items():
        loop = _loop(pieces, header, _body(header, ends, before), whole)
        if loop is not None:
            found[loop.mark] = loop
    return found


def _body(header: int, latches: set[int], before: list[set[int]]) -> frozenset[int]:
    """The pieces from which a turn goes on to the next."""
    body, pending = {header}, list(latches)
    while pending:
        number = pending.pop()
        if number not in body:
            body.add(number)
            pending += before[number]
    return frozenset(body)


def _loop(
    pieces: tuple[Piece, ...], header: int, body: frozenset[int], whole: frozenset[str]
) -> Loop | None:
    mark = header
    while pieces[mark].gate == "barrier":
        # its threads come one group after another
        mark += 1
    leaving = [n for n in body if any(t not in body for t in pieces[n].targets)]
    leaving += [n for n in body if pieces[n].ends == "exit" and n not in leaving]
    tests: list[Test] = []
    for number in leaving:
        more = _tests(pieces, body, pieces[number])
        if more is None:
            return None
        tests += more
    carried = tuple(sorted(_entering(pieces[mark]) & whole & _written(pieces, body)))
    return Loop(mark, body, frozenset(leaving), tuple(tests), carried) if tests else None


def _tests(pieces: tuple[Piece, ...], body: frozenset[int], leaving: Piece) -> list[Test] | None:
    """The comparisons that a predicate is made of; None where it is made of something else."""
    if leaving.on is None or leaving.ends == "index":
        return None
    wanted, known, found = [leaving.on.name], set[str](), []
    while wanted:
        name = wanted.pop()
        if name in known:
            continue
        known.add(name)
        made = [
            (number, place, operation)
            for number in body
            for place, operation in enumerate(pieces[number].operations)
            if any(name == result for result, _ in operation.results)
        ]
        if not made:
            continue
        if len(made) > 1 or not _understood(made[0][2]):
            return None
        (number, place, operation) = made[0]
        if operation.row.name == "setp":
            found.append(Test(number, place, operation))
        wanted += [s.name for s, k in operation.sources if k == "pred" and isinstance(s, Register)]
    return found


def _understood(operation: Operation) -> bool:
    """Whether an operation compares integers, or makes a predicate of predicates."""
    if operation.row.name == "setp":
        kinds = [kind for _, kind in operation.sources]
        return not any(map(is_float, kinds)) and all(
            isinstance(source, Register | Constant) for source, _ in operation.sources
        )
    return operation.row.name in _LOGIC and all(kind == "pred" for _, kind in operation.sources)


def _whole(program: Program) -> frozenset[str]:
    """The registers of integers and predicates: nothing takes them as floats."""
    floats = {name for name, kind in program.body.registers.items() if is_float(kind)}
    for piece in program.pieces:
        for operation in piece.operations:
            floats |= {name for name, kind in operation.results if is_float(kind)}
            floats |= {
                source.name
                for source, kind in operation.sources
                if isinstance(source, Register) and is_float(kind)
            }
    return frozenset(program.body.registers) - floats


def _written(pieces: tuple[Piece, ...], body: Iterable[int]) -> set[str]:
    return {
        name for number in body for o in pieces[number].operations for name, _ in o.results if name
    }


def _entering(piece: Piece) -> set[str]:
    """The registers that are read in a piece or after it, as they are before it."""
    entering = set(piece.live)
    if piece.on is not None:
        entering.add(piece.on.name)
    for operation in reversed(piece.operations):
        entering -= {name for name, _ in operation.results}
        entering |= {s.name for s, _ in operation.sources if isinstance(s, Register)}
    return entering
