"""What a block does together, as slots: folds that its threads join, loops of all threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.axes import symbols
from porter.ir.walk import loaded, substitute
from porter.schedule.base import Fold, Kernel
from porter.schedule.domains import loop, skips, strided
from porter.schedule.writing import KernelWriter, Lines, Loop


@dataclass(frozen=True)
class Part:
    """A thread's part of a fold: the last axis is shared out, each element adds a `term`."""

    name: str
    initial: str
    before: Lines
    outer: Sequence[Loop]
    last: Loop
    term: Lines
    join: str  # the device function that joins the parts of all threads of the block
    scratch: str


def scratch(w: KernelWriter, kernel: Kernel) -> dict[str, str]:
    """One shared array for each dtype that is folded, by the dtype's text."""
    found: dict[str, str] = {}
    for _, r in kernel.reductions:
        kind = w.shared_type(r.dtype)
        if kind not in found:
            found[kind] = w.fresh("scratch")
    return found


def part(w: KernelWriter, name: str, r: ir.Reduce, shared: Mapping[str, str]) -> Part:
    """What one thread folds, and how the block joins that."""
    with w.slot() as before:
        # the bounds of the first loop are there behind it, too
        w.poly(r.axes[0].lo)
        w.poly(r.axes[0].hi)
    with w.inside():
        with w.slot() as first:
            initial = w.initial(r)
        outer, last = [loop(w, a) for a in r.axes[:-1]], strided(w, r.axes[-1])
        term = term_of(w, name, r)
    return Part(name, initial, Lines([*before, *first]), outer, last, term, *join(w, r, shared))


def term_of(w: KernelWriter, name: str, r: ir.Reduce) -> Lines:
    """The lines that fold one more element into a variable."""
    with w.slot() as term:
        w.emit(w.fold(r, name))
    return term


def onto(axes: Sequence[ir.Axis], r: ir.Reduce) -> ir.Reduce:
    """The fold over other indices, of a domain that is as large."""
    moved = {
        b.name: own - a.lo + b.lo for own, a, b in zip(symbols(axes), axes, r.axes, strict=True)
    }
    return ir.Reduce(r.op, tuple(axes), substitute(r.body, moved), r.dtype)


def join(w: KernelWriter, r: ir.Reduce, shared: Mapping[str, str]) -> tuple[str, str]:
    """The device function that joins what the threads of a block have folded, and its scratch."""
    helper = f"block_{r.op}"
    w.helper(helper, *([f"{r.op}imum"] if r.op in ("max", "min") else []))
    return helper, shared[w.shared_type(r.dtype)]


def comment(w: KernelWriter, origin: ir.Origin) -> Lines:
    """The source statement, if it was not quoted just before."""
    with w.slot() as lines:
        w.comment(origin)
    return lines


def fold(
    w: KernelWriter, step: Fold, shared: Mapping[str, str], read_later: bool
) -> dict[str, object]:
    """A fold by the whole block; its first thread stores the result."""
    quoted = comment(w, step.origin)
    parts = [part(w, name, r, shared) for name, r in step.reductions]
    with w.slot() as before:
        value = w.expr(step.value)
        target = "" if step.store is None else element(w, step.store)
    named = value != step.name and (step.store is None or read_later)
    # every thread has read the old element before one overwrites it
    rereads = named and step.store is not None and step.store.buffer in loaded(step.value)
    return {
        "comment": quoted, "parts": parts, "before": before, "value": value,
        "name": step.name if named else "", "target": target, "rereads": rereads,
    }  # fmt: skip


def element(w: KernelWriter, s: ir.Write) -> str:
    """What a store without axes stores into."""
    return f"{s.buffer}[{', '.join(w.poly(p) for p in s.index) or '()'}]"


def stage(w: KernelWriter, step: ir.Stage, rows: int) -> dict[str, object]:
    """A stage whose last axis is shared out among the block's threads, or that one of them does."""
    w.forget()
    last = strided(w, step.axes[-1], step.body) if len(step.axes) > rows else None
    with w.slot() as body:
        w.block(step.body if last else _to_its_end(step.body))
    w.forget()
    return {"parts": None, "loop": last, "body": body}


def _to_its_end(body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """Statements that one thread runs without `continue`: that would be the loop of the block."""
    for k, s in enumerate(body):
        if isinstance(s, ir.Jump):
            return tuple(body[:k])
        if isinstance(s, ir.If) and skips((s,)):
            then, other = (_to_its_end((*b, *body[k + 1 :])) for b in (s.body, s.orelse))
            if not then:
                s = replace(s, cond=ir.Op("not", (s.cond,), s.cond.dtype))
                then, other = other, ()
            return (*body[:k], replace(s, body=then, orelse=other)) if then else tuple(body[:k])
    return tuple(body)
