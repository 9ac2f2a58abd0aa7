"""A loop for each axis, in the order of memory; the outermost runs in parallel.

Threads take microseconds to start.  What a loop of the host repeats is therefore a function over a
part of the outermost axis, which is called once for all of it where there is little to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import reductions
from porter.ir.effects import expressions, indices
from porter.ir.rebuild import rename_axes
from porter.ir.walk import statements
from porter.schedule.base import Grid, Kernel, KernelWriters
from porter.schedule.domains import loop
from porter.schedule.loops.branchless import branchless
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Dim, Poly, Symbol, sym

#: the first index of a part of a loop
FIRST = "first"
#: a call is the launch: there are no blocks to choose
CALL = Grid(threads=("1",))


class Nested(Elementwise):
    """What the iterations of all axes do, in one another."""

    word = "loops"
    summary = "loops over the elements"
    distinct = True

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call; loops over nothing do nothing."""
        return (CALL,)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops, the first one parallel where no update meets another one, and the body."""
        w = writers.writer(kernel)
        parallel = bool(kernel.axes) and owns_updates(kernel.axes[0], kernel.body)
        sums = [] if parallel or not kernel.axes else private_sums(kernel.axes[0], kernel.body)
        split = bool(sums) or (kernel.repeated and parallel)
        n = {word: w.fresh(word) for word in ("part", "last")} if split else {}
        inside = branchless(kernel.body, kernel.axes, writers.buffers)
        from_first = split and len(kernel.axes) == 1 and kernel.axes[0].lo.is_nonneg()
        if split:
            n["first"] = w.index(FIRST)
        if from_first:
            inside = tuple(rename_axes(s, counted(kernel.axes[0])) for s in inside)
        axes = [loop(w, a) for a in kernel.axes]
        with w.slot() as body:
            w.block(inside)
        with w.slot() as before:
            size = w.operand(kernel.axes[0].extent) if split else ""
            work = work_of(w, kernel.axes, kernel.body) if split else ""
            private = [_private(w, writers.buffers[name]) for name in sums]
        own = {p["array"]: f"{p['own']}[{n['part']}]" for p in private}
        given = ", ".join(own.get(a, a) for a in w.args.split(", "))
        return {"k": w, "axes": axes, "body": body, "parallel": parallel, "n": n, "split": split,
                "before": before, "size": size, "work": work, "private": private,
                "given": given, "from_first": from_first}  # fmt: skip


def counted(axis: ir.Axis) -> dict[str, Poly]:
    """The index of the innermost axis, counted from the first one of a part or block.

    Numba tests each subscript for being negative.  LLVM drops the test, and vectorises the loop,
    where it sees that no term of a sum is negative; of a loop that begins at a variable it does
    not.
    """
    return {axis.name: sym(FIRST, True) + sym(axis.name, True)}


def owns_updates(axis: ir.Axis, body: Sequence[ir.Stmt]) -> bool:
    """Whether each iteration along an axis updates elements that no other one updates."""
    return not _meeting(axis, body)


def private_sums(axis: ir.Axis, body: Sequence[ir.Stmt]) -> list[str]:
    """The arrays that iterations along an axis meet in; none unless all that they do is to add.

    Parts of the loop can have arrays of their own then, which are added up at the end.
    """
    names = list(dict.fromkeys(s.buffer for s in _meeting(axis, body)))
    touched = [a for a in accesses(body) if a.buffer in names]
    return names if all(a.combine == "add" for a in touched) else []


def _meeting(axis: ir.Axis, body: Sequence[ir.Stmt]) -> list[ir.Write]:
    """The updates of elements that other iterations along an axis may update, too."""
    updates = [s for s in statements(tuple(body)) if isinstance(s, ir.Write) and s.combine]
    return [s for s in updates if not any(_along(p, axis.name) for p in s.index)]


def _private(w: KernelWriter, buffer: ir.Buffer) -> dict[str, str]:
    """What an array of each part has as many elements as, in all and along each axis."""
    sizes = [w.operand(n) for n in buffer.shape] or ["1"]
    return {"array": buffer.name, "own": w.fresh(f"{buffer.name}_parts"),
            "shape": ", ".join(["PARTS", *sizes]), "size": " * ".join(["PARTS", *sizes]),
            "type": w.shared_type(buffer.dtype)}  # fmt: skip


def _along(p: Poly, name: str) -> bool:
    """Whether a subscript is the index of an axis, or that and a fixed distance."""
    distance = p - sym(name, True)
    return all(isinstance(a, Dim) for a in distance.atoms())


def work_of(
    w: KernelWriter, axes: Iterable[ir.Axis], body: Sequence[ir.Stmt], *more: ir.Reduce
) -> str:
    """How often the innermost statement runs, as far as sizes tell."""
    axes = list(axes)
    inner = [r for s in statements(tuple(body)) for e in expressions(s) for r in reductions(e)]
    loops = [ir.Axis(s.index, s.hi, s.lo) for s in statements(tuple(body)) if isinstance(s, ir.For)]
    changing = {a.name for a in axes}.union(*(indices(s) for s in statements(tuple(body))))
    changing |= {a.name for r in more for a in r.axes}
    candidates = [r.axes for r in (*inner, *more)] + [(a,) for a in loops]
    fixed = [c for c in candidates if all(_is_fixed(a.extent, changing) for a in c)]
    deepest: Sequence[ir.Axis] = max(fixed, key=len) if fixed else ()
    return " * ".join(w.operand(a.extent) for a in (*axes, *deepest))


def _is_fixed(size: Poly, changing: set[str]) -> bool:
    """Whether a size is the same in all iterations: of sizes and of indices of the host."""
    return not size.names() & changing and all(isinstance(a, Symbol) for a in size.atoms())
