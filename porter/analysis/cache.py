"""What earlier runs found, by the content of the files: an unchanged file is not parsed again.

Each source file has one entry, which a newer answer replaces.  An entry holds for one content,
path, porter, Python, set of settings and recorded trace, and for the content of every other
file that was looked for on the way.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import porter
from porter.analysis.question import Answer, Question
from porter.guarded import OWN
from porter.source.callers import callers_stamp
from porter.source.files import SourceFile
from porter.source.others import digest
from porter.trace.counts import stamp
from porter.trace.lookup import traced_in

#: entries that were not written for so long are deleted, at most once a day
MAX_AGE = 60 * 86400.0
_DAY = 86400.0
_IGNORE = "# made by porter; safe to delete\n*\n"


def default_folder() -> Path:
    """The folder of the platform, or the one that PORTER_CACHE_DIR names."""
    named = os.environ.get("PORTER_CACHE_DIR")
    if named:
        return Path(named)
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "porter" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "porter"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "porter"


@cache
def fingerprint() -> str:
    """What identifies this porter and what runs it: an edited rule makes every entry stale."""
    found: list[object] = [porter.__version__, sys.version_info[:3]]
    folders = [os.path.dirname(os.path.abspath(porter.__file__))]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.is_dir():
                    folders += [] if entry.name == "__pycache__" else [entry.path]
                else:
                    stat = entry.stat()
                    found.append((entry.path, stat.st_mtime_ns, stat.st_size))
    return _hash(repr(found))


def _hash(*parts: str) -> str:
    total = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(raw))
        total.update(raw)
    return total.hexdigest()


class Cache:
    """The entries of a folder; one that cannot be read or written is as good as none."""

    def __init__(self, folder: Path, question: Question) -> None:
        self.folder = folder
        self.names = repr(question.names)
        self.settings = repr(
            (
                sorted(question.signatures.items()),
                question.names,
                question.allow_serial,
                sorted(question.cost.items()),
                question.everything,
            )
        )

    def _place(self, source: SourceFile) -> Path:
        """The entry of a file; functions asked for by name have entries of their own."""
        name = _hash(os.path.abspath(source.path), source.path, self.names)
        return self.folder / name[:2] / f"{name[2:]}.json"

    def _key(self, source: SourceFile) -> str:
        place = os.path.abspath(source.path)
        traced = repr(traced_in(source.path)) + stamp(source.path) + callers_stamp(source.path)
        return _hash(fingerprint(), self.settings, place, source.path, traced, source.text,
                     repr(source.broken), repr(source.cells))  # fmt: skip

    def find(self, source: SourceFile) -> Answer | None:
        """The answer of an earlier run, if it still holds."""
        try:
            head, _, body = self._place(source).read_bytes().partition(b"\n")
            if head != _check(body):
                return None
            key, others, plain = json.loads(body)
            if key != self._key(source) or any(digest(p) != d for p, d in others):
                return None
            return Answer.from_plain(plain)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def store(self, source: SourceFile, answer: Answer) -> None:
        """Keep an answer; one that names a failure of porter is not worth keeping."""
        if answer.problems or any(d.code in OWN for d in answer.diagnostics):
            return
        others = [[p, digest(p)] for p in sorted(answer.others)]
        entry: list[Any] = [self._key(source), others, answer.to_plain()]
        body = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()
        with suppress(OSError):
            place = self._place(source)
            if not place.parent.exists():
                self._make(place.parent)
            write_whole(place, _check(body) + b"\n" + body)

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, _IGNORE.encode())

    def sweep(self) -> None:
        """Delete the entries of files that have not been seen for long, at most once a day."""
        stamp, now = self.folder / "swept", time.time()
        with suppress(OSError):
            if not self.folder.is_dir() or (stamp.exists() and now - stamp.stat().st_mtime < _DAY):
                return
            write_whole(stamp, b"")
            for entry in self.folder.glob("*/*.json"):
                if now - entry.stat().st_mtime > MAX_AGE:
                    entry.unlink()


def _check(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).hexdigest().encode()


def write_whole(place: Path, content: bytes) -> None:
    """Write a file so that nobody ever reads half of it. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
