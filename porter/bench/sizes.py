"""The sizes that a function is counted for: given, said in its source, traced, or the usual ones.

`--size "n=4096,m=1e6"` and a comment `# porter: size n=4096` name extents of the header's `shapes`
line and integer arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from porter.diagnostics import UsageError
from porter.verify.inputs.domains import comments_of
from porter.verify.inputs.shapes import symbols

#: an extent of a function whose largest array has so many axes, and of one with more
USUAL, USUAL_BEYOND = {1: 1 << 20, 2: 1024, 3: 128, 4: 32}, 8
#: an integer argument, often a count of steps
STEPS = 10
#: the largest size
_MOST = 1 << 40
_ENTRY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([\d_]+(?:\.\d*)?(?:[eE]\+?\d+)?)\s*$")


def parse_sizes(text: str, where: str) -> dict[str, int]:
    """`n=4096, m=1e6` as numbers.  Raises `UsageError` that begins with `where`."""
    found: dict[str, int] = {}
    for entry in text.split(","):
        if not entry.strip():
            continue
        match = _ENTRY.match(entry)
        number = float(match[2].replace("_", "")) if match else -1.0
        if match is None or not number.is_integer() or not 0 <= number <= _MOST:
            raise UsageError(f"{where}: `{entry.strip()}` is not a size such as n=4096 or n=1e6")
        found[match[1]] = int(number)
    return found


def said_sizes(text: str, path: str) -> dict[str, dict[str, int]]:
    """The sizes in the comments of a source file, by function.  Raises `UsageError`."""
    found: dict[str, dict[str, int]] = {}
    for line, name, said in comments_of(text, "size"):
        if not name:
            where = "it stands neither in a function nor directly above one"
            raise UsageError(f"{path}:{line}: size comment: {where}")
        found.setdefault(name, {}).update(parse_sizes(said, f"{path}:{line}: size comment"))
    return found


def usual_sizes(dims: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """An extent for each name in the shapes of some arrays."""
    ranks: dict[str, int] = {}
    for shape in dims:
        for name in symbols(shape):
            ranks[name] = max(ranks.get(name, 0), len(shape))
    return {name: USUAL.get(rank, USUAL_BEYOND) for name, rank in ranks.items()}


def halved(sizes: Mapping[str, int]) -> dict[str, int]:
    """Half of every extent that is not small already."""
    return {name: max(n // 2, min(n, 4)) for name, n in sizes.items()}
