"""Walking and rewriting expressions and statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from porter.ir import nodes as ir
from porter.ir.recurrences import Recurrence, operands
from porter.sizes.polynomial import Atom, Data, Poly, Symbol

N = TypeVar("N")
R = TypeVar("R")
F = TypeVar("F", bound=ir.Reduce)


def remembered(question: Callable[[N], R]) -> Callable[[N], R]:
    """A question about one node, answered once: nodes never change, and are asked again by each
    pass and for each name that passes look for."""
    key = f"_{question.__module__}.{question.__name__}"

    @wraps(question)
    def ask(node: N) -> R:
        known = node.__dict__
        if key not in known:
            known[key] = question(node)
        answer: R = known[key]
        return answer

    return ask


def children(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """The operands of an expression; those inside subscripts and bounds included."""
    match expr:
        case ir.Op(args=args):
            return args
        case ir.Cast(arg=arg):
            return (arg,)
        case ir.Select(cond, then, other):
            return (cond, then, other)
        case ir.Load(index=index):
            return tuple(e for p in index for e in data_of(p))
        case ir.Value(poly=poly):
            return tuple(data_of(poly))
        case ir.Reduce(axes=axes):
            bounds = (e for a in axes for p in (a.lo, a.hi) for e in data_of(p))
            return (*bounds, *operands(expr).values())
    return ()


def data_of(poly: Poly) -> Iterator[ir.Expr]:
    """The expressions that a subscript reads from data."""
    return (a.expr for a in poly.atoms() if isinstance(a, Data))


def walk(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The expression and everything below it, parents first."""
    stack = [expr]
    while stack:
        at = stack.pop()
        yield at
        below = children(at)
        if below:
            stack += below[::-1]


def always(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of an expression that are computed in any case."""
    yield expr
    if isinstance(expr, ir.Select):
        yield from always(expr.cond)
        other = set(always(expr.other))
        yield from (x for x in always(expr.then) if x in other)
    elif isinstance(expr, (ir.Op, ir.Cast)):
        lazy = isinstance(expr, ir.Op) and expr.op in ("and", "or")
        for x in children(expr)[:1] if lazy else children(expr):
            yield from always(x)


def loaded(*expressions: ir.Expr) -> set[str]:
    """The arrays that expressions read."""
    return {x.buffer for e in expressions for x in walk(e) if isinstance(x, ir.Load)}


def rewrite(expr: ir.Expr, change: Callable[[ir.Expr], ir.Expr | None]) -> ir.Expr:
    """Replace, top down: where `change` gives an expression, it stands as it is."""
    new = change(expr)
    if new is not None:
        return new

    def poly(p: Poly) -> Poly:
        return rewrite_poly(p, change)

    match expr:
        case ir.Op(op, args, dtype):
            return ir.Op(op, tuple(rewrite(a, change) for a in args), dtype)
        case ir.Cast(arg, dtype):
            return ir.Cast(rewrite(arg, change), dtype)
        case ir.Select(cond, then, other, dtype):
            test, yes, no = (rewrite(e, change) for e in (cond, then, other))
            return ir.Select(test, yes, no, dtype)
        case ir.Load(index=index):
            return replace(expr, index=tuple(map(poly, index)))
        case ir.Value(p, dtype):
            return ir.Value(poly(p), dtype)
        case ir.Reduce(axes=axes):
            bounds = tuple(ir.Axis(a.name, poly(a.hi), poly(a.lo)) for a in axes)
            return map_operands(replace(expr, axes=bounds), lambda e: rewrite(e, change))
    return expr


def map_operands(r: F, change: Callable[[ir.Expr], ir.Expr]) -> F:
    """A fold with what it computes and what it starts from replaced."""
    changed: dict[str, Any] = {name: change(e) for name, e in operands(r).items()}
    return replace(r, **changed)


def rewrite_poly(poly: Poly, change: Callable[[ir.Expr], ir.Expr | None]) -> Poly:
    """Rewrite the expressions inside a subscript."""
    if not any(True for _ in data_of(poly)):
        return poly

    def atom(a: Atom) -> Poly:
        if not isinstance(a, Data):
            return Poly.atom(a)
        new = rewrite(a.expr, change)
        if isinstance(new, ir.Value) and a.proved:
            return new.poly
        return Poly.atom(replace(a, expr=new))

    return poly.map_atoms(atom)


def substitute(expr: ir.Expr, values: Mapping[str, Poly]) -> ir.Expr:
    """Replace index symbols by name; the caller keeps bound names apart."""
    if not values:
        return expr

    def poly(p: Poly) -> Poly:
        return substitute_poly(p, values)

    def change(e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Load(index=index):
                return replace(e, index=tuple(map(poly, index)))
            case ir.Value(p, dtype):
                return ir.Value(poly(p), dtype)
            case ir.Reduce(axes=axes):
                bounds = tuple(ir.Axis(a.name, poly(a.hi), poly(a.lo)) for a in axes)
                return map_operands(replace(e, axes=bounds), lambda x: rewrite(x, change))
        return None

    return rewrite(expr, change)


def substitute_poly(poly: Poly, values: Mapping[str, Poly]) -> Poly:
    """Replace index symbols in a subscript, those read from data included."""

    def atom(a: Atom) -> Poly:
        if isinstance(a, Data):
            return Poly.atom(replace(a, expr=substitute(a.expr, values)))
        return values[a.name] if isinstance(a, Symbol) and a.name in values else Poly.atom(a)

    return poly.map_atoms(atom)


def free_names(expr: ir.Expr) -> set[str]:
    """The index symbols that an expression depends on and does not bind itself."""
    names: set[str] = set()
    match expr:
        case ir.Load(index=index):
            for p in index:
                names |= p.names()
        case ir.Value(poly=p):
            names |= p.names()
        case ir.Reduce(axes=axes):
            inner: set[str] = set()
            for a in axes:
                inner |= a.lo.names() | a.hi.names()
            for child in children(expr):
                inner |= free_names(child)
            return inner - {a.name for a in axes}
    for child in children(expr):
        names |= free_names(child)
    return names


def jumps(body: Sequence[ir.Stmt]) -> bool:
    """Whether statements may leave the body that they are in before its end."""
    return any(isinstance(s, ir.Jump) for s in own_level(body))


def scalars_of(expr: ir.Expr) -> set[str]:
    """The variables, indices and sizes that an expression reads and does not bind itself."""
    found = free_names(expr).union(
        e.name for e in walk(expr) if isinstance(e, (ir.Scalar, ir.Local, ir.Object))
    )
    return found - {n for e in walk(expr) if isinstance(e, Recurrence) for n in e.olds}


def blocks(stmt: ir.Stmt) -> tuple[tuple[ir.Stmt, ...], ...]:
    """The statement lists inside a statement."""
    match stmt:
        case ir.For(body=body) | ir.While(body=body) | ir.Stage(body=body):
            return (body,)
        case ir.If(body=body, orelse=orelse):
            return (body, orelse)
    return ()


def statements(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Stmt]:
    """Every statement, outer ones first."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, (ir.For, ir.While, ir.Stage, ir.If)):
            for block in blocks(stmt):
                yield from statements(block)


def host_level(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements that the host runs, outer ones first: those inside of stages left out."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, (ir.For, ir.While, ir.If)):
            for block in blocks(stmt):
                yield from host_level(block)


def own_level(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a body, those inside `if` included, not those of inner loops."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, ir.If):
            yield from own_level(stmt.body)
            yield from own_level(stmt.orelse)


def only_raises(stmt: ir.Stmt) -> bool:
    """Whether a statement of the host does nothing but raise an error where something holds."""
    return isinstance(stmt, ir.If) and all(
        only_raises(s) or (isinstance(s, ir.Host) and s.kind is ir.HostKind.RAISE)
        for s in (*stmt.body, *stmt.orelse)
    )
