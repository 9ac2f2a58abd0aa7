"""Which other files an answer depends on: those that were looked for, whether or not they exist.

A cached answer holds as long as each of them is what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path

from porter.source.regular import MOST_DATA, read_regular

_watching: list[set[str]] = []


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collects the paths that are looked for while the block runs."""
    paths: set[str] = set()
    _watching.append(paths)
    try:
        yield paths
    finally:
        _watching.remove(paths)


def looked_for(file: Path) -> None:
    """Note that what is known now depends on this file."""
    for paths in _watching:
        paths.add(str(file))


# a run looks at every file once: what changes while it runs is for the next run
@cache
def digest(path: str) -> str:
    """What identifies the content of a file; empty where there is none."""
    try:
        return blake2b(read_regular(path, MOST_DATA), digest_size=16).hexdigest()
    except OSError:
        return ""
