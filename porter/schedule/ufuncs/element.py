"""The body of a ufunc: it gets one element of each array and returns the one that is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.diagnostics import refusal
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import statements
from porter.schedule.base import Grid, Kernel, KernelWriters
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.writing import KernelWriter, Lines


class Element(Elementwise):
    """What happens to one element; Numba makes the loop or the kernel around it."""

    word = "ufunc"
    summary = "a ufunc over the elements"

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call for each result; of no elements there is none."""
        guards = tuple(a.extent for a in kernel.axes)
        return (Grid(threads=("1",), guards=guards),) * len(stored(kernel))

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The statements of each ufunc, and the result: the last line returns it."""
        outs = stored(kernel)
        ufuncs = []
        for out in outs:
            name = f"{kernel.name}_{out}" if len(outs) > 1 else kernel.name
            own = _needed(kernel.body, out)
            w = writers.writer(replace(kernel, name=name, body=own))
            body = own
            for made in outs:
                body = assigning(body, made)
            renewed = out in exposed_scalars(body)
            w.keep_axes(dict.fromkeys(writers.buffers, ()), out, renewed)
            with w.slot() as lines:
                w.block(body[:-1])
            ufuncs.append((w, lines, _end(w, body[-1], out)))
            why = "an element for which NumPy raises cannot do so in a ufunc" if w.fails else ""
            why = why or ("" if w.inputs else f"`{out}` is filled, and a ufunc needs an argument")
            if why:
                raise refusal("PRT806", why, kernel.origin.span)
        return {"ufuncs": ufuncs}


def stored(kernel: Kernel) -> list[str]:
    """The arrays that a kernel stores into, in order."""
    names = [s.buffer for s in statements(kernel.body) if isinstance(s, ir.Write)]
    return list(dict.fromkeys(names))


def assigning(body: Sequence[ir.Stmt], out: str) -> tuple[ir.Stmt, ...]:
    """Statements with a variable in place of the element that they store."""

    def read(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(out, e.dtype) if isinstance(e, ir.Load) and e.buffer == out else None

    def change(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer == out:
            s = ir.Let(out, s.body, s.origin)
        return map_blocks(s, lambda inner: tuple(map(change, inner)))

    return tuple(map_exprs(change(s), read) for s in body)


def _needed(body: Sequence[ir.Stmt], out: str) -> tuple[ir.Stmt, ...]:
    """The statements without those that only other results need."""
    kept: list[ir.Stmt] = []
    wanted = frozenset({out})
    for s in reversed(body):
        names = defs_in((s,))
        if not (names.scalars | names.arrays | stored_in(s)) & wanted:
            continue
        kept.insert(0, s)
        used = uses_in((s,))
        wanted |= used.scalars | used.arrays
    return tuple(kept)


def stored_in(s: ir.Stmt) -> frozenset[str]:
    """The arrays that a statement stores into."""
    return frozenset(x.buffer for x in statements((s,)) if isinstance(x, ir.Write))


def _end(w: KernelWriter, last: ir.Stmt, out: str) -> Lines:
    """The last statement and `return`: of an expression, if all that it does is to assign one."""
    with w.slot() as lines:
        w.block([last])
    start = f"{out} = "
    if isinstance(last, ir.Let) and last.name == out and lines[-1].startswith(start):
        lines[-1] = f"return {lines[-1].removeprefix(start)}"
    else:
        lines.append(f"return {out}")
    return lines
