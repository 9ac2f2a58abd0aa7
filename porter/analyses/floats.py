"""Which integer parameters may be floats that have the values of integers, as `x**2.0` has.

Beside an array of floats a number is one of them, whatever it was before.  So it may be as long as
it meets nothing else: Python's numbers, or sizes and subscripts, for which floats are refused.
"""

from __future__ import annotations

from collections.abc import Set

from porter import ir
from porter.ir.rebuild import map_parts
from porter.ir.walk import children, free_names, statements, walk
from porter.sizes.polynomial import Apply, Atom, Poly

_COMPARE = {"lt", "le", "gt", "ge", "eq", "ne"}
_LOGIC = {"and", "or", "not"}


def integral_floats(program: ir.Program) -> tuple[str, ...]:
    """The integer parameters that may be such floats where all arrays are of floats."""
    arrays = [p for p in program.parameters if p.ndim is not None]
    names = {p.name for p in program.parameters if _is_integer(p)}
    if not arrays or any(p.dtype.kind not in "fc" or p.conversion for p in arrays):
        return ()
    for b in program.buffers.values():
        names -= set[str]().union(*(n.names() for n in b.shape))
    for c in program.checks:
        names -= set[str]().union(*(n.names() for n in (c.left, c.right, *c.when)),
                             *(free_names(e) for e in c.conditions))  # fmt: skip
    for s in statements(program.body):
        names -= _spoiled(s, names)
    return tuple(p.name for p in program.parameters if p.name in names)


def _is_integer(p: ir.Parameter) -> bool:
    return p.ndim is None and p.dtype.kind == "i" and not (
        p.fixed or p.items or p.classes or p.attribute or p.updated
    )  # fmt: skip


def _spoiled(s: ir.Stmt, names: Set[str]) -> set[str]:
    """Those that a statement uses as integers, or shows."""
    found: set[str] = set()
    shown = isinstance(s, (ir.Let, ir.Return, ir.Host))

    def seen(e: ir.Expr) -> ir.Expr:
        found.update(names & free_names(e) if shown else _misused(e, names))
        return e

    def size(p: Poly) -> Poly:
        found.update(names & p.names())
        return p

    map_parts(s, seen, size, lambda d: d)
    return found


def _misused(e: ir.Expr, names: Set[str]) -> set[str]:
    """Those that an expression uses otherwise than beside elements of arrays, or in comparisons."""
    own = free_names(e) & names
    if not own:
        return set()
    match e:
        case ir.Op(op, (a, b)) if op in _COMPARE:
            sides = [(a, b), (b, a)]
            return set[str]().union(*(_compared(x, y, names) for x, y in sides))
        case ir.Op(op, args) if op in _LOGIC or len(args) == 1:
            return set[str]().union(*(_misused(a, names) for a in args))
        case ir.Op(_, (a, b), dtype) if dtype.kind in "fc" and not dtype.weak:
            return _beside(a, b, names) | _beside(b, a, names)
        case ir.Select() | ir.Cast():
            return set[str]().union(*(_misused(c, names) for c in children(e)))
        case ir.Reduce(body=body) if not names & _bounds(e):
            return _misused(body, names)
    return own


def _bounds(e: ir.Reduce) -> set[str]:
    return set[str]().union(*(p.names() for a in e.axes for p in (a.lo, a.hi)))


def _beside(e: ir.Expr, other: ir.Expr, names: Set[str]) -> set[str]:
    """The same of an operand: a number as it is has the other one's dtype."""
    value = e.arg if isinstance(e, ir.Cast) else e
    if isinstance(value, ir.Value) and value.poly.symbol is not None:
        loads = any(isinstance(x, ir.Load) and x.dtype.kind in "fc" for x in walk(other))
        if loads and other.dtype.kind in "fc" and not other.dtype.weak:
            return set()
    return _misused(e, names)


def _compared(e: ir.Expr, other: ir.Expr, names: Set[str]) -> set[str]:
    """The same of a side of a comparison: with integers, or with elements."""
    value = e.arg if isinstance(e, ir.Cast) else e
    if isinstance(value, ir.Value):
        whole = isinstance(other, ir.Value) or (
            isinstance(other, ir.Const) and isinstance(other.value, int)
        )
        if whole and _is_small(value.poly):
            return set()
        return _beside(e, other, names)
    return _misused(e, names)


def _is_small(p: Poly) -> bool:
    """Whether each step to an integer has no more digits than float32 has, if its numbers are
    small."""
    return all(
        abs(c) < 2**12 if not monomial
        else abs(c) == len(monomial) == 1 and _is_step(*monomial)
        for monomial, c in p.terms
    )  # fmt: skip


def _is_step(a: Atom) -> bool:
    return not isinstance(a, Apply) or (a.op in ("%", "//") and all(map(_is_small, a.args)))
