"""The parser of what a function's body holds: labels, instructions and operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.ptx.errors import Unsupported
from porter.ptx.text.records import (
    Address,
    Instruction,
    Integer,
    Inverted,
    Label,
    Name,
    Operand,
    Pair,
    Real,
    Statement,
    Targets,
    Variable,
    Vector,
)
from porter.ptx.text.tokens import Token


@dataclass
class Scope:
    """The names of a function (registers and variables), with those of a block in braces.

    A block's own names are renamed, so that a function has one table of each.
    """

    registers: dict[str, str]
    renamed: dict[str, str]
    variables: list[Variable]
    number: int = 0
    blocks: list[int] | None = None

    def inner(self) -> Scope:
        """The scope of a block inside of this one."""
        counter = self.blocks if self.blocks is not None else [0]
        self.blocks = counter
        counter[0] += 1
        return Scope(self.registers, dict(self.renamed), self.variables, counter[0], counter)

    def rename(self, name: str) -> str:
        """The name of what is declared here, as the function's tables have it."""
        if self.number:
            self.renamed[name] = f"{name}@{self.number}"
        return self.renamed.get(name, name)

    def declare(self, name: str, kind: str) -> None:
        """A register."""
        self.registers[self.rename(name)] = kind

    def known(self, name: str) -> str:
        """The name that a word of the text stands for."""
        return self.renamed.get(name, name)


class Statements:
    """Reads words one after another; `source` is the line that `.loc` said last."""

    def __init__(self, words: Sequence[Token]) -> None:
        self.words, self.position, self.source = words, 0, 0

    def peek(self) -> Token:
        """The next word."""
        return self.words[self.position]

    def take(self, wanted: str = "") -> Token:
        """The next word, which must be a given mark or of a given kind."""
        token = self.words[self.position]
        if wanted and wanted not in (token.text, token.kind):
            raise self.unsupported(f"`{token.text}` where `{wanted}` is expected", token)
        self.position += 1
        return token

    def accept(self, mark: str) -> bool:
        """Take the next word if it is this mark."""
        if self.peek().text != mark or self.peek().kind == "string":
            return False
        self.position += 1
        return True

    def integer(self) -> int:
        """A number that must stand here."""
        sign = -1 if self.accept("-") else 1
        return sign * int(self.take("integer").text.rstrip("U"), 0)

    @staticmethod
    def unsupported(what: str, token: Token) -> Unsupported:
        """The error that names what stands at a word."""
        return Unsupported(what, token.line)

    def statement(self, scope: Scope) -> Statement:
        """A label or an instruction."""
        following = self.words[self.position + 1]
        if self.peek().kind == "word" and following.text == ":":
            name = self.take().text
            self.take(":")
            return self._targets(name) if self.peek().text == ".branchtargets" else Label(name)
        guard: Name | Inverted | None = None
        if self.accept("@"):
            inverted = self.accept("!")
            named = Name(scope.known(self.take("word").text))
            guard = Inverted(named) if inverted else named
        opcode = self.take("word")
        operands: list[Operand] = []
        try:
            while not self.accept(";"):
                operands.append(self._operand(scope))
                if self.peek().text != ";":
                    self.take(",")
        except Unsupported as error:
            raise self.unsupported(f"`{opcode.text}` with operands of its own", opcode) from error
        return Instruction(opcode.text, tuple(operands), opcode.line, self.source, guard)

    def _targets(self, name: str) -> Targets:
        self.take()
        labels = []
        while not self.accept(";"):
            labels.append(self.take("word").text)
            self.accept(",")
        return Targets(name, tuple(labels))

    def _operand(self, scope: Scope) -> Operand:
        if self.accept("["):
            return self._address(scope)
        if self.accept("{"):
            return self._list(scope, "}")
        if self.accept("("):
            return self._list(scope, ")")
        if self.accept("!"):
            return Inverted(Name(scope.known(self.take("word").text)))
        if self.peek().kind == "word":
            name = Name(scope.known(self.take().text))
            if self.accept("|"):
                return Pair(name, Name(scope.known(self.take("word").text)))
            if self.peek().text in "+-":
                return Address(name, self._offset())
            return name
        return self._constant()

    def _list(self, scope: Scope, closing: str) -> Vector:
        items: list[Operand] = []
        while not self.accept(closing):
            items.append(self._operand(scope))
            self.accept(",")
        return Vector(tuple(items))

    def _address(self, scope: Scope) -> Address:
        base: Name | Integer
        if self.peek().kind == "word":
            base = Name(scope.known(self.take().text))
        else:
            base = Integer(self.integer())
        offset = 0
        while not self.accept("]"):
            offset += self._offset()
        return Address(base, offset)

    def _offset(self) -> int:
        """`+4`, `-4` or `+-4`."""
        sign = 1 if self.take("mark").text == "+" else -1
        return sign * self.integer()

    def _constant(self) -> Integer | Real:
        negative = self.accept("-")
        token = self.take()
        if token.kind == "integer":
            value = int(token.text.rstrip("U"), 0)
            return Integer(-value if negative else value)
        if token.kind != "real" or negative:
            raise self.unsupported(f"the operand `{token.text}`", token)
        return Real(int(token.text[2:], 16), 4 * len(token.text[2:]))
