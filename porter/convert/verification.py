"""Verifying a module until what is left of it is right: what is written is what was verified.

A dtype that porter added beside the one that was asked for, and that fails, is left out; so is a
function that fails with its own.  The text without them is verified again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from porter.convert.function import Converted
from porter.dtypes.conversions import Conversions
from porter.verify.evidence import CONVERTED, FunctionEvidence


@dataclass(frozen=True)
class LeftOut:
    """A dtype or a form that a function's kernels do not serve, and why."""

    what: str
    signature: str
    reason: str


@dataclass
class Verified:
    """What came of the functions of a module: evidence, failed or not, and what was left out."""

    good: list[Converted]
    found: dict[str, FunctionEvidence] = field(default_factory=dict)
    left_out: dict[str, list[LeftOut]] = field(default_factory=dict)


def verified_by(
    converted: Sequence[Converted],
    module: Callable[[Sequence[Converted]], str],
    verify: Callable[[str], Sequence[FunctionEvidence]],
) -> Verified:
    """Verify a module of all functions, and again without what failed, until nothing fails.

    A round takes a function out, or of a function one dtype (the first time) or all but its own:
    so there are few.
    """
    done = Verified(list(converted))
    while done.good:
        found = {f.name: f for f in verify(module(done.good))}
        done.found |= found
        left = [_next(c, found.get(c.name), done) for c in done.good]
        if all(a is b for a, b in zip(left, done.good, strict=True)):
            return done
        done.good = [c for c in left if c is not None]
    return done


def _next(c: Converted, found: FunctionEvidence | None, done: Verified) -> Converted | None:
    """The function as it stays in the module: itself, with fewer dtypes, or None."""
    if found is None or found.accepted:
        return c
    failing = found.mismatch.signature if found.mismatch else ""
    if failing == CONVERTED and any(f.conversions for f in (c, *c.variants)):
        dropped = LeftOut("conversion to float64", c.signature, found.why)
        done.left_out.setdefault(c.name, []).append(dropped)
        forms = tuple(replace(v, conversions=Conversions()) for v in c.variants)
        return replace(c, conversions=Conversions(), variants=forms)
    if found.failed and c.broadcasts and failing not in _others(c):
        # the kernels for axes of size 1 may be the ones to blame
        dropped = LeftOut("broadcasting of an axis of size 1", c.signature, found.why)
        done.left_out.setdefault(c.name, []).append(dropped)
        return c.leaving_out([c.signature])
    unloaded = found.mismatch is not None and found.mismatch.what == "load"
    others = _others(c)
    if not found.failed or not others or failing == c.signature or unloaded:
        return None
    # the second time, or where it is not known which one is to blame, all of them
    known = failing in others and c.name not in done.left_out
    gone = {failing: others[failing]} if known else others
    reason = found.why
    done.left_out.setdefault(c.name, []).extend(LeftOut(w, s, reason) for s, w in gone.items())
    return c.leaving_out(gone.keys())


def _others(c: Converted) -> dict[str, str]:
    """The types that were added to those that the function is for, and what each is."""
    siblings = [*c.siblings, *(s for v in c.variants[1:] for s in v.siblings)]
    found = {s.signature: s.dtype for s in siblings}
    host = {c.host.signature: "a call without arrays"} if c.host else {}
    return found | host | {v.signature: "another form" for v in c.variants[1:]}
