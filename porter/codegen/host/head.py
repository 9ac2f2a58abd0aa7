"""The first line of a host function."""

from __future__ import annotations

from collections.abc import Sequence

from porter.support.reserved import OWN_KEYWORDS
from porter.target.base import Target


def own_keywords(target: Target, draws: bool) -> tuple[str, ...]:
    """What a host function takes beside the parameters of the original."""
    there = {
        "stream": target.device,
        "seed": draws,
        "states": draws,
        "timing": target.extras.timing,
    }
    return tuple(name for name in OWN_KEYWORDS if there[name])


def head(
    name: str, positional: Sequence[str], keywords: Sequence[str], target: Target, draws: bool
) -> str:
    """The parameters of the original, and those that are ours."""
    last = [*keywords, *(f"{name}=None" for name in own_keywords(target, draws))]
    parameters = [*positional, *(["*", *last] if last else [])]
    return f"def {name}({', '.join(parameters)}):"
