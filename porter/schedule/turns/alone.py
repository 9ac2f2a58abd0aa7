"""Loops of the host that one block takes alone where no turn has many elements.

A launch takes the host 12 us and more, in which one block does tens of thousands of elements.
Where a graph cannot replay the turns of a loop, because they are over other elements each time
(fronts of a wavefront, what is left of a matrix), the host function chooses: one launch of a block
that runs the loop, or launches of all blocks for each turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.dtypes.dtype import WEAK_BOOL, WEAK_INT
from porter.ir.aliasing import Aliases
from porter.ir.effects import nodes_of
from porter.ir.walk import statements, substitute_poly
from porter.schedule.base import MANY as MANY_THREADS
from porter.schedule.base import WARP, BlockLoop, BlockStep, Fold, Kernel
from porter.schedule.nodes import HostIf, HostLoop, Launch, with_loops
from porter.schedule.overlap import must_differ
from porter.schedule.registry import ONE_BLOCK
from porter.schedule.turns.replays import replay
from porter.sizes.bounds import Ranges, at_most, most
from porter.sizes.polynomial import Integer, Poly, maximum
from porter.sizes.shapes import product

#: the constant of a module: most elements of a turn that one block takes
ALONE = Poly.atom(Integer("ALONE", True))
#: the threads of the block
MANY = Poly.atom(Integer("MANY_THREADS", True))
#: what constants are in a module as it is generated, where a turn is short because of them
CONSTANTS = {
    "BLOCK_X": Poly.of(WARP), "LAST_TURNS": Poly.of(2 * WARP), "MANY_THREADS": Poly.of(MANY_THREADS)
}  # fmt: skip


def or_alone(
    items: Sequence[object], name: Callable[[str], str], bound: Collection[str], aliases: Aliases
) -> tuple[object, ...]:
    """The host's sequence, with a choice for each such loop.

    Arrays that are `bound` to another name, or needed after their loop, are made where they stand.
    A block cannot take copies of arguments that are one array, as launches do.
    """
    known = CONSTANTS | _named(items)
    return with_loops(
        items,
        lambda loop: _choice(loop, name, bound, aliases, known) if replay(loop) is None else (),
    )


def _named(items: Sequence[object]) -> dict[str, Poly]:
    """Sizes that the host computes once, by their names."""
    lets = [x for x in items if isinstance(x, ir.Let)]
    counts = Counter(x.name for x in lets)
    found = {x.name: x.value.poly for x in lets if isinstance(x.value, ir.Value)}
    return {n: substitute_poly(p, CONSTANTS) for n, p in found.items() if counts[n] == 1}


def _choice(
    loop: HostLoop, name: Callable[[str], str], bound: Collection[str], aliases: Aliases,
    known: Mapping[str, Poly],
) -> Sequence[object]:  # fmt: skip
    """The loop or one block for it; only the block where turns are that short in any case."""
    turns = _Turns(bound, known)
    nest = turns.loop(loop)
    if nest is None or not turns.sizes:
        return ()
    kernel = Kernel(ONE_BLOCK.word, ONE_BLOCK, (), (), (nest,), loop.origin)
    if must_differ(kernel, aliases):
        return ()
    alone = (*turns.allocated, Launch(replace(kernel, name=name(ONE_BLOCK.word))))
    tests = [ir.Op("le", (_product(n), _value(ALONE)), WEAK_BOOL) for n in _largest(turns)]
    if not tests:
        return alone
    cond: ir.Expr = tests[0]
    for test in tests[1:]:
        cond = ir.Op("and", (cond, test), WEAK_BOOL)

    def inner(x: HostLoop) -> Sequence[object]:
        """One block for a loop inside, if that needs no choice."""
        found = _choice(x, name, bound, aliases, known) if replay(x) is None else ()
        return () if any(isinstance(y, HostIf) for y in found) else found

    launched = replace(loop, body=with_loops(loop.body, inner))
    return (HostIf(cond, alone, (launched,), loop.origin),)


def _value(n: Poly) -> ir.Value:
    return ir.Value(n, WEAK_INT)


def _product(sizes: Sequence[Poly]) -> ir.Expr:
    result: ir.Expr = _value(sizes[0])
    for n in sizes[1:]:
        result = ir.Op("mul", (result, _value(n)), WEAK_INT)
    return result


def _largest(turns: _Turns) -> list[tuple[Poly, ...]]:
    """Those that none of the others is as large as in any case; constants are small."""
    found: list[tuple[Poly, ...]] = []
    known = {n: substitute_poly(product(n), turns.known).constant for n in turns.sizes}
    for n in (n for n, constant in known.items() if constant is None):
        if not any(_as_large(other, n) for other in found):
            found = [*(other for other in found if not _as_large(n, other)), n]
    return found


def _as_large(a: tuple[Poly, ...], b: tuple[Poly, ...]) -> bool:
    """Whether `a` is, unless one of its factors is 0: then a turn has no elements."""
    rest = Counter(b) - Counter(a)
    return not rest or (product(a) - product(b)).is_nonneg()


def largest(a: ir.Alloc, ranges: Ranges) -> ir.Alloc | None:
    """The array as it is in the turn where it has most elements, if that is known."""
    shape = [most(n, ranges) for n in a.buffer.shape]
    if any(n is None for n in shape):
        return None
    sizes = tuple(n if n.is_nonneg() else maximum(n, 0) for n in shape if n is not None)
    return replace(a, buffer=replace(a.buffer, shape=sizes))


@dataclass
class _Turns:
    """What a block does in the turns of a loop: its steps, the arrays of the turns as large as any
    turn needs them, and upper bounds for the elements of each step."""

    bound: Collection[str]
    known: Mapping[str, Poly]
    ranges: dict[str, tuple[Poly, Poly]] = field(default_factory=dict)
    values: dict[str, Poly] = field(default_factory=dict)
    allocated: list[ir.Alloc] = field(default_factory=list)
    sizes: list[tuple[Poly, ...]] = field(default_factory=list)

    def loop(self, loop: HostLoop) -> BlockLoop | None:
        """The loop in a block; None where it needs more."""
        if loop.step < 1:
            return None
        self.ranges[loop.index] = self._known(loop.lo), self._known(loop.hi)
        steps = self._steps(loop.body)
        if steps is None:
            return None
        return BlockLoop(loop.index, loop.lo, loop.hi, loop.step, steps, loop.origin)

    def _steps(self, items: Sequence[object]) -> tuple[BlockStep, ...] | None:
        steps: list[BlockStep] = []
        for item in items:
            found = self._step(item)
            if found is None:
                return None
            steps += found
        return tuple(steps)

    def _step(self, item: object) -> Sequence[BlockStep] | None:
        match item:
            case ir.Alloc():
                made = None if item.buffer.name in self.bound else largest(item, self.ranges)
                self.allocated += [made] if made is not None else []
                return None if made is None else ()
            case ir.Let(name, ir.Value(poly)):
                self.values[name] = self._known(poly)
                return (item,)
            case HostLoop():
                nest = self.loop(item)
                return None if nest is None else (nest,)
            case Launch(kernel):
                found = kernel.schedule.in_one_block(kernel, None)
                return found if found is not None and self._all_counted(found) else None
        return None

    def _all_counted(self, steps: Sequence[BlockStep]) -> bool:
        """The same for all of them; loops are those that one block has taken before."""
        for step in steps:
            if isinstance(step, BlockLoop):
                self.ranges[step.index] = self._known(step.lo), self._known(step.hi)
                if step.step < 1 or not self._all_counted(step.steps):
                    return False
            elif isinstance(step, ir.Let) or not self._counted(step):
                return False
        return True

    def _known(self, n: Poly) -> Poly:
        return substitute_poly(n, self.values)

    def _most(self, n: Poly, ranges: Ranges) -> Poly | None:
        """What a size is at most: a number if there is one, which names of the host may hide."""
        found = most(self._known(n), ranges)
        if found is None:
            return None
        least = at_most(substitute_poly(found, self.known))
        return least if least.constant is not None else found

    def _counted(self, part: Fold | ir.Stage) -> bool:
        """Whether there is a bound for the elements of a step, and what is done for each."""
        axes = part.reductions[0][1].axes if isinstance(part, Fold) else part.axes
        inside: list[tuple[tuple[Poly, Poly], ...]] = []
        inner: set[str] = set()  # what a thread counts or computes
        if isinstance(part, ir.Stage):
            for s in statements(part.body):
                if isinstance(s, ir.While):
                    return False
                if isinstance(s, ir.For):
                    inside.append(((s.lo, s.hi),))
                    inner.add(s.index)
                if isinstance(s, ir.Let):
                    inner.add(s.name)
                for e in nodes_of(s):
                    if isinstance(e, ir.Reduce):
                        inside.append(tuple((a.lo, a.hi) for a in e.axes))
                        inner |= {a.name for a in e.axes}
        ranges = dict(self.ranges)
        ranges |= {a.name: (self._known(a.lo), self._known(a.hi)) for a in axes}
        own = [self._most(a.extent, ranges) for a in axes]
        more = [[self._most(hi - lo, ranges) for lo, hi in each] for each in inside]
        found = [n for n in (*own, *(n for each in more for n in each))]
        if any(n is None or n.names() & inner for n in found):
            return False
        self.sizes.append(_factors(own))
        for each in more:
            # a thread goes through them one after the other, however few threads do
            self.sizes += [_factors([*each, *own]), _factors([*each, MANY])]
        return True


def _factors(sizes: Sequence[Poly | None]) -> tuple[Poly, ...]:
    """The numbers whose product is asked for."""
    return tuple(n for n in sizes if n is not None and n.constant != 1)
