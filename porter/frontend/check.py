"""What `analyze` says of a function: the converter's own verdict, so that both agree."""

from __future__ import annotations

from dataclasses import dataclass

from porter.diagnostics import Diagnostic, Refusal, UsageError
from porter.frontend.builder import refusal
from porter.source.module import FunctionSource


@dataclass(frozen=True)
class FunctionVerdict:
    """`verdict` is convertible or refused; `diagnostics` say why it is refused."""

    verdict: str
    diagnostics: list[Diagnostic]
    signature: str
    assumed: list[str]


def check_function(function: FunctionSource, signature: str | None) -> FunctionVerdict:
    """Run the front end and the plan on a function; nothing is written or executed."""
    from porter.convert import assumptions, front_end
    from porter.frontend.globals import globals_of

    try:
        types, _, _ = front_end(function, signature, globals_of(function.module))
    except Refusal as e:
        found = e.diagnostic.at(function.module.path, function.name)
        return FunctionVerdict("refused", [found], signature or "", [])
    except UsageError as e:
        span = function.module.span(function.node.name)
        found = refusal("PRT907", str(e), span, "give one type for each parameter").diagnostic
        return FunctionVerdict("refused", [found], signature or "", [])
    text = ", ".join(map(str, types))
    return FunctionVerdict("convertible", [], text, list(assumptions(function, types, signature)))
