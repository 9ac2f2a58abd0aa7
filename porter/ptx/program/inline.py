"""Device functions put in the place of their calls, with names of their own.

What a caller and a function hand each other lies in `.param` memory at constant offsets; each
place becomes a register.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from porter.ptx.errors import Unsupported
from porter.ptx.text.records import (
    Address,
    Function,
    Instruction,
    Integer,
    Inverted,
    Label,
    Module,
    Name,
    Operand,
    Pair,
    Statement,
    Targets,
    Variable,
    Vector,
)

#: calls in calls; no more than that unless a function calls itself
_DEEPEST = 40


@dataclass
class Body:
    """A kernel without calls: its statements, the types of its registers, its variables."""

    registers: dict[str, str]
    variables: dict[str, Variable]
    parameters: tuple[Variable, ...]
    statements: list[Statement] = field(default_factory=list)


def inlined(module: Module, kernel: Function) -> Body:
    """The body of a kernel with that of every function that it calls."""
    variables = {v.name: v for v in module.variables}
    body = Body({"%cc": "pred"}, variables, kernel.parameters)
    functions = {f.name: f for f in module.functions if f.body is not None}
    _Inliner(functions, body).function(kernel, "", {}, 0)
    return body


class _Inliner:
    def __init__(self, functions: dict[str, Function], body: Body) -> None:
        self.functions, self.body, self.calls, self.skips = functions, body, 0, 0

    def function(self, function: Function, prefix: str, names: dict[str, str], depth: int) -> None:
        """Add a function's statements; `names` says what its parameters are."""
        names = dict(names)
        for register, kind in function.registers.items():
            names[register] = prefix + register
            self.body.registers[prefix + register] = kind
        for variable in function.variables:
            names[variable.name] = prefix + variable.name
            own = replace(variable, name=prefix + variable.name)
            self.body.variables[own.name] = own
        for statement in function.body or ():
            if isinstance(statement, Label | Targets):
                names[statement.name] = prefix + statement.name
        for statement in function.body or ():
            if isinstance(statement, Label):
                self.body.statements.append(Label(names[statement.name]))
            elif isinstance(statement, Targets):
                labels = tuple(names[label] for label in statement.labels)
                self.body.statements.append(Targets(names[statement.name], labels))
            else:
                self._instruction(statement, prefix, names, depth)
        self.body.statements.append(Label(f"{prefix}@end"))

    def _instruction(
        self, given: Instruction, prefix: str, names: dict[str, str], depth: int
    ) -> None:
        operands = tuple(_renamed(o, names) for o in given.operands)
        guard = None if given.guard is None else _renamed(given.guard, names)
        assert guard is None or isinstance(guard, Name | Inverted)
        made = replace(given, operands=operands, guard=guard)
        words = made.opcode.split(".")
        if words[0] == "ret" and prefix:
            # back to the caller
            made = replace(made, opcode="bra", operands=(Name(f"{prefix}@end"),))
            words = ["bra"]
        if guard is not None and words[0] not in ("bra", "ret", "exit"):
            self._guarded(made, guard, names, depth)
        elif words[0] == "call":
            self._call(made, depth)
        else:
            self.body.statements.append(made)

    def _guarded(
        self, made: Instruction, guard: Name | Inverted, names: dict[str, str], depth: int
    ) -> None:
        """An instruction for some threads is one that the others jump over."""
        self.skips += 1
        label = f"@skip{self.skips}"
        other = guard.name if isinstance(guard, Inverted) else Inverted(guard)
        jump = Instruction("@skip", (Name(label),), made.line, made.source, other)
        self.body.statements.append(jump)
        plain = replace(made, guard=None)
        if made.opcode.startswith("call"):
            self._call(plain, depth)
        else:
            self.body.statements.append(plain)
        self.body.statements.append(Label(label))

    def _call(self, call: Instruction, depth: int) -> None:
        given = list(call.operands)
        results = given.pop(0) if isinstance(given[0], Vector) else Vector(())
        name = given.pop(0)
        arguments = given.pop(0) if given else Vector(())
        if not isinstance(name, Name) or given or name.text not in self.functions:
            shown = name.text if isinstance(name, Name) else "what a register says"
            raise Unsupported(f"a call of `{shown}`, which is not in the module", call.line)
        if depth > _DEEPEST:
            raise Unsupported(f"`{name.text}` calls itself", call.line)
        assert isinstance(results, Vector) and isinstance(arguments, Vector)
        function = self.functions[name.text]
        formal = (*function.results, *function.parameters)
        actual = (*results.items, *arguments.items)
        if len(formal) != len(actual) or not all(isinstance(a, Name) for a in actual):
            raise Unsupported(f"the arguments of `{name.text}`", call.line)
        self.calls += 1
        pairs = zip(formal, actual, strict=True)
        names = {f.name: a.text for f, a in pairs if isinstance(a, Name)}
        self.function(function, f"{self.calls}.", names, depth + 1)


def _renamed(operand: Operand, names: dict[str, str]) -> Operand:
    """An operand with a function's own names."""
    if isinstance(operand, Name):
        return Name(names.get(operand.text, operand.text))
    if isinstance(operand, Address):
        if isinstance(operand.base, Integer):
            return operand
        return Address(Name(names.get(operand.base.text, operand.base.text)), operand.offset)
    if isinstance(operand, Vector):
        return Vector(tuple(_renamed(o, names) for o in operand.items))
    if isinstance(operand, Pair):
        first, second = (Name(names.get(n.text, n.text)) for n in (operand.first, operand.second))
        return Pair(first, second)
    if isinstance(operand, Inverted):
        return Inverted(Name(names.get(operand.name.text, operand.name.text)))
    return operand
