"""Mutants that are right: what the edit changes does not matter, as read in each kernel."""

from __future__ import annotations

import re

#: module, kind, what `function: line before => line after` matches, and why it is right
REVIEWED: list[tuple[str, str, str, str]] = []


def equivalent(module: str, kind: str, before: str, after: str, *, doubles: bool) -> str:
    """The reason why a mutant that survived is right; '' when it is in no list."""
    if kind == "T() dropped" and doubles:
        return "more precise, not wrong: verify warns of float64 in a float32 program"
    text = f"{before} => {after}"
    for modules, kinds, pattern, reason in REVIEWED:
        if re.fullmatch(modules, module) and re.fullmatch(kinds, kind) and re.search(pattern, text):
            return reason
    return ""
