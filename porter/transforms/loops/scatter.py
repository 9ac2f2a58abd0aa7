"""Loops whose iterations meet in an element: updates in any order, and the last store.

`h[b[i]] += w[i]` gives the same in every order of the iterations (floats up to rounding), so
the threads may run it with atomic updates.  So does `seen[v[i]] = True`, where all that
meet store one value.  `out[p[i]] = x[i]` does not, but becomes one array store, in which the
last iteration counts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.dependence import carried
from porter.analyses.reductions import has_data
from porter.diagnostics import refusal
from porter.dtypes.dtype import INT64, DType
from porter.ir.axes import loop_axis
from porter.ir.context import Context
from porter.ir.effects import defs_in, expressions, indices
from porter.ir.ops import UPDATES
from porter.ir.rebuild import map_blocks, map_exprs, rename_axes, variables_as
from porter.ir.scalars import cast, operate
from porter.ir.walk import free_names, rewrite, scalars_of, statements, walk
from porter.sizes.polynomial import Atom, Data, Poly

#: what the hardware updates atomically
ATOMIC = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
_OPS = {"add": "add", "band": "band", "bor": "bor", "bxor": "bxor"}


@dataclass(frozen=True)
class _Update:
    """`buffer[index] = buffer[index] op term`, under a further condition or none."""

    op: str
    term: ir.Expr
    cond: ir.Expr | None = None


def combined(loop: ir.For, context: Context) -> ir.For | None:
    """The loop with its stores that meet as updates in any order; None if there are none."""
    names = [a.buffer for a in accesses(loop.body) if a.write]
    changed = loop
    for name in dict.fromkeys(names):
        if carried(loop, context.buffers, context.here.loops, name) is not None:
            body = _updates(changed.body, name, loop)
            if body is None:
                return None
            changed = replace(changed, body=body)
    return None if changed is loop else changed


def scatters(loop: ir.For) -> bool:
    """Whether every update is at a place that the loop's own index has a say in."""
    tainted = _tainted(loop)
    return all(
        any(uses(p, tainted) for p in s.index)
        for s in statements(loop.body)
        if isinstance(s, ir.Write) and s.combine is not None
    )


def _tainted(loop: ir.For) -> set[str]:
    """The index and everything in the body that follows from it."""
    tainted, before = {loop.index}, 0
    while len(tainted) > before:
        before = len(tainted)
        for s in statements(loop.body):
            match s:
                case ir.Let(name, value, _) if scalars_of(value) & tainted:
                    tainted.add(name)
                case ir.For(index=index, lo=lo, hi=hi) if uses(lo, tainted) or uses(hi, tainted):
                    tainted.add(index)
    return tainted


def uses(poly: Poly, names: set[str]) -> bool:
    """Whether a subscript depends on one of these indices or variables, by data included."""
    return bool(scalars_of(ir.Value(poly, INT64)) & names)


def _updates(body: tuple[ir.Stmt, ...], name: str, loop: ir.For) -> tuple[ir.Stmt, ...] | None:
    """The statements with every store into one array as an update; None if one is not."""
    loads = [a for a in accesses(body) if not a.write and a.buffer == name]
    stores = [s for s in statements(body) if isinstance(s, ir.Write) and s.buffer == name]
    if not loads and _one_value(stores, loop):
        return tuple(_same(s, name) for s in body) if all(s.index for s in stores) else None
    state = _Rewriting(name)
    new = tuple(state.statement(s) for s in body)
    left = [a for a in accesses(new) if a.buffer == name and a.combine is None]
    return new if len(state.ops) == 1 and not left else None


def _one_value(stores: Sequence[ir.Write], loop: ir.For) -> bool:
    """Whether all stores are of one value that no iteration changes."""
    value = stores[0].body
    fixed = not any(isinstance(e, (ir.Load, ir.Local, ir.Reduce)) for e in walk(value))
    fixed = fixed and not free_names(value) & set().union(*map(indices, statements((loop,))))
    return fixed and all(s.body == value and s.combine is None for s in stores)


def _same(s: ir.Stmt, name: str) -> ir.Stmt:
    if isinstance(s, ir.Write) and s.buffer == name:
        return replace(s, combine="same")
    return map_blocks(s, lambda b: tuple(_same(x, name) for x in b))


class _Rewriting:
    """Rewrites the stores into one array that are updates of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ops: set[str] = set()

    def statement(self, s: ir.Stmt) -> ir.Stmt:
        """One statement, those inside it included."""
        if isinstance(s, ir.If) and not s.orelse and len(s.body) == 1:
            inner = s.body[0]
            if isinstance(inner, ir.Write) and inner.buffer == self.name:
                found = _guarded(s.cond, inner)
                if found is not None:
                    return self.update(inner, found)
        if isinstance(s, ir.Write) and s.buffer == self.name and s.combine is None:
            found = _update(s)
            return s if found is None else self.update(s, found)
        return map_blocks(s, lambda b: tuple(self.statement(x) for x in b))

    def update(self, s: ir.Write, found: _Update) -> ir.Stmt:
        """The store as an update (in a branch, if it has a condition)."""
        self.ops.add(found.op)
        new = replace(s, body=found.term, combine=found.op)
        return new if found.cond is None else ir.If(found.cond, (new,), (), s.origin)


def _core(s: ir.Write) -> ir.Expr:
    """The stored value without the conversion to the target's dtype."""
    return s.body.arg if isinstance(s.body, ir.Cast) else s.body


def _own(e: ir.Expr, s: ir.Write) -> bool:
    """Whether an operand is the element that the statement stores into."""
    e = _bare(e)
    if not isinstance(e, ir.Load) or e.buffer != s.buffer:
        return False
    return e.index == tuple(unmarked_poly(p) for p in s.index)


def _update(s: ir.Write) -> _Update | None:
    """The update that a store is, or None."""
    value, dtype = _core(s), s.body.dtype
    if value.dtype.kind != dtype.kind and {value.dtype.kind, dtype.kind} != {"i", "u"}:
        return None
    if isinstance(value, ir.Select):
        return _choice(value, s)
    if not isinstance(value, ir.Op) or len(value.args) != 2:
        return None
    left, right = value.args
    if value.op == "sub" and _own(left, s):
        return _Update("add", cast(ir.Op("neg", (right,), right.dtype), dtype))
    if _own(right, s) and not _own(left, s):
        left, right = right, left
    if not _own(left, s):
        return None
    if value.op in ("or", "and") and dtype.kind == "b":
        return _flag(value.op, right)
    if value.op in ("bor", "band") and dtype.kind == "b":
        return _flag(value.op.removeprefix("b"), right)
    if value.op in ("maximum", "minimum") and dtype.kind in "iu" and value.dtype == dtype:
        return _Update(value.op.removesuffix("imum"), right)
    if value.op in _OPS and dtype.kind in "iuf":
        return _Update(_OPS[value.op], cast(right, dtype))
    return None


def _flag(op: str, term: ir.Expr) -> _Update:
    """`seen[k] |= c` stores True where c holds; `&=` stores False where it does not."""
    test = term if op == "or" else ir.Op("not", (term,), term.dtype)
    return _Update("same", ir.Const(op == "or", DType("bool")), test)


def _choice(value: ir.Select, s: ir.Write) -> _Update | None:
    """`m[k] = max(m[k], x)` as Python has it: x where x > m[k], else m[k]."""
    cond, term, own = value.cond, value.then, value.other
    if _own(term, s) and term.dtype.kind in "iu" and isinstance(cond, ir.Op) and cond.op in _ELSE:
        cond, term, own = replace(cond, op=_ELSE[cond.op]), own, term
    op = _better(cond, term, s) if _own(own, s) else None
    return None if op is None else _Update(op, cast(term, s.body.dtype))


_ELSE = {"gt": "le", "lt": "ge", "ge": "lt", "le": "gt"}


def _guarded(cond: ir.Expr, s: ir.Write) -> _Update | None:
    """`if x > m[k]: m[k] = x`."""
    op = _better(cond, _core(s), s) if s.combine is None else None
    return None if op is None else _Update(op, s.body)


def _better(cond: ir.Expr, value: ir.Expr, s: ir.Write) -> str | None:
    """`max` for the condition `value > element`, `min` for `value < element`."""
    kinds = {value.dtype.kind, s.body.dtype.kind}
    if not isinstance(cond, ir.Op) or len(kinds) > 1 or not kinds <= set("iuf"):
        return None
    if kinds != {"f"} and value.dtype.name != s.body.dtype.name and not value.dtype.weak:
        return None
    flipped = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}
    if cond.op not in flipped or (cond.op in ("ge", "le") and "f" in kinds):
        return None
    for op, (x, y) in ((cond.op, cond.args), (flipped[cond.op], cond.args[::-1])):
        if _own(y, s) and _bare(x) == _bare(value):
            return "max" if op in ("gt", "ge") else "min"
    return None


def _bare(e: ir.Expr) -> ir.Expr:
    """An operand without its conversion, and without the marks that ask for checks."""
    return unmarked(e.arg if isinstance(e, ir.Cast) else e)


def unmarked(e: ir.Expr) -> ir.Expr:
    """An expression whose subscripts do not say whether they have to be checked."""

    def change(x: ir.Expr) -> ir.Expr | None:
        if isinstance(x, ir.Load):
            return replace(x, index=tuple(unmarked_poly(p) for p in x.index))
        return None

    return rewrite(e, change)


def unmarked_poly(poly: Poly) -> Poly:
    """A subscript without the marks that ask for checks, those inside of data included."""

    def atom(a: Atom) -> Poly:
        if not isinstance(a, Data):
            return Poly.atom(a)
        if isinstance(a.expr, ir.Value):
            return unmarked_poly(a.expr.poly)
        return Poly.atom(replace(a, expr=unmarked(a.expr)))

    return poly.map_atoms(atom)


# -- the last store counts ---------------------------------------------------------------


def last_stores(loop: ir.For, after: set[str]) -> list[ir.Stmt] | None:
    """`for i: out[p[i]] = x[i]` as one array store, in which the last of equal places counts.

    Only where the body does nothing but store values that do not depend on the stores.
    """
    variables = defs_in(loop.body).scalars
    if variables & after:
        return None
    found = list(_flat((loop,), (), None, {}))
    stores = [s for s in found if s is not None and s.combine is None]
    names = [s.buffer for s in stores]
    if len(stores) < len(found) or len(set(names)) < len(names):
        return None
    if not any(has_data(s.index) for s in stores):
        return None
    for s in stores:
        if any(a.buffer in names and not a.write for a in accesses((s,))):
            return None
        if any(scalars_of(e) & variables for e in expressions(s)):
            return None
        if any(ragged(a, {x.name for x in s.axes}) for a in s.axes):
            return None
    return list(stores)


def ragged(axis: ir.Axis, own: set[str]) -> bool:
    """Whether a size differs from iteration to iteration: no rectangle of threads fits it."""
    return has_data((axis.lo, axis.hi)) or bool((axis.lo.names() | axis.hi.names()) & own)


def _flat(
    body: Sequence[ir.Stmt],
    axes: tuple[ir.Axis, ...],
    mask: ir.Expr | None,
    known: dict[str, ir.Expr],
) -> Iterator[ir.Write | None]:
    """The stores of nested loops over their whole domain; None for anything else."""
    known = dict(known)
    change = variables_as(known)
    for s in body:
        match s:
            case ir.Let(name=name, value=value):
                if name in known or any(isinstance(e, ir.Reduce) for e in walk(value)):
                    yield None
                known[name] = rewrite(value, change)
            case ir.For():
                axis, moved = loop_axis(s)
                inner = tuple(rename_axes(x, moved) for x in s.body)
                yield from _flat(inner, (*axes, axis), mask, known)
            case ir.If(cond, then, (), _):
                test = rewrite(cond, change)
                both = test if mask is None else operate("and", mask, test)
                yield from _flat(then, axes, both, known)
            case ir.Write():
                new = map_exprs(s, change)
                if new.mask is not None and mask is not None:
                    yield None
                origin = replace(new.origin, looped=True)
                yield replace(new, axes=(*axes, *new.axes), mask=new.mask or mask, origin=origin)
            case _:
                yield None


def totals(updates: ir.For) -> list[ir.Stmt] | None:
    """`for i: total[0] += f(i)`: updates of one element as its sum with a reduction."""
    found = list(_flat((updates,), (), None, {}))
    result: list[ir.Stmt] = []
    for s in found:
        if s is None or s.combine != "add" or _uses_any(s.index, {a.name for a in s.axes}):
            return None
        dtype = s.body.dtype
        zero = cast(ir.Value(Poly(), dtype), dtype)
        term = s.body if s.mask is None else ir.Select(s.mask, s.body, zero, dtype)
        total = ir.Reduce("sum", s.axes, term, dtype)
        new = ir.Op("add", (ir.Load(s.buffer, s.index, dtype), total), dtype)
        origin = replace(s.origin, looped=True, late=True)
        once: ir.Stmt = replace(s, axes=(), body=new, mask=None, combine=None, origin=origin)
        tests = [_some(a) for a in s.axes if not a.extent.is_positive()]
        if tests:
            # a loop that never runs does not touch the element
            once = ir.If(
                functools.reduce(lambda x, y: operate("and", x, y), tests), (once,), (), s.origin
            )
        result.append(once)
    return result


def _some(axis: ir.Axis) -> ir.Expr:
    return ir.Op("gt", (ir.Value(axis.extent, INT64), ir.Value(Poly(), INT64)), DType("bool"))


def varies(index: Sequence[Poly], axes: Sequence[ir.Axis]) -> bool:
    """Whether subscripts read from data change along the axes: two of them may be equal."""
    return any(has_data((p,)) and uses(p, {a.name for a in axes}) for p in index)


def _uses_any(index: Sequence[Poly], names: set[str]) -> bool:
    return any(uses(p, names) for p in index)


def supported(body: tuple[ir.Stmt, ...], buffers: dict[str, ir.Buffer]) -> None:
    """Raise Refusal for an update of a dtype that the hardware has no atomics for."""
    for s in statements(body):
        if not isinstance(s, ir.Write) or s.combine not in UPDATES:
            continue
        target = buffers[s.buffer]
        if target.dtype.name not in ATOMIC or not target.shape:
            raise refusal(
                "PRT907",
                f"`{target.name}` needs atomic updates, which {target.dtype.name} lacks",
                s.origin.span,
                "accumulate in int32, int64, float32 or float64, then convert the result",
            )
