"""How much work it is to bring a function to the GPU: none, small, medium or large.

A function's effort is that of the obstacle that takes most: see docs/cost.md.  The converter
stops at the first obstacle, so for a refused function it is the least that can be said.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.diagnostics import Diagnostic, Severity
from porter.rules.base import EFFORTS, ConverterRule
from porter.rules.registry import all_rules


def effort_of(verdict: str, obstacles: Sequence[Diagnostic]) -> str:
    """The effort for a function with this verdict and what stands in its way."""
    if verdict == "convertible":
        return "none"
    if verdict == "partly":
        return "small" if len(obstacles) == 1 else "medium"
    found = [_cure(d) for d in obstacles if d.severity is Severity.ERROR]
    return max(found, key=EFFORTS.index, default="none")


def _cure(d: Diagnostic) -> str:
    """What curing one finding takes: a mechanical fix is small."""
    rule = all_rules().get(d.code)
    if rule is not None and issubclass(rule, ConverterRule):
        return rule.effort
    return "small" if d.fix is not None else "medium"
