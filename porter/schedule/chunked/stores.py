"""Kernels of one result each: the statements that it needs, and whether they give all elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.effects import defs_in, uses_in
from porter.ir.rebuild import map_blocks
from porter.ir.walk import jumps, statements
from porter.schedule.base import Kernel
from porter.schedule.ufuncs.element import stored, stored_in
from porter.sizes.polynomial import Poly


def separated(kernel: Kernel) -> list[tuple[str, Kernel]]:
    """A kernel for each array that is stored into, in order; ValueError where there is none.

    What one result needs of another array is there before or after all stores into that.
    """
    outs, body = stored(kernel), kernel.body
    if len(outs) == 1:
        return [(outs[0], kernel)]
    if jumps(body):
        raise ValueError("goes on with the next element behind one of several results")
    at = {o: [k for k, s in enumerate(body) if o in stored_in(s)] for o in outs}
    found: list[tuple[str, Kernel]] = []
    for n, name in enumerate(outs):
        needed = _needed(body, name)
        for k, s in needed.items():
            for o in loads_of((s,)) & (set(outs) - {name}):
                if not (k > at[o][-1] if outs.index(o) < n else k < at[o][0]):
                    raise ValueError(f"changes `{o}` and reads it for another result")
        found.append((name, replace(kernel, body=tuple(needed.values()))))
    return found


def loads_of(body: Sequence[ir.Stmt]) -> set[str]:
    """The arrays of which statements read elements."""
    return {a.buffer for a in accesses(body) if not a.write}


def _needed(body: Sequence[ir.Stmt], out: str) -> dict[int, ir.Stmt]:
    """The statements that one result needs, by their places, without the stores of the others."""
    kept: dict[int, ir.Stmt] = {}
    wanted: frozenset[str] = frozenset()
    for k, whole in reversed([*enumerate(body)]):
        for s in _without_others((whole,), out):
            if out in stored_in(s) or defs_in((s,)).scalars & wanted:
                kept[k] = s
                wanted |= uses_in((s,)).scalars
    return dict(sorted(kept.items()))


def _without_others(body: Sequence[ir.Stmt], out: str) -> tuple[ir.Stmt, ...]:
    kept: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Write) and s.buffer != out:
            continue
        changed = map_blocks(s, lambda inner: _without_others(inner, out))
        if not isinstance(changed, (ir.If, ir.For, ir.While)) or any(
            isinstance(x, (ir.Write, ir.Let)) for x in statements((changed,))
        ):
            kept.append(changed)
    return tuple(kept)


def gives_all(kernel: Kernel, out: ir.Buffer) -> bool:
    """Whether a kernel surely stores into all elements of an array, and reads none before."""
    ranges = {a.name: (a.lo, a.hi) for a in kernel.axes}
    if jumps(kernel.body):
        return False
    for s in kernel.body:
        if out.name in loads_of((s,)):
            return False
        if _covers(s, out, ranges):
            return True
    return False


def _covers(s: ir.Stmt, out: ir.Buffer, ranges: Mapping[str, tuple[Poly, Poly]]) -> bool:
    match s:
        case ir.Write(buffer=name, index=index, mask=None, combine=None) if name == out.name:
            names = [p.name for p in index]
            whole = all(
                n is not None and ranges.get(n) == (Poly(), size)
                for n, size in zip(names, out.shape, strict=True)
            )
            # all of the axes: a store of one element for many is the last one's
            return whole and len(set(names)) == len(names)
        case ir.If(body=body, orelse=orelse):
            return all(any(_covers(x, out, ranges) for x in b) for b in (body, orelse))
        case ir.For(index=index, lo=lo, hi=hi, step=1, body=body):
            inner = {**ranges, index: (lo, hi)}
            return not jumps(body) and any(_covers(x, out, inner) for x in body)
    return False
