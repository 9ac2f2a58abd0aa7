"""Elements that a loop passes on as variables: `y[i]` from `y[i - 1]`.

What an iteration stores into an array, and the next one reads there, is a variable beside the
array.  So loops over several such arrays, with branches, are those over variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, nodes_of
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.scalars import cast
from porter.ir.walk import statements
from porter.sizes.polynomial import Poly
from porter.transforms.loops.scans.recurrences import element_before, is_above


@dataclass(frozen=True)
class Elements:
    """A loop with variables for elements, and what those stand for that are its own.

    `starts` is what variables are before the loop, where that is known: elements, or constants.
    The arrays of each pair that is `apart` must be two.
    """

    loop: ir.For
    starts: Mapping[str, ir.Expr]
    own: frozenset[ir.Load]
    apart: frozenset[tuple[str, str]] = field(default=frozenset())


def elements_as_variables(made: Elements, context: Context) -> Elements | None:
    """The loop, upwards in steps of 1, with the elements that it passes on; None if there are none.

    An array qualifies if the loop stores into one element of it in an iteration, and reads only
    that one and the one before it.  It must not be given for another one that is stored into: those
    are `apart`.
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
                lowest = _lowest(loop, before, context)
                if lowest is None:
                    return None
                starts[name] = lowest
            loop = _with_variable(loop, name, here, before, context)
    if not own:
        return None
    stored, aliases = defs_in(loop.body).arrays, Aliases.of((), context.buffers)
    passed = {x.buffer for x in own}
    apart = {(a, b) for a in passed for b in stored if a < b or b not in passed}
    given = (pair for pair in apart if pair[0] != pair[1] and aliases.given_twice(*pair))
    return Elements(loop, starts, frozenset(own), frozenset(given))


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
    return here, ir.Load(buffer, before, dtype)


def _lowest(loop: ir.For, before: ir.Load, context: Context) -> ir.Load | None:
    """The element that the first iteration reads; the one before an array's first is its last."""
    index: list[Poly] = []
    for p, size in zip(before.index, context.buffers[before.buffer].shape, strict=True):
        least = p.replace({loop.index: loop.lo})
        if least.constant == -1:
            least = size - 1
        elif not is_above(least, loop, context):
            return None
        index.append(least)
    return replace(before, index=tuple(index))


def _stores(body: Sequence[ir.Stmt], buffer: str) -> Iterator[ir.Write]:
    yield from (
        s for s in statements(tuple(body)) if isinstance(s, ir.Write) and s.buffer == buffer
    )


def _with_variable(
    loop: ir.For, name: str, here: ir.Load, before: ir.Load | None, context: Context
) -> ir.For:
    """The loop with a variable for the element itself, and one for what is before it.

    It stores the element at the end of an iteration, also where that is as it was.
    """
    last, own = ir.Local(name, here.dtype), ir.Local(context.fresh(here.buffer), here.dtype)

    def value(e: ir.Expr) -> ir.Expr | None:
        return last if e == before else own if e == here else None

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        result: list[ir.Stmt] = []
        for s in body:
            s = map_exprs(map_blocks(s, block) if isinstance(s, ir.If) else s, value)
            if isinstance(s, ir.Write) and s.buffer == here.buffer:
                s = ir.Let(own.name, cast(s.body, own.dtype), s.origin)
            result.append(s)
        return tuple(result)

    stores = list(_stores(loop.body, here.buffer))
    store = replace(stores[-1], body=own, checked=any(s.checked for s in stores))
    body = (ir.Let(own.name, here, store.origin), *block(loop.body), store)
    last_one = () if before is None else (ir.Let(name, own, store.origin),)
    return replace(loop, body=(*body, *last_one))
