"""Scans: a store whose one reduction takes in everything up to the element's own index.

`c[i, j] = sum of x[i, k] over k < j + 1` costs one pass if each element continues from the
one before it.  Along the fast axis the threads of a block do that together
(`codegen/kernel/scans.py`); along another one, neighbouring threads have neighbouring lines, so
each thread runs through a line of its own and memory is still read in order.
"""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64, DType
from porter.ir.context import Context
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_host
from porter.ir.recurrences import operands
from porter.ir.walk import free_names, rewrite, substitute, walk
from porter.sizes.polynomial import Data, sym

#: a line so short is left to one thread
SHORT = 32
OPS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def _running_fold(s: ir.Write) -> tuple[ir.Axis, ir.Reduce] | None:
    """The axis along which a store accumulates, and its only fold; None if it does not."""
    found = [e for e in walk(s.body) if isinstance(e, ir.Reduce)]
    if not found or s.mask is not None or s.checked:
        return None
    r = found[0]
    inner = {id(e) for part in operands(r).values() for e in walk(part)}
    if any(id(e) not in inner and e != r for e in found) or len(r.axes) != 1:
        return None
    k = r.axes[0]
    for a in s.axes:
        if k.hi == sym(a.name, True) + 1 and k.lo == a.lo:
            used = set[str]().union(*map(free_names, operands(r).values()))
            return (a, r) if a.name not in used and _rectangular(s.axes) else None
    return None


def runs_along(e: ir.Expr, axes: tuple[ir.Axis, ...]) -> bool:
    """Whether an expression folds up to one of its own indices: it must not be computed alone."""
    own = {a.name for a in axes}
    return any(a.hi.names() & own for r in walk(e) if isinstance(r, ir.Reduce) for a in r.axes)


def _rectangular(axes: tuple[ir.Axis, ...]) -> bool:
    own = {a.name for a in axes}
    bounds = [p for a in axes for p in (a.lo, a.hi)]
    return not any(p.names() & own or any(isinstance(x, Data) for x in p.atoms()) for p in bounds)


def _in_thread(s: ir.Write, axis: ir.Axis) -> bool:
    """Whether each line is left to one thread."""
    if len(s.axes) == 1:
        return False
    length = axis.extent.constant
    fast = s.index[-1].coefficient(axis.name)
    return fast == 0 or (length is not None and length <= SHORT)


def scan_lines(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: a running fold becomes a `Scan`, or with a thread for each line that one's loop."""
    return map_host(body, lambda s: _scanned(s, context))


def _scanned(s: ir.Stmt, context: Context) -> list[ir.Stmt] | None:
    found = _running_fold(s) if isinstance(s, ir.Write) else None
    if found is None or not isinstance(s, ir.Write):
        return None
    axis, r = found
    if context.alone or _in_thread(s, axis):
        return [_line(s, axis, r, context)]
    if s.combine is not None or has_data(s.index):
        return None
    return [_with_scan(s, r)]


def as_scan(s: ir.Write) -> ir.Write | None:
    """A store with its running fold as a scan, which the threads of a block compute together."""
    found = _running_fold(s)
    return None if found is None else _with_scan(s, found[1])


def _with_scan(s: ir.Write, r: ir.Reduce) -> ir.Write:
    if isinstance(r, (ir.Recurrence, ir.StateMaps)):
        return s
    scan = ir.Scan(r.op, r.axes, r.body, r.dtype)
    return replace(s, body=rewrite(s.body, lambda e: scan if e == r else None))


def _line(s: ir.Write, axis: ir.Axis, r: ir.Reduce, context: Context) -> ir.Stage:
    """One thread for each line: it carries the fold along the axis."""
    dtype = replace(r.dtype, weak=False)
    total = ir.Local(context.fresh(RESULT_NAMES[r.op]), dtype)
    here = sym(axis.name, True)
    term = substitute(r.body, {r.axes[0].name: here})
    folded: ir.Expr = ir.Op(OPS[r.op], (total, term), dtype)
    if r.op in ("max", "min") and dtype.kind in "iu":
        # integers have no value that a maximum ignores: start from the first element
        first = ir.Op("eq", (ir.Value(here, INT64), ir.Value(axis.lo, INT64)), BOOL)
        folded = ir.Select(first, term, folded, dtype)
    value = rewrite(s.body, lambda e: total if e == r else None)
    inner = (
        ir.Let(total.name, folded, s.origin),
        replace(s, axes=(), body=value),
    )
    loop = ir.For(axis.name, axis.lo, axis.hi, 1, inner, s.origin)
    start = ir.Let(total.name, ir.Const(neutral(r.op, dtype), dtype), s.origin)
    return ir.Stage(tuple(a for a in s.axes if a is not axis), (start, loop), s.origin)


def neutral(op: str, dtype: DType) -> complex | float | int | bool:
    """What a running fold starts from; -0.0 and not 0.0, which would lose the sign of -0.0."""
    if op in ("any", "all"):
        return op == "all"
    if op in ("max", "min"):
        if dtype.kind == "b":
            return op == "min"
        infinity = float("inf")
        return 0 if dtype.kind in "iu" else -infinity if op == "max" else infinity
    if dtype.kind == "f":
        return -0.0 if op == "sum" else 1.0
    return 0 if op == "sum" else 1
