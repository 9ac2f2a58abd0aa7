"""The indices around a statement, how often each runs, and the average of its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.cost.amounts import unknown
from porter.ir.walk import data_of, free_names, walk
from porter.sizes.polynomial import Data, Poly


@dataclass(frozen=True)
class Scope:
    """Indices with their extents, in terms of the arguments' sizes alone.

    `means` are the averages of indices and of the host's scalars, `lengths` estimates of
    extents that only data tell: the length of an array that the index runs along.  Such an
    index takes other values for each of the indices that its bounds were `read_for`.
    """

    extents: dict[str, Poly] = field(default_factory=dict)
    means: dict[str, Poly] = field(default_factory=dict)
    lengths: dict[str, Poly] = field(default_factory=dict)
    read_for: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def domain(self) -> tuple[Poly, ...]:
        """How often a statement runs here."""
        return tuple(self.extents.values())

    def within(self, axes: Iterable[ir.Axis]) -> Scope:
        """The scope inside of the axes' loops."""
        inner = self
        for a in axes:
            inner = inner.loop(a.name, a.lo, a.hi, 1)
        return inner

    def loop(self, index: str, lo: Poly, hi: Poly, step: int) -> Scope:
        """The scope inside of a loop over `range(lo, hi, step)`."""
        count = _steps(hi - lo, step)
        read_for = self.read_for
        if _from_data(lo) or _from_data(hi):
            read_for = {**read_for, index: frozenset(self._depends((lo, hi)))}
            length = self.lengths.get(index)
            count = self._share(length) if length is not None else unknown()
            mean = unknown() if length is None else length // 2
        else:
            count = count.replace(self.means)
            mean = (lo.replace(self.means) * 2 + (count - 1) * step) // 2
        return replace(
            self,
            extents={**self.extents, index: count},
            means={**self.means, index: mean},
            read_for=read_for,
        )

    def known(self, name: str, value: Poly) -> Scope:
        """The scope with a scalar that the host has computed."""
        return replace(self, means={**self.means, name: value.replace(self.means)})

    def _share(self, length: Poly) -> Poly:
        """What one run of the loops around has of an array that they run through together."""
        around = Poly.of(1)
        for extent in self.extents.values():
            around *= extent
        return length if around.constant == 1 else (length + around - 1) // around

    def touched(self, index: Sequence[Poly]) -> tuple[Poly, ...]:
        """How many elements a subscript takes in turn: the extents of what it depends on."""
        names = self._depends(index)
        return tuple(n for name, n in self.extents.items() if name in names)

    def _depends(self, index: Sequence[Poly]) -> set[str]:
        names: set[str] = set()
        for p in index:
            names |= p.names()
            for e in data_of(p):
                names |= self._names(e)
        return names.union(*(self.read_for.get(n, frozenset()) for n in names))

    def _names(self, e: ir.Expr) -> set[str]:
        # what a variable of the thread holds may differ in every run
        if any(isinstance(x, ir.Local) for x in walk(e)):
            return set(self.extents)
        return free_names(e)


def _steps(span: Poly, step: int) -> Poly:
    if step < 0:
        span, step = -span, -step
    return span if step == 1 else (span + (step - 1)) // step


def _from_data(p: Poly) -> bool:
    return any(isinstance(a, Data) for a in p.atoms())


def data_lengths(
    expressions: Iterable[ir.Expr], shapes: dict[str, tuple[Poly, ...]]
) -> dict[str, Poly]:
    """For each index that runs along an axis of an array: the length of that axis."""
    found: dict[str, Poly] = {}
    for e in expressions:
        for x in walk(e):
            if isinstance(x, ir.Load) and x.buffer in shapes:
                for p, n in zip(x.index, shapes[x.buffer], strict=False):
                    # a subscript that is tested in the kernel wraps the index
                    for q in (p, *(e.poly for e in data_of(p) if isinstance(e, ir.Value))):
                        for name in q.names():
                            if q.coefficient(name) == 1:
                                found.setdefault(name, n)
    return found
