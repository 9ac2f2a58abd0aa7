"""Subscripts are made simpler by what the loops around them say about their indices.

`x.reshape(n, m)` is `x[(i * m + j) // m, (i * m + j) % m]` until it is known that j < m: then it
is `x[i, j]`.  A flat index that is only ever taken apart again (`i // m`, `i % m`) becomes
two indices, since a division costs more than the rest of a small kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.effects import expressions
from porter.ir.rebuild import map_blocks, rename_axes
from porter.ir.walk import map_operands, rewrite, statements, walk
from porter.sizes.polynomial import BORDERS, Apply, Data, Poly, Symbol, apply, multiples, sym

Ranges = tuple[ir.Axis, ...]
#: a grid has no more
MOST_AXES = 3


def simplify_positions(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: what divisions, remainders and bounds come to within the ranges."""
    return _block(body, ())


def split_flat_domains(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: a stage whose one index is taken apart into two runs over these."""
    return tuple(
        _split(s, context)
        if isinstance(s, ir.Stage)
        else map_blocks(s, lambda b: split_flat_domains(b, context))
        for s in body
    )


def _block(body: Sequence[ir.Stmt], ranges: Ranges) -> tuple[ir.Stmt, ...]:
    return tuple(_statement(s, ranges) for s in body)


def _statement(s: ir.Stmt, ranges: Ranges) -> ir.Stmt:
    match s:
        case ir.Stage(axes=axes, body=body):
            return replace(s, body=_block(body, (*ranges, *axes)))
        case ir.For(index=index, lo=lo, hi=hi, step=step, body=body):
            inner = (*ranges, ir.Axis(index, hi, lo)) if step > 0 else ranges
            return replace(s, body=_block(body, inner))
        case ir.While(cond=cond, body=body):
            return replace(s, cond=_expr(cond, ranges), body=_block(body, ranges))
        case ir.If(cond=cond, body=body, orelse=orelse):
            return replace(s, cond=_expr(cond, ranges), body=_block(body, ranges),
                           orelse=_block(orelse, ranges))  # fmt: skip
        case ir.Let(value=value):
            return replace(s, value=_expr(value, ranges))
        case ir.Def(axes=axes, body=value):
            return replace(s, body=_expr(value, (*ranges, *axes)))
        case ir.Write(axes=axes, index=index, body=value, mask=mask):
            inner = (*ranges, *axes)
            return replace(s, index=tuple(_poly(p, inner) for p in index), body=_expr(value, inner),
                           mask=None if mask is None else _expr(mask, inner))  # fmt: skip
    return s


def _expr(e: ir.Expr, ranges: Ranges) -> ir.Expr:
    def change(x: ir.Expr) -> ir.Expr | None:
        match x:
            case ir.Load(index=index) if not any(_has_data(p) for p in index):
                return replace(x, index=tuple(_poly(p, ranges) for p in index))
            case ir.Value(poly=p) if not _has_data(p):
                return replace(x, poly=_poly(p, ranges))
            case ir.Reduce(axes=axes):
                return map_operands(x, lambda y: _expr(y, (*ranges, *axes)))
        return None

    return rewrite(e, change)


def _has_data(p: Poly) -> bool:
    return any(isinstance(a, Data) for a in p.atoms())


def _poly(p: Poly, ranges: Ranges) -> Poly:
    if _has_data(p) or not any(isinstance(a, Apply) for a in p.atoms()):
        return p
    total = Poly()
    for monomial, c in p.terms:
        product = Poly.of(c)
        for atom in monomial:
            if isinstance(atom, Apply):
                product *= _applied(atom, ranges)
            else:
                product *= Poly.atom(atom)
        total += product
    return total


def _applied(atom: Apply, ranges: Ranges) -> Poly:
    """The application, or what it comes to within the ranges."""
    k, n = (_poly(a, ranges) for a in atom.args)
    found = apply(atom.op, k, n)
    if found != Poly.atom(Apply(atom.op, (k, n))):
        return found
    if atom.op in ("min", "max"):
        first, second = (k, n) if atom.op == "min" else (n, k)
        if _never_negative(second - first, ranges):
            return k
        return n if _never_negative(first - second, ranges) else found
    if atom.op not in BORDERS and atom.op not in ("//", "%"):
        return found
    inside = _never_negative(k, ranges) and _never_negative(n - k - 1, ranges)
    return (Poly() if atom.op == "//" else k) if inside else found


def _never_negative(p: Poly, ranges: Ranges) -> bool:
    """Whether p >= 0 for all indices in their ranges: it is, where each is at its worst."""
    for axis in reversed(ranges):
        if axis.name not in p.names():
            continue
        terms = [(m, c) for m, c in p.terms if axis.name in Poly(((m, c),)).names()]
        rises = {c > 0 for _, c in terms}
        plain = all(_alone(axis.name, m) for m, _ in terms)
        if len(rises) != 1 or not plain:
            return False
        p = p.replace({axis.name: axis.lo if rises == {True} else axis.hi - 1})
    return p.is_nonneg()


def _alone(name: str, monomial: tuple[object, ...]) -> bool:
    """Whether an index is a factor of its own, the others not being negative."""
    own = [a for a in monomial if isinstance(a, Symbol) and a.name == name]
    others = [a for a in monomial if not (isinstance(a, Symbol) and a.name == name)]
    return len(own) == 1 and all(
        getattr(a, "nonneg", False) and not (isinstance(a, Apply) and name in Poly.atom(a).names())
        for a in others
    )


# -- a flat index that is taken apart --------------------------------------------------


def _split(s: ir.Stage, context: Context) -> ir.Stage:
    """A stage over n * m elements as one over n and m, if that is how its index is used."""
    for place, axis in enumerate(s.axes):
        divisor = _divisor(s, axis.name) if len(s.axes) < MOST_AXES else None
        if divisor is None or axis.lo.terms or not _never_below_zero(divisor, context):
            continue
        split = (multiples(size, divisor) for size in _sizes(axis.hi, context))
        count = next((n for n, rest in split if not rest.terms), Poly())
        if count.constant is not None or not _never_below_zero(count, context):
            continue
        outer, inner = (ir.Axis(context.fresh(n), hi) for n, hi in (("i_", count), ("j_", divisor)))
        flat = sym(outer.name, True) * divisor + sym(inner.name, True)
        axes = (*s.axes[:place], outer, inner, *s.axes[place + 1 :])
        body = _block([rename_axes(b, {axis.name: flat}) for b in s.body], axes)
        return _split(replace(s, axes=axes, body=body), context)
    return s


def _sizes(size: Poly, context: Context) -> Iterator[Poly]:
    """A number of iterations, and what tests of the arguments find equal to it."""
    yield size
    for c in context.checks:
        if c.kind == "equal" and not c.when and not c.conditions:
            one, other = _count(c.left), _count(c.right)
            if size in (one, other):
                yield other if size == one else one


def _never_below_zero(size: Poly, context: Context) -> bool:
    """Whether a size is no less than 0, by itself or because tests of the arguments say so."""
    tested = {
        name: sym(name, True)
        for c in context.checks
        if c.kind == "index" and c.left == Poly() and not c.when and not c.conditions
        if (name := c.right.name) is not None
    }
    return size.replace(tested).is_nonneg()


def _count(size: Poly) -> Poly:
    """A length as a number of iterations: of less than none there are none."""
    match size.terms:
        case (((Apply("max", (n, least)),), 1),) if least == Poly():
            return n
    return size


def _divisor(s: ir.Stage, name: str) -> Poly | None:
    """The one size by which the index is divided, if that happens to it in some subscript."""
    found: set[Poly] = set()
    for p in _polys(s):
        for atom in p.atoms():
            if isinstance(atom, Apply) and name in Poly.atom(atom).names():
                k, n = atom.args
                if atom.op not in ("//", "%") or name in n.names():
                    return None
                if k == sym(name, True):
                    found.add(n)
                elif not _is_part(k):
                    return None
    divisor = next(iter(found)) if len(found) == 1 else None
    return None if divisor is None or divisor.constant is not None else divisor


def _is_part(k: Poly) -> bool:
    """Whether a position is a part of another one: what remains of it is taken apart after that."""
    return any(
        isinstance(a, Apply) and a.op in ("//", "%") and Poly.atom(a) == k for a in k.atoms()
    )


def _polys(s: ir.Stage) -> Iterator[Poly]:
    for b in statements(s.body):
        for e in expressions(b):
            for x in walk(e):
                if isinstance(x, ir.Load):
                    yield from x.index
                elif isinstance(x, ir.Value):
                    yield x.poly
                elif isinstance(x, ir.Reduce):
                    yield from (p for a in x.axes for p in (a.lo, a.hi))
        if isinstance(b, ir.Write):
            yield from b.index
