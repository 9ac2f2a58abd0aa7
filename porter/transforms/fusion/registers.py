"""An element that a thread stores again and again is a local variable until the last store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import (
    Access,
    accesses,
    as_local,
    inside,
    picks,
    surely_writes,
    touches,
)
from porter.analyses.aliases import read_by_another_name
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.rebuild import map_host
from porter.ir.walk import blocks, jumps, statements, walk
from porter.sizes.polynomial import Poly


def promote_elements(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """An element that loops or branches of a thread update is a local variable until the end."""
    aliases = Aliases.of(body, context.buffers)
    return map_host(body, lambda s: _in_registers(s, aliases, context))


def _in_registers(stage: ir.Stmt, aliases: Aliases, context: Context) -> list[ir.Stmt] | None:
    if not isinstance(stage, ir.Stage) or jumps(stage.body):
        return None
    found = list(accesses(stage.body))
    for name in dict.fromkeys(a.buffer for a in found if a.write):
        others = [a for a in found if not _is_refused(a.buffer, name, found)]
        if read_by_another_name(others, name, aliases):
            continue
        if not any(a.combine for a in found if a.buffer == name):
            stage = _with_local(stage, name, context)
    return [stage]


def _is_refused(read: str, written: str, found: Sequence[Access]) -> bool:
    """Whether the host refuses one array for both: iterations would see each other's stores."""
    stores = {a.index for a in found if a.write and a.buffer == written}
    reads = {a.index for a in found if not a.write and a.buffer == read}
    looped = all(a.origin.looped for a in found if a.write and a.buffer == written)
    return looped and read != written and stores != reads


def _with_local(stage: ir.Stage, name: str, context: Context) -> ir.Stage:
    """The stage with a variable for an array's element, inside the branch that all uses are in."""
    uses = [k for k, s in enumerate(stage.body) if touches(s, name)]
    branch = stage.body[uses[0]]
    if len(uses) == 1 and isinstance(branch, ir.If) and not branch.orelse:
        if not _of_data(branch.cond):
            inside = _with_local(replace(stage, body=branch.body), name, context).body
            body = list(stage.body)
            body[uses[0]] = replace(branch, body=inside)
            return replace(stage, body=tuple(body))
    places = {a.index for a in accesses(stage.body) if a.buffer == name}
    index = next(iter(places))
    looped = any(isinstance(s, (ir.For, ir.While)) and touches(s, name) for s in stage.body)
    loops = {s.index for s in statements(stage.body) if isinstance(s, ir.For)}
    inner = {n for p in index for n in p.names()} & loops
    looped = looped or _stored_again(stage.body, name, context.buffers[name])
    if len(places) != 1 or not looped or inner or has_data(index):
        return stage
    if not stage.axes or not all(picks(index, a) for a in stage.axes):
        return stage
    tests = _tests(stage, name, index, context.buffers[name])
    return stage if tests is None else _promoted(stage, name, index, tests, context)


def _stored_again(body: Sequence[ir.Stmt], name: str, buffer: ir.Buffer) -> bool:
    """Whether a branch may store the element of a new array again, which has a value already."""
    first, *rest = [s for s in body if touches(s, name)]
    branches = any(isinstance(s, ir.If) and touches(s, name) for s in rest)
    return branches and not buffer.parameter and surely_writes(first, name)


def _tests(
    stage: ir.Stage, name: str, index: tuple[Poly, ...], buffer: ir.Buffer
) -> list[ir.Expr] | None:
    """What makes sure that the element is there, around the loop that updates it; None if unknown.

    A loop that does not run says nothing about the subscripts in it.
    """
    if inside(index, stage.axes, buffer):
        return []
    touching = [s for s in stage.body if touches(s, name)]
    if any(_runs(s, name) == [] for s in touching):
        return []
    return _runs(touching[0], name) if len(touching) == 1 else None


def _runs(s: ir.Stmt, name: str) -> list[ir.Expr] | None:
    """The conditions under which the host has tested a store into the array; None if unknown.

    It tests for a branch that depends on data as if that were taken.
    """
    if isinstance(s, ir.Write):
        return [] if s.buffer == name and s.mask is None else None
    if not isinstance(s, ir.For) and not (isinstance(s, ir.If) and _of_data(s.cond)):
        return None
    inside = (x for block in blocks(s) for x in block)
    inner = [found for x in inside if (found := _runs(x, name)) is not None]
    if not inner:
        return None
    found = min(inner, key=len)
    if isinstance(s, ir.If):
        return None if has_data(_sides(found)) else found
    if s.step != 1 or has_data(_sides(found)):
        return None  # what the test needs has no value around this loop
    if any(s.index in p.names() for p in _sides(found)):
        return None
    if (s.hi - s.lo).is_positive():
        return found
    return [ir.Op("gt", (ir.Value(s.hi, INT64), ir.Value(s.lo, INT64)), BOOL), *found]


def _of_data(cond: ir.Expr) -> bool:
    """Whether a condition is one of data alone, which says nothing about an index."""
    known = any(isinstance(e, ir.Op) and e.args and all(isinstance(a, ir.Value) for a in e.args)
                for e in walk(cond))  # fmt: skip
    return not known and any(isinstance(e, ir.Load) for e in walk(cond))


def _sides(tests: Sequence[ir.Expr]) -> list[Poly]:
    return [
        a.poly for e in tests if isinstance(e, ir.Op) for a in e.args if isinstance(a, ir.Value)
    ]


def _after(body: Sequence[ir.Stmt], name: str) -> ir.Origin:
    """Where the last store comes from, which is late where iterations came before it."""
    touching = tuple(s for s in body if touches(s, name))
    if any(isinstance(s, (ir.For, ir.While)) for s in statements(touching)):
        return replace(touching[0].origin, looped=True, late=True)
    return touching[-1].origin


def _promoted(
    stage: ir.Stage, name: str, index: tuple[Poly, ...], tests: Sequence[ir.Expr], context: Context
) -> ir.Stage:
    buffer = context.buffers[name]
    local = context.fresh(f"{name}_here")
    origin = next(s.origin for s in stage.body if touches(s, name))
    first = next((s for s in stage.body if touches(s, name)), None)
    load = ir.Let(local, ir.Load(name, index, buffer.dtype), origin)
    head = () if first is not None and surely_writes(first, name) else (load,)
    store = ir.Write(name, (), index, ir.Local(local, buffer.dtype), _after(stage.body, name))
    if not tests:
        body = as_local(stage.body, name, local)
        return ir.Stage(stage.axes, (*head, *body, store), stage.origin)
    at = next(k for k, s in enumerate(stage.body) if touches(s, name))
    loop = as_local(stage.body[at : at + 1], name, local)
    block: tuple[ir.Stmt, ...] = (*head, *loop, store)
    for test in reversed(tests):
        block = (ir.If(test, block, (), stage.body[at].origin),)
    return ir.Stage(stage.axes, (*stage.body[:at], *block, *stage.body[at + 1 :]), stage.origin)
