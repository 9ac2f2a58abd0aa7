"""Why a verification without a difference shows too little, in words, and what helps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from porter.verify.checks.verification import Verification

_ABSENT = re.compile(r"No module named '([\w.]+)'")
_UNNAMED = re.compile(r"name '(\w+)' is not defined")
_WRITE = "--no-verify writes it as it is"


@dataclass(frozen=True)
class Few:
    """`reason` is for the evidence, `said` and `cure` are for the diagnostic."""

    reason: str
    said: str
    cure: str


def too_few(name: str, verification: Verification, missing: Mapping[str, str]) -> Few:
    """Fewer than half of the cases gave a result, because the original raised in the others."""
    error, times = next(iter(verification.tally.raised.most_common(1)), ("", 0))
    found = _UNNAMED.search(error)
    if found is not None and found[1] in missing:
        return lacking(name, missing[found[1]], missing)
    counts = verification.tally.counts
    gave, tried = counts["gave"], counts["tried"]
    said = f"`{name}` is unverified: {gave or 'none'} of {tried} cases gave results"
    raised = f"; it raises {error} in {times} of them" if error else ""
    first = next(
        (p.name for p in verification.drawing.variants[0] if p.type.kind in ("array", "scalar")),
        "x",
    )
    example = f"`# porter: domain {first} > 0`"
    cure = f"say in the function what it takes, such as {example}, or {_WRITE}{raised}"
    return Few(said.replace(f"`{name}` is unverified: ", "") + raised, said, cure)


def lacking(name: str, why: str, missing: Mapping[str, str]) -> Few:
    """What the original needs is not here."""
    for _ in range(len(missing)):
        found = _UNNAMED.search(why)
        if found is None or found[1] not in missing or missing[found[1]] == why:
            break
        # a name that failed for want of another one
        why = missing[found[1]]
    absent = _ABSENT.search(why)
    if absent is not None:
        package = absent[1].partition(".")[0]
        said = f"`{package}` is not installed here: `{name}` cannot be verified"
        return Few(said, said, f"install {package}, or {_WRITE}")
    return Few(why, f"`{name}` cannot run here, so it is unverified", f"{why}; {_WRITE}")
