"""Finite-state machines along a line, by blocks of threads.

An iteration maps each state to the one that follows it.  Maps may be composed in any grouping, as
W. D. Hillis and G. L. Steele have it (Data parallel algorithms, 1986): only their order counts.
The line is cut into as many parts as there are blocks: one launch composes the maps of every part,
the next one those of the parts before each, and then goes through its own part, a tile after the
other.

Nothing is rounded: the states are those of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import reductions
from porter.dtypes.dtype import INT64
from porter.ir.recurrences import packed
from porter.schedule.base import SCAN_BARRIERS, Kernel, KernelWriters
from porter.schedule.schedules.scans.scan import COUNT, ScanLine, along, own_part
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import sym


class StatesLine(ScanLine):
    """All blocks, for parts of a line of states that follow from the ones before them."""

    name = "states"
    summary = "a machine of few states by blocks"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A store of composed maps."""
        if not isinstance(s, ir.Write):
            return False
        return any(isinstance(r, ir.StateMaps) for r in reductions(s.body))

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile in each launch, and that of the parts."""
        return 3 * (SCAN_BARRIERS + 1)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The maps of a part as one; those of the parts before it, and its own tiles."""
        (fold,), (name, r) = kernel.folds, kernel.reductions[0]
        assert isinstance(r, ir.StateMaps)
        only = replace(fold, value=ir.Local(name, r.dtype), store=None)
        first = writers.writer(replace(kernel, name=f"{kernel.name}_parts", axes=(), steps=(only,)))
        parts = {**_names(first, name, r), **own_part(first, kernel)}
        parts["index"] = first.index(r.axes[0].name)
        parts["map"] = _map(first, name, r.body)
        partial = first.gives(f"{name}_parts", r.dtype)

        w = writers.writer(kernel)
        w.gets(ir.Buffer(partial, (COUNT,), r.dtype))
        own = {**_names(w, name, r), **own_part(w, kernel), "part": w.fresh("part")}
        own["index"] = index = w.index(along(kernel).name)
        w.names["part_"] = str(own["part"])
        own["before_it"] = _map(w, name, ir.Load(partial, (sym("part_", True),), r.dtype))
        w.names[r.axes[0].name] = index
        own["map"] = _map(w, name, r.body)
        assert fold.store is not None
        with w.inside(), w.slot() as own["store"]:
            w.block([replace(fold.store, axes=(), body=fold.value)])
        return {"k": first, "parts": parts, "partial": partial, "scan": w, "own": own,
                "count": r.count}  # fmt: skip


def _names(w: KernelWriter, name: str, r: ir.StateMaps) -> dict[str, object]:
    """The names of one kernel, and the map that leads from each state to itself."""
    w.helper("scan_maps")
    words = ("maps", "before", "tile")
    return {**{word: w.fresh(word) for word in words}, "name": name, "type": w.shared_type(INT64),
            "same": w.expr(packed(range(r.count)))}  # fmt: skip


def _map(w: KernelWriter, name: str, value: ir.Expr) -> Lines:
    """The lines that compute the map of one element."""
    with w.inside(), w.slot() as lines:
        w.emit(f"{name} = {w.expr(value)}")
    return lines
