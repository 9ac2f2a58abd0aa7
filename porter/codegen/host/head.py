"""The first line of a host function."""

from __future__ import annotations

from collections.abc import Sequence

from porter.target.base import Target


def head(name: str, positional: Sequence[str], keywords: Sequence[str], target: Target) -> str:
    """The parameters of the original, and a stream where there is a device."""
    last = [*keywords, *(["stream=None"] if target.device else [])]
    parameters = [*positional, *(["*", *last] if last else [])]
    return f"def {name}({', '.join(parameters)}):"
