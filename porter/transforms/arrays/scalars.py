"""Scalars at host level that come from data live in 0-d arrays of the device.

The host reads one back only where its own control flow needs the value.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import tests_positions
from porter.diagnostics import Refusal, refusal
from porter.dtypes.dtype import DType
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import host_level, rewrite, scalars_of, walk


def device_scalars(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: device variables become 0-d arrays, conditions become read-backs."""
    names = _device_names(body)
    allocated = []
    # what nothing may have bound gets its place where it is bound: the host's name is unbound, too
    late = exposed_scalars(body)
    for name, (dtype, origin) in names.items():
        buffer = ir.Buffer(name, (), replace(dtype, weak=False))
        context.buffers[name] = buffer
        if name not in late:
            allocated.append(ir.Alloc(buffer, origin))
    body = _conditions(_convert(body, names, late, context), context)
    return (*allocated, *body)


def _device_names(body: tuple[ir.Stmt, ...]) -> dict[str, tuple[DType, ir.Origin]]:
    found: dict[str, tuple[DType, ir.Origin]] = {}
    lets = [s for s in host_level(body) if isinstance(s, ir.Let)]
    changed = True
    while changed:
        changed = False
        for s in lets:
            if s.name not in found and _is_device(s.value, found):
                found[s.name] = (s.value.dtype, s.origin)
                changed = True
    return found


def _is_device(expr: ir.Expr, known: Container[str]) -> bool:
    return any(
        isinstance(e, (ir.Load, ir.Reduce)) or (isinstance(e, ir.Local) and e.name in known)
        for e in walk(expr)
    )


def _convert(
    body: tuple[ir.Stmt, ...], names: dict[str, tuple[DType, ir.Origin]], late: set[str],
    context: Context,
) -> tuple[ir.Stmt, ...]:  # fmt: skip
    result: list[ir.Stmt] = []
    for s in body:
        own = names
        if isinstance(s, ir.Stage):
            private = defs_in(s.body).scalars
            clash = private & exposed_scalars(s.body)
            own = {n: t for n, t in names.items() if n not in private or n in clash}

        def change(e: ir.Expr, own: dict[str, tuple[DType, ir.Origin]] = own) -> ir.Expr | None:
            if isinstance(e, ir.Local) and e.name in own:
                return ir.Load(e.name, (), e.dtype)
            return None

        if isinstance(s, ir.Let) and s.name in names:
            value = rewrite(s.value, change)
            if s.name in late and s.name not in scalars_of(s.value):
                result.append(ir.Alloc(context.buffers[s.name], s.origin))
            result.append(ir.Write(s.name, (), (), value, s.origin))
            continue
        if not isinstance(s, ir.Stage):
            s = map_blocks(s, lambda b: _convert(b, names, late, context))
        result.append(map_exprs(s, change))
    return tuple(result)


def _conditions(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """Conditions that need more than 0-d loads are computed into one first."""
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Stage):
            result.append(s)
            continue
        if isinstance(s, ir.While) and tests_positions([s]):
            s = _ending(s)
        s = map_blocks(s, lambda b: _conditions(b, context))
        if isinstance(s, ir.For) and any(_needs_kernel(ir.Value(p, _I)) for p in (s.lo, s.hi)):
            raise _bound_refusal(s)
        if isinstance(s, (ir.While, ir.If)) and _needs_kernel(s.cond):
            buffer = context.buffer("condition", (), DType("bool"))
            test = ir.Write(buffer.name, (), (), s.cond, s.origin)
            result += [ir.Alloc(buffer, s.origin), test]
            cond = ir.Load(buffer.name, (), buffer.dtype)
            if isinstance(s, ir.While):
                again = tuple(y for x in s.body for y in _tested_again(x, test))
                s = replace(s, cond=cond, body=(*again, test))
            else:
                s = replace(s, cond=cond)
        result.append(s)
    return tuple(result)


def _ending(loop: ir.While) -> ir.While:
    """An index that is out of bounds ends the loop: with 0 in its place it might never end.

    The error is asked for with a condition that needs a kernel in any case, if there is one.
    """
    if not _is_device(loop.cond, ()):
        body = tuple(_leaving(s) for s in loop.body)
        if body != loop.body:
            return replace(loop, body=body)
        if not any(isinstance(s, ir.If) and _is_device(s.cond, ()) for s in host_level(body)):
            return loop
    return replace(loop, cond=_sound(loop.cond))


def _leaving(s: ir.Stmt) -> ir.Stmt:
    """The branch of a loop that leaves it, which is taken after an error, too."""
    if not isinstance(s, ir.If) or not _is_device(s.cond, ()):
        return s
    body, orelse = (tuple(_leaving(x) for x in branch) for branch in (s.body, s.orelse))
    if _leaves(body):
        cond = _opposite(_sound(_opposite(s.cond)))
        return replace(s, cond=cond, body=body, orelse=orelse)
    if _leaves(orelse):
        return replace(s, cond=_sound(s.cond), body=body, orelse=orelse)
    return s


def _leaves(branch: Sequence[ir.Stmt]) -> bool:
    return any(
        (isinstance(s, ir.Jump) and s.kind == "break")
        or (isinstance(s, ir.If) and (_leaves(s.body) or _leaves(s.orelse)))
        for s in branch
    )


def _sound(cond: ir.Expr) -> ir.Expr:
    return ir.Op("sound", (cond,), _B)


def _opposite(cond: ir.Expr) -> ir.Expr:
    return ir.Op("not", (cond,), _B)


def _tested_again(s: ir.Stmt, test: ir.Write) -> list[ir.Stmt]:
    """A `continue` of the loop evaluates its condition, too."""
    if isinstance(s, ir.Jump) and s.kind == "continue":
        return [test, s]
    if isinstance(s, ir.If):
        return [map_blocks(s, lambda b: tuple(y for x in b for y in _tested_again(x, test)))]
    return [s]


_I, _B = DType("int64"), DType("bool")


def _needs_kernel(expr: ir.Expr) -> bool:
    """Whether more than 0-d arrays are read: the host can fetch these."""
    found = list(walk(expr))
    if any(isinstance(e, ir.Op) and e.op == "sound" for e in found):
        return True
    return any(isinstance(e, ir.Reduce) or (isinstance(e, ir.Load) and e.index) for e in found)


def _bound_refusal(loop: ir.For) -> Refusal:
    return refusal(
        "PRT904",
        f"the loop bounds of `{loop.index}` are read from an array",
        loop.origin.span,
        "keep the loop on the CPU: its iterations run in order",
    )
