"""How far a verification is, for a terminal: function, engine, cases, and the time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from porter.verify.evidence import in_words

Step = Callable[[str], None]


class Watch:
    """Watches what a child replies; `step` is None where nobody looks."""

    def __init__(self, step: Step | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.step, self.clock = step, clock

    def says(self, text: str) -> None:
        """Say what begins."""
        if self.step is not None:
            self.step(text)

    def life(
        self, reply: Path, kind: str, names: Sequence[str], cases: int, sign: bytes
    ) -> Callable[[], float]:
        """What counts the signs of life in a child's reply, and says how far it is."""
        begun = self.clock()
        size, last = 0, ""

        def count() -> float:
            nonlocal size, last
            raw = reply.read_bytes()
            if self.step is not None and len(raw) != size:
                size = len(raw)
                text = progress(raw, kind, names, cases, self.clock() - begun)
                if text and text != last:
                    last = text
                    self.step(text)
            return raw.count(sign)

        return count


def progress(raw: bytes, kind: str, names: Sequence[str], cases: int, seconds: float) -> str:
    """`softmax (2 of 5) on the simulator: case 13 of 24, about 20 s left`; '' before it begins."""
    name, seen, finished = "", set[int](), 0
    for line in raw.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line that is being written
        if "start" in entry:
            name, seen = entry["start"], set()
        elif "done" in entry:
            finished += 1
        elif "case" in entry:
            seen.add(entry["case"])
    if not name or finished == len(names):
        return ""
    which = f" ({names.index(name) + 1} of {len(names)})" if len(names) > 1 else ""
    text = f"{name}{which} on the {in_words(kind)}: case {max(1, len(seen)):,}"
    if kind == "emulator":
        # it takes as many as its time allows
        return text
    # wrong inputs come after the cases
    done = min(len(seen), cases)
    share = (finished + done / cases) / len(names)
    left = f", about {_shown(seconds * (1 - share) / share)} left" if done > 1 else ""
    return f"{text.rpartition(' ')[0]} {max(1, done)} of {cases}{left}"


def _shown(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1.0, seconds):.0f} s"
