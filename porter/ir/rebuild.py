"""Rebuilding statements with sizes, dtypes or expressions replaced throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from porter.dtypes.dtype import DType
from porter.ir import nodes as ir
from porter.ir.walk import map_operands, rewrite, rewrite_poly, substitute, substitute_poly
from porter.sizes.polynomial import Atom, Data, Poly, sym

S = TypeVar("S", bound=ir.Stmt)
ExprMap = Callable[[ir.Expr], ir.Expr]
PolyMap = Callable[[Poly], Poly]
DTypeMap = Callable[[DType], DType]


def map_expr(expr: ir.Expr, poly: PolyMap, dtype: DTypeMap) -> ir.Expr:
    """An expression with every size and dtype replaced."""

    def again(e: ir.Expr) -> ir.Expr:
        return map_expr(e, poly, dtype)

    def size(p: Poly) -> Poly:
        return poly(p.map_atoms(atom) if any(isinstance(a, Data) for a in p.atoms()) else p)

    def atom(a: Atom) -> Poly:
        return Poly.atom(replace(a, expr=again(a.expr)) if isinstance(a, Data) else a)

    match expr:
        case ir.Const() | ir.Scalar() | ir.Local():
            return replace(expr, dtype=dtype(expr.dtype))
        case ir.Value(p, d):
            return ir.Value(size(p), dtype(d))
        case ir.Load(index=index):
            return replace(expr, index=tuple(map(size, index)), dtype=dtype(expr.dtype))
        case ir.Op(op, args, d):
            return ir.Op(op, tuple(map(again, args)), dtype(d))
        case ir.Cast(arg, d):
            inner, wanted = again(arg), dtype(d)
            return inner if inner.dtype == wanted else ir.Cast(inner, wanted)
        case ir.Select(cond, then, other, d):
            return ir.Select(again(cond), again(then), again(other), dtype(d))
        case ir.Reduce(axes=axes, dtype=d):
            bounds = tuple(ir.Axis(a.name, size(a.hi), size(a.lo)) for a in axes)
            return map_operands(replace(expr, axes=bounds, dtype=dtype(d)), again)
        case ir.Object():
            return expr


def map_statement(stmt: S, poly: PolyMap, dtype: DTypeMap) -> S:
    """A statement with every size and dtype replaced, nested ones included."""

    def expr(e: ir.Expr) -> ir.Expr:
        return map_expr(e, poly, dtype)

    def size(p: Poly) -> Poly:
        value = map_expr(ir.Value(p, DType("int64")), poly, dtype)
        assert isinstance(value, ir.Value)
        return value.poly

    return map_parts(stmt, expr, size, dtype)


def map_parts(stmt: S, expr: ExprMap, size: PolyMap, dtype: DTypeMap) -> S:
    """A statement with its expressions, sizes and dtypes replaced by the given functions."""
    return cast(S, _map_parts(stmt, expr, size, dtype))


def _map_parts(
    stmt: ir.Stmt, expr: Callable[[ir.Expr], ir.Expr], size: PolyMap, dtype: DTypeMap
) -> ir.Stmt:

    def axes(items: tuple[ir.Axis, ...]) -> tuple[ir.Axis, ...]:
        return tuple(ir.Axis(a.name, size(a.hi), size(a.lo)) for a in items)

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map_parts(s, expr, size, dtype) for s in body)

    match stmt:
        case ir.Def(name, own, d, body, origin):
            return ir.Def(name, axes(own), dtype(d), expr(body), origin)
        case ir.Alloc(buffer, origin):
            shape = tuple(map(size, buffer.shape))
            return ir.Alloc(replace(buffer, shape=shape, dtype=dtype(buffer.dtype)), origin)
        case ir.Write():
            return replace(
                stmt, axes=axes(stmt.axes), index=tuple(map(size, stmt.index)),
                body=expr(stmt.body), mask=None if stmt.mask is None else expr(stmt.mask),
            )  # fmt: skip
        case ir.Let(name, value, origin):
            return ir.Let(name, expr(value), origin)
        case ir.Stage(own, body, origin):
            return ir.Stage(axes(own), block(body), origin)
        case ir.For():
            return replace(stmt, lo=size(stmt.lo), hi=size(stmt.hi), body=block(stmt.body))
        case ir.While(cond, body, origin):
            return ir.While(expr(cond), block(body), origin)
        case ir.If(cond, body, orelse, origin):
            return ir.If(expr(cond), block(body), block(orelse), origin)
        case ir.Return(values=values):
            results = tuple(v if v is None or isinstance(v, str) else expr(v) for v in values)
            return replace(stmt, values=results)
        case ir.Host(values=values):
            return replace(stmt, values=tuple((n, expr(v)) for n, v in values))
    return stmt


def rename_axes(stmt: S, values: Mapping[str, Poly]) -> S:
    """A statement with index symbols replaced in it."""
    return map_parts(
        stmt, lambda e: substitute(e, values), lambda p: substitute_poly(p, values), lambda d: d
    )


def map_exprs(stmt: S, change: Callable[[ir.Expr], ir.Expr | None]) -> S:
    """A statement with sub-expressions replaced, those in subscripts included."""
    return map_parts(
        stmt, lambda e: rewrite(e, change), lambda p: rewrite_poly(p, change), lambda d: d
    )


def map_blocks(stmt: S, change: Callable[[tuple[ir.Stmt, ...]], tuple[ir.Stmt, ...]]) -> S:
    """A statement with each of its statement lists replaced."""
    if isinstance(stmt, ir.If):
        return replace(stmt, body=change(stmt.body), orelse=change(stmt.orelse))
    if isinstance(stmt, (ir.For, ir.While, ir.Stage)):
        return replace(stmt, body=change(stmt.body))
    return stmt


def map_host(
    body: Sequence[ir.Stmt], change: Callable[[ir.Stmt], Iterable[ir.Stmt] | None]
) -> tuple[ir.Stmt, ...]:
    """The host's statements with what `change` gives in place of each; None looks inside it.

    Stages that it does not change stay as they are.
    """
    result: list[ir.Stmt] = []
    for s in body:
        new = change(s)
        if new is None and not isinstance(s, ir.Stage):
            s = map_blocks(s, lambda b: map_host(b, change))
        result += [s] if new is None else new
    return tuple(result)


def variables_as(values: Mapping[str, ir.Expr]) -> Callable[[ir.Expr], ir.Expr | None]:
    """A change that puts values in place of variables."""
    return lambda e: values.get(e.name) if isinstance(e, ir.Local) else None


def rename_variables(stmt: S, names: Mapping[str, str]) -> S:
    """A statement with variables renamed, in it and where it assigns them."""

    def change(e: ir.Expr) -> ir.Expr | None:
        return (
            replace(e, name=names[e.name]) if isinstance(e, ir.Local) and e.name in names else None
        )

    def assigned(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Let):
            return replace(s, name=names.get(s.name, s.name))
        return map_blocks(s, lambda b: tuple(map(assigned, b)))

    stmt = rename_axes(map_exprs(stmt, change), {n: sym(new) for n, new in names.items()})
    return cast(S, assigned(stmt))


def rename_arrays(stmt: S, names: Mapping[str, str]) -> S:
    """A statement with other names for arrays that it reads or stores into."""

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or e.buffer not in names:
            return None
        index = tuple(rewrite_poly(p, change) for p in e.index)
        return replace(e, buffer=names[e.buffer], index=index)

    def stored(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, (ir.Write, ir.Fetch)):
            return replace(s, buffer=names.get(s.buffer, s.buffer))
        return map_blocks(s, lambda b: tuple(map(stored, b)))

    return cast(S, stored(map_exprs(stmt, change)))
