"""One launch: a kernel's code, its arguments and its memory."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.errors import TooLong
from porter.ptx.machine.counts import Counts
from porter.ptx.machine.memory import Memory
from porter.ptx.program.loops import Loop, loops
from porter.ptx.program.origins import Origins, origins
from porter.ptx.program.pieces import Program, program
from porter.ptx.program.translate import Translator


class Code:
    """A kernel's program with the functions of its pieces, each made when it is first needed."""

    def __init__(self, text: str) -> None:
        self.program: Program = program(text)
        self._use(Translator(self.program))

    def _use(self, translator: Translator) -> None:
        self._translator = translator
        self._made: dict[tuple[int, bool], Callable[..., Any]] = {}
        self._operands: dict[tuple[int, int, bool], Callable[..., Any] | None] = {}

    @cached_property
    def for_counts(self) -> Code:
        """The same, quicker, if the last bits of numbers decide nothing of what is executed."""
        if self.origins.deciding:
            return self
        made = copy(self)
        made._use(Translator(self.program, rough=True))
        return made

    def function(self, number: int, *, some: bool) -> Callable[..., Any]:
        """The function of a piece, for all threads or for some."""
        key = number, some
        if key not in self._made:
            piece = self.program.pieces[number]
            self._made[key] = self._translator.functions(piece, some=some)
        return self._made[key]

    def operands(self, number: int, place: int, *, some: bool) -> Callable[..., Any] | None:
        """The function of the numbers that an operation of a piece reads."""
        key = number, place, some
        if key not in self._operands:
            piece = self.program.pieces[number]
            self._operands[key] = self._translator.operands(piece, place, some=some)
        return self._operands[key]

    @cached_property
    def loops(self) -> dict[int, Loop]:
        """The loops, by the first piece of each of their turns."""
        return loops(self.program)

    @cached_property
    def origins(self) -> Origins:
        """Whose values decide what is executed, and what is written."""
        return origins(self.program)

    def registers(self) -> list[Array]:
        """The registers before anything is stored in them."""
        return self._translator.registers()


@dataclass
class Work:
    """What a launch may take, in instructions of threads, and what it took.

    An instruction is `least` of them at least, as a vector of few threads takes as long as one of
    some more.  After `steps` instructions some turns of a loop stand for all (see `turns`), but
    for the loops that are `whole`, by their marks.
    """

    most: int
    least: int = 1
    spent: int = 0
    steps: int | None = None
    whole: set[int] = field(default_factory=set)

    def spend(self, threads: int, instructions: int) -> None:
        """Count some instructions of some threads; raises `TooLong`."""
        self.spent += max(threads, self.least) * instructions
        if self.spent > self.most:
            raise TooLong("more instructions than this launch may take")


@dataclass(frozen=True)
class Task:
    """What all blocks of a launch have in common.

    `parameters` are the bytes of the kernel's parameters, `dynamic` is the size of shared memory
    that the launch asks for, `counts` where instructions are counted.  `order` gives the place of
    each warp in the order in which those of a block run; None for all of them together.  `work` is
    what it may take.
    """

    code: Code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    memory: Memory
    variables: dict[str, Array]
    dynamic: int
    counts: Counts | None
    order: tuple[int, ...] | None
    work: Work

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def shared_limit(self) -> int:
        """Bytes of shared memory of a block."""
        return self.code.program.places.shared_size + self.dynamic
