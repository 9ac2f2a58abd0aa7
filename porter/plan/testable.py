"""Which checks the host can make: what they need must be known before the kernels run."""

from __future__ import annotations

from collections.abc import Iterable

from porter.ir.nodes import Check, Fetch, Let, Local, Scalar
from porter.ir.walk import free_names, walk


def needed(check: Check) -> set[str]:
    """The names of the host that a check is about."""
    names = check.left.names() | check.right.names()
    for p in check.when:
        names |= p.names()
    for e in check.conditions:
        names |= free_names(e)
        names |= {x.name for x in walk(e) if isinstance(x, (Scalar, Local))}
    return {n.split(".")[0] for n in names}


def untestable(
    checks: Iterable[Check], parameters: Iterable[str], items: Iterable[object]
) -> Check | None:
    """A check that needs what the host never knows, if there is one."""
    known = {*parameters, *(i.name for i in items if isinstance(i, (Let, Fetch)))}
    return next((c for c in checks if not needed(c) <= known), None)
