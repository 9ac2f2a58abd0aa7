"""What `analyze` says of a function: the converter's own verdict, so that both agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from porter.convert.attempt import assumptions, for_elements, front_end, method_apart
from porter.diagnostics import Diagnostic, Refusal, UsageError, refusal
from porter.resolve.globals import globals_of
from porter.source.module import FunctionSource
from porter.support.reserved import given
from porter.target.registry import target_named

if TYPE_CHECKING:
    from porter.schedule.nodes import Plan

T = TypeVar("T")


@dataclass(frozen=True)
class FunctionVerdict:
    """`verdict` is convertible, partly or refused; `diagnostics` say why, or what stays behind.

    With `elements`, `--target ufunc` calls it for the elements of arrays all the same.
    """

    verdict: str
    diagnostics: list[Diagnostic]
    signature: str
    assumed: list[str]
    plan: Plan | None = None
    elements: bool = False


def check_function(
    function: FunctionSource, signature: str | None, allow_serial: bool = False
) -> FunctionVerdict:
    """Run the front end and the plan on a function; nothing is written or executed."""
    try:
        scope = globals_of(function.module)
        scope.options.allow_serial, scope.options.verdict_only = allow_serial, True
        plain, scope = method_apart(function, scope)
        types, program, plan = front_end(plain, signature, scope)
    except Refusal as e:
        found = e.diagnostic.at(function.module.path, function.name)
        elements = _is_ufunc(function)
        return FunctionVerdict("refused", [found], signature or "", [], elements=elements)
    except UsageError as e:
        span = function.module.span(function.node.name)
        found = refusal("PRT907", str(e), span, "give one type for each parameter").diagnostic
        return FunctionVerdict("refused", [found], signature or "", [])
    text = ", ".join(map(str, types))
    kept = [d.at(function.module.path, function.name) for d in program.kept]
    assumed = [*map(given, assumptions(plain, types, signature)), *program.assumed]
    # what runs on one thread is said by `convert`, and no obstacle
    verdict = "partly" if kept else "convertible"
    return FunctionVerdict(verdict, kept, text, assumed, plan)


def with_own_types(function: FunctionSource, given: object, action: Callable[[], T]) -> T:
    """The result of an action; types of the source that cannot be read refuse the function.

    Those that are `given` are an error of the command.
    """
    try:
        return action()
    except UsageError as error:
        if given:
            raise
        span = function.module.span(function.node.name)
        found = refusal("PRT907", str(error), span, "give types that porter knows by `--signature`")
        raise Refusal(found.diagnostic.at(function.module.path, function.name)) from None


def _is_ufunc(function: FunctionSource) -> bool:
    """Whether `--target ufunc` converts a function of numbers."""
    try:
        scope, target = globals_of(function.module), target_named("ufunc")
        scope.options.verdict_only = True
        called = for_elements(function, scope, target.schedules)
        target.check(front_end(called, None, scope, target.schedules)[2])
    except (Refusal, UsageError):
        return False
    return called.per_element
