"""The first line of a host function."""

from __future__ import annotations

from collections.abc import Sequence

from porter.target.base import Target

#: the keywords of a function that draws random numbers
DRAWING = ("seed", "states")


def own_keywords(target: Target, draws: bool) -> tuple[str, ...]:
    """What a host function takes beside the parameters of the original."""
    return (*(("stream",) if target.device else ()), *(DRAWING if draws else ()))


def head(
    name: str, positional: Sequence[str], keywords: Sequence[str], target: Target, draws: bool
) -> str:
    """The parameters of the original, a stream where there is a device, and what numbers are drawn
    from where they are."""
    last = [*keywords, *(f"{name}=None" for name in own_keywords(target, draws))]
    parameters = [*positional, *(["*", *last] if last else [])]
    return f"def {name}({', '.join(parameters)}):"
