"""Scalars at host level that come from data live in 0-d arrays of the device.

The host reads one back only where its own control flow needs the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.analyses.accesses import exposed_locals
from porter.diagnostics import Refusal
from porter.dtypes.dtype import DType
from porter.ir.context import Context, locals_of, map_blocks, map_exprs
from porter.ir.nodes import (
    Alloc,
    Buffer,
    Expr,
    For,
    If,
    Jump,
    Let,
    Load,
    Local,
    Origin,
    Reduce,
    Return,
    Stage,
    Stmt,
    Value,
    While,
    Write,
)
from porter.ir.walk import blocks, statements, walk
from porter.lowering.state.builder import refusal


def device_scalars(body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """The pass: device variables become 0-d arrays, conditions become read-backs."""
    names = _device_names(body)
    allocated = []
    # what nothing may have bound gets its place where it is bound: the host's name is unbound, too
    late = exposed_locals(body)
    for name, (dtype, origin) in names.items():
        buffer = Buffer(name, (), replace(dtype, weak=False))
        context.buffers[name] = buffer
        if name not in late:
            allocated.append(Alloc(buffer, origin))
    body = _conditions(_convert(body, names, late, context), context)
    return (*allocated, *body)


def _host_statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    for s in body:
        yield s
        if not isinstance(s, Stage):
            for block in blocks(s):
                yield from _host_statements(block)


def _device_names(body: tuple[Stmt, ...]) -> dict[str, tuple[DType, Origin]]:
    found: dict[str, tuple[DType, Origin]] = {}
    lets = [s for s in _host_statements(body) if isinstance(s, Let)]
    changed = True
    while changed:
        changed = False
        for s in lets:
            if s.name not in found and _is_device(s.value, found):
                found[s.name] = (s.value.dtype, s.origin)
                changed = True
    return found


def _is_device(expr: Expr, names: object) -> bool:
    known: dict[str, object] = names  # type: ignore[assignment]
    return any(
        isinstance(e, (Load, Reduce)) or (isinstance(e, Local) and e.name in known)
        for e in walk(expr)
    )


def _convert(
    body: tuple[Stmt, ...], names: dict[str, tuple[DType, Origin]], late: set[str],
    context: Context,
) -> tuple[Stmt, ...]:  # fmt: skip
    result: list[Stmt] = []
    for s in body:
        own = names
        if isinstance(s, Stage):
            private = {x.name for x in statements(s.body) if isinstance(x, Let)}
            clash = private & exposed_locals(s.body)
            own = {n: t for n, t in names.items() if n not in private or n in clash}

        def change(e: Expr, own: dict[str, tuple[DType, Origin]] = own) -> Expr | None:
            if isinstance(e, Local) and e.name in own:
                return Load(e.name, (), e.dtype)
            return None

        if isinstance(s, Let) and s.name in names:
            value = map_exprs(s, change)
            assert isinstance(value, Let)
            if s.name in late and s.name not in locals_of(s.value):
                result.append(Alloc(context.buffers[s.name], s.origin))
            result.append(Write(s.name, (), (), value.value, s.origin))
            continue
        if not isinstance(s, Stage):
            s = map_blocks(s, lambda b: _convert(b, names, late, context))
        result.append(map_exprs(s, change))
    return tuple(result)


def _conditions(body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """Conditions that need more than 0-d loads are computed into one first."""
    result: list[Stmt] = []
    for s in body:
        if isinstance(s, Stage):
            result.append(s)
            continue
        s = map_blocks(s, lambda b: _conditions(b, context))
        if isinstance(s, For) and any(_needs_kernel(Value(p, _I)) for p in (s.lo, s.hi)):
            raise _bound_refusal(s)
        if isinstance(s, (While, If)) and _needs_kernel(s.cond):
            buffer = context.buffer("condition", (), DType("bool"))
            test = Write(buffer.name, (), (), s.cond, s.origin)
            result += [Alloc(buffer, s.origin), test]
            cond = Load(buffer.name, (), buffer.dtype)
            if isinstance(s, While):
                again = tuple(y for x in s.body for y in _tested_again(x, test))
                s = replace(s, cond=cond, body=(*again, test))
            else:
                s = replace(s, cond=cond)
        result.append(s)
    return tuple(result)


def _tested_again(s: Stmt, test: Write) -> list[Stmt]:
    """A `continue` of the loop evaluates its condition, too."""
    if isinstance(s, Jump) and s.kind == "continue":
        return [test, s]
    if isinstance(s, If):
        return [map_blocks(s, lambda b: tuple(y for x in b for y in _tested_again(x, test)))]
    return [s]


_I = DType("int64")


def _needs_kernel(expr: Expr) -> bool:
    return any(isinstance(e, Reduce) or (isinstance(e, Load) and e.index) for e in walk(expr))


def _bound_refusal(loop: For) -> Refusal:
    return refusal(
        "PRT904",
        f"the loop bounds of `{loop.index}` are read from an array",
        loop.origin.span,
        "keep the loop on the CPU: its iterations run in order",
    )


__all__ = ["Return", "device_scalars"]
