"""The statements, the arrays and the names of the program that is being made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from porter import ir
from porter.ir.effects import makes
from porter.ir.walk import statements
from porter.lowering.state.part import Part, Snapshot
from porter.lowering.state.place import Place
from porter.resolve.values import Array
from porter.support.names import NameSupply
from porter.support.reserved import told_apart


@dataclass
class Emitter(Part):
    """Collects statements block by block, and gives names that are not used so far."""

    place: Place
    buffers: dict[str, ir.Buffer] = field(default_factory=dict)
    taken: NameSupply = field(default_factory=NameSupply)
    shown: dict[str, str] = field(default_factory=dict)  # the user's name of one of ours
    temporaries: set[str] = field(default_factory=set)
    shared_updates: bool = False  # `a += 1` where `b` is the same array, `a[m] = 1`
    updated: set[str] = field(default_factory=set)  # numbers that an in-place operator is used on
    seed: ir.Expr | None = None  # what the function gives its random numbers to start from
    draws: bool = False  # whether any is drawn
    blocks: list[list[ir.Stmt]] = field(default_factory=lambda: [[]])

    def save(self) -> Snapshot:
        """As for every part; the blocks with what is in them."""
        return super().save() | {"blocks": [list(block) for block in self.blocks]}

    def restore(self, snapshot: Snapshot) -> None:
        """As for every part; the blocks that are being collected stay the same lists."""
        super().restore({name: v for name, v in snapshot.items() if name != "blocks"})
        for own, old in zip(self.blocks, snapshot["blocks"], strict=True):
            own[:] = old

    # -- statements ----------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many blocks are around the one being built."""
        return len(self.blocks) - 1

    @property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """What has been emitted at the top level."""
        return tuple(self.blocks[0])

    def emit(self, stmt: ir.Stmt) -> None:
        """Append a statement to the block being built."""
        self.blocks[-1].append(stmt)

    @contextmanager
    def block(self) -> Iterator[list[ir.Stmt]]:
        """Collect the statements emitted inside into a list of their own."""
        self.blocks.append([])
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()

    def demand(self, text: str, argument: str) -> None:
        """A check of an argument that the host makes before anything else."""
        if not any(isinstance(s, ir.Host) and s.text == text for s in self.blocks[0]):
            asks = frozenset({argument})
            test = ir.Host(text, self.place.origin, ir.HostKind.CHECK, asks=asks)
            self.blocks[0].insert(0, test)

    def emitted_here(self, buffer: str) -> bool:
        """Whether a buffer was defined in the very block being built."""
        return any(buffer in makes(s) for s in self.blocks[-1])

    def definition(self, buffer: str) -> ir.Def | None:
        """How an array was defined, if nothing has been stored into it so far."""
        emitted = list(statements(tuple(s for block in self.blocks for s in block)))
        if any(isinstance(s, ir.Write) and s.buffer == buffer for s in emitted):
            return None
        return next((s for s in emitted if isinstance(s, ir.Def) and s.name == buffer), None)

    # -- names and arrays ----------------------------------------------------------

    def fresh(self, name: str) -> str:
        """A name not used so far: the wanted one, or with a number after it."""
        wanted = told_apart(name)
        given = self.taken.fresh(wanted)
        if given != wanted:
            self.shown[given] = wanted
        return given

    def add(self, buffer: ir.Buffer) -> ir.Buffer:
        """Make an array known by its name."""
        self.buffers[buffer.name] = buffer
        return buffer

    def variable(self, name: str, like: ir.Buffer) -> ir.Buffer:
        """A host name that will mean one array after the other."""
        return self.add(ir.Buffer(self.fresh(name), like.shape, like.dtype))

    def is_parameter(self, name: str) -> bool:
        """Whether a buffer is an argument (or may be: a variable that was bound to one)."""
        return self.buffers[name].parameter

    def named(self, name: str, array: Array) -> Array:
        """The array; a temporary that was just made takes the name."""
        last = self.blocks[-1][-1] if self.blocks[-1] else None
        if not isinstance(last, ir.Def) or last.name not in self.temporaries:
            return array
        if array.view is None or array.view.buffer != last.name or not array.is_buffer:
            return array
        self.temporaries.remove(last.name)
        self.taken.remove(last.name)
        buffer = self.add(replace(self.buffers.pop(last.name), name=self.fresh(name)))
        self.blocks[-1][-1] = replace(last, name=buffer.name)
        return Array.of(buffer)
