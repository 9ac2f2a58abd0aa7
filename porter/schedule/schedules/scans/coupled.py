"""Linear recurrences of two values along a line, `y[i]` from `y[i - 1]` and `y[i - 2]`, by blocks.

A step is a matrix of two rows and what is added.  The matrix and then another one are their
product, so steps are composed as those of one value are (`recurrence.py`), by the same launches.

Matrices of filters lose digits: of the rows (2, -1) and (1, 0), which only add up, the powers grow,
and the values are small differences of large products.  So the first value is taken as what it is
beyond `lean` times the second one, with a `lean` by which the first matrix of the line has equal
numbers on its diagonal.  Its powers are then no larger than what they stand for: for complex
poles they turn.  The digits of the first value are lost where it leans on a second one that is much
larger.  So it leans no farther than a step mixes them (`suits`), which real poles far apart need
not, and matrices of other elements that do not suit run in order.  What tells is `bounded`: a
product is used if its diagonal, and the root of what stands beside it, are no more than 16, and all
is finite.

A tile with another product, or with a value that is infinite or no number, is run through in order
by one thread, with the steps of the source.  The first block whose part leaves such a value goes on
to the end of the line, and all blocks find the same one: a prefix of parts is composed in the same
order by each.  Two values that are no number stay so in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.rebuild import variables_as
from porter.ir.walk import rewrite, substitute
from porter.schedule.base import SCAN_BARRIERS, Kernel, KernelWriters
from porter.schedule.schedules.scans.recurrence import (
    RecurrenceLine,
    given_parts,
    number,
    parts_writer,
    stored,
    zero,
)
from porter.schedule.schedules.scans.scan import along, own_part
from porter.schedule.writing import KernelWriter, Lines

#: the numbers of a step: two rows of a matrix, and what is added
_NUMBERS = ("a", "b", "c", "d", "v", "w")


class CoupledLine(RecurrenceLine):
    """All blocks, for parts of a line of two values that weigh each other."""

    name = "coupled"
    summary = "a recurrence of two values by blocks"
    kind = ir.Coupled

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile in each launch and that of the parts, and what the threads find."""
        return 3 * (SCAN_BARRIERS + 1) + 3

    def when_in_order(self) -> str:
        """What is not composed."""
        return "where weights grow beyond 16, or values are not finite, one block"

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The steps of a part as one; those of the parts before it, and its own tiles."""
        name, r = kernel.reductions[0]
        assert isinstance(r, ir.Coupled)
        none = zero(r)
        nothing = replace(r, start=none, step=none, other_start=none, other_step=none)
        first = parts_writer(kernel, writers, nothing)
        parts = {**_names(first, name, r), **own_part(first, kernel)}
        parts["lean"] = _lean(first, parts, kernel, r)
        parts["index"] = first.index(r.axes[0].name)
        parts["step"] = _step(first, parts, r.weights)
        partial = [first.gives(f"{name}_{word}", r.dtype) for word in _NUMBERS]

        w = writers.writer(kernel)
        own = {**_names(w, name, r), **own_part(w, kernel)}
        loads = given_parts(w, own, kernel, partial)
        own["before_it"] = _step(w, own, loads)
        own["lean"] = _lean(w, own, kernel, r)
        with w.slot() as own["start_lines"]:
            own["start"], own["other_start"] = w.expr(r.start), w.expr(r.other_start)
        w.names[r.axes[0].name] = str(own["index"])
        own["step"] = _step(w, own, r.weights)
        olds = {r.old: ir.Local(name, r.dtype), r.other: ir.Local(str(own["other"]), r.dtype)}
        with w.inside(), w.slot() as own["in_order"]:
            steps = (w.expr(rewrite(e, variables_as(olds))) for e in (r.step, r.other_step))
            w.emit(f"{name}, {own['other']} = {', '.join(steps)}")
        own["store"] = stored(w, kernel)
        return {"k": first, "parts": parts, "partial": partial, "scan": w, "own": own,
                "guarded": r.dtype.kind == "f"}  # fmt: skip


def _names(w: KernelWriter, name: str, r: ir.Coupled) -> dict[str, object]:
    """The names of one kernel, and the step that changes nothing."""
    words = ("steps", "whole", "so_far", "state", "before", "other_before", "tile", "stop",
             "alone")  # fmt: skip
    scan = "scan_coupled" if r.dtype.kind == "f" else "scan_whole_coupled"
    w.helper("composed", "step_at", "applied", scan)
    w.helper(*(["bounded", "leaning", "runs_in_order"] if r.dtype.kind == "f" else []))
    one, none, nothing = (w.expr(e) for e in (number(1, r), number(0, r), zero(r)))
    return {
        **{word: w.fresh(word) for word in words},
        "name": name,
        "other": w.variable("other"),
        "type": w.shared_type(r.dtype),
        "scan": scan,
        "nothing": f"({one}, {none}, {none}, {one}, {nothing}, {nothing})",
    }


def _lean(w: KernelWriter, names: dict[str, object], kernel: Kernel, r: ir.Coupled) -> str:
    """The name of `lean`, and the lines that compute it from the first step of the line."""
    name = w.fresh("lean")
    first = {r.axes[0].name: along(kernel).lo}
    with w.slot() as names["lean_lines"]:
        if r.dtype.kind == "f":
            parts = *(substitute(e, first) for e in r.weights[:4]), number(0, r)
            w.emit(f"{name} = leaning({', '.join(map(w.expr, parts))})")
    w.forget()
    return name


def _step(w: KernelWriter, names: Mapping[str, object], parts: Sequence[ir.Expr]) -> Lines:
    """The lines that compute the step of one element; a part has its own as it is."""
    leans = parts[0].dtype.kind == "f" and "lean" in names
    with w.inside(), w.slot() as lines:
        step = f"({', '.join(w.expr(e) for e in parts)})"
        step = f"leaned({step}, {names['lean']}, {names['steps']})" if leans else step
        w.emit(f"{names['whole']} = {step}")
    return lines
