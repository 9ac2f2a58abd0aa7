"""Rebuilding statements with sizes, dtypes or expressions replaced throughout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from porter.dtypes.dtype import DType
from porter.ir.nodes import (
    Alloc,
    Axis,
    Cast,
    Const,
    Def,
    Expr,
    For,
    Host,
    If,
    Let,
    Load,
    Local,
    Object,
    Op,
    Reduce,
    Return,
    Scalar,
    Select,
    Stage,
    Stmt,
    Value,
    While,
    Write,
)
from porter.ir.walk import rewrite, rewrite_poly, substitute, substitute_poly
from porter.sizes.polynomial import Atom, Data, Poly, sym

S = TypeVar("S", bound=Stmt)
PolyMap = Callable[[Poly], Poly]
DTypeMap = Callable[[DType], DType]


def map_expr(expr: Expr, poly: PolyMap, dtype: DTypeMap) -> Expr:
    """An expression with every size and dtype replaced."""

    def again(e: Expr) -> Expr:
        return map_expr(e, poly, dtype)

    def size(p: Poly) -> Poly:
        return poly(p.map_atoms(atom) if any(isinstance(a, Data) for a in p.atoms()) else p)

    def atom(a: Atom) -> Poly:
        return Poly.atom(replace(a, expr=again(a.expr)) if isinstance(a, Data) else a)

    match expr:
        case Const() | Scalar() | Local():
            return replace(expr, dtype=dtype(expr.dtype))
        case Value(p, d):
            return Value(size(p), dtype(d))
        case Load(index=index):
            return replace(expr, index=tuple(map(size, index)), dtype=dtype(expr.dtype))
        case Op(op, args, d):
            return Op(op, tuple(map(again, args)), dtype(d))
        case Cast(arg, d):
            inner, wanted = again(arg), dtype(d)
            return inner if inner.dtype == wanted else Cast(inner, wanted)
        case Select(cond, then, other, d):
            return Select(again(cond), again(then), again(other), dtype(d))
        case Reduce(axes=axes, body=body, dtype=d):
            bounds = tuple(Axis(a.name, size(a.hi), size(a.lo)) for a in axes)
            return replace(expr, axes=bounds, body=again(body), dtype=dtype(d))
        case Object():
            return expr


def map_statement(stmt: S, poly: PolyMap, dtype: DTypeMap) -> S:
    """A statement with every size and dtype replaced, nested ones included."""

    def expr(e: Expr) -> Expr:
        return map_expr(e, poly, dtype)

    def size(p: Poly) -> Poly:
        value = map_expr(Value(p, DType("int64")), poly, dtype)
        assert isinstance(value, Value)
        return value.poly

    return map_parts(stmt, expr, size, dtype)


def map_parts(stmt: S, expr: Callable[[Expr], Expr], size: PolyMap, dtype: DTypeMap) -> S:
    """A statement with its expressions, sizes and dtypes replaced by the given functions."""
    return cast(S, _map_parts(stmt, expr, size, dtype))


def _map_parts(stmt: Stmt, expr: Callable[[Expr], Expr], size: PolyMap, dtype: DTypeMap) -> Stmt:

    def axes(items: tuple[Axis, ...]) -> tuple[Axis, ...]:
        return tuple(Axis(a.name, size(a.hi), size(a.lo)) for a in items)

    def block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map_parts(s, expr, size, dtype) for s in body)

    match stmt:
        case Def(name, own, d, body, origin):
            return Def(name, axes(own), dtype(d), expr(body), origin)
        case Alloc(buffer, origin):
            shape = tuple(map(size, buffer.shape))
            return Alloc(replace(buffer, shape=shape, dtype=dtype(buffer.dtype)), origin)
        case Write():
            return replace(
                stmt, axes=axes(stmt.axes), index=tuple(map(size, stmt.index)),
                body=expr(stmt.body), mask=None if stmt.mask is None else expr(stmt.mask),
            )  # fmt: skip
        case Let(name, value, origin):
            return Let(name, expr(value), origin)
        case Stage(own, body, origin):
            return Stage(axes(own), block(body), origin)
        case For():
            return replace(stmt, lo=size(stmt.lo), hi=size(stmt.hi), body=block(stmt.body))
        case While(cond, body, origin):
            return While(expr(cond), block(body), origin)
        case If(cond, body, orelse, origin):
            return If(expr(cond), block(body), block(orelse), origin)
        case Return(values=values):
            results = tuple(v if v is None or isinstance(v, str) else expr(v) for v in values)
            return replace(stmt, values=results)
        case Host(values=values):
            return replace(stmt, values=tuple((n, expr(v)) for n, v in values))
    return stmt


def rename_axes(stmt: S, values: Mapping[str, Poly]) -> S:
    """A statement with index symbols replaced in it."""
    return map_parts(
        stmt, lambda e: substitute(e, values), lambda p: substitute_poly(p, values), lambda d: d
    )


def map_exprs(stmt: S, change: Callable[[Expr], Expr | None]) -> S:
    """A statement with sub-expressions replaced, those in subscripts included."""
    return map_parts(
        stmt, lambda e: rewrite(e, change), lambda p: rewrite_poly(p, change), lambda d: d
    )


def map_blocks(stmt: S, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> S:
    """A statement with each of its statement lists replaced."""
    if isinstance(stmt, If):
        return replace(stmt, body=change(stmt.body), orelse=change(stmt.orelse))
    if isinstance(stmt, (For, While, Stage)):
        return replace(stmt, body=change(stmt.body))
    return stmt


def variables_as(values: Mapping[str, Expr]) -> Callable[[Expr], Expr | None]:
    """A change that puts values in place of variables."""
    return lambda e: values.get(e.name) if isinstance(e, Local) else None


def rename_variables(stmt: S, names: Mapping[str, str]) -> S:
    """A statement with variables renamed, in it and where it assigns them."""

    def change(e: Expr) -> Expr | None:
        return replace(e, name=names[e.name]) if isinstance(e, Local) and e.name in names else None

    def assigned(s: Stmt) -> Stmt:
        if isinstance(s, Let):
            return replace(s, name=names.get(s.name, s.name))
        return map_blocks(s, lambda b: tuple(map(assigned, b)))

    stmt = rename_axes(map_exprs(stmt, change), {n: sym(new) for n, new in names.items()})
    return cast(S, assigned(stmt))


def rename_arrays(stmt: S, names: Mapping[str, str]) -> S:
    """A statement with other names for arrays that it reads or stores into."""

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer not in names:
            return None
        index = tuple(rewrite_poly(p, change) for p in e.index)
        return replace(e, buffer=names[e.buffer], index=index)

    def stored(s: Stmt) -> Stmt:
        if isinstance(s, Write):
            return replace(s, buffer=names.get(s.buffer, s.buffer))
        return map_blocks(s, lambda b: tuple(map(stored, b)))

    return cast(S, stored(map_exprs(stmt, change)))
