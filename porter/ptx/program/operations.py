"""Operations: instructions with the row of the table that reads them and resolved operands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES, Array, bits, is_float
from porter.ptx.errors import Unsupported
from porter.ptx.instructions.rows import Form, Row
from porter.ptx.instructions.table import PAIRED, TABLE
from porter.ptx.program.inline import Body
from porter.ptx.program.layout import LOCAL, SHARED, Layout
from porter.ptx.text.records import (
    Address,
    Instruction,
    Integer,
    Inverted,
    Name,
    Operand,
    Pair,
    Real,
    Vector,
)

#: special registers, as the machine knows them
SPECIAL = frozenset(
    [f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    + ["%laneid", "%warpid", "%nwarpid", "%dynamic_smem_size"]
    + [f"%lanemask_{name}" for name in ("eq", "le", "lt", "ge", "gt")]
)


@dataclass(frozen=True)
class Register:
    """A register's value; `inverted` for `!p`."""

    name: str
    inverted: bool = False


@dataclass(frozen=True)
class Constant:
    """A number, as an array of one element of its type."""

    value: Any = field(compare=False)
    kind: str = ""


@dataclass(frozen=True)
class Special:
    """A special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True)
class Global:
    """The address of a variable of the module."""

    name: str
    offset: int


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel, `offset` bytes from the first."""

    offset: int
    kind: str


Source: TypeAlias = Register | Constant | Special | Global | Parameter


@dataclass(frozen=True)
class Operation:
    """One instruction: where its results go ('' for nowhere) and what it reads, with types.

    `space` and `offset` belong to accesses of memory, `vector` says how many elements one has.
    """

    row: Row
    form: Form
    results: tuple[tuple[str, str], ...]
    sources: tuple[tuple[Source, str], ...]
    given: Instruction
    space: str = ""
    vector: int = 1

    @property
    def pure(self) -> bool:
        """Whether nothing but its results comes of it."""
        return self.row.kind in ("value", "move", "pack", "unpack")


class Resolver:
    """Makes operations of the instructions of a body."""

    def __init__(self, body: Body, places: Layout) -> None:
        self.body, self.places = body, places

    def operation(self, given: Instruction) -> Operation:
        """The operation of an instruction; raises `Unsupported`."""
        found = None
        if given.operands and isinstance(given.operands[0], Pair):
            found = PAIRED.find(given.opcode)
        found = found or TABLE.find(given.opcode)
        if found is None:
            raise Unsupported(f"the instruction `{given.opcode}`", given.line)
        row, form = found
        if row.kind == "memory":
            return self._memory(row, form, given)
        if row.name == "mov" and any(isinstance(o, Vector) for o in given.operands):
            return self._packed(row, form, given)
        made = row.kind in ("barrier", "control", "order", "move")
        if not made and row.make(form) is None:
            raise Unsupported(f"the instruction `{given.opcode}`", given.line)
        return self._plain(row, form, given)

    def _plain(self, row: Row, form: Form, given: Instruction) -> Operation:
        kinds, wanted = row.results(form), row.sources(form)
        operands = list(given.operands)
        results: list[str] = []
        named = [k for k in kinds if k != "cc"]
        if named and operands:
            # a second result, such as the predicate of `shfl`, may be left out
            results = self._targets(operands.pop(0), given)
            results += [""] * (len(named) - len(results))
        results += ["%cc"] * (len(kinds) - len(named))
        kinds = ["pred" if k == "cc" else k for k in kinds]
        plain = [k for k in wanted if k not in ("cc", "m")]
        if len(operands) != len(plain) or len(results) != len(kinds):
            raise self._wrong(given)
        sources = [(self.source(o, k, given), k) for o, k in zip(operands, plain, strict=True)]
        if "cc" in wanted:
            sources.append((Register("%cc"), "pred"))
        return Operation(row, form, tuple(zip(results, kinds, strict=True)), tuple(sources), given)

    @staticmethod
    def _wrong(given: Instruction) -> Unsupported:
        return Unsupported(f"the operands of `{given.opcode}`", given.line)

    def _targets(self, operand: Operand, given: Instruction) -> list[str]:
        if isinstance(operand, Pair):
            return [*self._targets(operand.first, given), *self._targets(operand.second, given)]
        if not isinstance(operand, Name):
            raise self._wrong(given)
        if operand.text == "_":
            return [""]
        if operand.text not in self.body.registers:
            raise Unsupported(f"`{operand.text}` is no register", given.line)
        return [operand.text]

    def source(self, operand: Operand, kind: str, given: Instruction) -> Source:
        """What an operand of a type reads."""
        if isinstance(operand, Inverted):
            return Register(operand.name.text, True)
        if isinstance(operand, Integer | Real):
            return constant(operand, kind)
        if isinstance(operand, Address):
            if isinstance(operand.base, Name):
                return self._symbol(operand.base.text, operand.offset, kind, given)
            return constant(Integer(operand.base.value + operand.offset), kind)
        if not isinstance(operand, Name):
            raise self._wrong(given)
        if operand.text in self.body.registers:
            return Register(operand.text)
        if operand.text in SPECIAL:
            return Special(operand.text)
        if operand.text.startswith("%"):
            raise Unsupported(f"the register `{operand.text}`", given.line)
        return self._symbol(operand.text, 0, kind, given)

    def _symbol(self, name: str, offset: int, kind: str, given: Instruction) -> Source:
        """The address of a variable, in its own state space."""
        variable = self.body.variables.get(name)
        if variable is None or variable.space == "param":
            raise Unsupported(f"the address of `{name}`", given.line)
        if variable.space in ("global", "const"):
            return Global(name, offset)
        places = self.places.shared if variable.space == "shared" else self.places.local
        return constant(Integer(places[name] + offset), kind)

    def _packed(self, row: Row, form: Form, given: Instruction) -> Operation:
        """`mov` that takes a register apart, or joins parts to one."""
        target, source = given.operands
        if isinstance(target, Vector):
            part = _part(form.type, len(target.items))
            names = [self._targets(item, given)[0] for item in target.items]
            results = tuple((name, part) for name in names)
            sources: tuple[tuple[Source, str], ...] = (
                (self.source(source, form.type, given), form.type),
            )
        else:
            assert isinstance(source, Vector)
            part = _part(form.type, len(source.items))
            results = ((self._targets(target, given)[0], form.type),)
            sources = tuple((self.source(o, part, given), part) for o in source.items)
        return Operation(row, form, results, sources, given)

    def _memory(self, row: Row, form: Form, given: Instruction) -> Operation:
        """Loads, stores and atomics: `d, [a], b...` or `[a], b...`."""
        operands = list(given.operands)
        results: list[str] = []
        if row.results(form):
            results = self._listed(operands.pop(0), given)
        address = operands.pop(0)
        if not isinstance(address, Address):
            raise self._wrong(given)
        kinds = [k for k in row.sources(form) if k not in ("a", "m")]
        values = [i for o in operands for i in (o.items if isinstance(o, Vector) else (o,))]
        vector = int((form.one("v2", "v4") or "v1")[1:])
        if row.name in ("ld", "ldu", "st"):
            kinds = kinds * vector
            if row.name != "st" and len(results) != vector:
                raise self._wrong(given)
        if len(values) != len(kinds):
            raise self._wrong(given)
        sources = [(self.source(v, k, given), k) for v, k in zip(values, kinds, strict=True)]
        space = form.one("global", "shared", "shared::cta", "local", "const", "param")
        space = space.removesuffix("::cta")
        named = tuple((name, form.type) for name in results)
        if space == "param":
            return self._parameter(row, form, named, address, sources, given)
        where, offset = self._place(address, space, given)
        at = (constant(Integer(offset), "s64"), "s64")
        every = ((where, "u64"), at, *sources)
        return Operation(row, form, named, every, given, space, vector)

    def _listed(self, operand: Operand, given: Instruction) -> list[str]:
        items = operand.items if isinstance(operand, Vector) else (operand,)
        return [name for item in items for name in self._targets(item, given)]

    def _place(self, address: Address, space: str, given: Instruction) -> tuple[Source, int]:
        base = address.base
        if isinstance(base, Integer):
            return constant(Integer(base.value + address.offset), "u64"), 0
        if base.text in self.body.registers:
            return Register(base.text), address.offset
        found = self._symbol(base.text, address.offset, "u64", given)
        if not space and isinstance(found, Constant):
            variable = self.body.variables[base.text]
            generic = SHARED if variable.space == "shared" else LOCAL
            return Constant(found.value + np.uint64(generic), "u64"), 0
        return found, 0

    def _parameter(
        self,
        row: Row,
        form: Form,
        named: tuple[tuple[str, str], ...],
        address: Address,
        values: list[tuple[Source, str]],
        given: Instruction,
    ) -> Operation:
        """`.param` memory: the kernel's parameters, or a register for each place of a call's."""
        if not isinstance(address.base, Name):
            raise self._wrong(given)
        name, size = address.base.text, bits(form.type) // 8
        move = TABLE.find("mov.b64")
        assert move is not None
        row = move[0]
        if name in self.places.parameters:
            at = self.places.parameters[name] + address.offset
            sources: list[tuple[Source, str]] = [
                (Parameter(at + size * k, form.type), form.type) for k in range(len(named))
            ]
            if not named or at + size * len(named) > self.places.parameter_size:
                raise Unsupported(f"the place {address.offset} of `{name}`", given.line)
            return Operation(row, form, named, tuple(sources), given)
        places = [f"{name}+{address.offset + size * k}" for k in range(len(named) or len(values))]
        if not named:
            for place in places:
                self.body.registers[place] = form.type
            named = tuple((place, form.type) for place in places)
            return Operation(row, form, named, tuple(values), given)
        for place in places:
            if bits(self.body.registers.get(place, "pred")) != bits(form.type):
                raise Unsupported(f"`{given.opcode}` of what was not stored so", given.line)
        read: list[tuple[Source, str]] = [(Register(place), form.type) for place in places]
        return Operation(row, form, named, tuple(read), given)


def _part(kind: str, count: int) -> str:
    return f"b{bits(kind) // count}"


def constant(operand: Integer | Real, kind: str) -> Constant:
    """A constant of a type as an array of one element; integers wrap around."""
    if kind == "pred":
        assert isinstance(operand, Integer)
        return Constant(np.array([operand.value != 0]), kind)
    dtype = DTYPES[kind]
    if isinstance(operand, Integer) and not is_float(kind):
        value = operand.value % (1 << bits(kind))
        made: Array = np.array([value], DTYPES[f"u{bits(kind)}"]).view(dtype)
    elif isinstance(operand, Integer):
        made = np.array([operand.value], dtype)
    else:
        made = np.array([operand.bits], DTYPES[f"u{operand.width}"])
        # where an integer is expected, the bits count
        made = made.view(DTYPES[f"f{operand.width}"]) if is_float(kind) else made
        made = made.astype(dtype)
    return Constant(made, kind)
