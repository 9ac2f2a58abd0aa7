"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggestion(wanted: str, known: Iterable[str]) -> str:
    """`; did you mean X?` with the nearest of the known names, empty if none is near.

    A code may be given without its letters, and a method without its class.
    """
    names = list(dict.fromkeys(known))
    ends = [n for n in names if n.endswith(wanted) or n.endswith(f".{wanted}")]
    by_lower = {n.lower(): n for n in reversed(names)}
    close = difflib.get_close_matches(wanted.lower(), by_lower, n=1, cutoff=0.6)
    found = ends[:1] or [by_lower[c] for c in close]
    return f"; did you mean {found[0]}?" if found else ""
