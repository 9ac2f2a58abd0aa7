"""Squares of deviations from a mean, in the pass over memory that finds the mean.

NumPy finds the mean in one pass and the sum of `(x - mean)**2` in another.  Each thread can find
both at once, if it takes the deviations from another number, its `origin`: where they add up to
`drift`, the squares from their own mean are `drift**2 / count` less.  What that loses is little if
the origin is near to the mean.  So it begins as the first element, and is moved to the mean so far
whenever the count has become a few times as large (`recentred`): what cancels is never much more
than what is left, whatever the elements are.  The loop is in pieces for that.  None is long, which
keeps roundings small, and there is no branch in it: compilers load several elements at a time.

Groups are joined as T. F. Chan, G. H. Golub and R. J. LeVeque do it (Algorithms for computing the
sample variance, The American Statistician 37, 1983): to the squares of both come those of the
deviations of their means.  The means are kept as differences from the first element of all, their
`center`: of a large number there are few places left for how far it is from another one.

An element that is infinite, or NaN, makes the count NaN, and everything after it.  So a NaN with a
count that is a number comes from an overflow, and means infinitely much, as in NumPy.  Where the
sum that the mean is made of overflows, deviations from that mean are infinite, too, or NaN: groups
are joined with their sums, which say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents
from porter.ir.walk import rewrite, statements, substitute, walk
from porter.schedule.base import Fold, Kernel, Spread
from porter.schedule.domains import product
from porter.schedule.sharing import onto
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Poly, maximum, sym

#: how many times as many elements there are when the origin moves again, and after how many it
#: does in any case: each piece is 4 times as long as the one before it, and 1 more
_GROWTH, _LONGEST = 4, 341
_WORDS = ("count", "turn", "origin", "center", "drift", "squares")


@dataclass(frozen=True)
class Known:
    """What the steps of a kernel have stored by now, and called, in terms of what they fold."""

    stored: Mapping[str, tuple[tuple[Poly, ...], ir.Expr]]
    named: Mapping[str, ir.Expr]

    def resolved(self, e: ir.Expr) -> ir.Expr:
        """An expression without those arrays and names."""
        return rewrite(e, self._change)

    def _change(self, e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in self.stored:
            index, value = self.stored[e.buffer]
            return value if index == e.index else None
        return self.named.get(e.name) if isinstance(e, ir.Local) else None


def known(kernel: Kernel, aliases: Aliases) -> Known:
    """What is known after the steps of a kernel; of arrays, those that no other name may mean."""
    found = Known({}, {})
    for step in kernel.parts:
        stored, named = dict(found.stored), dict(found.named)
        stores: list[ir.Write] = []
        if isinstance(step, Fold):
            value = found.resolved(step.value)
            if value != ir.Local(step.name, value.dtype):
                named[step.name] = value
            stores = [] if step.store is None else [replace(step.store, body=step.value)]
        elif isinstance(step, ir.Stage):
            stores = [s for s in statements(step.body) if isinstance(s, ir.Write)]
        plain = not isinstance(step, ir.Stage) or all(isinstance(s, ir.Write) for s in step.body)
        for s in stores:
            alone = aliases.with_others({s.buffer}) == {s.buffer}
            if s.buffer in stored or not alone or aliases.arguments(s.buffer) or not plain:
                stored.pop(s.buffer, None)
            elif s.mask is None and not s.combine and not s.checked:
                stored[s.buffer] = (s.index, found.resolved(s.body))
        found = Known(stored, named)
    return found


def deviating(folds: Sequence[Fold], r: ir.Reduce, seen: Known) -> tuple[ir.Reduce, str] | None:
    """A sum of squares of deviations from a mean that one of the folds finds, in terms of that
    fold, and the name of its sum."""
    if type(r) is not ir.Reduce or r.op != "sum" or r.dtype.kind != "f" or r.dtype.itemsize < 4:
        return None
    inside = {a.name for a in r.axes}
    if any((a.lo.names() | a.hi.names()) & inside for a in r.axes):
        return None  # the first element of all may be none of them
    difference = _squared(r.body)
    if not isinstance(difference, ir.Op) or difference.op != "sub":
        return None
    for value, other in (difference.args, difference.args[::-1]):
        mean = seen.resolved(other)
        total = _total_of(mean, value, r, folds)
        if total and value.dtype == r.dtype and _is_fixed(value):
            away = ir.Op("sub", (value, mean), r.dtype)
            assert isinstance(r.body, ir.Op)
            args = (away, away if r.body.op == "mul" else r.body.args[1])
            return replace(r, body=replace(r.body, args=args)), total
    return None


def with_spread(
    kernel: Kernel, step: Fold, aliases: Aliases, fresh: Callable[[str], str]
) -> Fold | None:
    """The step as one that folds squares together with a mean that the kernel finds; those that
    another one folds are its own, too."""
    if len(step.reductions) != 1:
        return None
    ((name, r),) = step.reductions
    found = deviating(kernel.folds, r, known(kernel, aliases))
    if found is None:
        return None
    squares, total = found
    for f in kernel.folds:
        if f.spread is not None and f.spread.total == total:
            ((same, other),) = f.reductions
            moved = onto(other.axes, squares)
            if element(f.spread, moved) == element(f.spread, other):
                value = _renamed(step.value, name, same)
                return replace(step, reductions=((same, moved),), value=value, spread=f.spread)
    count, turn, origin, center, drift, further = map(fresh, _WORDS)
    names = Spread(total, count, turn, origin, center, drift, further)
    return replace(step, reductions=((name, squares),), spread=names)


def _renamed(e: ir.Expr, old: str, new: str) -> ir.Expr:
    def change(x: ir.Expr) -> ir.Expr | None:
        return replace(x, name=new) if isinstance(x, ir.Local) and x.name == old else None

    return rewrite(e, change)


def _squared(e: ir.Expr) -> ir.Expr | None:
    match e:
        case ir.Op("pow", (base, ir.Const(2))):
            return base
        case ir.Op("mul", (left, right)) if left == right:
            return left
    return None


def _total_of(mean: ir.Expr, value: ir.Expr, r: ir.Reduce, folds: Sequence[Fold]) -> str:
    """The sum that the mean of the value over the same domain is made of, if this is that mean."""
    match mean:
        case ir.Op("truediv", (ir.Local(name), n)):
            pass
        case _:
            return ""
    sizes = product(a.extent for a in r.axes), product(maximum(a.extent, 0) for a in r.axes)
    while isinstance(n, ir.Cast):
        n = n.arg
    if isinstance(n, ir.Const):
        n = ir.Value(Poly.of(int(n.value.real)), n.dtype) if n.value == int(n.value.real) else n
    if not isinstance(n, ir.Value) or n.poly not in sizes:
        return ""
    sums = (s for f in folds for known, s in f.reductions if known == name and not f.argument)
    same = any(
        type(s) is ir.Reduce and s.op == "sum" and s.dtype == r.dtype
        and same_extents(s.axes, r.axes) and onto(r.axes, s).body == value
        for s in sums
    )  # fmt: skip
    return name if same else ""


def _is_fixed(value: ir.Expr) -> bool:
    """Whether it may be computed twice for an element."""
    return not any(isinstance(x, (ir.Draw, ir.Reduce, ir.Object)) for x in walk(value))


# -- as text -------------------------------------------------------------------------------------


def start(w: KernelWriter, spread: Spread, r: ir.Reduce) -> str:
    """What a thread begins with; the squares are the fold itself."""
    zero = w.initial(r)
    for name in (spread.count, spread.center) if spread.arrays else spread.names:
        w.emit(f"{name} = {zero}")
    return zero


def element(spread: Spread, r: ir.Reduce) -> ir.Expr:
    """What deviates from the mean; of partial results, the squares."""
    difference = r.body if spread.arrays else _squared(r.body)
    return difference.args[0] if isinstance(difference, ir.Op) else r.body


def moved(
    w: KernelWriter, name: str, spread: Spread, r: ir.Reduce, length: str, longer: bool
) -> None:
    """The lines that move the origin if there are enough elements since that was done last, and
    have `longer` pieces from there on."""
    w.helper("recentred")
    value = w.expr(element(spread, r))
    first = w.expr(substitute(element(spread, r), {a.name: a.lo for a in r.axes}))
    w.names[length] = length
    turns = w.expr(ir.Value(sym(length, True), r.dtype))
    own = f"{spread.origin}, {spread.drift}, {name}"
    given = f"{value}, {spread.count}, {spread.origin}, {spread.drift}"
    w.emit(f"if {spread.count} >= {spread.turn}:")
    w.emit(f"    {own} = recentred({given}, {name} + {spread.squares})")
    w.emit(f"    {spread.center}, {spread.squares} = {spread.origin} - {first}, {w.initial(r)}")
    if longer:
        w.emit(f"    {length} = {_GROWTH} * {length} + 1 if {length} < {_LONGEST} else {length}")
    w.emit(f"    {spread.turn} = {spread.count} + {turns}")


def term(w: KernelWriter, name: str, spread: Spread, r: ir.Reduce, own: ir.Expr) -> None:
    """The lines for one more element, or for the partial results of one more group; `own` is
    what deviates, or a name that it has been given."""
    count, center = spread.count, spread.center
    if spread.arrays:
        w.helper("spread_of_both")
        assert isinstance(r.body, ir.Load)
        more = [w.expr(replace(r.body, buffer=b)) for b in spread.arrays] + [w.expr(r.body)]
        both = f"{count}, {center}, {name}"
        w.emit(f"{both} = spread_of_both({both}, {', '.join(more)})")
        return
    value = w.expr(own)
    if not isinstance(own, (ir.Load, ir.Local)):
        w.emit(f"{(named := w.fresh('value'))} = {value}")
        value = named
    one, zero = w.expr(ir.Const(1.0, r.dtype)), w.initial(r)
    offset = w.fresh("offset")
    for line in (
        f"{count} += {value} * {zero} + {one}",
        f"{offset} = {value} - {spread.origin}",
        f"{spread.drift} += {offset}",
        f"{spread.squares} += {offset} * {offset}",
    ):
        w.emit(line)


def joined(w: KernelWriter, name: str, spread: Spread, r: ir.Reduce) -> tuple[str, str]:
    """What the threads of a block join, and what each gives for that."""
    own = f"{spread.count}, {spread.center}"
    if spread.arrays:
        given = f"{name}, {w.initial(r)}"
    else:
        given = f"{name} + {spread.squares}, {spread.drift}"
    return f"{own}, {name}", f"{own}, {given}, {spread.total}"
