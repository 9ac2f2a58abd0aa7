"""Linear recurrences along a line, `y[i] = a[i] * y[i - 1] + b[i]`, by blocks of threads.

Steps are composed in pairs, as G. E. Blelloch has it (Prefix sums and their applications, 1990):
(a, b) and then (c, d) is (c * a, c * b + d), an associative operation.  The line is cut into as
many parts as there are blocks: one launch composes the steps of every part, the next one those of
the parts before each, and then goes through its own part, a tile after the other.

What is rounded otherwise: each element is still the sum of the terms before it, weighted with
products of factors, and `n` steps round at most `n` times more; `verify` allows for as many as the
line is long.  Terms that cancel each other before a sum overflows do so later here, as in any scan.

A product of factors may overflow, or meet a zero, where the line itself is finite, and an error
grows with it.  So only factors of at most 1 are multiplied (`chained`): the tiles with one that is
larger are run through in order by one thread, and by the block that found them, as what is after
them cannot start before.  A product that is too small for a number stays the smallest one, for an
infinite element times zero would be none.  A step from an infinite element towards something is no
number, as in order.  With a factor that is NaN so is everything after it, in either order.
Integers wrap around, and are the same in any order.  Of a step that begins again (`resets`) the
factor is 0, which nothing before it outlives, not even NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import reductions
from porter.analyses.scans import neutral
from porter.ir.rebuild import variables_as
from porter.ir.walk import always, rewrite, walk
from porter.ir.weights import weight
from porter.schedule.base import SCAN_BARRIERS, Kernel, KernelWriters
from porter.schedule.schedules.scans.scan import COUNT, ScanLine, along, own_part
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import sym


class RecurrenceLine(ScanLine):
    """All blocks, for parts of a line whose elements weigh the ones before them."""

    name = "recurrence"
    summary = "a recurrence by blocks"
    kind: type[ir.Recurrence] = ir.Linear  # what stands in its stores

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A store of a recurrence."""
        return isinstance(s, ir.Write) and any(isinstance(r, self.kind) for r in reductions(s.body))

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile in each launch, and that of the parts."""
        return 3 * (SCAN_BARRIERS + 1)

    def remark(self, kernel: Kernel) -> str:
        """What is rounded otherwise, and what is not composed."""
        return remark_of(kernel, self.when_in_order())

    def when_in_order(self) -> str:
        """What is not composed, and is one block's."""
        return "from a factor beyond 1 on, one block"

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The steps of a part as one; those of the parts before it, and its own tiles."""
        name, r = kernel.reductions[0]
        assert isinstance(r, ir.Linear)
        nothing = replace(r, start=zero(r), step=zero(r))
        first = parts_writer(kernel, writers, nothing)
        parts = {**_pairs(first, name, r), **own_part(first, kernel)}
        parts["index"] = first.index(r.axes[0].name)
        parts["step"] = _step(first, parts, r.body, r.factor)
        partial = [first.gives(f"{name}_parts", r.dtype), first.gives(f"{name}_factors", r.dtype)]

        w = writers.writer(kernel)
        own = {**_pairs(w, name, r), **own_part(w, kernel)}
        loads = given_parts(w, own, kernel, partial)
        own["before_it"] = _step(w, own, *loads)
        found = _elements(w, kernel, own)
        return {"k": first, "parts": parts, "partial": partial, "scan": w, **found}


def remark_of(kernel: Kernel, in_order: str) -> str:
    """That of floats, whose roundings are others; integers are the same in any order."""
    if kernel.reductions[0][1].dtype.kind != "f":
        return ""
    line = kernel.folds[0].origin.span.line
    r = kernel.reductions[0][1]
    if isinstance(r, ir.Linear) and not _guarded(r):
        return f"the sums at line {line} are computed in parts, so rounded otherwise"
    return (
        f"the recurrence at line {line} is computed in parts, so rounded otherwise; "
        f"{in_order} computes it in order"
    )


def linear_elements(w: KernelWriter, kernel: Kernel, first: str, last: str) -> dict[str, object]:
    """The names and lines of a launch that goes through the elements of lines."""
    name, r = kernel.reductions[0]
    assert isinstance(r, ir.Linear)
    own = {**_pairs(w, name, r), "index": w.index(along(kernel).name), "first": first, "last": last}
    return _elements(w, kernel, own)


def _elements(w: KernelWriter, kernel: Kernel, own: dict[str, object]) -> dict[str, object]:
    """The lines of a launch for the elements, and of what kind the steps are."""
    name, r = kernel.reductions[0]
    assert isinstance(r, ir.Linear)
    with w.slot() as own["start_lines"]:
        own["start"] = w.expr(r.start)
    w.names[r.axes[0].name] = str(own["index"])
    own["step"] = _step(w, own, r.body, r.factor)
    own["in_order"] = in_order(w, name, r)
    own["store"] = stored(w, kernel)
    return {"own": own, "guarded": _guarded(r), "towards": r.towards, "resets": r.resets}


def parts_writer(kernel: Kernel, writers: KernelWriters, nothing: ir.Recurrence) -> KernelWriter:
    """The writer of the launch that composes the steps of each part, and stores no elements."""
    (fold,), (name, r) = kernel.folds, kernel.reductions[0]
    value = ir.Local(name, r.dtype)
    only = replace(fold, reductions=((name, nothing),), value=value, store=None)
    return writers.writer(replace(kernel, name=f"{kernel.name}_parts", axes=(), steps=(only,)))


def given_parts(
    w: KernelWriter, names: dict[str, object], kernel: Kernel, partial: Sequence[str]
) -> list[ir.Expr]:
    """The numbers of a part's step, which that launch has left, and the names of both indices."""
    dtype = kernel.reductions[0][1].dtype
    for given in partial:
        w.gets(ir.Buffer(given, (COUNT,), dtype))
    names["part"] = w.names["part_"] = w.fresh("part")
    names["index"] = w.index(along(kernel).name)
    return [ir.Load(p, (sym("part_", True),), dtype) for p in partial]


def stored(w: KernelWriter, kernel: Kernel) -> Lines:
    """The lines that store an element."""
    (fold,) = kernel.folds
    assert fold.store is not None
    with w.inside(), w.slot() as lines:
        w.block([replace(fold.store, axes=(), body=fold.value)])
    return lines


def in_order(w: KernelWriter, name: str, r: ir.Recurrence) -> Lines:
    """The lines of a step as the source has it."""
    y = ir.Local(name, r.dtype)
    with w.inside(), w.slot() as lines:
        for e in _in_turn(rewrite(r.step, variables_as({r.old: y})), y):
            w.emit(f"{name} = {w.expr(e)}")
    return lines


def _in_turn(step: ir.Expr, y: ir.Local) -> Iterator[ir.Expr]:
    """A step as several: first what of it stands in several places, if all else depends on that."""
    count = Counter(walk(step))
    several = {x for x in always(step) if count[x] > 1 and x != y and y in walk(x)}
    for e in sorted(several, key=weight, reverse=True):
        later = replace(y, name=f"{y.name} later")
        rest = _with(step, e, later)
        if y not in walk(rest):
            yield from _in_turn(e, y)
            yield from _in_turn(rewrite(rest, variables_as({later.name: y})), y)
            return
    yield step


def _with(step: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    return rewrite(step, lambda e: new if e == old else None)


def _guarded(r: ir.Linear) -> bool:
    """Whether factors may be beyond 1, or too small for a number."""
    sums = r.resets and set(_choices(r.factor)) <= {number(0, r), number(1, r)}
    return r.dtype.kind == "f" and not sums


def _choices(e: ir.Expr) -> Iterator[ir.Expr]:
    """What a factor may be."""
    if isinstance(e, ir.Select):
        yield from (*_choices(e.then), *_choices(e.other))
    else:
        yield e


def _pairs(w: KernelWriter, name: str, r: ir.Linear) -> dict[str, object]:
    """The names of one kernel, and the step that changes nothing."""
    words = ("scratch", "factors", "before", "slope", "factor", "tile", "smallest", "stop")
    kind = "towards" if r.towards else "linear" if _guarded(r) else "whole_linear"
    if r.resets:
        kind = "resets" if _guarded(r) else "whole_resets"
    w.helper(f"scan_{kind}", *(["chained"] if _guarded(r) else []))
    w.helper(*(["finite"] if r.towards else []))
    return {**{word: w.fresh(word) for word in words}, "name": name, "zero": w.expr(zero(r)),
            "one": w.expr(number(1, r)), "scan": f"scan_{kind}", "type": w.shared_type(r.dtype),
            "tiny": _tiny(w, r)}  # fmt: skip


def number(value: int, r: ir.Recurrence) -> ir.Expr:
    """A number of its dtype."""
    return ir.Const(float(value) if r.dtype.kind == "f" else value, r.dtype)


def zero(r: ir.Recurrence) -> ir.Expr:
    """What adds nothing, not even a sign."""
    return ir.Const(neutral("sum", r.dtype), r.dtype)


def _tiny(w: KernelWriter, r: ir.Linear) -> str:
    """The smallest number that is not zero; of the numbers of a generic kernel, either one."""
    if not _guarded(r):
        return ""
    double, single = (w.expr(ir.Const(x, r.dtype)) for x in (5e-324, 1e-45))
    if r.dtype.var is None:
        return double if r.dtype.itemsize == 8 else single
    return f"{double} if {double} > 0 else {single}"


def _step(w: KernelWriter, names: Mapping[str, object], body: ir.Expr, factor: ir.Expr) -> Lines:
    """The lines that compute the step of one element."""
    with w.inside(), w.slot() as lines:
        w.emit(f"{names['name']} = {w.expr(body)}")
        w.emit(f"{names['slope']} = {w.expr(factor)}")
    return lines
