"""A thread for each element; updates meet in a small array that each block has of its own.

Updates in shared memory are many times faster than those in global memory, above all where
many threads meet in few elements.  The grid is no larger than keeps the processors busy, so
that few blocks have to add theirs at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.walk import statements
from porter.schedule.base import Alternative, Around, Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import flat_loop, product
from porter.schedule.writing import KernelWriter

#: elements of one array in shared memory, and bytes of all of them
MOST_ELEMENTS, MOST_BYTES = 1024, 16384


def private_targets(
    body: Sequence[ir.Stmt], buffers: Mapping[str, ir.Buffer], *, known: bool = True
) -> list[str]:
    """Small arrays of a known size that the statements only add to, or arrays of one dimension
    whose size the host knows."""
    found: list[str] = []
    room = MOST_BYTES
    for s in statements(tuple(body)):
        if not isinstance(s, ir.Write) or s.combine != "add" or s.buffer in found:
            continue
        b = buffers[s.buffer]
        size = _size(b)
        if not known:
            size = MOST_ELEMENTS if size is None and len(b.shape) == 1 else None
        only = all(a.combine == "add" for a in accesses(body) if a.buffer == s.buffer)
        if size is None or size > MOST_ELEMENTS or not only:
            continue
        room -= size * b.dtype.itemsize
        if room >= 0:
            found.append(s.buffer)
    return found


class Private(Schedule):
    """Blocks add to arrays in shared memory, then those to the arrays that are meant."""

    name = "private"
    summary = "a thread per element, sums in each block's shared memory first"
    together = False
    #: whether the sizes of the small arrays are known at conversion
    known: ClassVar[bool] = True

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Threads of a domain add to a small array."""
        return isinstance(s, ir.Stage) and bool(s.axes and private_targets(s.body, buffers))

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Few blocks: each adds its own small array to the result at the end."""
        total = product(a.extent for a in kernel.axes)
        return (Grid(((total, "THREADS"),), guards=(total,), few=True),)

    def barriers(self, kernel: Kernel) -> int:
        """Before the first update, and after the last one."""
        return 2

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The small arrays, their first and their last loop, the statements between."""
        w = writers.writer(kernel)
        for a in kernel.axes:
            w.index(a.name)
        names = private_targets(kernel.body, writers.buffers, known=self.known)
        targets = [writers.buffers[n] for n in names]
        shared = [(w.privatise(b.name), self._shape(b), w.shared_type(b.dtype)) for b in targets]
        clear = [(own, _cells(w, b), w.expr(_zero(b)))
                 for b, (own, _, _) in zip(targets, shared, strict=True)]  # fmt: skip
        elements = flat_loop(w, kernel.axes, "element", kernel.body)
        with w.slot() as body:
            w.block(kernel.body)
        add = [(b.name, own, _cells(w, b)) for b, (own, _, _) in zip(targets, shared, strict=True)]
        return {"k": w, "shared": shared, "clear": clear, "elements": elements, "body": body,
                "add": add}  # fmt: skip

    def _shape(self, b: ir.Buffer) -> str:
        sizes = [str(n.constant) for n in b.shape]
        return sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"


class Crowded(Private):
    """The same for arrays that turn out to be small, where many elements are added to them."""

    word = "private"
    known = False

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Blocks that add more elements than their small array has."""
        total = product(a.extent for a in kernel.axes)
        return (Grid(((total, "4 * CELLS"),), guards=(total,), few=True),)

    def _shape(self, b: ir.Buffer) -> str:
        return "CELLS"


CROWDED = Crowded()


def crowded(kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
    """The alternative for a thread for each element that adds to arrays of one dimension."""
    schedules = around.context.schedules
    if schedules and not any(isinstance(s, Private) for s in schedules):
        return ()
    names = private_targets(kernel.body, around.context.buffers, known=False)
    if not names:
        return ()
    total = product(a.extent for a in kernel.axes)
    sizes = (around.context.buffers[n].shape[0] for n in names)
    return (Alternative(replace(kernel, schedule=CROWDED), "_is_crowded", (total, *sizes)),)


def _cells(w: KernelWriter, b: ir.Buffer) -> dict[str, object]:
    """All elements of a small array: one loop, and the subscript of an element."""
    axes = [ir.Axis(f"{b.name}_{d}_", n) for d, n in enumerate(b.shape)]
    index = ", ".join([w.index(a.name) for a in axes])
    at = f"({index})" if len(axes) > 1 else index
    return {"loop": flat_loop(w, axes, "cell"), "index": index, "at": at}


def _zero(b: ir.Buffer) -> ir.Const:
    return ir.Const(0.0 if b.dtype.kind == "f" else 0, b.dtype)


def _size(b: ir.Buffer) -> int | None:
    """The number of elements, if it is known at conversion."""
    total = 1
    for n in b.shape:
        if n.constant is None:
            return None
        total *= n.constant
    return total
