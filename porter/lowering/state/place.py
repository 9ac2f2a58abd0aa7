"""Where in the user's code the evaluation is: what diagnostics and statements refer to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal, Span, refusal
from porter.lowering.observer import Observer
from porter.lowering.state.part import Part
from porter.source.module import SourceModule


@dataclass
class Place(Part):
    """The node and the statement that are evaluated now."""

    module: SourceModule
    observer: Observer | None  # is told of what is evaluated
    node: cst.CSTNode | None = None
    origin: ir.Origin = field(default_factory=ir.Origin)
    call_here: Span | None = None  # in the user's file, of a helper of another file
    results: tuple[cst.BaseExpression, ...] = ()  # what the function's own `return` gives back
    only_returned: dict[str, cst.BaseExpression] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)  # that a layout gives to sizes
    active: list[str] = field(default_factory=list)  # the functions being evaluated
    squeezed: set[cst.BaseExpression] = field(default_factory=set)  # those whose rank is known late

    def refuse(self, code: str, message: str, help: str = "") -> Refusal:
        """A refusal at the node being evaluated."""
        span = self._span()
        if self.call_here is not None:
            shown = Path(self.module.path).name
            message, span = f"{message} ({shown}, line {span.line})", self.call_here
        return refusal(code, message, span, help)

    def _span(self) -> Span:
        """Where the node stands, or the statement."""
        if self.node is not None:
            # a node of another file has no place in this one
            with suppress(IndexError):
                return self.module.span(self.node)
        return self.origin.span

    @contextmanager
    def elsewhere(self, module: SourceModule) -> Iterator[None]:
        """Evaluate code of another file: what is said of it stands at the call."""
        outer, here = self.module, self.call_here
        if here is None and self.node is not None:
            self.call_here = self._span()
        self.module = module
        try:
            yield
        finally:
            self.module, self.call_here = outer, here
