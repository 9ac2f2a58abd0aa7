"""Everything in porter/ is used: by porter, or for a reason that `reviewed.py` gives."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from vulture import Vulture

from tests.support.paths import ROOT
from tests.tools.measures import named
from tests.tools.reviewed import ALIVE

#: they register what they decorate
DECORATORS = ["@function*", "@app.*", "@atexit.register", "@register_pass*"]


def test_nothing_is_dead() -> None:
    vulture = Vulture(ignore_decorators=DECORATORS)
    vulture.scavenge([str(ROOT / "porter")])
    found = {named(Path(u.filename), u.name) for u in vulture.get_unused_code(min_confidence=60)}
    patterns = [p for listed in ALIVE.values() for p in listed]
    assert sorted(f for f in found if not any(fnmatchcase(f, p) for p in patterns)) == []
    unneeded = [p for p in patterns if not any(fnmatchcase(f, p) for f in found)]
    assert unneeded == [], "used by name now, or gone: take it off the list"
