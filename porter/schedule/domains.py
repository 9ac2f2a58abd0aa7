"""Domains of threads and blocks: loops over axes, over several at once, and their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from porter import ir
from porter.schedule.writing import KernelWriter, Lines, Loop, Turn, Turns
from porter.sizes.polynomial import Apply, Poly, Symbol
from porter.sizes.shapes import lengths


def loop(w: KernelWriter, a: ir.Axis) -> Loop:
    """A loop over an axis."""
    with w.slot() as before:
        lo, hi = w.poly(a.lo), w.poly(a.hi)
    return Loop(w.index(a.name), lo, hi, before)


def strided(w: KernelWriter, a: ir.Axis, body: Sequence[ir.Stmt] = ()) -> Loop:
    """A loop over an axis that threads share out: each turn compares its index with the end.

    An end that is computed or read gets a name, so that this is done once.
    """
    found = replace(loop(w, a), skips=skips(body))
    if found.hi.isidentifier() or all(isinstance(x, Symbol) for x in a.hi.atoms()):
        return found
    stop = w.fresh("stop")
    return replace(found, hi=stop, before=Lines([*found.before, f"{stop} = {found.hi}"]))


def skips(body: Sequence[ir.Stmt]) -> bool:
    """Whether a statement continues with the next element; those of inner loops do not."""
    return any(
        isinstance(s, ir.Jump) or (isinstance(s, ir.If) and skips((*s.body, *s.orelse)))
        for s in body
    )


def flat_loop(
    w: KernelWriter, axes: Sequence[ir.Axis], word: str, body: Sequence[ir.Stmt] = (),
    *, blocks: bool = False,
) -> Loop:  # fmt: skip
    """One loop over all elements of a domain; its index has this name, unless it is the axis's.

    There are less than 2**31 of them if they are those of `blocks`.
    """
    if len(axes) == 1:
        return strided(w, axes[0], body)
    index = w.fresh(word)
    with w.slot() as before:
        hi = w.poly(product(a.extent for a in axes))
    with w.slot() as subscripts:
        if blocks:
            _in_32_bits(w, index, axes)
        else:
            unflatten(w, index, axes)
    return Loop(index, "0", hi, before, subscripts, skips(body))


def unflatten(w: KernelWriter, flat: str, axes: Sequence[ir.Axis]) -> None:
    """Subscripts of a flattened domain: the last axis varies fastest."""
    rest = flat
    for d in range(len(axes) - 1, -1, -1):
        a = axes[d]
        size = w.operand(a.extent) if d else ""
        if d and d < len(axes) - 1:
            w.emit(f"rest = {rest}")
            rest = "rest"
        offset = w.poly(a.lo)
        lead = "" if offset == "0" else f"{offset} + "
        w.emit(f"{w.index(a.name)} = {lead}{rest}" + (f" % {size}" if d else ""))
        rest = f"{rest} // {size}"


def _in_32_bits(w: KernelWriter, flat: str, axes: Sequence[ir.Axis]) -> None:
    """The same with numbers that take no more, whose division is short."""
    w.helper("whole_and_rest")
    for d in range(len(axes) - 1, 0, -1):
        whole = w.index(axes[0].name) if d == 1 else "rest"
        size = w.poly(axes[d].extent)
        w.emit(f"{whole}, {w.index(axes[d].name)} = whole_and_rest({flat}, {size})")
        flat = whole
    for a in axes:
        offset = w.poly(a.lo)
        if offset != "0":
            w.emit(f"{w.index(a.name)} += {offset}")


#: what the position of a thread along each axis of a grid is called
_POSITIONS = ("column", "row", "plane")


def grouped(axes: Sequence[ir.Axis]) -> list[Sequence[ir.Axis]]:
    """The axes by those of a grid: planes, which all but the last two make, rows and columns."""
    return [*([axes[:-2]] if axes[2:] else []), *([a] for a in axes[-2:])]


def over_grid(
    w: KernelWriter, domains: Sequence[Sequence[ir.Axis]], rank: int
) -> tuple[Lines, list[Turns]]:
    """What stands before all loops, and the loops over each domain, shared among all threads of a
    grid of so many axes."""
    if rank == 1:
        flat = [flat_loop(w, axes, "element") for axes in domains]
        return Lines(), [Turns([Turn(x, "cuda.grid(1)", "cuda.gridsize(1)")]) for x in flat]
    words = _POSITIONS[:rank]
    first, step = [w.fresh(x) for x in words], [w.fresh(f"{x}s") for x in words]
    positions = Lines([f"{', '.join(first)} = cuda.grid({rank})",
                       f"{', '.join(step)} = cuda.gridsize({rank})"])  # fmt: skip
    found = []
    for axes in domains:
        loops = [flat_loop(w, group, "leading") for group in grouped(axes)]
        # the outermost of fewer loops has what is left of the grid
        inner, outer = len(loops) - 1, (first[-1], step[-1])
        for at, each in zip(first[inner:-1][::-1], step[inner:-1][::-1], strict=True):
            start = outer[0] if outer[0].isidentifier() else f"({outer[0]})"
            outer = f"{start} * {each} + {at}", f"{outer[1]} * {each}"
        ways = [outer, *zip(first[:inner][::-1], step[:inner][::-1], strict=True)]
        found.append(Turns(Turn(x, *way) for x, way in zip(loops, ways, strict=True)))
    return positions, found


def product(sizes: Iterable[Poly]) -> Poly:
    """The number of elements of a domain with these extents, at most 0 of an empty one.

    Sums are not multiplied out: `(n - 2) * (m - 2)` is what a reader expects.  One factor may
    be negative, which is empty; the product of two such would be elements that are not there.
    """
    total = Poly.of(1)
    for n in lengths(sizes):
        whole = len(total.terms) < 2 and len(n.terms) < 2
        apart = Poly.atom(Apply("*", (total, n)))
        total = total * n if whole or 1 in (total.constant, n.constant) else apart
    return total


def is_short(axes: Sequence[ir.Axis], loops: frozenset[str] | None) -> bool:
    """Whether it is one axis at most, whose length is constant or follows indices of host loops.

    Without `loops`, a block shares out two of any length.
    """
    if loops is None:
        return len(axes) < 3
    extents = [a.extent for a in axes]
    return len(axes) < 2 and all(n.constant is not None or n.names() & loops for n in extents)
