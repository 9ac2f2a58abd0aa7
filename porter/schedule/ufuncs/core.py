"""The body of a generalized ufunc: it gets a part of each array, and loops over the axes in it.

An axis whose index runs along one axis of arrays, and nowhere else, is left to Numba; all others
are core dimensions.  What is stored has the axes that are left to Numba first; what is only read is
moved so by the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.diagnostics import Refusal, refusal
from porter.ir.axes import symbols
from porter.ir.effects import expressions
from porter.ir.rebuild import rename_arrays
from porter.ir.walk import statements, walk
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.loops.rows import LoopRows
from porter.schedule.nodes import Launch, Plan, items_of
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.ufuncs.element import stored
from porter.sizes.polynomial import Poly
from porter.support.names import NameSupply

_LETTERS = "nmklpqrstuvw"


class Core(Elementwise):
    """What happens for one index of the outer axes."""

    word = "gufunc"
    summary = "a generalized ufunc"

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call, if there is anything to do."""
        return (Grid(threads=("1",), guards=tuple(a.extent for a in kernel.axes[: outer(kernel)])),)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The layout, and the loops over the axes that are not left to Numba."""
        count = outer(kernel)
        again = _given_again(kernel, writers.buffers)
        body = tuple(rename_arrays(s, {n: b.name for n, b in again.items()}) for s in kernel.body)
        starts = tuple(_copy(kernel, n, b, count) for n, b in again.items())
        own = replace(kernel, body=(*starts, *body))
        w = writers.writer(own, tuple(again.values()))
        buffers = {**writers.buffers, **{b.name: b for b in again.values()}}
        w.keep_axes(kept_axes(own, buffers, count), "", renewed=False)
        w.move_axes(moved_axes(own, buffers, count))
        w.give_again({b.name: n for n, b in again.items()})
        for a in reversed(kernel.axes[count:]):
            body = (ir.For(a.name, a.lo, a.hi, 1, body, kernel.origin),)
        with w.slot() as lines:
            w.block((*starts, *body))
        if w.fails:
            raise _refused(
                kernel.origin, "an index for which NumPy raises cannot do so in a gufunc"
            )
        return {"k": w, "body": lines, "layout": _layout(w.core_shapes, kernel)}


class CoreRows(LoopRows):
    """The folds and maps of a row."""

    word = "gufunc"

    @property
    def iteration(self) -> Schedule:
        """The body of a gufunc."""
        return CORE


CORE = Core()


def outer(kernel: Kernel) -> int:
    """How many of the axes are left to Numba."""
    for count in range(len(kernel.axes), 0, -1):
        if not _objection(kernel, count):
            return count
    return 0


def _objection(kernel: Kernel, count: int) -> str:
    """Why the first axes cannot all be left to Numba."""
    axes = kernel.axes[:count]
    own, names = symbols(axes), {a.name for a in axes}
    if any(a.lo.terms for a in axes):
        return "stores into a part of an array"
    places: dict[str, tuple[int, ...]] = {}
    for a in sorted(accesses(kernel.body), key=lambda a: a.write):
        found = _places(a.index, own)
        rest = [p for d, p in enumerate(a.index) if d not in found]
        leads = found == tuple(range(count))
        # Numba turns tables alone on a device
        lies = leads or not found or (len(a.index) == 2 and not a.write)
        alike = places.setdefault(a.buffer, found) == found
        if any(p.names() & names for p in rest) or not (lies and alike) or (a.write and not leads):
            return f"{'stores' if a.write else 'reads'} `{a.buffer}` at another index"
    for s in statements(kernel.body):
        bounds = [s.lo, s.hi] if isinstance(s, ir.For) else []
        if any(p.names() & names for p in bounds) or any(
            _is_position(e, names) for e in expressions(s)
        ):
            return "uses the position of an element"
    return ""


def _is_position(e: ir.Expr, names: set[str]) -> bool:
    parts = list(walk(e))
    values = [x.poly for x in parts if isinstance(x, ir.Value)]
    values += [p for x in parts if isinstance(x, ir.Reduce) for a in x.axes for p in (a.lo, a.hi)]
    return any(p.names() & names for p in values)


def _given_again(kernel: Kernel, buffers: Mapping[str, ir.Buffer]) -> dict[str, ir.Buffer]:
    """For each argument that is stored into, a result that the host gives the same memory."""
    found: dict[str, ir.Buffer] = {}
    for name in stored(kernel):
        if buffers[name].parameter:
            new = NameSupply(buffers).unused(f"new_{name}")
            found[name] = replace(buffers[name], name=new, parameter=False)
    return found


def _copy(kernel: Kernel, name: str, new: ir.Buffer, count: int) -> ir.Stmt:
    """What the result holds before: NumPy may give it other memory."""
    axes = [ir.Axis(f"{new.name}_{d}", n) for d, n in enumerate(new.shape[count:])]
    index = (*symbols(kernel.axes[:count]), *symbols(axes))
    value = ir.Load(name, index, new.dtype)
    own = ir.Origin(kernel.origin.span)
    s: ir.Stmt = ir.Write(new.name, (), index, value, own)
    for a in reversed(axes):
        s = ir.For(a.name, a.lo, a.hi, 1, (s,), own)
    return s


def _places(index: Sequence[Poly], own: Sequence[Poly]) -> tuple[int, ...]:
    """Which axes of an array these indices run along, each along one; none if some do not."""
    found = tuple(d for p in own for d, q in enumerate(index) if q == p)
    return found if len(found) == len(own) == len(set(found)) else ()


def _all_places(kernel: Kernel, count: int) -> dict[str, tuple[int, ...]]:
    own = symbols(kernel.axes[:count])
    return {a.buffer: _places(a.index, own) for a in accesses(kernel.body)}


def kept_axes(
    kernel: Kernel, buffers: Mapping[str, ir.Buffer], count: int
) -> dict[str, Sequence[int]]:
    """The core dimensions of each array."""
    places = _all_places(kernel, count)
    return {
        n: [d for d in range(len(b.shape)) if d not in places.get(n, ())]
        for n, b in buffers.items()
    }


def moved_axes(
    kernel: Kernel, buffers: Mapping[str, ir.Buffer], count: int
) -> dict[str, tuple[int, ...]]:
    """The order of axes in which the host gives arrays, if that is another one."""
    kept = kept_axes(kernel, buffers, count)
    orders = {n: (*p, *kept[n]) for n, p in _all_places(kernel, count).items() if p}
    return {n: order for n, order in orders.items() if order != tuple(sorted(order))}


def _layout(shapes: tuple[list[tuple[Poly, ...]], list[tuple[Poly, ...]]], kernel: Kernel) -> str:
    """`(n,k),(k)->(n)`: one letter for each size."""
    letters: dict[Poly, str] = {}
    known: set[Poly] = set()
    sides: list[str] = []
    for side in shapes:
        words: list[str] = []
        for shape in side:
            if len(letters) + len(shape) > len(_LETTERS):
                raise _refused(kernel.origin, "has too many sizes for the layout of a gufunc")
            named = [letters.setdefault(n, _LETTERS[len(letters)]) for n in shape]
            words.append(f"({','.join(named)})")
        if not sides:
            known = set(letters)
        sides.append(",".join(words))
    if set(letters) - known:
        raise _refused(kernel.origin, "makes an axis of a size that no argument has")
    return "->".join(sides)


def check_cores(plan: Plan) -> None:
    """Raise Refusal where a launch is no generalized ufunc."""
    launches = [i.kernel for i in items_of(plan.items) if isinstance(i, Launch)]
    writers = [name for kernel in launches for name in stored(kernel)]
    for kernel in launches:
        why = _objection(kernel, 1) if kernel.axes else "computes one number from whole arrays"
        if why:
            text = f"{why}, and nothing is left to loop over"
            raise _refused(kernel.origin, text)
        read = {a.buffer for a in accesses(kernel.body) if not a.write}
        # an argument is given a second time, and copied first
        for name in (n for n in stored(kernel) if not plan.buffers[n].parameter):
            if name in read and (writers.count(name) > 1 or kernel.repeated):
                raise _refused(kernel.origin, f"changes elements of `{name}` that it reads")


def _refused(origin: ir.Origin, message: str) -> Refusal:
    return refusal("PRT806", message, origin.span)
