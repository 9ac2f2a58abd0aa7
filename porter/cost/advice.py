"""What is said of a function's cost: formulas, and whether a GPU wins for recorded sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from porter.cost.amounts import UNKNOWN, formula
from porter.cost.estimate import Estimate, Factors, estimate, factors
from porter.cost.kernels import KernelWork
from porter.cost.machine import Machine
from porter.cost.result import Cost, Run
from porter.cost.work import Work, work_of
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.sizes.polynomial import Dim, Poly
from porter.trace.counts import Counted

if TYPE_CHECKING:
    # most files have no trace
    from porter.trace.record import Size, TracedFunction


def cost_of(
    plan: Plan, traced: TracedFunction | None, machine: Machine, counted: Counted | None = None
) -> Cost:
    """The cost of a plan, with numbers for the sizes of a recorded run.

    What was counted of the compiled kernels corrects the plan's amounts.
    """
    work = work_of(plan)
    by, said = Factors(), ""
    if counted is not None and (sizes := sizes_of(plan, counted.arguments)) is not None:
        by = factors(work, sizes, counted)
        said = counted.shown if by != Factors() else ""
    counts = {
        "to_device": formula(work.to_device),
        "to_host": formula(work.to_host),
        "device_bytes": formula(work.per_launch("traffic")),
        "operations": formula(work.per_launch("ops32") + work.per_launch("ops64")),
        "launches": formula(work.launches),
    }
    moved = counts["to_device"] + counts["to_host"]
    brief = (
        f"moves {_leading(moved)} bytes, {_leading(counts['operations'])} operations, "
        f"{_leading(counts['launches'])} launch{'' if counts['launches'].constant == 1 else 'es'}"
    )
    run = None if traced is None or work.library else _run(plan, work, traced, machine, by)
    small = too_small(work, machine, by) if run is None else ""
    formulas = {name: str(p) for name, p in counts.items()}
    return Cost(formulas, brief, run, small, said, by.bytes, by.instructions)


#: the longest axis that the smallest worthwhile size is looked for on, as a power of two
_LONGEST = 30


def too_small(work: Work, machine: Machine, by: Factors | None = None) -> str:
    """Which calls are too small for a GPU, by the model; data are on the device already.

    Every axis is taken to be equally long: the length from which one core of the host is slower.
    """
    names = _sizes(work)
    little = little_work(work)
    if little or work.library or UNKNOWN in names:
        return little
    length = next((2**p for p in range(_LONGEST) if _pays(work, names, 2**p, machine, by)), None)
    if length is None:
        return "a CPU core is always faster (modelled)"
    if length == 1:
        return ""
    return f"a CPU core is faster below about {length:,} elements per axis (modelled)"


def little_work(work: Work) -> str:
    """What is too little for a GPU whatever the sizes: one thread, or a fixed amount of work."""
    if work.library:
        return ""
    operations = work.per_launch("ops32") + work.per_launch("ops64")
    serial = [k for _, k in work.kernels if _on_one_thread(k)]
    if serial:
        count = formula(serial[0].ops32 + serial[0].ops64)
        return f"one thread runs a kernel of {_leading(count)} operations"
    if _sizes(work):
        return ""
    count, launches = formula(operations), formula(work.launches)
    many = "" if count.constant == 1 else "s"
    times = "" if launches.constant == 1 else "es"
    return f"too small for a GPU: {count} operation{many} in {launches} launch{times}"


def _sizes(work: Work) -> set[str]:
    """The names of the sizes that the work depends on."""
    parts = ("ops32", "ops64", "traffic")
    amounts = [work.launches, *(work.per_launch(part) for part in parts)]
    return {n for each in amounts for n in formula(each).names()}


def _on_one_thread(k: KernelWork) -> bool:
    """Whether one thread does work that grows with the sizes."""
    return formula((k.threads,)).constant == 1 and bool(formula(k.ops32 + k.ops64).names())


def _pays(
    work: Work, names: Iterable[str], length: int, machine: Machine, by: Factors | None
) -> bool:
    numbers = estimate(work, dict.fromkeys(names, length), machine, by or Factors())
    return numbers is not None and numbers.host_seconds >= numbers.kernel_seconds


def _leading(p: Poly) -> str:
    """The terms of the highest degree, which decide for large arrays."""
    if UNKNOWN in p.names():
        return "unknown"
    degree = max((len(m) for m, _ in p.terms), default=0)
    return str(Poly(tuple((m, c) for m, c in p.terms if len(m) == degree)))


def _run(
    plan: Plan, work: Work, traced: TracedFunction, machine: Machine, by: Factors
) -> Run | None:
    """The recorded calls whose sizes are known; None if there are none."""
    found: list[tuple[int, float, Estimate]] = []
    heaviest = (0.0, "")
    for signature in traced.signatures:
        for entry in signature.shapes:
            named = dict(zip(traced.parameters, entry.sizes, strict=False))
            sizes = sizes_of(plan, named)
            numbers = None if sizes is None else estimate(work, sizes, machine, by)
            if numbers is not None:
                found.append((entry.calls, entry.seconds, numbers))
                heaviest = max(heaviest, (entry.seconds, _shown(entry.sizes)))
    if not found:
        return None

    def total(name: str) -> float:
        return float(sum(calls * getattr(e, name) for calls, _, e in found))

    return Run(
        sum(calls for calls, _, _ in found),
        sum(seconds for _, seconds, _ in found),
        total("seconds"),
        total("transfer_seconds"),
        total("host_seconds"),
        total("transferred"),
        total("device_bytes"),
        total("operations"),
        total("launches"),
        heaviest[1],
    )


def _shown(sizes: Sequence[Size]) -> str:
    """`1000x200, 5`: arrays by their shapes, integers by their values."""
    parts = ["x".join(map(str, s)) if isinstance(s, tuple) else str(s) for s in sizes
             if s is not None]  # fmt: skip
    return ", ".join(p for p in parts if p)


def sizes_of(plan: Plan, arguments: Mapping[str, Size]) -> dict[str, int] | None:
    """The sizes and integers of a plan by name, for arguments by name; None if they do not fit."""
    sizes: dict[str, int] = {}
    for p in plan.parameters:
        argument = arguments.get(p.name)
        if p.ndim is None:
            if isinstance(argument, int):
                sizes[p.name] = argument
            continue
        if not isinstance(argument, tuple):
            return None
        # elementwise kernels see all elements in one dimension
        shape = argument if len(argument) == p.ndim else (prod(argument),)
        if len(argument) != p.ndim and not is_elementwise(plan):
            return None
        sizes |= {Dim(p.name, d).name: n for d, n in enumerate(shape)}
    return sizes
