"""What a plan does, counted: transfers, launches, memory traffic and arithmetic.

The counts are what must happen, not what a cache might add: a launch reads each element
that it needs once and writes each element once.  Of two branches both count where threads
take them, and the heavier one where the host does; loops run to their ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from porter import ir
from porter.analyses.accesses import Access, accesses, reads
from porter.cost.amounts import Amount
from porter.cost.kernels import KernelWork, kernel_work
from porter.cost.scopes import Scope
from porter.ir.effects import expressions
from porter.ir.walk import loaded, scalars_of, walk
from porter.schedule.base import Kernel
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch, Plan, items_of
from porter.schedule.overlap import overlaps
from porter.schedule.registry import TIME_TILE
from porter.sizes.polynomial import Poly, sym, unchecked

#: what a `while` of the host is taken to run, a name for what no size tells
_WHILE = "iterations"


@dataclass(frozen=True)
class Work:
    """Everything that one call does; amounts depend on the sizes of the arguments.

    `to_device` and `to_host` are bytes, `copies` counts transfers, read-backs among them;
    each kernel comes with how often the host launches it.  With `library`, CuPy does some of the
    work, which is not counted.
    """

    to_device: tuple[Amount, ...] = ()
    to_host: tuple[Amount, ...] = ()
    copies: tuple[Amount, ...] = ()
    kernels: tuple[tuple[tuple[Poly, ...], KernelWork], ...] = ()
    library: bool = False

    def __add__(self, other: Work) -> Work:
        return Work(
            self.to_device + other.to_device,
            self.to_host + other.to_host,
            self.copies + other.copies,
            self.kernels + other.kernels,
            self.library or other.library,
        )

    @property
    def launches(self) -> tuple[Amount, ...]:
        """How many kernels are launched."""
        return tuple(Amount(k.launches, times) for times, k in self.kernels)

    def per_launch(self, what: str) -> tuple[Amount, ...]:
        """`traffic`, `ops32` or `ops64` of all launches."""
        return tuple(a.times(times) for times, k in self.kernels for a in getattr(k, what))


def work_of(plan: Plan) -> Work:
    """The work of one call with host arrays."""
    counter = _Counter(plan)
    return counter.arguments() + counter.items(plan.items, Scope())


class _Counter:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.written = overlaps(plan).written
        self.kernels = [i.kernel for i in items_of(plan.items) if isinstance(i, Launch)]
        #: how many launches do several turns of a loop: none here, each turn counts as it stands
        self.tiled = {n for i in items_of(plan.items) if _is_tiled(i) for n in scalars_of(i.cond)}

    # -- transfers ---------------------------------------------------------------------

    def arguments(self) -> Work:
        """Arguments go to the device; those that are stored into come back."""
        used = self._used() | self.written
        arrays = [p.name for p in self.plan.parameters if p.ndim is not None and p.name in used]
        there = tuple(self._bytes(n) for n in arrays)
        back = tuple(self._bytes(n) for n in arrays if n in self.written)
        if any(_unchecked(a) for k in self.kernels for a in _accesses(k)):
            # a flag says whether a subscript was out of bounds
            there, back = (*there, Amount(4)), (*back, Amount(4))
        return Work(there, back, (Amount(len(there) + len(back)),))

    def _used(self) -> set[str]:
        names = {a.buffer for k in self.kernels for a in _accesses(k)}
        for item in items_of(self.plan.items):
            names |= set(getattr(item, "buffers", ()))
            names |= {b for _, b in getattr(item, "arrays", ())}
            names |= loaded(*_host_expressions(item))
        return names

    def _bytes(self, name: str) -> Amount:
        buffer = self.plan.buffers[name]
        return Amount(buffer.dtype.itemsize, buffer.shape)

    # -- what the host does in order -----------------------------------------------------

    def items(self, items: Sequence[object], scope: Scope) -> Work:
        """The host's statements, those in loops as often as they run."""
        work = Work()
        for number, item in enumerate(items):
            match item:
                case Launch(kernel):
                    done = kernel_work(kernel, self.plan.buffers, scope)
                    work += Work(kernels=((scope.domain, done),))
                case HostLoop(index, lo, hi, step, body, _):
                    work += self.items(body, scope.loop(index, lo, hi, step))
                case HostWhile(_, body, _):
                    name = f"{_WHILE} of the loop at line {item.origin.span.line}"
                    inner = scope.loop(name, Poly(), sym(name, True), 1)
                    work += self._read_back(item, inner)
                    work += self.items(body, inner)
                case HostIf() if _is_tiled(item):
                    pass
                case HostIf():
                    work += self._read_back(item, scope)
                    ways = _ways(item, items[number + 1 :], inside=bool(scope.extents))
                    work += max((self.items(w, scope) for w in ways), key=_launched)
                    if not scope.extents:
                        return work
                case ir.Return():
                    work += self._results(item)
                case ir.Host():
                    work += self._host(item, scope)
                case ir.Let() | ir.Fetch():
                    work += self._read_back(item, scope)
                    if isinstance(item, ir.Let) and item.name in self.tiled:
                        scope = scope.known(item.name, Poly())
                    elif isinstance(item, ir.Let) and isinstance(item.value, ir.Value):
                        scope = scope.known(item.name, item.value.poly)
        return work

    def _read_back(self, item: object, scope: Scope) -> Work:
        """Scalars that the host reads from the device."""
        loads = {x for e in _host_expressions(item) for x in walk(e) if isinstance(x, ir.Load)}
        sizes = tuple(Amount(x.dtype.itemsize, scope.domain) for x in loads)
        return Work(to_host=sizes, copies=(Amount(len(loads), scope.domain),) if loads else ())

    def _results(self, item: ir.Return) -> Work:
        arguments = {p.name for p in self.plan.parameters}
        back = []
        for value in item.values:
            if isinstance(value, str) and value not in arguments:
                back.append(self._bytes(value))
            elif isinstance(value, ir.Load):
                back.append(Amount(value.dtype.itemsize))
        return Work(to_host=tuple(back), copies=(Amount(len(back)),) if back else ())

    def _host(self, item: ir.Host, scope: Scope) -> Work:
        """A statement of the host: arrays go there and come from there, if CuPy does not run it."""
        if item.engine.on_device:
            return Work(library=True) + self._read_back(item, scope)
        known = self.plan.buffers
        # an argument that nothing is stored into is there as it came
        there = {p.name for p in self.plan.parameters} - self.written
        down = [
            self._bytes(b).times(scope.domain)
            for n, b in item.arrays
            if n not in item.itself and b in known and b not in there
        ]
        up = [self._bytes(b).times(scope.domain) for b in item.makes if b in known]
        copies = (Amount(len(down) + len(up), scope.domain),) if down or up else ()
        return Work(tuple(up), tuple(down), copies) + self._read_back(item, scope)


def _is_tiled(item: object) -> TypeGuard[HostIf]:
    """Whether a branch does turns of the loop behind it in tiles."""
    inside = items_of(item.body) if isinstance(item, HostIf) else ()
    return any(isinstance(i, Launch) and i.kernel.schedule is TIME_TILE for i in inside)


def _ways(branch: HostIf, rest: Sequence[object], *, inside: bool) -> Sequence[Sequence[object]]:
    """What the host may do from a branch on: of the function, or `inside` of a loop of the branch.

    A loop runs to its end: what leaves it is no way, if there is another.
    """
    both = sorted((branch.body, branch.orelse), key=_leaves)
    if not inside:
        return [b if _leaves(b) else (*b, *rest) for b in both]
    return [b for b in both if not _leaves(b)] or both


def _leaves(body: Sequence[object]) -> bool:
    """Whether nothing after the branch runs, in its loop or at all."""
    last = body[-1] if body else None
    return isinstance(last, ir.Return) or (isinstance(last, ir.Jump) and last.kind == "break")


def _launched(work: Work) -> int:
    return len(work.kernels)


def _host_expressions(item: object) -> Iterator[ir.Expr]:
    """Expressions that the host evaluates for one item."""
    match item:
        case HostIf(cond=cond) | HostWhile(cond=cond):
            yield cond
        case ir.Let() | ir.Fetch() | ir.Host() | ir.Return():
            yield from expressions(item)


def _accesses(kernel: Kernel) -> Iterator[Access]:
    """Everything that a kernel reads and writes."""
    yield from accesses(kernel.statements)
    for store in (f.store for f in kernel.folds if f.store is not None):
        yield Access(store.buffer, store.index, True, frozenset(), store.origin)
    for e in kernel.expressions():
        yield from reads(e, frozenset(), kernel.origin)


def _unchecked(access: Access) -> bool:
    """Whether a subscript is tested in the kernel, since it comes from data."""
    return any(
        unchecked(p) or any(getattr(a, "op", "") == "wrap" for a in p.atoms()) for p in access.index
    )
