"""What a block does together, as slots: folds that its threads join, loops of all threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.dtypes.dtype import DType
from porter.ir.axes import same_extents
from porter.ir.walk import loaded
from porter.schedule.base import Fold, Kernel, Spread
from porter.schedule.domains import loop, skips, strided
from porter.schedule.once import spreads
from porter.schedule.once.keeping import with_kept
from porter.schedule.once.repeated import repeated
from porter.schedule.sharing import onto
from porter.schedule.writing import KernelWriter, Lines, Loop, Pieces


@dataclass(frozen=True)
class Part:
    """A thread's part of a fold: what it starts from, and what stands before that."""

    name: str
    initial: str
    before: Lines


@dataclass(frozen=True)
class Join:
    """The device function that joins the parts of all threads of the block, and its arguments:
    what is `given`, and arrays."""

    name: str
    join: str
    given: str
    scratch: str


@dataclass(frozen=True)
class Pass:
    """Folds over one domain, whose last axis is shared out; each element adds their `terms`."""

    parts: Sequence[Part]
    joins: Sequence[Join]
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


@dataclass(frozen=True)
class Item:
    """A fold with its source statement, the name of the extreme that it is the position of, and
    what it takes along."""

    origin: ir.Origin
    name: str
    r: ir.Reduce
    argument: str = ""
    spread: Spread | None = None


def items(folds: Sequence[Fold]) -> list[Item]:
    """What the folds reduce; what several of them need once."""
    found: dict[str, Item] = {}
    for f in folds:
        for name, r in f.reductions:
            found.setdefault(name, Item(f.origin, name, r, f.argument, f.spread))
    return [*found.values()]


def carried(group: Sequence[Item]) -> list[tuple[str, DType]]:
    """The variables that folds leave, in their order."""
    return [
        (name, i.r.dtype) for i in group
        for name in (i.name, *((i.spread.count, i.spread.center) if i.spread is not None else ()))
    ]  # fmt: skip


def over_partials(
    step: Fold, partial: Mapping[str, ir.Buffer],
    over: Callable[[Fold, str, ir.Reduce], ir.Reduce],
) -> Fold:  # fmt: skip
    """The fold of partial results, each `over` them."""
    reductions = tuple((name, over(step, name, r)) for name, r in step.reductions)
    if step.spread is not None:
        arrays = partial[step.spread.count].name, partial[step.spread.center].name
        step = replace(step, spread=replace(step.spread, arrays=arrays))
    return replace(step, reductions=reductions)


def over_domains(folds: Sequence[Item]) -> list[list[Item]]:
    """Folds by their domains; those over one of them have its indices."""
    found: list[list[Item]] = []
    for item in folds:
        same = next((g for g in found if same_extents(g[0].r.axes, item.r.axes)), None)
        if same is None:
            found.append([item])
        else:
            same.append(replace(item, r=onto(same[0].r.axes, item.r)))
    return found


def part(w: KernelWriter, item: Item) -> Part:
    """What a fold starts from, its source statement first."""
    with w.slot() as before:
        w.comment(item.origin)
        if item.argument:
            assert isinstance(item.r.body, ir.Select)
            return Part(item.name, w.expr(item.r.body.other), before)
        if item.spread is not None:
            return Part(item.name, spreads.start(w, item.spread, item.r), before)
        return Part(item.name, w.initial(item.r), before)


def joins(
    w: KernelWriter, folds: Sequence[Item], together: Sequence[Item], shared: Mapping[str, str],
    word: str = "block",
) -> list[Join]:  # fmt: skip
    """What joins some of the folds that are `together`: an extreme and its position as one.

    With the `word` column the threads of a block that have the same column join theirs, with row
    those that have the same row.
    """
    found: list[Join] = []
    for item in folds:
        if item.argument:
            continue
        if item.spread is not None:
            both, given = spreads.joined(w, item.name, item.spread, item.r)
            w.helper(f"{word}_spread", f"{word}_sum")
            own = shared[w.shared_type(item.r.dtype)]
            found.append(Join(both, f"{word}_spread", given, own))
            continue
        helper, own = join(w, item.r, shared, word)
        for p in together:
            if p.argument == item.name:
                w.helper(f"{word}_arg{item.r.op}", f"first_{item.r.op}")
                places = shared[w.shared_type(p.r.dtype)]
                both = f"{item.name}, {p.name}"
                found.append(Join(both, f"{word}_arg{item.r.op}", both, f"{own}, {places}"))
                break
        else:
            found.append(Join(item.name, helper, item.name, own))
    return found


def passes(
    w: KernelWriter, folds: Sequence[Item], shared: Mapping[str, str], word: str = "block",
    kept: ir.Write | None = None,
) -> list[Pass]:  # fmt: skip
    """What one thread folds, in a loop for each domain, and how the block joins that.

    What is `kept` of them is stored before it is folded; all have one domain then.
    """
    return [_pass(w, group, shared, word, kept) for group in over_domains(folds)]


def _pass(
    w: KernelWriter, group: Sequence[Item], shared: Mapping[str, str], word: str,
    kept: ir.Write | None,
) -> Pass:  # fmt: skip
    axes = group[0].r.axes
    with w.slot() as bounds:
        # the bounds of the first loop are there after it, too
        w.poly(axes[0].lo)
        w.poly(axes[0].hi)
    with w.inside():
        parts = [part(w, item) for item in group]
        parts[0] = replace(parts[0], before=Lines([*parts[0].before, *bounds]))
        outer, last = [loop(w, a) for a in axes[:-1]], _shared_out(w, axes[-1], (), word)
        terms = terms_of(w, group, kept)
    return Pass(parts, joins(w, group, group, shared, word), outer, last, terms)


def _shared_out(w: KernelWriter, a: ir.Axis, body: Sequence[ir.Stmt], word: str) -> Loop:
    """The loop of the threads of a block, or of those of a row."""
    return strided(w, a, body) if word == "block" else replace(loop(w, a), skips=skips(body))


def terms_of(w: KernelWriter, group: Sequence[Item], kept: ir.Write | None = None) -> Lines:
    """The lines that fold one more element into variables.

    What is `kept` of it is stored first; what several of them need gets a name.
    """
    if kept is not None:
        group = [replace(i, r=with_kept(i.r, kept)) for i in group]
    stores = [] if kept is None else [replace(kept, axes=())]
    own = [i for i in group if not i.argument]
    inside = {a.name for a in group[0].r.axes}
    bodies = [*(s.body for s in stores), *map(_element, own)]
    values, left = repeated(bodies, inside, w.fresh)
    with w.slot() as lines:
        w.block([ir.Let(name, e, group[0].origin) for name, e in values])
        w.block([replace(s, body=left.pop(0)) for s in stores])
    known = {i.name: body for i, body in zip(own, left, strict=True)}
    return Lines([*lines, *(x for item in group for x in _term(w, group, item, known))])


def pieces(w: KernelWriter, group: Sequence[Item]) -> Pieces | None:
    """What stands between pieces of the innermost loop, where deviations need that."""
    found = [(i, i.spread) for i in group if i.spread is not None and not i.spread.arrays]
    if not found:
        return None
    length, piece, left = (w.fresh(word) for word in ("length", "piece", "left"))
    with w.inside(), w.slot() as before:
        for item, spread in found:
            spreads.moved(w, item.name, spread, item.r, length, item is found[0][0])
    return Pieces(before, length, piece, left)


def _element(item: Item) -> ir.Expr:
    return item.r.body if item.spread is None else spreads.element(item.spread, item.r)


def _term(
    w: KernelWriter, group: Sequence[Item], item: Item, bodies: Mapping[str, ir.Expr]
) -> Lines:
    """Those of one of them; an extreme takes its position along."""
    if item.argument:
        return Lines()
    if item.spread is not None:
        with w.slot() as lines:
            spreads.term(w, item.name, item.spread, item.r, bodies[item.name])
        return lines
    item = replace(item, r=replace(item.r, body=bodies[item.name]))
    position = next((p for p in group if p.argument == item.name), None)
    if position is None:
        return term_of(w, item.name, item.r)
    assert isinstance(position.r.body, ir.Select)
    w.helper(f"first_{item.r.op}")
    with w.slot() as term:
        value, at = w.expr(item.r.body), w.expr(position.r.body.then)
        if not isinstance(item.r.body, (ir.Load, ir.Local)):
            name = w.fresh("value")
            w.emit(f"{name} = {value}")
            value = name
        test = f"first_{item.r.op}({value}, {at}, {item.name}, {position.name})"
        for line in (f"if {test}:", f"    {item.name} = {value}", f"    {position.name} = {at}"):
            w.emit(line)
    return term


def term_of(w: KernelWriter, name: str, r: ir.Reduce) -> Lines:
    """The lines that fold one more element into a variable."""
    with w.slot() as term:
        w.emit(w.fold(r, name))
    return term


def join(
    w: KernelWriter, r: ir.Reduce, shared: Mapping[str, str], word: str = "block"
) -> tuple[str, str]:
    """The device function that joins what the threads of a block have folded, and its scratch."""
    helper = f"{word}_{r.op}"
    w.helper(helper, *([f"{r.op}imum"] if r.op in ("max", "min") else []))
    return helper, shared[w.shared_type(r.dtype)]


def comment(w: KernelWriter, origin: ir.Origin) -> Lines:
    """The source statement, if it was not quoted just before."""
    with w.slot() as lines:
        w.comment(origin)
    return lines


def fold(
    w: KernelWriter, step: Fold, shared: Mapping[str, str], read_later: bool,
    later: Sequence[Fold] = (), word: str = "block",
) -> dict[str, object]:  # fmt: skip
    """A fold by the whole block, with the loop of `later` ones; its first thread stores the result.

    `parts` has those of one whose loop is that of an earlier one.
    """
    loops = passes(w, [] if step.shared else items([step, *later]), shared, word, step.kept)
    quoted = comment(w, step.origin)
    parts = joins(w, items([step]), items([step, *later]), shared, word)
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


def keep_result(w: KernelWriter, step: Fold) -> None:
    """Store the result of a fold, or give its variable the value."""
    value = w.expr(step.value)
    target = element(w, step.store) if step.store is not None else step.name
    if value != target:
        w.emit(f"{target} = {value}")


def element(w: KernelWriter, s: ir.Write) -> str:
    """What a store without axes stores into."""
    return f"{s.buffer}[{', '.join(w.poly(p) for p in s.index) or w.scalar}]"


def stage(w: KernelWriter, step: ir.Stage, rows: int, word: str = "block") -> dict[str, object]:
    """A stage over one axis or two beyond the rows, which the threads of a block or of a row share
    out; without any, one thread does it."""
    w.forget()
    own = step.axes[rows:]
    if word == "block" and own[1:]:
        turns = [strided(w, a, step.body) for a in own]
    else:
        turns = [_shared_out(w, own[-1], step.body, word)] if own else []
    with w.slot() as body:
        w.block(step.body if turns else _to_its_end(step.body))
    w.forget()
    return {"parts": None, "turns": turns, "body": body}


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
