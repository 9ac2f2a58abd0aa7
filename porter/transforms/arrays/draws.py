"""Random numbers: what is drawn where it is read, and what is drawn into an array first.

A draw is an element of an array that is nowhere: a function of its indices, as all else.  It is
drawn where it is read if that is one place only, to which a thread comes once for each element:
then its indices are those of all loops around.  All others are stored into an array, and read
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.reductions import has_data, known_bounds
from porter.diagnostics import refusal
from porter.dtypes.dtype import DType
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import axes_of, expressions, uses, uses_in
from porter.ir.nodes import STATES
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.recurrences import operands
from porter.ir.walk import blocks, children, statements, walk
from porter.sizes.polynomial import Data, Index, Poly


@dataclass(frozen=True)
class _Read:
    """A draw, the statement that it stands in, the indices and the folds around it."""

    draw: ir.Draw
    stmt: ir.Stmt
    bound: frozenset[str]
    folds: tuple[ir.Reduce, ...]


def store_draws(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass."""
    found: dict[str, list[_Read]] = {}
    for read in _reads(body, frozenset(), _turns(body)):
        found.setdefault(read.draw.buffer, []).append(read)
    if not found:
        return body
    if context.schedules:
        raise refusal(
            "PRT901",
            "only CUDA kernels draw random numbers",
            next(iter(found.values()))[0].stmt.origin.span,
            "convert it with `--target cuda`",
        )
    context.buffers[STATES] = ir.Buffer(STATES, (Poly.of(2),), DType("uint64"), draws=STATES)
    for name, reads in found.items():
        if not _drawn_once(reads):
            body = _Storing(context, context.buffers[name], [r.draw for r in reads]).run(body)
    return body


def _reads(
    body: Sequence[ir.Stmt], bound: frozenset[str], turns: frozenset[str]
) -> Iterator[_Read]:
    """Every draw of statements, nested ones included."""
    for s in body:
        inner = bound | {a.name for a in axes_of(s)}
        inner |= {s.index} if isinstance(s, ir.For) else set()
        inner |= _counted(s, turns)
        for e in expressions(s):
            for draw, names, folds in _draws(e, inner, ()):
                yield _Read(draw, s, names, folds)
        for block in blocks(s):
            yield from _reads(block, inner, turns)


def _turns(body: tuple[ir.Stmt, ...]) -> frozenset[str]:
    """The variables that count the turns of `while` loops in which numbers are drawn."""
    every = (e for s in statements(body) for x in expressions(s) for e in walk(x))
    draws = (e for e in every if isinstance(e, ir.Draw))
    return frozenset(n for e in draws for p in e.index if (n := _turn_of(p)))


def _turn_of(p: Poly) -> str:
    """The variable that counts turns, if that is what a position is."""
    atom = next(p.atoms(), None)
    if not isinstance(atom, Data) or p != Poly.atom(atom):
        return ""
    return atom.expr.name if isinstance(atom.expr, ir.Local) else ""


def _counted(s: ir.Stmt, turns: frozenset[str]) -> frozenset[str]:
    """The variable that counts the turns of this loop."""
    if not isinstance(s, ir.While):
        return frozenset()
    return turns & {t.name for t in s.body if isinstance(t, ir.Let)}


def _name_of(p: Poly) -> str | None:
    return p.name or _turn_of(p) or None


def forget_turns(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """Without what counts turns: no pass is left that asks which one a number is drawn in."""
    turns = _turns(body)
    return _without(body, turns) if turns else body


def _without(body: tuple[ir.Stmt, ...], turns: frozenset[str]) -> tuple[ir.Stmt, ...]:
    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Draw):
            return None
        return replace(e, index=tuple(Poly() if _turn_of(p) in turns else p for p in e.index))

    kept = [s for s in body if not (isinstance(s, ir.Let) and s.name in turns)]
    return tuple(
        map_blocks(map_exprs(s, change), lambda block: _without(block, turns)) for s in kept
    )


def _draws(
    e: ir.Expr, bound: frozenset[str], folds: tuple[ir.Reduce, ...]
) -> Iterator[tuple[ir.Draw, frozenset[str], tuple[ir.Reduce, ...]]]:
    if isinstance(e, ir.Draw):
        yield e, bound, folds
    below = children(e)
    if isinstance(e, ir.Reduce):
        inside = operands(e).values()
        for part in inside:
            yield from _draws(part, bound | {a.name for a in e.axes}, (*folds, e))
        below = below[: len(below) - len(inside)]
    for child in below:
        yield from _draws(child, bound, folds)


def _drawn_once(reads: Sequence[_Read]) -> bool:
    """Whether each element is drawn where it is read."""
    first = reads[0]
    if any((r.draw, r.bound, r.folds) != (first.draw, first.bound, first.folds) for r in reads):
        return False
    if any(r.stmt is not first.stmt for r in reads):
        return False
    names = [_name_of(p) for p in first.draw.index]
    if None in names or len(set(names)) < len(names) or set(names) != first.bound:
        return False
    return _evaluates_once(first)


def _evaluates_once(read: _Read) -> bool:
    """Whether a thread computes what the draw stands in once, and no other one does."""
    s, folds = read.stmt, read.folds
    if len(folds) > 1 or any(isinstance(f, ir.Scan) or not _is_plain(f) for f in folds):
        return False
    if not isinstance(s, ir.Write):
        return isinstance(s, (ir.Let, ir.If)) and not (isinstance(s, ir.If) and folds)
    if s.combine is not None or has_data(s.index):
        return False
    if not folds:
        # beside a fold, the threads that share it would all compute this
        return not any(isinstance(x, ir.Reduce) for e in expressions(s) for x in walk(e))
    # an array is drawn by all threads; the numbers of a loop in each of its iterations, by one
    return not s.axes or read.draw.dtype.weak


def _is_plain(fold: ir.Reduce) -> bool:
    """Whether a fold takes each element once: an extreme of integers starts from the first."""
    once = fold.op in ("sum", "prod", "any", "all") or fold.dtype.kind == "f"
    return once and len(fold.axes) == 1 and known_bounds(fold)


class _Storing:
    """Puts numbers into an array, in the innermost loops of the host around all that read them."""

    def __init__(self, context: Context, draws: ir.Buffer, reads: Sequence[ir.Draw]) -> None:
        self.context, self.draws, self.reads = context, draws, reads
        self.kept: list[int] = []  # the axes that are not those of the loops around
        self.array = ""
        self.turns = frozenset(n for e in reads for p in e.index if (n := _turn_of(p)))

    def run(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements, which read the array."""
        body = self._placed(body, ())

        def change(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Draw) or e.buffer != self.draws.name:
                return None
            return ir.Load(self.array, tuple(e.index[d] for d in self.kept), e.dtype)

        return tuple(map_exprs(s, change) for s in body)

    def _placed(self, body: tuple[ir.Stmt, ...], loops: tuple[str, ...]) -> tuple[ir.Stmt, ...]:
        name = self.draws.name
        first = next(k for k, s in enumerate(body) if name in uses_in((s,)).arrays)
        only = body[first]
        more = any(name in uses_in((s,)).arrays for s in body[first + 1 :])
        inside = [b for b in blocks(only) if name in uses_in(b).arrays]
        nested = isinstance(only, (ir.For, ir.While, ir.If)) and len(inside) == 1
        if more or not nested or name in uses(only).arrays:
            return (*body[:first], *self._store(only.origin, loops), *body[first:])
        own = {only.index} if isinstance(only, ir.For) else _counted(only, self.turns)
        deeper = (*loops, *own)

        def change(block: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
            return self._placed(block, deeper) if block is inside[0] else block

        return (*body[:first], map_blocks(only, change), *body[first + 1 :])

    def _store(self, origin: ir.Origin, loops: Sequence[str]) -> list[ir.Stmt]:
        """The array, of what is drawn in one iteration of the loops around."""
        axes: list[ir.Axis] = []
        index: list[Poly] = []
        for d, n in enumerate(self.draws.shape):
            first = self.reads[0].index[d]
            if _name_of(first) in loops and all(r.index[d] == first for r in self.reads):
                index.append(first)
                continue
            if _turn_of(first):
                raise refusal(
                    "PRT902",
                    "an array of random numbers is read in several places of a `while` loop",
                    origin.span,
                    "draw one number after the other: `a = rng.random()`",
                )
            if any(_is_unknown(a, loops) for a in n.atoms()):
                raise refusal(
                    "PRT906",
                    "random numbers that are read in several places of a loop of changing length",
                    origin.span,
                    "draw them into an array in front of the loop",
                )
            self.kept.append(d)
            axes.append(ir.Axis(self.context.fresh("i_"), n))
            index += symbols(axes[-1:])
        buffer = self.context.buffer("drawn", axes, self.draws.dtype)
        self.array = buffer.name
        source = replace(self.draws, name=self.context.fresh("draws"))
        self.context.buffers[source.name] = source
        value = ir.Draw(source.name, tuple(index), buffer.dtype)
        plain = ir.Origin(origin.span)
        write = ir.Write(buffer.name, tuple(axes), symbols(axes), value, plain)
        return [ir.Alloc(buffer, plain), write]


def _is_unknown(a: object, loops: Sequence[str]) -> bool:
    return isinstance(a, Data) or (isinstance(a, Index) and a.name not in loops)
