"""What the host part of the module needs, and what stays there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from porter import ir
from porter.diagnostics import Diagnostic, Severity
from porter.lowering.state.part import Part
from porter.lowering.state.place import Place
from porter.resolve.values import Value


@dataclass
class HostState(Part):
    """Arguments, imports and constants of the host function, and statements that stay in it."""

    place: Place
    partial: bool = False  # what cannot be converted may stay on the host
    arguments: dict[str, Value] = field(default_factory=dict)  # of the function, as they came
    attributes: dict[str, Value] = field(default_factory=dict)  # of `self`, by their names
    constants: dict[str, str] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    local_imports: dict[str, set[str]] = field(default_factory=dict)
    fallbacks: list[Diagnostic] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)  # values of constants that were computed
    classes: dict[str, list[ir.Classes]] = field(default_factory=dict)  # of arguments

    def is_given(self, value: Value) -> bool:
        """Whether a value is an argument, and not an array or a number that was made of it."""
        name = next((n for n, v in self.arguments.items() if v is value), None)
        return name is not None and ir.Classes((), False) not in self.classes.get(name, ())

    def made(self, value: Value) -> Value:
        """What a function or an operator made, told apart from the argument that it is equal to."""
        if isinstance(value, (ir.Scalar, ir.Value)) and self.is_given(value):
            return replace(value)
        return value

    def note_classes(self, value: Value, classes: ir.Classes) -> None:
        """What an argument must be of, or no longer need be: `np.asarray` takes all classes."""
        name = next((n for n, v in self.arguments.items() if v is value), None)
        if name is not None and ir.Classes((), False) not in self.classes.setdefault(name, []):
            self.classes[name].append(classes)

    def assume(self, fact: str) -> None:
        """Something that the module relies on and its header states."""
        if fact not in self.assumed:
            self.assumed.append(fact)

    def note_fallback(self, why: str) -> None:
        """Say that the current statement stays on the host, and why."""
        span = self.place.origin.span
        text = " ".join(self.place.origin.text.split())
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        message = f"`{shown}` stays on the host"
        if any(d.span == span for d in self.fallbacks):
            return
        self.fallbacks.append(Diagnostic("PRT912", "stays-on-host", message, span,
                                         severity=Severity.ADVICE, help=why))  # fmt: skip
