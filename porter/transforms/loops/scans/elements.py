"""Elements that a loop passes on as variables: `y[i]` from `y[i - 1]`.

What an iteration stores into an array, and the next one reads there, is a variable beside the
array.  So loops over several such arrays, with branches, are those over variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.context import Context
from porter.ir.effects import defs_in, nodes_of
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.scalars import cast
from porter.ir.walk import statements
from porter.transforms.loops.scans.recurrences import element_before, is_above


@dataclass(frozen=True)
class Elements:
    """A loop with variables for elements, and what those stand for that are its own.

    `starts` is what variables are before the loop, where that is known: elements, or constants.
    """

    loop: ir.For
    starts: Mapping[str, ir.Expr]
    own: frozenset[ir.Load]


def elements_as_variables(made: Elements, context: Context) -> Elements | None:
    """The loop, upwards in steps of 1, with the elements that it passes on; None if there are none.

    An array qualifies if the loop stores into one element of it in an iteration, and reads only
    that one and the one before it.
    """
    loop, starts = made.loop, dict(made.starts)
    if not all(isinstance(s, (ir.Let, ir.Write, ir.If)) for s in statements(loop.body)):
        return None
    own: set[ir.Load] = set()
    for buffer in sorted(defs_in(loop.body).arrays):
        found = _passed_on(loop, buffer, context)
        if found is not None:
            here, before = found
            own.add(here)
            name = context.fresh(f"{buffer}_last")
            if before is not None:
                lowest = {loop.index: loop.lo}
                starts[name] = replace(before, index=tuple(p.replace(lowest) for p in before.index))
            loop = _with_variable(loop, name, here, before, context)
    return Elements(loop, starts, frozenset(own)) if own else None


def _passed_on(
    loop: ir.For, buffer: str, context: Context
) -> tuple[ir.Load, ir.Load | None] | None:
    """The element of an array that an iteration stores, and the one before it if that is read."""
    stores = list(_stores(loop.body, buffer))
    first = stores[0]
    plain = all(not s.axes and s.mask is None and not s.combine for s in stores)
    index, before = first.index, element_before(first, loop)
    if not plain or before is None or any(s.index != index for s in stores):
        return None
    read = {e.index for s in statements(loop.body) for e in nodes_of(s)
            if isinstance(e, ir.Load) and e.buffer == buffer}  # fmt: skip
    if not read or read - {index, before}:
        return None
    dtype = context.buffers[buffer].dtype
    here = ir.Load(buffer, index, dtype)
    if before not in read:
        return here, None
    least = (p.replace({loop.index: loop.lo - 1}) for p in index)
    if not all(is_above(p, loop, context) for p in least):
        return None
    return here, ir.Load(buffer, before, dtype)


def _stores(body: Sequence[ir.Stmt], buffer: str) -> Iterator[ir.Write]:
    yield from (
        s for s in statements(tuple(body)) if isinstance(s, ir.Write) and s.buffer == buffer
    )


def _with_variable(
    loop: ir.For, name: str, here: ir.Load, before: ir.Load | None, context: Context
) -> ir.For:
    """The loop with a variable for the element itself, and one for what is before it."""
    last, own = ir.Local(name, here.dtype), ir.Local(context.fresh(here.buffer), here.dtype)

    def value(e: ir.Expr) -> ir.Expr | None:
        return last if e == before else own if e == here else None

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        result: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.Write) and s.buffer == here.buffer:
                s = map_exprs(s, value)
                result.append(ir.Let(own.name, cast(s.body, own.dtype), s.origin))
                s = replace(s, body=own)
            else:
                s = map_blocks(s, block) if isinstance(s, ir.If) else s
                s = map_exprs(s, value)
            result.append(s)
        return tuple(result)

    body = loop.body
    origin = list(_stores(body, here.buffer))[-1].origin
    body = (ir.Let(own.name, here, origin), *block(body))
    return replace(loop, body=body if before is None else (*body, ir.Let(name, own, origin)))
