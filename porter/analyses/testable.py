"""Which checks the host can make: what they need must be known before the kernels run."""

from __future__ import annotations

from collections.abc import Iterable

from porter import ir
from porter.ir.walk import scalars_of, walk
from porter.sizes.polynomial import Data, Poly


def needed(check: ir.Check) -> set[str]:
    """The names of the host that a check is about."""
    names: set[str] = set()
    for p in (check.left, check.right, *check.when):
        names |= _of_size(p)
    for e in check.conditions:
        names |= scalars_of(e)
    return {n.split(".")[0] for n in names}


def _of_size(p: Poly) -> set[str]:
    """Of arrays the host knows those without dimensions, by their names, and no element."""
    inside = [a.expr for a in p.atoms() if isinstance(a, Data)]
    loads = [e for expr in inside for e in walk(expr) if isinstance(e, ir.Load)]
    read = {e.buffer if not e.index else f"{e.buffer}[]" for e in loads}
    return set(p.names()).union(read, *map(scalars_of, inside))


def untestable(
    checks: Iterable[ir.Check], parameters: Iterable[str], items: Iterable[object]
) -> ir.Check | None:
    """A check that needs what the host never knows, if there is one."""
    known = {*parameters, *(i.name for i in items if isinstance(i, (ir.Let, ir.Fetch)))}
    return next((c for c in checks if not needed(c) <= known), None)
