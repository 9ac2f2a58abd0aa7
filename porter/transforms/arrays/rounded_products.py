"""Products that are rounded before they are added to, where a whole number depends on the sum.

A GPU's compiler joins `a * b + c` into one instruction that rounds once, NumPy rounds twice.  Where
the sum becomes an index, a bin or a quotient, the last digit may decide between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_exprs, map_host
from porter.ir.walk import data_of, host_level, loaded, rewrite, statements, walk

#: operations whose result jumps where their operand crosses a number
_WHOLE = {"floor", "ceil", "trunc", "rint", "floordiv", "mod", "fmod"}
#: operations that Numba computes with products
_PRODUCTS = {"mul", "pow"}


def round_products(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: products are rounded in the sums that conversions to whole numbers depend on."""
    del context
    found = _Sums(body)
    if not found.any:
        return body
    kernels = (ir.Stage, ir.Write)
    return map_host(body, lambda s: [_statement(s, found)] if isinstance(s, kernels) else None)


def _statement(stmt: ir.Stmt, found: _Sums) -> ir.Stmt:
    match stmt:
        case ir.If(body=body, orelse=orelse):
            test = map_exprs(replace(stmt, body=(), orelse=()), _decided)
            return replace(test, body=_block(body, found), orelse=_block(orelse, found))
        case ir.Stage(body=body) | ir.For(body=body) | ir.While(body=body):
            bare = map_exprs(replace(stmt, body=()), _decided)
            return replace(bare, body=_block(body, found))
        case ir.Let(name, value) if name in found.exact:
            stmt = replace(stmt, value=_defined(value, name in found.summed))
        case ir.Write(buffer=name, body=value) if name in found.exact:
            stmt = replace(stmt, body=_defined(value, name in found.summed))
    return map_exprs(stmt, _decided)


def _block(body: tuple[ir.Stmt, ...], found: _Sums) -> tuple[ir.Stmt, ...]:
    return tuple(_statement(s, found) for s in body)


def _defined(value: ir.Expr, summed: bool) -> ir.Expr:
    """What an exact name holds; a product, where something is added to it elsewhere, is rounded."""
    made = exact(value)
    return _rounded(made) if summed else made


def _decided(e: ir.Expr) -> ir.Expr | None:
    """A conversion to a whole number, its operand without joined roundings."""
    operands = _decisive(e)
    if not operands:
        return None
    if isinstance(e, ir.Cast):
        return ir.Cast(exact(e.arg), e.dtype)
    assert isinstance(e, ir.Op)
    return ir.Op(e.op, tuple(exact(a) for a in e.args), e.dtype)


def _decisive(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The real operands that a whole number is made of; none where `e` makes none."""
    match e:
        case ir.Cast(arg, dtype) if arg.dtype.kind == "f" and dtype.kind in "iu":
            return (arg,)
        case ir.Op(op, args) if op in _WHOLE and args[0].dtype.kind == "f":
            return args
    return ()


def exact(e: ir.Expr) -> ir.Expr:
    """The expression with each product rounded that is added to, or taken from, something."""
    match e:
        case ir.Op(op, args, dtype) if dtype.kind == "f":
            inner = tuple(exact(a) for a in args)
            if op in ("add", "sub"):
                inner = tuple(map(_rounded, inner))
            return ir.Op(op, inner, dtype)
        case ir.Cast(arg, dtype) if arg.dtype.kind == dtype.kind == "f":
            return ir.Cast(exact(arg), dtype)
        case ir.Select(cond, then, other, dtype):
            return ir.Select(rewrite(cond, _decided), exact(then), exact(other), dtype)
    return rewrite(e, _decided)


def _rounded(e: ir.Expr) -> ir.Expr:
    match e:
        case ir.Op("neg", (arg,), dtype):
            return ir.Op("neg", (_rounded(arg),), dtype)
        case ir.Op(op, _, dtype) if op in _PRODUCTS and dtype.kind == "f":
            return ir.Op("rounded", (e,), dtype)
    return e


class _Sums:
    """The names of variables and arrays that whole numbers depend on.

    Followed are variables that no loop updates, and arrays that one statement stores outside of
    loops: what is iterated or summed is not rounded as in NumPy anyway.
    """

    def __init__(self, body: tuple[ir.Stmt, ...]) -> None:
        self.definitions = _definitions(body)
        #: read where a whole number depends on it; and added to something there
        self.exact: set[str] = set()
        self.summed: set[str] = set()
        self.any = False
        for stmt in statements(body):
            for e in _expressions(stmt):
                for x in walk(e):
                    for operand in _decisive(x):
                        self.any = True
                        self._follow(operand)

    def _follow(self, e: ir.Expr) -> None:
        match e:
            case ir.Op(op, args, dtype) if dtype.kind == "f":
                for arg in args:
                    if op in ("add", "sub") and (name := _name(arg)):
                        self.summed.add(name)
                    self._follow(arg)
            case ir.Cast(arg, dtype) if arg.dtype.kind == dtype.kind == "f":
                self._follow(arg)
            case ir.Select(_, then, other):
                self._follow(then)
                self._follow(other)
            case ir.Local() | ir.Load():
                name = _name(e)
                if name in self.definitions and name not in self.exact:
                    self.exact.add(name)
                    for value in self.definitions[name]:
                        self._follow(value)


def _name(e: ir.Expr) -> str:
    match e:
        case ir.Local(name):
            return name
        case ir.Load(buffer=name):
            return name
        case ir.Op("neg", (arg,)):
            return _name(arg)
    return ""


def _expressions(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement itself, those in its subscripts included."""
    match stmt:
        case ir.Let(value=value):
            yield value
        case ir.Write(index=index, body=body, mask=mask):
            yield body
            yield from (e for p in index for e in data_of(p))
            yield from () if mask is None else (mask,)
        case ir.If(cond=cond) | ir.While(cond=cond):
            yield cond
        case ir.For(lo=lo, hi=hi):
            yield from (e for p in (lo, hi) for e in data_of(p))


def _definitions(body: tuple[ir.Stmt, ...]) -> dict[str, list[ir.Expr]]:
    """What each variable or array is given, of those that are followed."""
    found: dict[str, list[ir.Expr]] = {}
    iterated = {
        s.buffer
        for loop in host_level(body)
        if isinstance(loop, (ir.For, ir.While))
        for s in statements(loop.body)
        if isinstance(s, ir.Write)
    }
    for s in statements(body):
        if isinstance(s, ir.Let):
            found.setdefault(s.name, []).append(s.value)
        elif isinstance(s, ir.Write):
            found.setdefault(s.buffer, []).append(s.body)
            if s.combine or len(found[s.buffer]) > 1:
                iterated.add(s.buffer)
    own = {name for name, values in found.items() if any(_reads(v, name) for v in values)}
    return {name: values for name, values in found.items() if name not in own | iterated}


def _reads(e: ir.Expr, name: str) -> bool:
    return name in loaded(e) or any(isinstance(x, ir.Local) and x.name == name for x in walk(e))
