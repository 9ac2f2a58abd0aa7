"""Loops that store what they accumulate: running folds written out.

`for i: s += f(i); out[i] = s` is the running sum of f, and then a loop without the sum, whose
iterations are free of each other.  `for i: out[i] = out[i - 1] + f(i)` is the same with the
sum kept in the array.  Only associative operations qualify: `y[i] = a * y[i - 1] + x[i]` does
not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter.analyses.accesses import exposed_locals, written_buffers
from porter.analyses.obstacles import obstacle
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.context import Context, locals_of, map_blocks, map_exprs, symbols
from porter.ir.nodes import (
    Axis,
    Const,
    Def,
    Expr,
    For,
    If,
    Let,
    Load,
    Local,
    Op,
    Reduce,
    Select,
    Stmt,
    Value,
    Write,
)
from porter.ir.scalars import cast
from porter.ir.walk import loaded, statements, substitute, walk
from porter.sizes.polynomial import Data, Poly, sym
from porter.transforms.loops.folds import fold_loop

#: what can be scanned: an operation, its fold, and the value that it ignores
_FOLDS = {"add": ("sum", 0), "mul": ("prod", 1), "maximum": ("max", None),
          "minimum": ("min", None), "or": ("any", 0), "and": ("all", 1)}  # fmt: skip


def scan_loops(body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """The pass, over the loops that stand in no other."""
    result: list[Stmt] = []
    for k, s in enumerate(body):
        found = None
        if isinstance(s, For) and s.step == 1:
            after = exposed_locals(body[k + 1 :])
            if obstacle(s, after, context) is not None and fold_loop(s, after) is None:
                found = _recurrence(s, context) or _accumulators(s, after, context)
        result += found or [s]
    return tuple(result)


# -- accumulated in a variable -------------------------------------------------------------


def _accumulators(loop: For, after: set[str], context: Context) -> list[Stmt] | None:
    """The running folds of all variables that the loop carries, and the loop without them."""
    plain = (Let, Write, If)
    if not all(isinstance(s, plain) for s in statements(loop.body)):
        return None
    carried = [s.name for s in statements(loop.body) if isinstance(s, Let)]
    exposed = exposed_locals(loop.body) & set(carried)
    if not exposed or any(carried.count(n) > 1 for n in exposed):
        return None
    split = _Split(loop, exposed, context)
    rest = split.block(loop.body, None)
    if rest is None or split.folded != exposed or not any(isinstance(s, Write) for s in rest):
        if rest is None or split.folded != exposed or not rest:
            return None
    new = replace(loop, body=tuple(rest))
    if obstacle(new, after - exposed, context) is not None:
        return None
    last = [f for name, f in split.last.items() if name in after]
    return [*split.defs, new, *last]


class _Split:
    """Takes the accumulations out of a loop's body, one after the other."""

    def __init__(self, loop: For, carried: set[str], context: Context) -> None:
        self.loop, self.carried, self.context = loop, carried, context
        self.here = sym(loop.index, True)
        self.written = written_buffers(loop.body)
        lets = [s.name for s in statements(loop.body) if isinstance(s, Let)]
        self.once = {name for name in lets if lets.count(name) == 1}
        self.defs: list[Stmt] = []
        self.last: dict[str, Let] = {}
        self.folded: set[str] = set()
        self.running: dict[str, Callable[[bool], Expr]] = {}
        self.plain: dict[str, Expr] = {}

    def block(self, body: Sequence[Stmt], cond: Expr | None) -> list[Stmt] | None:
        """The statements without the accumulations; None if one of them is none."""
        for s in body:
            self._announce(s, cond)
        result: list[Stmt] = []
        for s in body:
            if isinstance(s, Let) and s.name in self.carried:
                if s.name not in self.running:
                    return None
                self.folded.add(s.name)
                continue
            if isinstance(s, Let) and s.name in self.once and cond is None:
                if not locals_of(s.value) & self.carried:
                    self.plain[s.name] = s.value
            if isinstance(s, If):
                inner = self._branch(s, cond)
                if inner is None:
                    return None
                result += inner
                continue
            changed = map_exprs(s, self._now)
            if any(n in self.carried and n not in self.running for n in _locals(s)):
                return None
            result.append(changed)
        return result

    def _branch(self, s: If, cond: Expr | None) -> list[Stmt] | None:
        """A branch may accumulate where its condition holds."""
        lets = {x.name for x in statements((s,)) if isinstance(x, Let)}
        if not lets & self.carried:
            return [map_exprs(map_blocks(s, self._all), self._now)]
        if cond is not None or s.orelse:
            return None
        body = self.block(s.body, s.cond)
        if body is None:
            return None
        return [replace(s, body=tuple(body))] if body else []

    def _all(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map_exprs(map_blocks(s, self._all), self._now) for s in body)

    def _now(self, e: Expr) -> Expr | None:
        if isinstance(e, Local) and e.name in self.running:
            return self.running[e.name](e.name in self.folded)
        return None

    def _announce(self, s: Stmt, cond: Expr | None) -> None:
        """The running fold of `s = s op term`, if term depends on nothing that is carried."""
        if not isinstance(s, Let) or s.name not in self.carried or not isinstance(s.value, Op):
            return
        old = Local(s.name, s.value.dtype)
        op, args = s.value.op, s.value.args
        if op not in _FOLDS or len(args) != 2 or old not in args:
            return
        term = self._free(args[1] if args[0] == old else args[0])
        test = None if cond is None else self._free(cond)
        fold, ignored = _FOLDS[op]
        if term is None or (cond is not None and (test is None or ignored is None)):
            return
        dtype = s.value.dtype
        term = cast(term, dtype)
        if test is not None:
            term = Select(test, term, cast(Value(Poly.of(ignored or 0), INT64), dtype), dtype)
        self._define(s, fold, op, term)

    def _free(self, e: Expr) -> Expr | None:
        """The expression in terms of the index alone; None if the loop changes what it reads."""
        e = _replaced(e, self.plain)
        reads = loaded(e)
        assigned = {x.name for x in statements(self.loop.body) if isinstance(x, Let)}
        return None if reads & self.written or locals_of(e) & assigned else e

    def _define(self, s: Let, fold: str, op: str, term: Expr) -> None:
        loop, context = self.loop, self.context
        dtype = s.value.dtype
        array, place = _running(loop, f"{s.name}_so_far", fold, term, s, context, self.defs)
        start = Local(s.name, dtype)

        def after(p: Poly) -> Expr:
            return Op(op, (start, Load(array, (p,), dtype)), dtype)

        def value(done: bool) -> Expr:
            if done:
                return after(place)
            first = Op("gt", (Value(place, INT64), Value(Poly(), INT64)), BOOL)
            return Select(first, after(place - 1), start, dtype)

        self.running[s.name] = value
        length = loop.hi - loop.lo
        some = Op("gt", (Value(length, INT64), Value(Poly(), INT64)), BOOL)
        self.last[s.name] = Let(s.name, Select(some, after(length - 1), start, dtype), s.origin)


def _locals(s: Stmt) -> set[str]:
    from porter.analyses.accesses import used_locals

    return used_locals((s,))


def _replaced(e: Expr, values: dict[str, Expr]) -> Expr:
    from porter.ir.walk import rewrite

    def change(x: Expr) -> Expr | None:
        return values.get(x.name) if isinstance(x, Local) else None

    for _ in values:
        e = rewrite(e, change)
    return e


def _running(
    loop: For, name: str, fold: str, term: Expr, s: Let | Write, context: Context,
    before: list[Stmt],
) -> tuple[str, Poly]:  # fmt: skip
    """The running fold of a term over the loop as an array, and the loop's own place in it."""
    axis = Axis(context.fresh(loop.index), loop.hi - loop.lo)
    k = Axis(context.fresh("k_"), symbols([axis])[0] + 1)
    buffer = context.buffer(name, (axis,), term.dtype)
    body = substitute(term, {loop.index: symbols([k])[0] + loop.lo})
    strong = replace(term.dtype, weak=False)
    total = Reduce(fold, (k,), cast(body, strong), strong)
    before.append(Def(buffer.name, (axis,), strong, total, s.origin))
    return buffer.name, sym(loop.index, True) - loop.lo


# -- accumulated in the array ----------------------------------------------------------------


def _recurrence(loop: For, context: Context) -> list[Stmt] | None:
    """`out[i] = out[i - 1] op f(i)` as a running fold of f and what stood before the first."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], Write):
        return None
    s = loop.body[0]
    if s.axes or s.mask is not None or s.combine or not isinstance(s.body, Op):
        return None
    if s.body.op not in _FOLDS or len(s.body.args) != 2:
        return None
    here = sym(loop.index, True)
    if any(isinstance(a, Data) for p in s.index for a in p.atoms()):
        return None
    if sum(loop.index in p.names() for p in s.index) != 1:
        return None
    if any(p.coefficient(loop.index) not in (0, 1) for p in s.index):
        return None
    earlier = tuple(p.replace({loop.index: here - 1}) for p in s.index)
    first, term = s.body.args
    if not (isinstance(first, Load) and first.buffer == s.buffer and first.index == earlier):
        first, term = term, first
    if not (isinstance(first, Load) and first.buffer == s.buffer and first.index == earlier):
        return None
    if any(isinstance(e, Load) and e.buffer == s.buffer for e in walk(term)):
        return None
    fold, _ = _FOLDS[s.body.op]
    before: list[Stmt] = []
    name = f"{s.buffer}_so_far"
    array, place = _running(loop, name, fold, cast(term, s.body.dtype), s, context, before)
    start = replace(first, index=tuple(p.replace({loop.index: loop.lo}) for p in earlier))
    body = Op(s.body.op, (start, Load(array, (place,), s.body.dtype)), s.body.dtype)
    new, names = context.fresh_axes((Axis(loop.index, loop.hi, loop.lo),))
    index = tuple(p.replace(names) for p in s.index)
    return [*before, replace(s, axes=new, index=index, body=substitute(body, names))]


__all__ = ["Const", "scan_loops"]
