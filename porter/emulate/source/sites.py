"""Places of kernels: what compiled code can only name by a number."""

from __future__ import annotations

from dataclasses import dataclass

#: what threads do at a place where they wait for others
BARRIER, GRID, WARP = "barrier", "grid", "warp"


@dataclass(frozen=True)
class Site:
    """One place of one function: `what` is the array's name or the operation."""

    function: str
    line: int
    what: str
    kind: str = ""


SITES: list[Site] = []


def site(function: str, line: int, what: str, kind: str = "") -> int:
    """The number of a new place."""
    SITES.append(Site(function, line, what, kind))
    return len(SITES) - 1
