"""Where a kernel reads and stores, as far as chunks are concerned.

An axis of the result can be in chunks if every array that is read along it is read at the same
index, or at a fixed distance from it, and if the position is only compared with the ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.ir.effects import expressions
from porter.ir.walk import statements, walk
from porter.schedule.base import Kernel
from porter.sizes.polynomial import Data, Poly

_COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}
#: distances of a fold or a loop that are worth neighbours instead of a whole axis
_MOST = 1024


@dataclass
class Places:
    """What is known of the axes of a kernel and of the arrays that it touches.

    `at` has the axis of the result that an axis of the kernel runs along, and the distance.  What
    must be `whole` is told why.  `aligned` are the axes of arrays along which they are in chunks.
    """

    kernel: Kernel
    out: ir.Buffer
    buffers: Mapping[str, ir.Buffer]
    at: dict[str, tuple[int, int]] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    depth: dict[str, int] = field(default_factory=dict)
    aligned: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def chunked(self) -> dict[str, tuple[int, int]]:
        """The axes along which the result is in chunks."""
        return {a: at for a, at in self.at.items() if a not in self.whole}

    def size(self, axis: str) -> Poly:
        """How long the result is along an axis of the kernel."""
        return self.out.shape[self.at[axis][0]]

    def distance(self, axis: str, from_start: int) -> int:
        """The distance of an index from the axis' own, as positions in the result."""
        return from_start - self.at[axis][1]


def places(kernel: Kernel, out: ir.Buffer, buffers: Mapping[str, ir.Buffer]) -> Places:
    """The axes of a kernel that stores into `out` alone."""
    found = Places(kernel, out, buffers)
    touched = list(accesses(kernel.body))
    _along(found, [a for a in touched if a.write])
    ranges = constant_ranges(kernel.body)
    reads = [a for a in touched if not a.write]
    for a, why in _positions(found):
        found.whole.setdefault(a, why)
    while not _settle(found, reads, ranges):
        pass
    return found


def _along(found: Places, writes: Sequence[Access]) -> None:
    """Which axis of the result each axis runs along."""
    for axis in found.kernel.axes:
        at: set[tuple[int, int]] = set()
        for w in writes:
            own = [(d, p) for d, p in enumerate(w.index) if axis.name in names_in(p)]
            shifts = [(d, shift(p, axis.name)) for d, p in own]
            at |= {(d, s) for d, s in shifts if s is not None}
            if len(shifts) != 1 or shifts[0][1] is None or w.combine is not None:
                found.whole[axis.name] = f"stores into `{found.out.name}` at another index"
        if len(at) == 1:
            (found.at[axis.name],) = at
        if len(at) != 1 or [d for d, _ in found.at.values()].count(next(iter(at))[0]) > 1:
            found.whole.setdefault(axis.name, f"stores into `{found.out.name}` at another index")
        elif found.size(axis.name).dim is None:
            d = found.at[axis.name][0]
            found.whole[axis.name] = f"axis {d} of `{found.out.name}` has another size than `{{}}`"
    for name in [n for n, why in found.whole.items() if why.endswith("`{}`")]:
        known = ", ".join(n for n, b in found.buffers.items() if b.parameter and b.shape)
        found.whole[name] = found.whole[name].format(known) if known else "makes its own size"


def _settle(found: Places, reads: Sequence[Access], ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether nothing more has to be whole, from what is known so far."""
    before = len(found.whole)
    own = {a.name for a in found.kernel.axes}
    found.aligned.clear()
    indices: dict[tuple[str, int], list[Poly]] = {}
    for r in reads:
        for d, p in enumerate(r.index):
            indices.setdefault((r.buffer, d), []).append(p)
    for (name, d), polys in indices.items():
        near = [reach(p, own, ranges) for p in polys]
        axes = {n[0] for n in near if n is not None}
        a = next(iter(axes)) if len(axes) == 1 and None not in near else ""
        if a and a in found.chunked and found.buffers[name].shape[d] == found.size(a):
            far = max(abs(found.distance(a, end)) for n in near if n for end in n[1:])
            if far and name == found.out.name:
                found.whole[a] = f"reads `{name}` at another index along axis {d}, which it changes"
            else:
                found.aligned[name, d] = a
                found.depth[a] = max(found.depth.get(a, 0), far)
            continue
        for axis in {n for p in polys for n in names_in(p)} & found.chunked.keys():
            found.whole[axis] = f"needs axis {d} of `{name}` whole"
    return len(found.whole) == before


def reach(
    p: Poly, axes: set[str], ranges: Mapping[str, tuple[int, int]]
) -> tuple[str, int, int] | None:
    """The axis that a subscript is an index of, with its least and its greatest distance."""
    names = names_in(p)
    own = names & axes
    if len(own) != 1:
        return None
    (axis,) = own
    rest = p.replace({axis: Poly()})
    if p.coefficient(axis) != 1 or axis in names_in(rest) or names - own - ranges.keys():
        return None
    low = high = 0
    for name in names - own:
        factor = rest.coefficient(name)
        first, last = ranges[name]
        if factor is None or last < first:
            return None
        low += min(factor * first, factor * last)
        high += max(factor * first, factor * last)
    constant = rest.replace({n: Poly() for n in names - own}).constant
    if constant is None or high - low > _MOST:
        return None
    return axis, low + constant, high + constant


def shift(p: Poly, axis: str) -> int | None:
    """The fixed distance of a subscript from an index."""
    return None if p.coefficient(axis) != 1 else p.replace({axis: Poly()}).constant


def names_in(p: Poly) -> set[str]:
    """The indices and sizes that a subscript depends on, those inside of data included."""
    own = set(p.names())
    for e in (x for a in p.atoms() if isinstance(a, Data) for x in walk(a.expr)):
        for q in polys_of(e):
            own |= names_in(q)
    return own


def polys_of(e: ir.Expr) -> tuple[Poly, ...]:
    """The sizes and subscripts of a node."""
    match e:
        case ir.Value(poly=p):
            return (p,)
        case ir.Load(index=index):
            return index
        case ir.Reduce(axes=axes):
            return tuple(p for a in axes for p in (a.lo, a.hi))
    return ()


def constant_ranges(body: Sequence[ir.Stmt]) -> dict[str, tuple[int, int]]:
    """The first and the last value of inner indices whose ranges are known, wherever they run."""
    found: dict[str, tuple[int, int]] = {}
    unknown: set[str] = set()
    for s in statements(tuple(body)):
        inner = [a for e in expressions(s) for x in walk(e) if isinstance(x, ir.Reduce)
                 for a in x.axes]  # fmt: skip
        if isinstance(s, ir.For) and s.step > 0:
            inner.append(ir.Axis(s.index, s.hi, s.lo))
        elif isinstance(s, ir.For):
            unknown.add(s.index)
        for a in inner:
            low, high = a.lo.constant, a.hi.constant
            if low is None or high is None:
                unknown.add(a.name)
                continue
            known = found.get(a.name, (low, high - 1))
            found[a.name] = (min(known[0], low), max(known[1], high - 1))
    return {n: known for n, known in found.items() if n not in unknown}


# -- positions that are values -------------------------------------------------------------------


def _positions(found: Places) -> Iterator[tuple[str, str]]:
    """The axes whose positions are more than compared with the ends; notes depths on the way."""
    own = {a.name for a in found.kernel.axes}
    for axis in found.kernel.axes:
        if axis.name not in found.chunked:
            continue
        q, start = found.at[axis.name]
        first, last = (axis.lo + start).constant, (found.size(axis.name) - axis.hi - start).constant
        if first is None or last is None or min(first, last) < 0:
            yield axis.name, f"stores into a part of axis {q} of `{found.out.name}`"
        else:
            found.depth[axis.name] = max(first, last)
    for e in values(found.kernel.body):
        edge = edge_of(e, found)
        if edge is not None:
            axis_name, far = edge
            found.depth[axis_name] = max(found.depth.get(axis_name, 0), far)
            continue
        parts = e.args if isinstance(e, ir.Op) else (e,)
        polys = [p for x in parts for p in polys_of(x)]
        for name in {n for p in polys for n in p.names()} & own:
            if name in found.at:
                yield name, f"uses the position along axis {found.at[name][0]}"


def values(body: Sequence[ir.Stmt]) -> Iterator[ir.Expr]:
    """Comparisons of numbers, other numbers, and folds with bounds: where positions can be."""

    def within(e: ir.Expr) -> Iterator[ir.Expr]:
        if is_comparison(e):
            yield e
            return
        if isinstance(e, (ir.Value, ir.Reduce)):
            yield e
        for x in below(e):
            yield from within(x)

    for s in statements(tuple(body)):
        for e in expressions(s):
            yield from within(e)


def below(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The operands of a node, and what its subscripts read from data."""
    from_data = tuple(a.expr for p in polys_of(e) for a in p.atoms() if isinstance(a, Data))
    match e:
        case ir.Op(args=args):
            return args
        case ir.Cast(arg):
            return (arg,)
        case ir.Select(cond, then, other):
            return (cond, then, other)
        case ir.Reduce(body=body):
            return (*from_data, body)
    return from_data


def is_comparison(e: ir.Expr) -> bool:
    """Whether two integers are compared that are made of sizes and positions."""
    return (
        isinstance(e, ir.Op) and e.op in _COMPARISONS
        and all(_number(x) is not None for x in e.args)
    )  # fmt: skip


def _number(e: ir.Expr) -> Poly | None:
    if isinstance(e, ir.Value):
        return None if any(isinstance(a, Data) for a in e.poly.atoms()) else e.poly
    if isinstance(e, ir.Const) and isinstance(e.value, int):
        return Poly.of(int(e.value))
    return None


def edge_of(e: ir.Expr, found: Places) -> tuple[str, int] | None:
    """The axis whose position is compared with one of its ends, and how near to it.

    From that distance on, on either side, the answer is the same for all elements.
    """
    if not (isinstance(e, ir.Op) and is_comparison(e)):
        return None
    left, right = (_number(x) for x in e.args)
    assert left is not None and right is not None
    difference = left - right
    own = difference.names() & {a.name for a in found.kernel.axes}
    if len(own) != 1 or next(iter(own)) not in found.chunked:
        return None
    (axis,) = own
    sign = difference.coefficient(axis)
    if sign not in (1, -1):
        return None
    rest = (difference * sign).replace({axis: Poly()})
    start = found.at[axis][1]
    from_start = e.op in (("ge", "lt") if sign == 1 else ("gt", "le"))
    from_end = e.op in (("gt", "le") if sign == 1 else ("ge", "lt"))
    if rest.constant is not None:
        # the position, less `start - rest`, is compared with 0
        return axis, max(start - rest.constant + (not from_start), 0)
    behind = (rest + found.size(axis)).constant
    # so is what is left behind the position, less `behind - start - 1`
    return None if behind is None else (axis, max(behind - start - from_end, 0))
