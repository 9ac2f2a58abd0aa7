"""The parser of modules: directives, variables and functions.

It reads what NVIDIA's compiler writes for Numba's kernels (PTX ISA 9, chapters 4, 5, 10 and 11) and
raises `Unsupported` with the name and the line of anything else.
"""

from __future__ import annotations

from dataclasses import replace

from porter.ptx.errors import Unsupported
from porter.ptx.text.records import Function, Module, Statement, Variable
from porter.ptx.text.statements import Scope, Statements
from porter.ptx.text.tokens import Token, tokens

#: bytes of each type
SIZES = {f"{kind}{bits}": bits // 8 for kind in "busf" for bits in (8, 16, 32, 64)} | {"pred": 1}
_LINKING = (".visible", ".extern", ".weak", ".common")
_SPACES = (".global", ".const", ".shared", ".local", ".param")
#: the spaces that a parameter with `.ptr` may point into
_POINTED = (".global", ".const", ".shared", ".local")
#: what a kernel says of its launches, with this many numbers
_LIMITS = (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg")


def parse(text: str) -> Module:
    """The records of a PTX text; raises `Unsupported`."""
    return _Parser(tokens(text)).module()


class _Parser(Statements):
    """Reads a module from its first word to its last."""

    def module(self) -> Module:
        version = target = ""
        variables: list[Variable] = []
        functions: list[Function] = []
        while self.peek().kind != "end":
            word = self.peek().text
            if word == ".version":
                version = self._line()
            elif word == ".target":
                target = self._line()
            elif word == ".address_size":
                if self._line() != "64":
                    raise self.unsupported("an address size other than 64", self.peek())
            elif word == ".file":
                self._line()
            else:
                self._definition(variables, functions)
        return Module(version, target, tuple(variables), tuple(functions))

    def _line(self) -> str:
        """What stands after the directive in its line."""
        first = self.take()
        said = []
        while self.peek().line == first.line and self.peek().kind != "end":
            said.append(self.take().text)
        return "".join(said)

    def _definition(self, variables: list[Variable], functions: list[Function]) -> None:
        while self.peek().text in _LINKING:
            self.take()
        word = self.peek()
        if word.text in (".entry", ".func"):
            functions.append(self._function())
        elif word.text in _SPACES:
            variables += self.variables()
        else:
            raise self.unsupported(f"`{word.text}`", word)

    def _function(self) -> Function:
        entry = self.take().text == ".entry"
        results = self._parameters() if self.peek().text == "(" else ()
        name = self.take("word").text
        parameters = self._parameters() if self.peek().text == "(" else ()
        while self.peek().text in (*_LIMITS, ".noreturn"):
            self._line()
        if self.accept(";"):
            return Function(name, entry, parameters, results)
        self.take("{")
        scope = Scope({}, {}, [])
        body = self._body(scope)
        return Function(
            name, entry, parameters, results, scope.registers, tuple(scope.variables), tuple(body)
        )

    def _parameters(self) -> tuple[Variable, ...]:
        self.take("(")
        found: list[Variable] = []
        while not self.accept(")"):
            found += self._declared(Scope({}, {}, []))
            self.accept(",")
        return tuple(found)

    def variables(self) -> list[Variable]:
        """A declaration of variables, up to its semicolon."""
        found = self._declared(Scope({}, {}, []))
        self.take(";")
        return found

    def _body(self, scope: Scope) -> list[Statement]:
        """The statements of a function or of a block in it, up to the closing brace."""
        body: list[Statement] = []
        while not self.accept("}"):
            word = self.peek()
            if word.text == "{":
                self.take()
                body += self._body(scope.inner())
            elif word.text == ".reg":
                self._registers(scope)
            elif word.text in _SPACES:
                scope.variables += self._declared(scope)
                self.take(";")
            elif word.text == ".loc":
                self._location()
            elif word.text == ".pragma":
                while not self.accept(";"):
                    self.take()
            elif word.text.startswith("."):
                raise self.unsupported(f"`{word.text}`", word)
            else:
                body.append(self.statement(scope))
        return body

    def _location(self) -> None:
        """`.loc file line column`; what is inlined has the line of its own function."""
        words = []
        first = self.peek().line
        while self.peek().line == first:
            words.append(self.take().text)
        self.source = int(words[2])

    def _registers(self, scope: Scope) -> None:
        self.take()
        kind = self.take("word").text.removeprefix(".")
        if kind not in SIZES:
            raise self.unsupported(f"registers of type `.{kind}`", self.peek())
        while True:
            name = self.take("word").text
            if self.accept("<"):
                count = self.integer()
                self.take(">")
                for k in range(count):
                    scope.declare(f"{name}{k}", kind)
            else:
                scope.declare(name, kind)
            if self.accept(";"):
                return
            self.take(",")

    def _declared(self, scope: Scope) -> list[Variable]:
        """Variables of a state space, without the semicolon."""
        space = self.take("word")
        align, kind = 0, ""
        while self.peek().text.startswith("."):
            word = self.take()
            if word.text == ".align":
                align = self.integer()
            elif word.text == ".ptr":
                # what a parameter points to: `.ptr .global .align 8` says nothing of its own size
                self._pointed()
            elif word.text.removeprefix(".") in SIZES:
                kind = word.text.removeprefix(".")
            else:
                raise self.unsupported(f"`{word.text}` of a variable", word)
        if not kind:
            raise self.unsupported("a variable without a type", space)
        size = SIZES[kind]
        name = scope.rename(self.take("word").text)
        total = size
        while self.accept("["):
            total *= 0 if self.peek().text == "]" else self.integer()
            self.take("]")
        made = Variable(space.text.removeprefix("."), kind, name, total, max(align, size))
        if self.accept("="):
            made = replace(made, initial=self._initial(kind).ljust(total, b"\0"))
        return [made]

    def _pointed(self) -> None:
        """The state space and the alignment of what a parameter points to."""
        if self.peek().text in _POINTED:
            self.take()
        if self.accept(".align"):
            self.integer()

    def _initial(self, kind: str) -> bytes:
        """The bytes that a variable begins with."""
        if not self.accept("{"):
            return self._packed(self.take(), kind)
        found = b""
        while not self.accept("}"):
            found += self._packed(self.take(), kind)
            self.accept(",")
        return found

    def _packed(self, token: Token, kind: str) -> bytes:
        size = SIZES[kind]
        if token.text == "-":
            value = -self.integer()
        elif token.kind == "real":
            value = int(token.text[2:], 16)
            if len(token.text) != 2 + 2 * size:
                raise self.unsupported(f"the initial value `{token.text}`", token)
        elif token.kind == "integer":
            value = int(token.text.rstrip("U"), 0)
        else:
            raise self.unsupported(f"the initial value `{token.text}`", token)
        return (value % (1 << 8 * size)).to_bytes(size, "little")


def parsed_kernel(module: Module) -> Function:
    """The one kernel of a module; raises `Unsupported` where there is not exactly one."""
    kernels = [f for f in module.functions if f.entry]
    if len(kernels) != 1:
        raise Unsupported(f"{len(kernels)} kernels in one module", 1)
    return kernels[0]
