"""What a block does together, as slots: folds that its threads join, loops of all threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.axes import same_extents, symbols
from porter.ir.walk import loaded, substitute
from porter.schedule.base import Fold, Kernel
from porter.schedule.domains import loop, skips, strided
from porter.schedule.writing import KernelWriter, Lines, Loop


@dataclass(frozen=True)
class Part:
    """A thread's part of a fold: what stands before it, and how the block joins all of them."""

    name: str
    initial: str
    before: Lines
    join: str  # the device function that joins the parts of all threads of the block
    scratch: str


@dataclass(frozen=True)
class Pass:
    """Folds over one domain, whose last axis is shared out; each element adds their `terms`."""

    parts: Sequence[Part]
    outer: Sequence[Loop]
    last: Loop
    terms: Lines


def scratch(w: KernelWriter, kernel: Kernel) -> dict[str, str]:
    """One shared array for each dtype that is folded, by the dtype's text."""
    found: dict[str, str] = {}
    for _, r in kernel.reductions:
        kind = w.shared_type(r.dtype)
        if kind not in found:
            found[kind] = w.fresh("scratch")
    return found


def over_domains(
    folds: Sequence[tuple[ir.Origin, str, ir.Reduce]],
) -> list[list[tuple[ir.Origin, str, ir.Reduce]]]:
    """Folds by their domains; those over one of them have its indices."""
    found: list[list[tuple[ir.Origin, str, ir.Reduce]]] = []
    for origin, name, r in folds:
        same = next((g for g in found if same_extents(g[0][2].axes, r.axes)), None)
        if same is None:
            found.append([(origin, name, r)])
        else:
            same.append((origin, name, onto(same[0][2].axes, r)))
    return found


def part(
    w: KernelWriter, origin: ir.Origin, name: str, r: ir.Reduce, shared: Mapping[str, str]
) -> Part:
    """What stands before the loop of a fold and behind it, its source statement first."""
    with w.slot() as before:
        w.comment(origin)
        initial = w.initial(r)
    return Part(name, initial, before, *join(w, r, shared))


def passes(
    w: KernelWriter, folds: Sequence[tuple[ir.Origin, str, ir.Reduce]], shared: Mapping[str, str]
) -> list[Pass]:
    """What one thread folds, in a loop for each domain, and how the block joins that."""
    return [_pass(w, group, shared) for group in over_domains(folds)]


def _pass(
    w: KernelWriter, group: Sequence[tuple[ir.Origin, str, ir.Reduce]], shared: Mapping[str, str]
) -> Pass:
    axes = group[0][2].axes
    with w.slot() as bounds:
        # the bounds of the first loop are there behind it, too
        w.poly(axes[0].lo)
        w.poly(axes[0].hi)
    parts: list[Part] = []
    with w.inside():
        for origin, name, r in group:
            own = part(w, origin, name, r, shared)
            parts.append(own if parts else replace(own, before=Lines([*own.before, *bounds])))
        outer, last = [loop(w, a) for a in axes[:-1]], strided(w, axes[-1])
        terms = Lines(line for _, name, r in group for line in term_of(w, name, r))
    return Pass(parts, outer, last, terms)


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
    w: KernelWriter, step: Fold, shared: Mapping[str, str], read_later: bool,
    later: Sequence[Fold] = (),
) -> dict[str, object]:  # fmt: skip
    """A fold by the whole block, with the loop of `later` ones; its first thread stores the result.

    `parts` has those of one whose loop is that of an earlier one.
    """
    first = [] if step.shared else [
        (f.origin, name, r) for f in (step, *later) for name, r in f.reductions
    ]  # fmt: skip
    loops = passes(w, first, shared)
    quoted = comment(w, step.origin)
    parts = [
        {"name": n, "join": helper, "scratch": own}
        for n, r in step.reductions for helper, own in [join(w, r, shared)]
    ]  # fmt: skip
    with w.slot() as before:
        value = w.expr(step.value)
        target = "" if step.store is None else element(w, step.store)
    named = value != step.name and (step.store is None or read_later)
    # every thread has read the old element before one overwrites it
    rereads = named and step.store is not None and step.store.buffer in loaded(step.value)
    return {
        "comment": quoted, "passes": loops, "parts": parts, "before": before, "value": value,
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
