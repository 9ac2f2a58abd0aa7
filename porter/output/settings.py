"""The settings that hold, as TOML with the origin of each, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[tuple[str, Any, str]]


def as_text(rows: Rows) -> str:
    """One `name = value  # origin` line for each setting; one without a value is commented out."""
    lines = []
    for name, value, origin in rows:
        line = f"# {name} is not set" if value is None else f"{name} = {_toml(value)}"
        lines.append((line, origin))
    width = max(len(line) for line, _ in lines if len(line) <= 60)
    return "".join(f"{line:<{width}}  # {origin}\n" for line, origin in lines)


def as_record(rows: Rows) -> dict[str, Any]:
    """For each setting its value and its origin."""
    return {"settings": {n: {"value": v, "origin": o} for n, v, o in rows}}


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
