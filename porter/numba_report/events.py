"""The events that a child process wrote, put together: one `Compiled` for each signature."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.numba_report.model import Compiled, LiftedLoop, from_record

Event = dict[str, Any]
_FIELDS = tuple(Compiled.__dataclass_fields__)


def read_events(reply: Path) -> list[Event]:
    """Every whole line; a process that was stopped may have left half of one."""
    found: list[Event] = []
    try:
        lines = reply.read_text("utf-8", "replace").splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def is_of(event: Event, name: str, line: int) -> bool:
    """Whether an event is a compilation of the function of that name, defined on that line."""
    here = event.get("line", 0) <= line <= event.get("end_line", 0)
    return bool(event["event"] == "compiled" and here and event["name"] == name)


def compiled_of(events: Iterable[Event], path: str) -> list[Compiled]:
    """What was compiled from a file, each function and signature once, by line."""
    events = list(events)
    groups: dict[tuple[object, ...], list[Event]] = {}
    for event in events:
        if event["event"] == "compiled" and event["path"] == path:
            key = tuple(event[k] for k in ("line", "name", "target", "signature"))
            groups.setdefault(key, []).append(event)
    loops = [e for e in events if e["event"] == "loop"]
    failed = [e for e in events if e["event"] == "loop failed" and e["path"] == path]
    found = [_joined(group, loops, failed) for group in groups.values()]
    return sorted(found, key=lambda c: (c.line, c.name))


def _joined(group: list[Event], loops: list[Event], failed: list[Event]) -> Compiled:
    """One function: Numba compiles it several times over when it looks for loops to lift."""
    last = group[-1]
    compiled = from_record({k: last[k] for k in _FIELDS})
    ids = {e.get("id") for e in group}
    mine = {e["line"]: e for e in loops if e["of"] in ids}
    lifted = tuple(_loop(at, mine.get(at[0]), failed) for at in last.get("at", ()))
    types = dict(compiled.types)
    slow = set(compiled.object_lines)
    raw = compiled.raw
    for event, loop in ((mine.get(x.line), x) for x in lifted):
        inside = set(range(loop.line, loop.end_line + 1))
        if event is None:
            continue
        slow = slow | set(event["lines"]) if not event["nopython"] else slow - inside
        types |= {int(n): tuple(t) for n, t in event["types"].items()}
        raw += event["raw"]
    return replace(compiled, loops=lifted, types=types, object_lines=tuple(sorted(slow)), raw=raw)


def _loop(lines: list[int], event: Event | None, failed: list[Event]) -> LiftedLoop:
    line, end = lines
    if event is None:
        return LiftedLoop(line, end)
    why = ""
    if not event["nopython"]:
        inside = [e["error"] for e in failed if line <= e["error"]["line"] <= end]
        why = inside[-1]["sentence"] if inside else ""
    return LiftedLoop(line, end, event["signature"], event["nopython"], why)
