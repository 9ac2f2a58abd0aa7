"""A kernel in straight pieces: where they begin and end, and which registers they hand on."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.ptx.errors import Unsupported
from porter.ptx.instructions.table import TABLE
from porter.ptx.program.inline import Body, inlined
from porter.ptx.program.layout import Layout, layout
from porter.ptx.program.operations import Operation, Register, Resolver, Source
from porter.ptx.text.parser import parse, parsed_kernel
from porter.ptx.text.records import Instruction, Inverted, Label, Name, Targets


@dataclass
class Piece:
    """Operations one after another.

    `ends` is next, bra, cond, index or exit; `targets` are the numbers of the pieces that follow,
    of cond first where the predicate holds.  `gate` is barrier or warp where threads wait before
    the first operation.  `live` are the registers that are read later.
    """

    number: int
    operations: list[Operation] = field(default_factory=list)
    ends: str = "next"
    on: Register | None = None
    targets: tuple[int, ...] = ()
    gate: str = ""
    live: frozenset[str] = frozenset()
    branches: int = 0
    line: int = 0


@dataclass(frozen=True)
class Program:
    """A kernel that the machine can run."""

    name: str
    body: Body
    places: Layout
    pieces: tuple[Piece, ...]
    target: str


def program(text: str) -> Program:
    """The program of a PTX text with one kernel; raises `Unsupported`."""
    module = parse(text)
    kernel = parsed_kernel(module)
    body = inlined(module, kernel)
    places = layout(body.variables.values(), body.parameters)
    pieces = _Cutter(body, Resolver(body, places)).cut()
    _liveness(pieces)
    return Program(kernel.name, body, places, tuple(pieces), module.target)


class _Cutter:
    """Cuts a body where branches arrive or leave, and where threads wait."""

    def __init__(self, body: Body, resolver: Resolver) -> None:
        self.body, self.resolver = body, resolver
        self.pieces = [Piece(0)]
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.wanted: list[tuple[Piece, tuple[str, ...], int]] = []

    @property
    def last(self) -> Piece:
        """The piece that is being filled."""
        return self.pieces[-1]

    def cut(self) -> list[Piece]:
        """All pieces of the body, in its order."""
        for statement in self.body.statements:
            if isinstance(statement, Label):
                self._begin()
                self.labels[statement.name] = self.last.number
            elif isinstance(statement, Targets):
                self.tables[statement.name] = statement.labels
            else:
                self._instruction(statement)
        self.last.ends = "exit"
        for piece, names, line in self.wanted:
            piece.targets = tuple(self._target(name, line) for name in names)
        for piece in self.pieces:
            if piece.ends == "next":
                piece.targets = (piece.number + 1,)
            elif piece.ends == "cond":
                piece.targets = (*piece.targets, piece.number + 1)
        return self.pieces

    def _target(self, name: str, line: int) -> int:
        if name not in self.labels:
            raise Unsupported(f"a branch to `{name}`, which is no label", line)
        return self.labels[name]

    def _begin(self) -> None:
        """A new piece, unless the last one is empty and nothing leads from it elsewhere."""
        if self.last.operations or self.last.ends != "next" or self.last.gate:
            self.pieces.append(Piece(len(self.pieces)))

    def _instruction(self, given: Instruction) -> None:
        words = given.opcode.split(".")
        if words[0] in ("bra", "@skip", "ret", "exit"):
            self._leave(given, words[0])
            return
        if words[0] == "brx":
            self._indexed(given)
            return
        found = TABLE.find(given.opcode)
        kind = found[0].kind if found else ""
        if kind == "warp" and words[0] != "activemask":
            self._begin()
            self.last.gate = "warp"
            self.last.operations.append(self.resolver.operation(given))
        elif kind == "barrier":
            self._begin()
            self.last.gate = "barrier"
            self.last.operations.append(_barrier(given, self.resolver))
            self.last.line = given.line
            self.pieces.append(Piece(len(self.pieces)))
        else:
            self.last.operations.append(self.resolver.operation(given))
        self.last.line = self.last.line or given.line

    def _leave(self, given: Instruction, word: str) -> None:
        if word != "@skip":
            self.last.branches += 1
        self.last.line = self.last.line or given.line
        piece = self.last
        ends = word in ("ret", "exit")
        if given.guard is not None:
            guard = given.guard
            inverted = isinstance(guard, Inverted)
            name = guard.name.text if isinstance(guard, Inverted) else guard.text
            piece.on = Register(name, inverted)
            piece.ends = "cond"
        else:
            piece.ends = "exit" if ends else "bra"
        if not ends:
            target = given.operands[0]
            assert isinstance(target, Name)
            self.wanted.append((piece, (target.text,), given.line))
        elif piece.ends == "cond":
            self.wanted.append((piece, ("@end",), given.line))
        self.pieces.append(Piece(len(self.pieces)))

    def _indexed(self, given: Instruction) -> None:
        index, table = given.operands
        if not isinstance(index, Name) or not isinstance(table, Name) or given.guard:
            raise Unsupported(f"the operands of `{given.opcode}`", given.line)
        if table.text not in self.tables:
            raise Unsupported(f"`{table.text}`, which is no table of labels", given.line)
        self.last.ends, self.last.on = "index", Register(index.text)
        self.last.branches += 1
        self.wanted.append((self.last, self.tables[table.text], given.line))
        self.pieces.append(Piece(len(self.pieces)))


def _barrier(given: Instruction, resolver: Resolver) -> Operation:
    """`bar.sync a;`, `bar.red d, a, p;`: the barrier's number, then the predicate."""
    found = TABLE.find(given.opcode)
    assert found is not None
    row, form = found
    operands = list(given.operands)
    results: tuple[tuple[str, str], ...] = ()
    sources: list[tuple[Source, str]] = []
    if row.results(form):
        name = operands.pop(0)
        assert isinstance(name, Name)
        results = ((name.text, row.results(form)[0]),)
        sources.append((resolver.source(operands.pop(), "pred", given), "pred"))
    if len(operands) != 1:
        raise Unsupported(f"`{given.opcode}` with a number of threads", given.line)
    sources.insert(0, (resolver.source(operands[0], "u32", given), "u32"))
    return Operation(row, form, results, tuple(sources), given)


def _liveness(pieces: list[Piece]) -> None:
    """Note for each piece which registers are read after it."""
    reads, writes = [], []
    for piece in pieces:
        read: set[str] = set()
        written: set[str] = set()
        for operation in piece.operations:
            named = {s.name for s, _ in operation.sources if isinstance(s, Register)}
            read |= named - written
            written |= {name for name, _ in operation.results if name}
        if piece.on is not None and piece.on.name not in written:
            read.add(piece.on.name)
        reads.append(read)
        writes.append(written)
    entering = [set(read) for read in reads]
    changed = True
    while changed:
        changed = False
        for piece in reversed(pieces):
            after: set[str] = set().union(*(entering[t] for t in piece.targets))
            before = reads[piece.number] | (after - writes[piece.number])
            if before != entering[piece.number]:
                entering[piece.number], changed = before, True
            piece.live = frozenset(after)
