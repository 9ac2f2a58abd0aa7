"""Arguments that may be one array: which launches must be told them apart.

NumPy reads a statement's right side before it stores; a kernel does both at once.  Where
a kernel stores into one argument and reads another at other elements, the host passes a
copy of the second if it is the same memory.  A loop of the user's own, whose iterations
would see each other's stores, is refused at run time instead.  So is an array that a thread reads
again after it has stored into it, where the compiler may do both in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import has_data
from porter.ir.aliasing import Aliases
from porter.ir.walk import loaded, statements, walk
from porter.schedule.base import Fold, Kernel
from porter.schedule.nodes import Launch, Plan, items_of
from porter.sizes.polynomial import Poly


@dataclass
class Overlap:
    """`crossing`: kernel -> [(read argument, [written ones])]; `sequential`: kernel -> pairs."""

    aliases: Aliases
    written: set[str] = field(default_factory=set)
    crossing: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)
    sequential: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def overlaps(plan: Plan) -> Overlap:
    """What the kernels of a plan do to arguments."""
    result = Overlap(plan.aliases)
    launches = [item for item in items_of(plan.items) if isinstance(item, Launch)]
    kernels = [launch.kernel for launch in launches]
    for kernel in kernels:
        _kernel(kernel, result)
    for number, first in enumerate(kernels):
        if not any(result.aliases.arguments(n) for n in _touched(first, True)):
            users = [k for k in kernels[number + 1 :] if k.origin == first.origin]
            _before(first, [k for k in users if _in_loop(k)], result)
    for launch in launches:
        for other in launch.alternatives:
            result.crossing[other.kernel.name] = result.crossing.get(launch.kernel.name, [])
    return result


def must_differ(kernel: Kernel, aliases: Aliases) -> bool:
    """Whether arguments that may be one array must be told apart for a kernel."""
    result = Overlap(aliases)
    _kernel(kernel, result)
    return bool(result.crossing or result.sequential)


def _in_loop(kernel: Kernel) -> bool:
    """Whether it runs the iterations of a loop of the user's."""
    stores = [s for s in _statements(kernel) if isinstance(s, ir.Write)]
    return any(s.origin.looped for s in stores)


def _before(first: Kernel, users: Sequence[Kernel], result: Overlap) -> None:
    """What is computed before the user's loop, of an argument that its iterations may change."""
    loads = _touched(first, False)
    for kernel in users:
        for w in sorted(n for n in _touched(kernel, True) if result.aliases.arguments(n)):
            for r in sorted(n for n in loads - {w} if result.aliases.arguments(n)):
                pairs = result.sequential.setdefault(kernel.name, [])
                if result.aliases.alike(w, r) and (w, r) not in pairs:
                    pairs.append((w, r))


def _statements(kernel: Kernel) -> list[ir.Stmt]:
    """All statements of its threads, the stores of folds included."""
    body = [*kernel.body]
    for step in kernel.parts:
        if isinstance(step, ir.Stage):
            body += step.body
        elif isinstance(step.store, ir.Write):
            body.append(step.store)
    return list(statements(tuple(body)))


def _touched(kernel: Kernel, write: bool) -> set[str]:
    """The arrays that a kernel stores into, or those that it reads."""
    folds = [s for s in kernel.parts if isinstance(s, Fold)]
    read = loaded(*(e for f in folds for e in f.operands))
    touched = {a.buffer for a in accesses(tuple(_statements(kernel))) if a.write == write}
    return touched if write else touched | read


def _kernel(kernel: Kernel, result: Overlap) -> None:
    if not kernel.schedule.together and not kernel.axes:
        # a thread alone reads and stores in the order of the source
        _step(kernel, kernel.body, (), "", result)
        return
    if not kernel.schedule.stepwise:
        loop = kernel.origin.construct is ir.Construct.FOR
        _step(kernel, kernel.body, kernel.parts, "sequential" if loop else "crossing", result)
        return
    for step in kernel.parts:
        # all threads have read what a fold or thread 0 needs before anything is stored
        meets = "sequential" if isinstance(step, ir.Stage) and step.axes else ""
        _step(kernel, (), (step,), meets, result)


def _step(
    kernel: Kernel,
    own: Sequence[ir.Stmt],
    parts: Sequence[Fold | ir.Stage],
    meets: str,
    result: Overlap,
) -> None:
    """Note the arguments written, and under `meets` those that must not be one array."""
    reads: dict[str, set[tuple[Poly, ...]]] = {}
    writes: dict[str, set[tuple[Poly, ...]]] = {}
    body: list[ir.Stmt] = list(own)
    for step in parts:
        body += step.body if isinstance(step, ir.Stage) else []
        if isinstance(step, Fold):
            for e in step.operands:
                for x in walk(e):
                    if isinstance(x, ir.Load):
                        reads.setdefault(x.buffer, set()).add(x.index)
            if isinstance(step.store, ir.Write):
                writes.setdefault(step.store.buffer, set()).add(step.store.index)
    for a in accesses(tuple(body)):
        (writes if a.write else reads).setdefault(a.buffer, set()).add(a.index)
    stores = [s for s in statements(tuple(body)) if isinstance(s, ir.Write)]
    stores += [s.store for s in parts if isinstance(s, Fold) and s.store is not None]
    looped = {s.buffer for s in stores if s.origin.looped}
    late = {s.buffer for s in stores if s.origin.late}
    meaning = {n: result.aliases.arguments(n) for n in {*reads, *writes}}
    parameters = {n for n, m in meaning.items() if m}
    written = sorted(set(writes) & parameters)
    for w in written:
        result.written |= meaning[w]
    crossing: dict[str, list[str]] = {}
    for w in written:
        for r in sorted(set(reads) & parameters - {w}):
            own_element = w not in late and _same_element(reads[r], writes[w])
            again = own_element and kernel.schedule.distinct and _is_read_again(r, w, body, parts)
            if (own_element and not again) or not result.aliases.alike(w, r):
                continue
            if again or meets == "sequential" or (meets and w in looped):
                result.sequential.setdefault(kernel.name, []).append((w, r))
            elif meets == "crossing":
                crossing.setdefault(r, []).append(w)
    if crossing:
        result.crossing[kernel.name] = list(crossing.items())


def _is_read_again(
    read: str, written: str, body: Sequence[ir.Stmt], parts: Sequence[Fold | ir.Stage]
) -> bool:
    """Whether a thread reads an array elsewhere than in the one statement that stores into
    another."""
    found = [{(a.buffer, a.write) for a in accesses((s,))} for s in body]
    stores = [k for k, touched in enumerate(found) if (written, True) in touched]
    reads = [k for k, touched in enumerate(found) if (read, False) in touched]
    folded = loaded(*(e for f in parts if isinstance(f, Fold) for e in f.operands))
    return (
        reads != stores
        or len(stores) > 1
        or read in folded
        or not all(isinstance(body[k], ir.Write) for k in stores)
    )


def _same_element(reads: set[tuple[Poly, ...]], writes: set[tuple[Poly, ...]]) -> bool:
    """Whether a thread reads only what it stores itself; one from data may be another's, too."""
    return reads == writes and len(reads) == 1 and not any(map(has_data, reads))
