"""Folds that can be made of parts: each block leaves one part, and a tree joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.axes import symbols
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_exprs
from porter.ir.walk import rewrite, walk
from porter.schedule.base import Kernel
from porter.schedule.chunked.nodes import Joined
from porter.schedule.chunked.places import names_in, polys_of
from porter.sizes.polynomial import Data, Poly


@dataclass(frozen=True)
class Part:
    """A kernel that leaves parts of a fold, one for each block along `axes`, and how they join."""

    kernel: Kernel
    parts: ir.Buffer
    joined: Joined


def folded(
    kernel: Kernel, buffers: Mapping[str, ir.Buffer], fresh: Callable[[str], str]
) -> tuple[list[Part], Kernel] | None:
    """The folds of a kernel in parts, and what is left of it; None where it is made of blocks.

    Each value that a fold is made of, or that it makes, is an array over the axes of the kernel.
    """
    if not all(isinstance(s, (ir.Let, ir.Write)) for s in kernel.body):
        return None
    if any(a.lo.terms for a in kernel.axes):
        return None
    found: list[Part] = []
    known: dict[str, ir.Expr] = {}
    arrays: dict[str, ir.Buffer] = dict(buffers)
    left: list[ir.Stmt] = []
    for s in kernel.body:
        s = map_exprs(s, lambda e: known.get(e.name) if isinstance(e, ir.Local) else None)
        reductions = list(_outermost(s))
        if not all(_can_be_parts(kernel, r, arrays) for r in reductions):
            return None
        for r in reductions:
            name = s.name if isinstance(s, ir.Let) and s.value == r else RESULT_NAMES[r.op]
            part = _part(kernel, r, fresh(name), fresh("parts"), s.origin)
            found.append(part)
            arrays[part.joined.out.name] = part.joined.out
            load = ir.Load(part.joined.out.name, symbols(kernel.axes), r.dtype)
            s = map_exprs(s, lambda e, r=r, load=load: load if e == r else None)  # type: ignore[misc]
        if isinstance(s, ir.Let):
            if s.name in known:
                return None
            known[s.name] = s.value
        else:
            left.append(s)
    return (found, replace(kernel, body=tuple(left))) if found else None


def _outermost(s: ir.Stmt) -> Iterator[ir.Reduce]:
    seen: list[ir.Reduce] = []

    def note(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Reduce):
            if e not in seen:
                seen.append(e)
            return e
        return None

    for e in (s.value,) if isinstance(s, ir.Let) else (s.body,) if isinstance(s, ir.Write) else ():
        rewrite(e, note)
    yield from seen


def _can_be_parts(kernel: Kernel, r: ir.Reduce, arrays: Mapping[str, ir.Buffer]) -> bool:
    """Whether the terms of a fold are read at the indices of the fold and of the kernel alone."""
    if isinstance(r, ir.Scan) or any(a.lo.terms or a.hi.dim is None for a in r.axes):
        return False
    inner, own = {a.name: a.hi for a in r.axes}, {a.name for a in kernel.axes}
    seen: set[str] = set()
    indices: dict[tuple[str, int], set[Poly]] = {}
    for e in walk(r.body):
        if isinstance(e, ir.Reduce) or any(isinstance(a, Data) for p in polys_of(e)
                                           for a in p.atoms()):  # fmt: skip
            return False
        if isinstance(e, ir.Value) and names_in(e.poly) & (inner.keys() | own):
            return False
        if isinstance(e, ir.Load):
            for d, p in enumerate(e.index):
                indices.setdefault((e.buffer, d), set()).add(p)
    for (name, d), polys in indices.items():
        used = {n for p in polys for n in names_in(p)} & inner.keys()
        if not used:
            continue
        one = next(iter(polys)).name if len(polys) == 1 else None
        if one not in inner or arrays[name].shape[d] != inner[one]:
            return False
        seen |= used
    return seen == inner.keys()


def _part(kernel: Kernel, r: ir.Reduce, name: str, parts: str, origin: ir.Origin) -> Part:
    """The kernel that stores a part of a fold for each index of its axes."""
    sizes = tuple(a.hi for a in kernel.axes)
    ones = (Poly.of(1),) * len(r.axes)
    buffer = ir.Buffer(parts, (*sizes, *ones), r.dtype)
    index = (*symbols(kernel.axes), *(Poly(),) * len(r.axes))
    store = ir.Write(parts, (), index, r, origin)
    axes = tuple(range(len(sizes), len(sizes) + len(ones)))
    joined = Joined(ir.Buffer(name, sizes, r.dtype), parts, r.op, axes)
    return Part(replace(kernel, body=(store,), origin=origin), buffer, joined)


def fold_axes(kernel: Kernel) -> Sequence[ir.Axis]:
    """The axes of the fold of such a kernel."""
    (store,) = kernel.body
    assert isinstance(store, ir.Write) and isinstance(store.body, ir.Reduce)
    return store.body.axes
