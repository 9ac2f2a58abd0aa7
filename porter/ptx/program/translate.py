"""Pieces of a kernel as Python functions over NumPy arrays.

A piece becomes two functions: one for all threads of a wave, which works on whole registers, and
one for some of them, which takes their values first and puts the results back at the end, of
registers that are read later.  A value that all threads share is an array of one element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES, Array, bits, canonical
from porter.ptx.errors import Unsupported
from porter.ptx.program.operations import (
    Constant,
    Global,
    Operation,
    Parameter,
    Register,
    Source,
    Special,
)
from porter.ptx.program.pieces import Piece, Program
from porter.ptx.program.sites import site_of


class Translator:
    """Writes the functions of a program's pieces; with `rough` those whose last bits may be off."""

    def __init__(self, program: Program, *, rough: bool = False) -> None:
        self.program, self.rough = program, rough
        self.numbers = {name: k for k, name in enumerate(program.body.registers)}
        self.kinds = {n: canonical(kind) for n, kind in program.body.registers.items()}

    def registers(self) -> list[Array]:
        """Registers of zeros, in the order of their numbers."""
        return [np.zeros(1, DTYPES[kind]) for kind in self.kinds.values()]

    def functions(self, piece: Piece, *, some: bool) -> Callable[..., Any]:
        """The function of a piece for all threads (X, R, None) or for some (X, R, ix)."""
        return _Writer(self, piece, some).function()

    def operands(self, piece: Piece, place: int, *, some: bool) -> Callable[..., Any] | None:
        """The function of the numbers that an operation of a piece reads, called before the piece.

        It changes nothing; None where one of them has to be loaded first.
        """
        return _Writer(self, piece, some).operands(place)


class _Writer:
    def __init__(self, translator: Translator, piece: Piece, some: bool) -> None:
        self.translator, self.piece, self.some = translator, piece, some
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        #: the local variable of a register: its type, and whether it may be the register itself
        self.held: dict[str, tuple[str, str, bool]] = {}
        self.changed: set[str] = set()
        #: results of operations that somebody reads
        self.used: set[str] = set()
        self.count = 0

    def function(self) -> Callable[..., Any]:
        operations = self._needed()
        for operation in operations:
            self._operation(operation)
        on = self.piece.on
        shown = self._read(on, "pred" if self.piece.ends == "cond" else "u32") if on else "None"
        for name in sorted(self.changed & self.piece.live):
            self._put(name)
        return self._compiled(shown)

    def operands(self, place: int) -> Callable[..., Any] | None:
        """The function of what the operation at a place reads."""
        reader = self.piece.operations[place]
        wanted = {s.name for s, _ in reader.sources if isinstance(s, Register)}
        kept = []
        for operation in reversed(self.piece.operations[:place]):
            results = {name for name, _ in operation.results if name}
            if results & wanted:
                if not operation.pure:
                    return None
                wanted -= results
                wanted |= {s.name for s, _ in operation.sources if isinstance(s, Register)}
                kept.append(operation)
        for operation in reversed(kept):
            self._operation(operation)
        shown = [self._read(source, kind) for source, kind in reader.sources if kind != "pred"]
        return self._compiled(f"({', '.join(shown)})")

    def _compiled(self, shown: str) -> Callable[..., Any]:
        """The function of the lines that were written."""
        body = "\n    ".join([*self.lines, f"return {shown}"])
        text = f"def piece(X, R, ix):\n    {body}\n"
        code = compile(text, f"<piece {self.piece.number} of the PTX>", "exec", dont_inherit=True)
        exec(code, self.names)
        found: Callable[..., Any] = self.names["piece"]
        return found

    def _needed(self) -> list[Operation]:
        """The operations without those whose results nobody reads."""
        wanted = set(self.piece.live)
        if self.piece.on is not None:
            wanted.add(self.piece.on.name)
        kept = []
        for operation in reversed(self.piece.operations):
            results = {name for name, _ in operation.results if name}
            if operation.pure and not results & wanted:
                continue
            self.used |= results & wanted
            wanted -= results
            wanted |= {s.name for s, _ in operation.sources if isinstance(s, Register)}
            kept.append(operation)
        return kept[::-1]

    def _new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _name(self, prefix: str, value: Any) -> str:
        """A global name of the function for a value."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def _add(self, line: str) -> None:
        self.lines.append(line)

    def _read(self, source: Source, kind: str) -> str:
        """The expression of what an operand reads, in a type."""
        if isinstance(source, Constant):
            return self._name("K", source.value)
        if isinstance(source, Global):
            return f"X.address({source.name!r}, {source.offset})"
        if isinstance(source, Parameter):
            return f"X.parameter({source.offset}, {source.kind!r})"
        if isinstance(source, Special):
            return self._converted(self._special(source.name), "s32", kind)
        if source.name not in self.held:
            number = self.translator.numbers[source.name]
            variable = self._new()
            self._add(f"{variable} = R[{number}]")
            if self.some:
                self._add(f"if {variable}.size > 1: {variable} = {variable}.take(ix)")
            known = self.translator.kinds[source.name]
            self.held[source.name] = (variable, known, not self.some)
        variable, have, _ = self.held[source.name]
        shown = self._converted(variable, have, kind)
        return f"~{shown}" if source.inverted else shown

    def _special(self, name: str) -> str:
        found = f"X.special({name!r})"
        return f"X.some({found}, ix)" if self.some else found

    def _converted(self, shown: str, have: str, want: str) -> str:
        if DTYPES[have] == DTYPES[want]:
            return shown
        if "pred" in (have, want):
            raise Unsupported(f"a predicate as a number of type .{want}", self.piece.line)
        dtype = self._name("D", DTYPES[want])
        if bits(have) == bits(want):
            return f"{shown}.view({dtype})"
        return f"{shown}.astype({dtype})"

    def _hold(self, name: str, shown: str, kind: str, *, same: bool = False) -> None:
        """Let a register have a value of a type from now on."""
        if name:
            self.held[name] = (shown, kind, same)
            self.changed.add(name)

    def _put(self, name: str) -> None:
        """Write a register back."""
        variable, kind, same = self.held[name]
        shown = self._converted(variable, kind, self.translator.kinds[name])
        number = self.translator.numbers[name]
        if self.some:
            self._add(f"X.put(R, {number}, {shown}, ix)")
        else:
            self._add(f"R[{number}] = {shown}{'.copy()' if same else ''}")

    def _operation(self, operation: Operation) -> None:
        kind = operation.row.kind
        if kind == "move":
            self._move(operation)
        elif kind == "memory":
            self._memory(operation)
        elif kind in ("value", "warp"):
            self._value(operation)

    def _value(self, operation: Operation) -> None:
        row = operation.row
        rough = row.rough if self.translator.rough else None
        function = self._name("F", rough or row.make(operation.form))
        given = [self._read(source, kind) for source, kind in operation.sources]
        if operation.row.kind == "warp":
            given.insert(0, "X.lanes(ix)")
        self._results(operation, f"{function}({', '.join(given)})")

    def _results(self, operation: Operation, call: str) -> None:
        if not operation.results:
            self._add(call)
            return
        variables = [self._new() for _ in operation.results]
        self._add(f"{', '.join(variables)} = {call}")
        for (name, kind), variable in zip(operation.results, variables, strict=True):
            self._hold(name, variable, kind)

    def _move(self, operation: Operation) -> None:
        """Copies, and registers that are taken apart or joined."""
        results, sources = operation.results, operation.sources
        if len(results) > len(sources):
            whole = self._new()
            self._add(f"{whole} = {self._read(*sources[0])}")
            for k, (name, kind) in enumerate(results):
                if name:
                    part = self._new()
                    self._add(f"{part} = X.part({whole}, {k}, {self._name('D', DTYPES[kind])})")
                    self._hold(name, part, kind)
        elif len(results) < len(sources):
            (name, kind), joined = results[0], self._new()
            given = ", ".join(self._read(*source) for source in sources)
            self._add(f"{joined} = X.joined(({given}), {self._name('D', DTYPES[kind])})")
            self._hold(name, joined, kind)
        else:
            read = []
            for source, kind in sources:
                variable = self._new()
                self._add(f"{variable} = {self._read(source, kind)}")
                read.append((variable, kind))
            for (name, _), (variable, have) in zip(results, read, strict=True):
                self._hold(name, self._moved(operation, variable), have, same=True)

    def _moved(self, operation: Operation, variable: str) -> str:
        """The address that `cvta` makes of another."""
        if operation.row.name != "cvta":
            return variable
        space = operation.form.one("global", "shared", "local", "const")
        if space in ("global", "const"):
            return variable
        moved = self._new()
        back = operation.form.has("to")
        self._add(f"{moved} = X.moved({variable}, {space!r}, {back})")
        return moved

    def _memory(self, operation: Operation) -> None:
        site = self._name("S", site_of(operation, self.used))
        given = [site, "ix", *(self._read(source, kind) for source, kind in operation.sources)]
        name = operation.row.name
        method = {"ld": "load", "st": "store"}.get(name, "update")
        self._results(operation, f"X.{method}({', '.join(given)})")
