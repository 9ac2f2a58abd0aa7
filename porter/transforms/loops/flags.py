"""Variables that a loop sets to one value, wherever it sets them: `if x[i] > t: found = True`.

Which iteration does it does not matter, so the threads store the value into an array of no
dimensions: all of them the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.obstacles import obstacle
from porter.ir.context import Context
from porter.ir.effects import defs_in, uses_in
from porter.ir.rebuild import map_blocks, rename_arrays
from porter.ir.scalars import cast
from porter.ir.walk import scalars_of, statements, walk


def flags(
    loop: ir.For,
    after: set[str],
    context: Context,
    place: Callable[[ir.For, set[str]], list[ir.Stmt]],
) -> list[ir.Stmt] | None:
    """The loop with stores for such variables; None if it cannot run in parallel even so."""
    lets = [s for s in statements(loop.body) if isinstance(s, ir.Let)]
    names = {s.name for s in lets} & after
    own = {s.index for s in statements((loop,)) if isinstance(s, ir.For)} | {s.name for s in lets}
    # a variable that nothing binds before the loop may be unbound after it
    if not names or names & uses_in((loop,)).scalars or not names <= context.here.assigned:
        return None
    values: dict[str, ir.Expr] = {}
    for s in lets:
        if s.name in names and values.setdefault(s.name, s.value) != s.value:
            return None
    if any(_varies(v, own, loop) for v in values.values()):
        return None
    mark = context.mark()
    held = {n: context.buffer(f"{n}_set", (), values[n].dtype) for n in sorted(names)}

    def stores(body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        return tuple(map(store, body))

    def store(s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Let) or s.name not in names:
            return map_blocks(s, stores)
        buffer = held[s.name]
        return ir.Write(buffer.name, (), (), cast(s.value, buffer.dtype), s.origin, combine="same")

    new = replace(loop, body=stores(loop.body))
    if obstacle(new, after - names, context) is not None:
        context.back_to(mark)
        return None
    context.flags |= {b.name for b in held.values()}
    first = [
        ir.Def(b.name, (), b.dtype, ir.Local(n, b.dtype), loop.origin) for n, b in held.items()
    ]
    last = [ir.Let(n, ir.Load(b.name, (), b.dtype), loop.origin) for n, b in held.items()]
    return [*first, *place(new, after - names), *last]


def _varies(value: ir.Expr, own: set[str], loop: ir.For) -> bool:
    """Whether a value may differ from one iteration to another."""
    reads = {e.buffer for e in walk(value) if isinstance(e, ir.Load)}
    return bool(scalars_of(value) & own or reads & defs_in(loop.body).arrays)


def set_in_place(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: where the variable is on the device, it is stored into without a copy."""
    body = tuple(map_blocks(s, lambda b: set_in_place(b, context)) for s in body)
    for first, s in enumerate(body):
        match s:
            case ir.Def(name=held, axes=(), body=ir.Load(buffer=name)) if held in context.flags:
                back = [k for k, t in enumerate(body) if k > first and _copies(t, held, name)]
                between = body[first + 1 : back[0]] if back else ()
                if back and not any(a.buffer == name for a in accesses(between)):
                    renamed = tuple(rename_arrays(t, {held: name}) for t in between)
                    rest = (*body[:first], *renamed, *body[back[0] + 1 :])
                    return set_in_place(rest, context)
    return body


def _copies(s: ir.Stmt, held: str, name: str) -> bool:
    match s:
        case ir.Write(buffer=target, axes=(), body=ir.Load(buffer=source)):
            return target == name and source == held
    return False
