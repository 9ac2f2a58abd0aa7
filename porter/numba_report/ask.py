"""Asks Numba in child processes and reads their answers."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from porter.numba_report.events import Event, compiled_of, is_of, read_events
from porter.numba_report.model import ON_GPU, Compiled, Failure
from porter.numba_report.script import Ended, run

#: seconds for a script, or for all functions of a file
TIMEOUT = 60.0


@dataclass(frozen=True)
class Question:
    """A function to compile: `types` are signatures to try, `kind` as `compile_child` has it."""

    name: str
    line: int
    end_line: int
    kind: str
    types: tuple[str, ...] = ()
    known: str = "inferred"


@dataclass(frozen=True)
class Run:
    """What running a script gave: the functions compiled, and how it ended.

    `raised` is the event of an exception that left the script, if one did; `trouble` says what
    could not be read of Numba's internals.
    """

    compiled: tuple[Compiled, ...]
    ended: Ended
    raised: Mapping[str, Any] | None = None
    trouble: tuple[str, ...] = ()


def compile_functions(
    path: str, text: str, questions: Sequence[Question], seconds: float, raw: bool = False
) -> tuple[Compiled, ...]:
    """What Numba reports on functions of one file, which is imported but for its statements.

    `seconds` are for the whole file.  A function on which Numba crashes is said to have done
    so, and the others are asked again without it.
    """
    found: list[Compiled] = []
    left = list(questions)
    until = time.monotonic() + seconds
    full = os.path.abspath(path)
    while left:
        request = {"path": full, "text": text, "raw": raw, "functions": [vars(q) for q in left]}
        ended, events = _child("compile_child", request, max(0.1, until - time.monotonic()))
        asked = [e for e in events if e["event"] == "asked"]
        done, stuck = _split(left, asked, ended)
        found += _answers(events, done, path, full)
        left = left[len(done) :]
        if ended.code == 0:
            break
        if ended.code is None:
            found += [_unknown(path, q, _late(q, stuck, seconds)) for q in left]
            break
        found.append(_unknown(path, left[0], _crashed(stuck, ended)))
        left = left[1:]
    return tuple(found)


def _split(
    left: list[Question], asked: list[Event], ended: Ended
) -> tuple[list[Question], Question | None]:
    """The questions that were answered, and the one at which the child stopped."""
    if ended.code == 0:
        return left, None
    count = max(0, len(asked) - 1)
    return left[:count], left[count] if asked else None


def _answers(events: list[Event], done: list[Question], path: str, full: str) -> Iterable[Compiled]:
    for question in done:
        mine = [e for e in events if is_of(e, question.name, question.line)]
        called = [e for e in mine if e.get("asked", question.name) != question.name]
        if called and question.known == "inferred":
            # how the file's own functions call it tells more about its types
            mine = called if not any(e.get("known") for e in mine) else mine
        else:
            mine = [e for e in mine if e not in called]
        loops = [e for e in events if e["event"].startswith("loop")]
        for one in compiled_of([*mine, *loops], full):
            if one.name == question.name:
                known = one.known or question.known
                yield replace(
                    one,
                    path=path,
                    known=known,
                    assumed=known == "inferred",
                    decorated=question.kind != "plain",
                )


def _late(question: Question, stuck: Question | None, seconds: float) -> str:
    if stuck is None:
        return f"the file was not loaded within {seconds:g} s"
    if question == stuck:
        return f"Numba did not finish within {seconds:g} s"
    return f"the time limit of {seconds:g} s was used up before"


def _crashed(stuck: Question | None, ended: Ended) -> str:
    last = ended.said[-1].strip()[:200] if ended.said else f"exit code {ended.code}"
    return f"Numba's process failed: {last}" if stuck else f"the file was not loaded: {last}"


def _unknown(path: str, question: Question, reason: str) -> Compiled:
    target = "cuda" if question.kind in ON_GPU else "cpu"
    return Compiled(
        path, question.name, question.line, question.end_line, target,
        mode="unknown", known=question.known, decorated=question.kind != "plain",
        error=Failure(question.line, reason),
    )  # fmt: skip


def run_script(
    path: str, args: Sequence[str], seconds: float, raw: bool = False, text: str | None = None
) -> Run:
    """Run a script as `__main__` and say what Numba compiled while it ran.

    `text` holds the joined cells of a notebook.
    """
    request = {"script": path, "args": list(args), "raw": raw, "text": text}
    ended, events = _child("run_child", request, seconds)
    raised = next((e for e in events if e["event"] == "raised"), None)
    trouble = tuple(str(e["reason"]) for e in events if e["event"] == "trouble")
    full = os.path.abspath(path)
    files = dict.fromkeys(str(e["path"]) for e in events if e["event"] == "compiled")
    found = [c for f in files for c in compiled_of(events, f)]
    shown = [replace(c, path=path if c.path == full else _short(c.path)) for c in found]
    return Run(tuple(replace(c, known="run") for c in shown), ended, raised, trouble)


def _short(path: str) -> str:
    """A path as users write it: relative to the current folder if it is below."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _settings() -> dict[str, str]:
    """Numba's own variables, which a script may count on; not those that make it print."""
    own = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    return {k: v for k, v in own.items() if not k.startswith("NUMBA_DUMP_")}


def _child(module: str, request: dict[str, Any], seconds: float) -> tuple[Ended, list[Event]]:
    with tempfile.TemporaryDirectory(prefix="porter-") as folder:
        place = Path(folder)
        reply = place / "reply.jsonl"
        (place / "request.json").write_text(json.dumps(request | {"reply": str(reply)}), "utf-8")
        # Numba's cache is a folder of our own: what comes from a cache is not compiled, and
        # then nothing can be said of it
        extra = _settings() if module == "run_child" else {}
        extra["NUMBA_CACHE_DIR"] = str(place / "cache")
        ended = run(f"porter.numba_report.child.{module}", place / "request.json", seconds, extra)
        return ended, read_events(reply)
