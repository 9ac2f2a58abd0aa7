"""An iteration in which each variable has one value: static single assignment.

R. Cytron, J. Ferrante, B. K. Rosen, M. N. Wegman, F. K. Zadeck: Efficiently computing static single
assignment form and the control dependence graph, 1991.  What a branch gives a variable becomes a
choice between values.  So what an iteration passes on to the next one is one expression of what it
was, however the statements change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, expressions, uses_in
from porter.ir.rebuild import map_exprs, rename_variables, variables_as
from porter.ir.scalars import choose
from porter.ir.walk import free_names, loaded, rewrite, statements, walk

#: the nodes that a value written out may consist of
MOST_NODES = 400

#: what variables are at some point of an iteration
Values = Mapping[str, ir.Expr]


@dataclass(frozen=True)
class Iteration:
    """The statements of an iteration: variables are assigned in one place, outside of branches.

    For the variables that are passed on, `olds` are their names before it, and `news` after it.
    """

    body: tuple[ir.Stmt, ...]
    olds: Mapping[str, ir.Local]
    news: Values

    @property
    def values(self) -> dict[str, ir.Expr]:
        """What its variables stand for."""
        return {s.name: s.value for s in self.body if isinstance(s, ir.Let)}


class _Mixed(Exception):
    """Values that are too large to be written out, or that depend on when they are computed."""


def iteration_of(loop: ir.For, after: set[str], context: Context) -> Iteration | None:
    """The body of a loop in this form; `after` are the variables that are read after the loop."""
    body = _without_continue(loop.body)
    every = list(statements(body))
    lets = [s for s in every if isinstance(s, ir.Let)]
    kinds = {s.name: s.value.dtype for s in lets}
    if not all(isinstance(s, (ir.Let, ir.Write, ir.If)) for s in every):
        return None
    if any(s.value.dtype != kinds[s.name] for s in lets) or kinds.keys() & _symbols(every):
        return None
    olds = {n: ir.Local(context.fresh(f"{n}_old"), dtype) for n, dtype in kinds.items()}
    made = _Statements(body, after, context)
    try:
        news = made.block(body, olds)
    except _Mixed:
        return None
    values = {s.name: s.value for s in made.result if isinstance(s, ir.Let)}
    news = {n: x if n in after else _original(x, values) for n, x in news.items()}
    return _needed(Iteration(tuple(made.result), olds, news), after)


def _by_name(s: ir.Stmt, named: Mapping[ir.Expr, ir.Expr]) -> ir.Stmt:
    """What is left of a branch, with the names of choices in place of what they are there."""
    if not isinstance(s, ir.If):
        return s
    sides = []
    for block, one in ((s.body, True), (s.orelse, False)):
        chosen = {e.then if one else e.other: name for e, name in named.items()
                  if isinstance(e, ir.Select) and e.cond == s.cond}  # fmt: skip
        known: dict[ir.Expr, ir.Expr] = {
            e: name for e, name in chosen.items() if isinstance(e, (ir.Op, ir.Select))
        }
        sides.append(tuple(map_exprs(x, partial(_found, known)) for x in block))
    return replace(s, body=sides[0], orelse=sides[1])


def _found(known: Mapping[ir.Expr, ir.Expr], e: ir.Expr) -> ir.Expr | None:
    return known.get(e)


def _original(e: ir.Expr, values: Values) -> ir.Expr:
    """The variable that others are copies of."""
    while isinstance(e, ir.Local) and isinstance(value := values.get(e.name), ir.Local):
        e = value
    return e


def _without_continue(body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """`if c: ...; continue` as a branch with what follows on its other side."""
    for k, s in enumerate(body):
        if isinstance(s, ir.If) and not s.orelse and s.body:
            last = s.body[-1]
            if isinstance(last, ir.Jump) and last.kind == "continue":
                rest = _without_continue(body[k + 1 :])
                return (*body[:k], replace(s, body=s.body[:-1], orelse=rest))
    return tuple(body)


def _symbols(body: Sequence[ir.Stmt]) -> set[str]:
    """The names in subscripts and sizes."""
    found = {n for s in body if isinstance(s, ir.Write) for p in s.index for n in p.names()}
    return found.union(*(free_names(e) for s in body for e in expressions(s)))


class _Statements:
    """The statements that have this form, one after the other."""

    def __init__(self, body: Sequence[ir.Stmt], after: set[str], context: Context) -> None:
        self.context = context
        #: what is read before it is assigned, or after the loop
        self.outside = exposed_scalars(body) | after
        self.aliases = Aliases.of((), context.buffers)
        self.result: list[ir.Stmt] = []

    def block(self, body: Sequence[ir.Stmt], values: Values) -> Values:
        """What variables are after the statements of the iteration itself."""
        for k, s in enumerate(body):
            if isinstance(s, ir.Let):
                values = self._set(s.name, _read(s.value, values), s.origin, values)
            elif isinstance(s, ir.If):
                values = self._branch(s, body[k + 1 :], values)
            else:
                self.result.append(map_exprs(s, variables_as(values)))
        return values

    def _set(self, name: str, value: ir.Expr, origin: ir.Origin, values: Values) -> Values:
        new = ir.Let(self.context.fresh(f"{name}_new"), value, origin)
        self.result.append(new)
        return {**values, name: ir.Local(new.name, value.dtype)}

    def _branch(self, s: ir.If, rest: Sequence[ir.Stmt], values: Values) -> Values:
        """What a branch gives variables as choices, and in front of what it stores."""
        made = defs_in((s,)).scalars
        if not made & (self.outside | exposed_scalars(rest)):
            inside = {n: x for n, x in values.items() if n not in made}
            self.result.append(map_exprs(s, variables_as(inside)))
            return values
        after, stores = self._in_branch(s, values)
        before, named = values, dict[ir.Expr, ir.Expr]()
        for x in statements((s,)):
            if isinstance(x, ir.Let) and x.name in made:
                made -= {x.name}
                if after[x.name] != before[x.name]:
                    values = self._set(x.name, after[x.name], s.origin, values)
                    named[after[x.name]] = values[x.name]
        self.result += [_by_name(x, named) for x in stores]
        return values

    def _in_branch(self, s: ir.If, values: Values) -> tuple[Values, list[ir.Stmt]]:
        """What variables are after a branch, and what is left of it; they come before it then."""
        cond = _read(s.cond, values)
        (one, first), (other, second) = (self._side(b, values) for b in (s.body, s.orelse))
        both = {n: x if x == other[n] else choose(cond, x, other[n]) for n, x in one.items()}
        if any(x.dtype != values[n].dtype for n, x in both.items()):
            raise _Mixed
        left: list[ir.Stmt] = []
        if first or second:
            left.append(ir.If(cond, tuple(first), tuple(second), s.origin))
        return both, left

    def _side(self, body: Sequence[ir.Stmt], values: Values) -> tuple[Values, list[ir.Stmt]]:
        """What variables are after one side of a branch, and what it stores.

        Raises `_Mixed` for a value that is read after a store, which may change it.
        """
        stores: list[ir.Stmt] = []
        for s in body:
            stored = self.aliases.with_others(defs_in(stores).arrays, arguments=True)
            if defs_in((s,)).scalars and stored & _loaded(s):
                raise _Mixed
            if isinstance(s, ir.Let):
                values = {**values, s.name: _read(s.value, values)}
            elif isinstance(s, ir.If):
                values, more = self._in_branch(s, values)
                stores += more
            else:
                stores.append(map_exprs(s, variables_as(values)))
        return values, stores


def _read(e: ir.Expr, values: Values) -> ir.Expr:
    """An expression with what its variables are; raises `_Mixed` for one that is too large."""
    new = rewrite(e, variables_as(values))
    if sum(1 for _ in islice(walk(new), MOST_NODES + 1)) > MOST_NODES:
        raise _Mixed
    return new


def _loaded(s: ir.Stmt) -> set[str]:
    """The arrays that the variables and the branches of a statement depend on."""
    inside = [x for x in statements((s,)) if isinstance(x, (ir.Let, ir.If))]
    return loaded(*(e for x in inside for e in expressions(x)))


def _needed(made: Iteration, after: set[str]) -> Iteration:
    """The iteration without values that nothing reads.

    Of variables that are not passed on, the last values have the names of the variables.
    """
    passed = {old.name: name for name, old in made.olds.items()}
    wanted = {x.name for n, x in made.news.items() if n in after and isinstance(x, ir.Local)}
    kept: list[ir.Stmt] = []
    before: set[str] | None = None
    while before != wanted:
        before = set(wanted)
        kept = [s for s in made.body if not isinstance(s, ir.Let) or s.name in wanted]
        wanted |= uses_in(kept).scalars
        last = (made.news[passed[n]] for n in wanted & passed.keys())
        wanted |= {x.name for x in last if isinstance(x, ir.Local)}
    carried = [n for n, old in made.olds.items() if old.name in wanted]
    ends = {n: x.name for n, x in made.news.items() if n not in carried and isinstance(x, ir.Local)}
    names = {x: n for n, x in ends.items() if x in wanted and x not in passed}
    body = tuple(rename_variables(s, names) for s in kept)
    shown = variables_as({old: replace(made.olds[n], name=n) for old, n in names.items()})
    news: dict[str, ir.Expr] = {n: rewrite(made.news[n], shown) for n in carried}
    return Iteration(body, {n: made.olds[n] for n in carried}, news)
