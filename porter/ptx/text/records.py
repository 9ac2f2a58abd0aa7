"""A PTX module as immutable records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Name:
    """A register, a special register, a variable, a function or a label."""

    text: str


@dataclass(frozen=True)
class Integer:
    """An integer constant."""

    value: int


@dataclass(frozen=True)
class Real:
    """A floating-point constant by its bits: `0f3F800000` has 32 of them, `0d...` 64."""

    bits: int
    width: int


@dataclass(frozen=True)
class Address:
    """`[base+offset]`, in bytes."""

    base: Name | Integer
    offset: int


@dataclass(frozen=True)
class Vector:
    """`{a, b}`, and the lists of a call in parentheses."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """`d|p`: a result and a predicate."""

    first: Name
    second: Name


@dataclass(frozen=True)
class Inverted:
    """`!p`: a predicate that is inverted where it is read."""

    name: Name


Operand: TypeAlias = Name | Integer | Real | Address | Vector | Pair | Inverted


@dataclass(frozen=True)
class Instruction:
    """One instruction.  `source` is the line of `.loc`, 0 where there is none."""

    opcode: str
    operands: tuple[Operand, ...]
    line: int
    source: int = 0
    guard: Name | Inverted | None = None


@dataclass(frozen=True)
class Label:
    """Where branches go."""

    name: str


@dataclass(frozen=True)
class Targets:
    """`name: .branchtargets a, b;`: where `brx.idx` goes."""

    name: str
    labels: tuple[str, ...]


Statement: TypeAlias = Instruction | Label | Targets


@dataclass(frozen=True)
class Variable:
    """Memory in a state space; `size` in bytes, 0 for shared memory of the launch's size."""

    space: str
    type: str
    name: str
    size: int
    align: int = 1
    initial: bytes | None = None


@dataclass(frozen=True)
class Function:
    """A kernel (`.entry`) or a device function; `body` is None where it is only declared."""

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    registers: dict[str, str] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    body: tuple[Statement, ...] | None = None


@dataclass(frozen=True)
class Module:
    """One PTX text."""

    version: str
    target: str
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
