"""The plan as text: what `--emit plan` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter import ir
from porter.ir.printer import domain, lines
from porter.schedule.base import BlockLoop, BlockStep, Fold, Kernel
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch, Plan


def plan_text(plan: Plan) -> str:
    """The host's sequence with its launches, and each kernel's schedule."""
    return "\n".join([f"plan {plan.name}", *_items(plan.items, 1)]) + "\n"


def _items(items: Sequence[object], indent: int) -> Iterator[str]:
    pad = "    " * indent
    for item in items:
        match item:
            case Launch(kernel, alternatives):
                yield from _kernel(kernel, indent)
                for other in alternatives:
                    sizes = ", ".join(map(str, other.sizes))
                    what = other.kernel.schedule.describe(other.kernel)
                    yield f"{pad}or {other.kernel.name}: {what}, if {other.test}({sizes})"
            case HostLoop(index, lo, hi, step, body, _):
                by = f" by {step}" if step != 1 else ""
                yield f"{pad}host for {index} in {lo} .. {hi}{by}:"
                yield from _items(body, indent + 1)
            case HostWhile(cond, body, _):
                yield f"{pad}host while {cond}:"
                yield from _items(body, indent + 1)
            case HostIf(cond, body, orelse, _):
                yield f"{pad}host if {cond}:"
                yield from _items(body, indent + 1)
                if orelse:
                    yield f"{pad}else:"
                    yield from _items(orelse, indent + 1)
            case _:
                yield from lines([item], indent)  # type: ignore[list-item]


def _kernel(kernel: Kernel, indent: int) -> Iterator[str]:
    pad = "    " * indent
    over = f" over {domain(kernel.axes)}" if kernel.axes else ""
    yield f"{pad}launch {kernel.name}: {kernel.schedule.describe(kernel)}{over}"
    if kernel.number:
        yield f"{pad}    {kernel.turn} = {kernel.number}[]"
    yield from lines(kernel.body, indent + 1)
    yield from _steps(kernel.steps, kernel, indent + 1)


def _steps(steps: Sequence[BlockStep], kernel: Kernel, indent: int) -> Iterator[str]:
    pad = "    " * indent
    for step in steps:
        match step:
            case Fold():
                for name, r in step.reductions:
                    # in the loop of the fold before it
                    yield f"{pad}{'with ' if step.shared else ''}fold {name} = {r}"
                if step.kept is not None:
                    yield from lines([step.kept], indent)
                yield f"{pad}{_stored(step)} = {step.value}"
            case BlockLoop(index, lo, hi, by, body, _):
                yield f"{pad}for {index} in {lo} .. {hi}{f' by {by}' if by != 1 else ''}:"
                yield from _steps(body, kernel, indent + 1)
            case ir.Stage():
                yield from _stage(step, kernel, indent)


def _stored(fold: Fold) -> str:
    if fold.store is None:
        return fold.name
    index = ", ".join(map(str, fold.store.index))
    return f"{fold.store.buffer}[{index}]" if index else fold.store.buffer


def _stage(step: ir.Stage, kernel: Kernel, indent: int) -> Iterator[str]:
    body: tuple[ir.Stmt, ...] = step.body
    pad = "    " * indent
    shared = domain(step.axes[len(kernel.axes) :]) or kernel.schedule.once
    yield f"{pad}for the block's threads: {shared}"
    yield from lines(body, indent + 1)
