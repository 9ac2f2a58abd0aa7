"""Numbers that a loop over nothing leaves as they were: Python's own, of Python's type.

`total = 0` before `for v in x: total += v` is NumPy's number after the loop, but `0` where x is
empty.  A kernel's result has one dtype, so the host returns Python's number where no iteration
runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import WEAK_INT
from porter.ir.effects import defs_in, surely_assigned
from porter.ir.scalars import constant_of, integer, on_host, operate
from porter.ir.walk import free_names, jumps, statements
from porter.lowering.evaluation import Body, Start, is_expr
from porter.lowering.expressions.iterations import trips
from porter.lowering.state.ambiguous import candidates_of
from porter.resolve.values import Array, Function, Iteration, Value
from porter.sizes.polynomial import Poly
from porter.syntax.names import assigned_names, used_names

Result = str | ir.Expr | None


def literal_starts(body: Body, names: Sequence[str]) -> dict[str, ir.Const]:
    """The names that are Python's numbers before a loop of the function's own level."""
    if body.b.out.depth or body.helper or body.b.scope.conditional:
        return {}
    values = {n: _literal(body.env.get(n)) for n in names}
    return {n: v for n, v in values.items() if v is not None}


def _literal(value: Value | None) -> ir.Const | None:
    """Python's number that a value is, if it is one."""
    if value is None or not is_expr(value) or not value.dtype.weak:
        return None
    known = _folded(value)
    return None if known is None else ir.Const(known, value.dtype)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "neg": operator.neg,
}


def _folded(e: ir.Expr) -> Any:
    """The number that arithmetic of literals gives, None for anything else."""
    if isinstance(e, ir.Cast):
        inner = _folded(e.arg)
        return inner if inner is None or e.dtype.kind != "f" else float(inner)
    if not isinstance(e, ir.Op) or e.op not in _ARITHMETIC:
        return constant_of(e)
    args = [_folded(a) for a in e.args]
    if None in args or (e.op == "truediv" and not args[1]):
        return None
    return _ARITHMETIC[e.op](*args)


def note(body: Body, starts: dict[str, ir.Const], node: cst.For, loop: Iteration) -> None:
    """After the loop: what its names are if no iteration ran."""
    for name, number in starts.items():
        counts, after = (trips(loop.range), *_inner(body, node, name)), body.env.get(name)
        sure = isinstance(after, ir.Local) and _has_one_dtype(body, after.name, len(counts))
        body.flow.untouched[name] = Start(number, counts, after, sure)


def _has_one_dtype(body: Body, name: str, depth: int) -> bool:
    """Whether each iteration of the loop that was just emitted gives a variable a NumPy number:
    `s += x[i]` has x's dtype, whatever `s` was.  The loops are nested to this depth."""
    block: Sequence[ir.Stmt] = body.b.out.blocks[-1][-1:]
    for _ in range(depth):
        assigning = [s for s in block if name in defs_in((s,)).scalars]
        if len(assigning) != 1 or not isinstance(assigning[0], ir.For):
            return False
        block = assigning[0].body
    made = [s.value for s in statements(tuple(block)) if isinstance(s, ir.Let) and s.name == name]
    found = {c.dtype for v in made for c in candidates_of(body.b.dtypes, v)}
    if jumps(block) or name not in surely_assigned(block):
        return False
    return len(found) == 1 and not next(iter(found)).weak


@contextmanager
def narrow_returned(body: Body, nodes: Sequence[cst.BaseExpression]) -> Iterator[None]:
    """While the results are computed, variables have the dtype that iterations give them: where no
    iteration runs, `return_unless_run` returns Python's numbers."""
    known = body.b.dtypes.local_candidates
    before = {n: known.pop(n) for n in _made_by_loops(body, nodes) if n in known}
    try:
        yield
    finally:
        known.update(before)


def _made_by_loops(body: Body, nodes: Sequence[cst.BaseExpression]) -> set[str]:
    """The variables that are only read where the loops have run."""
    found = [_bare(body, node) for node in nodes]
    counts = {f[1] for f in found if f is not None}
    if body.b.out.depth or body.helper or len(counts) != 1:
        return set()
    resolved = [body.b.sizes.resolve(n).constant for n in next(iter(counts))]
    if any(n is not None and n < 1 for n in resolved):
        return set()
    names = {n for node, f in zip(nodes, found, strict=True) if f for n in used_names(node)}
    names -= {n for node, f in zip(nodes, found, strict=True) if not f for n in used_names(node)}
    starts = ((n, body.flow.untouched[n]) for n in names & body.flow.untouched.keys())
    after = (s.after for n, s in starts if s.sure and s.after is body.env[n])
    return {value.name for value in after if isinstance(value, ir.Local)}


def counted(body: Body, node: cst.For, loop: Iteration) -> None:
    """An inner loop: how often it runs, if that is the same in each iteration around it."""
    count = trips(loop.range)
    if not free_names(integer(count)) & body.b.scope.indices:
        body.flow.inner_counts[node] = count


def _inner(body: Body, node: cst.For, name: str) -> list[Poly]:
    """The counts of the loops inside that alone assign the name."""
    found: list[Poly] = []
    while isinstance(node.body, cst.IndentedBlock):
        assigning = [s for s in node.body.body if name in assigned_names([s])]
        if len(assigning) != 1 or not isinstance(assigning[0], cst.For):
            break
        node = assigning[0]
        if node not in body.flow.inner_counts:
            break
        found.append(body.flow.inner_counts[node])
    return found


def return_unless_run(body: Body, nodes: Sequence[cst.BaseExpression], end: ir.Return) -> None:
    """Before a `return`: the results where the loops that made them do not run."""
    b = body.b
    if b.out.depth or body.helper:
        return
    bare: dict[int, ir.Expr] = {}
    counts: tuple[Poly, ...] = ()
    for k, (node, result) in enumerate(zip(nodes, end.values, strict=True)):
        found = _bare(body, node) if is_expr(result) and not result.dtype.weak else None
        # one test for all of them: what another loop makes keeps the kernel's type
        if found is not None and (not counts or counts == found[1]):
            bare[k], counts = found
    conditions = [
        operate("lt", integer(n), integer(Poly.of(1))) for n in map(b.sizes.resolve, counts)
    ]
    if not bare or any(isinstance(c, ir.Const) for c in conditions):
        return
    kept = tuple(bare.get(k, r) for k, r in enumerate(end.values))
    early = replace(end, values=kept, given=end.given - bare.keys())
    for test in conditions:
        b.out.emit(ir.If(test, (early,), (), b.place.origin))


def handed_on(body: Body, node: cst.Assign) -> tuple[str, ir.Expr, tuple[Poly, ...]] | None:
    """What an assignment of the function's own level makes of such numbers."""
    if body.b.out.depth or body.helper or not body.flow.untouched or len(node.targets) != 1:
        return None
    target = node.targets[0].target
    found = _bare(body, node.value) if isinstance(target, cst.Name) else None
    return None if found is None else (cst.ensure_type(target, cst.Name).value, *found)


def _bare(body: Body, node: cst.BaseExpression) -> tuple[ir.Expr, tuple[Poly, ...]] | None:
    """What an expression is where no iteration runs, if it is made of such numbers alone."""
    total = _summed(body, node)
    if total is not None:
        return ir.Const(0, WEAK_INT), (total,)
    starts = {n: body.flow.untouched[n] for n in used_names(node) if n in body.flow.untouched}
    if not starts or any(s.after is not body.env.get(n) for n, s in starts.items()):
        return None
    (counts, *others) = {s.counts for s in starts.values()}
    rest = used_names(node) & body.env.keys() - starts.keys()
    if others or not all(_is_argument(body, n) for n in rest):
        return None
    numbers = {**body.env, **{n: s.number for n, s in starts.items()}}
    try:
        with body.b.attempt(body.env) as undo:
            value = body.ev.within(body.ev.scope, numbers)(node)
            undo()
    except Refusal:
        return None
    found = _literal(value) or (value if is_expr(value) and on_host(value) else None)
    return None if found is None else (found, counts)


def _is_argument(body: Body, name: str) -> bool:
    """Whether a name still means what the caller gives."""
    match body.env[name]:
        case Array(view=view):
            return view is not None and body.b.out.is_parameter(view.buffer)
        case ir.Scalar(name=given):
            return given == name
        case ir.Value(poly=poly):
            return poly.name == name
    return False


def _summed(body: Body, node: cst.BaseExpression) -> Poly | None:
    """The length of what Python's own `sum` adds up: of nothing it is the int 0."""
    match node:
        case cst.Call(func=cst.Name(value="sum"), args=[cst.Arg(value=cst.Name(value=name))]):
            value, called = body.env.get(name), body.ev(node.func)
            builtin = isinstance(called, Function) and called.name == "builtins.sum"
            if builtin and isinstance(value, Array) and value.ndim == 1 and value.mask is None:
                return value.shape[0]
    return None
