"""Loops that only accumulate scalars are reductions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.rebuild import map_exprs, variables_as
from porter.ir.scalars import cast, number, operate
from porter.ir.walk import free_names, loaded, rewrite, scalars_of, statements
from porter.sizes.polynomial import Poly, maximum, sym

_FOLDS = {
    "add": "sum",
    "sub": "sum",  # s - a - b is s - (a + b)
    "mul": "prod",
    "maximum": "max",
    "minimum": "min",
    "and": "all",
    "or": "any",
}


#: when a variable takes a value, always where that is None, and the value
Held = tuple[ir.Expr | None, ir.Expr]


def fold_loop(loop: ir.For, after: set[str]) -> list[ir.Let] | None:
    """`for i: s += f(i)` as `s = s + Reduce(f)`, if the loop does nothing else.

    `after` are the variables read when it is over: each must be one that is folded.
    """
    body = _folded_body(loop.body, after)
    if body is None or loop.step != 1:
        return None
    body = _merged(body)
    lets = {s.name for s in body}
    if defs_in((loop,)).scalars & after - lets:
        return None
    if not all(_one_kind([s for s in body if s.name == name]) for name in lets):
        return None
    result: list[ir.Let] = []
    axis = ir.Axis(loop.index, loop.hi, loop.lo)
    for s in body:
        flag = _flag(s, axis, lets)
        if flag is not None:
            result.append(flag)
            continue
        parts = _accumulation(s)
        if parts is None or scalars_of(parts[1]) & lets:
            return None
        op, term = parts
        old = ir.Local(s.name, s.value.dtype)
        if op in ("maximum", "minimum") and isinstance(s.value, ir.Select):
            result.append(_python_extreme(s, op, term, axis))
            continue
        if op in ("maximum", "minimum") and s.value.dtype.kind != "f":
            result.append(ir.Let(s.name, _with_old(op, term, old, axis), s.origin))
            continue
        total = ir.Reduce(_FOLDS[op], (axis,), cast(term, s.value.dtype), s.value.dtype)
        result.append(ir.Let(s.name, ir.Op(op, (old, total), s.value.dtype), s.origin))
    return result


def _one_kind(body: list[ir.Let]) -> bool:
    """Whether the first statement may run in all iterations before the second does in one."""
    kinds = {None if parts is None else parts[0] for parts in map(_accumulation, body)}
    return len(body) == 1 or (len(kinds) == 1 and None not in kinds)


def _merged(body: list[ir.Let]) -> list[ir.Let]:
    """What several statements add to one variable is added up in one sum."""
    result: list[ir.Let] = []
    for s in body:
        place = next((k for k, t in enumerate(result) if t.name == s.name), None)
        one = _accumulation(s)
        other = None if place is None else _accumulation(result[place])
        if place is None or one is None or other is None or {one[0], other[0]} - {"add", "sub"}:
            result.append(s)
            continue
        dtype = s.value.dtype
        op = "add" if one[0] == other[0] else "sub"
        term = ir.Op(op, (cast(other[1], dtype), cast(one[1], dtype)), dtype)
        result[place] = replace(s, value=ir.Op(other[0], (ir.Local(s.name, dtype), term), dtype))
    return result


def _flag(s: ir.Let, axis: ir.Axis, lets: set[str]) -> ir.Let | None:
    """`if c: s = v` with one v for all iterations: `s = v if any(c) else s`."""
    match s.value:
        case ir.Select(cond=cond, then=then, other=ir.Local(name=s.name)) if (
            axis.name not in free_names(then) and not (scalars_of(cond) | scalars_of(then)) & lets
        ):
            found = ir.Reduce("any", (axis,), cast(cond, BOOL), BOOL)
            return ir.Let(s.name, replace(s.value, cond=found), s.origin)
    return None


def _with_old(op: str, term: ir.Expr, old: ir.Local, axis: ir.Axis) -> ir.Expr:
    """An extreme of integers that is never one of nothing: the old value comes last."""
    if axis.extent.is_positive():
        total = ir.Reduce(_FOLDS[op], (axis,), cast(term, old.dtype), old.dtype)
        return ir.Op(op, (old, total), old.dtype)
    longer = ir.Axis(axis.name, maximum(axis.hi, axis.lo) + 1, axis.lo)
    i, end = ir.Value(sym(axis.name, True), INT64), ir.Value(axis.hi, INT64)
    inside = ir.Op("lt", (i, end), BOOL)
    body = ir.Select(inside, cast(term, old.dtype), old, old.dtype)
    return ir.Reduce(_FOLDS[op], (longer,), body, old.dtype)


def _folded_body(body: Sequence[ir.Stmt], after: set[str]) -> list[ir.Let] | None:
    """The statements of a loop as accumulations; plain lets used once are put in place."""
    flat: list[ir.Let] = []
    temporary: dict[str, ir.Expr] = {}

    change = variables_as(temporary)
    exposed = exposed_scalars(body) | after
    body = [x for s in _without_continue(body) for x in _alternatives(s)]

    def take(s: ir.Let) -> None:
        """An accumulation if the iteration before matters, else a value of this one."""
        s = replace(s, value=rewrite(s.value, change))
        if s.name in exposed:
            flat.append(s)
        else:
            temporary[s.name] = s.value

    for k, s in enumerate(body):
        if isinstance(s, ir.For):
            inner = fold_loop(s, exposed_scalars(body[k + 1 :]) | after)
            if inner is None:
                return None
            for x in inner:
                take(x)
        elif isinstance(s, ir.If) and not s.orelse:
            branch = _inlined(s, exposed | exposed_scalars(body[k + 1 :]))
            if branch is None:
                return None
            s = branch
            guarded = [_guarded(map_exprs(s, change), n) for n in range(len(s.body))]
            for g in guarded:
                if g is None:
                    return None
                take(g)
        elif isinstance(s, ir.Let):
            take(s)
        else:
            return None
    return flat


def _without_continue(body: Sequence[ir.Stmt]) -> list[ir.Stmt]:
    """`if c: continue` as a branch around what follows."""
    for k, s in enumerate(body):
        match s:
            case ir.If(cond=cond, body=(ir.Jump(kind="continue"),), orelse=()):
                rest = tuple(_without_continue(body[k + 1 :]))
                return [*body[:k], ir.If(_negated(cond), rest, (), s.origin)]
    return list(body)


def _negated(cond: ir.Expr) -> ir.Expr:
    if isinstance(cond, ir.Op) and cond.op in ("eq", "ne"):
        return replace(cond, op="ne" if cond.op == "eq" else "eq")
    return ir.Op("not", (cond,), cond.dtype)


def _inlined(s: ir.If, needed: set[str]) -> ir.If | None:
    """A branch whose values are those of the variables in front of it: each is assigned once.

    Plain variables that nothing outside reads are gone.  None if a value needs what another one
    was before the branch: they are assigned one after the other.
    """
    now: dict[str, ir.Expr] = {}
    kept: dict[str, ir.Let] = {}

    change = variables_as(now)
    for x in s.body:
        if not isinstance(x, ir.Let):
            return None
        x = replace(x, value=rewrite(x.value, change))
        now[x.name] = x.value
        if x.name in needed:
            kept.pop(x.name, None)
            if scalars_of(x.value) & kept.keys():
                return None
            kept[x.name] = x
    return replace(s, body=tuple(kept.values()))


def _alternatives(s: ir.Stmt) -> list[ir.Stmt]:
    """`if c: A else: B` as `if c: A` and `if not c: B`, where A does not change c."""
    if not isinstance(s, ir.If) or not s.orelse:
        return [s]
    changed = defs_in(s.body).scalars
    if scalars_of(s.cond) & changed or not all(isinstance(x, (ir.Let, ir.If)) for x in s.orelse):
        return [s]
    other = _negated(s.cond)
    result: list[ir.Stmt] = [replace(s, orelse=())]
    for x in s.orelse:
        for part in _alternatives(x):
            if isinstance(part, ir.If) and not part.orelse:
                result.append(replace(part, cond=ir.Op("and", (other, part.cond), BOOL)))
            elif isinstance(part, ir.Let):
                result.append(ir.If(other, (part,), (), x.origin))
            else:
                return [s]
    return result


def _guarded(s: ir.Stmt, k: int) -> ir.Let | None:
    """`if c: s += t` as `s += t if c else 0`; `if x > m: m = x` as a maximum."""
    assert isinstance(s, ir.If)
    inner = s.body[k]
    lets = {x.name for x in s.body if isinstance(x, ir.Let)}
    if not isinstance(inner, ir.Let):
        return None
    if len(s.body) == 1 and _extreme(inner.name, s.cond, inner.value) is not None:
        own = ir.Local(inner.name, inner.value.dtype)
        choice = ir.Select(s.cond, inner.value, own, inner.value.dtype)
        return ir.Let(inner.name, choice, inner.origin)
    if scalars_of(s.cond) & lets:
        return None
    parts = _accumulation(inner)
    if parts is not None and parts[0] in ("add", "sub", "mul"):
        neutral = cast(
            ir.Value(Poly.of(1 if parts[0] == "mul" else 0), inner.value.dtype), inner.value.dtype
        )
        term = ir.Select(s.cond, cast(parts[1], inner.value.dtype), neutral, inner.value.dtype)
        old = ir.Local(inner.name, inner.value.dtype)
        return ir.Let(inner.name, ir.Op(parts[0], (old, term), inner.value.dtype), inner.origin)
    if scalars_of(inner.value) & lets:
        return None
    old = ir.Local(inner.name, inner.value.dtype)
    return ir.Let(inner.name, ir.Select(s.cond, inner.value, old, inner.value.dtype), inner.origin)


def _extreme(name: str, cond: ir.Expr, value: ir.Expr) -> str | None:
    """`maximum` for the condition `value > name`, `minimum` for `value < name`."""
    if not isinstance(cond, ir.Op) or cond.op not in ("gt", "lt", "ge", "le"):
        return None
    flipped = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}
    for op, (x, y) in ((cond.op, cond.args), (flipped[cond.op], cond.args[::-1])):
        if isinstance(y, ir.Local) and y.name == name and x == value:
            return "maximum" if op in ("gt", "ge") else "minimum"
    return None


def turned(e: ir.Expr, old: ir.Local) -> ir.Expr | None:
    """Where a truth value becomes the other one: `not on`, or `on` where that does not hold."""
    if old.dtype.kind != "b":
        return None
    match e:
        case ir.Op("not", (ir.Cast(arg) | arg,)) if arg == old:
            return number(True)
        case ir.Select(cond, then, other) if old.name not in scalars_of(cond):
            if other == old and turned(then, old) == number(True):
                return cond
            if then == old and turned(other, old) == number(True):
                return operate("not", cond)
    return None


def held_value(e: ir.Expr, name: str) -> Held | None:
    """When a variable takes another value, always where that is None, and which one; None if the
    new value depends on the old one."""
    if isinstance(e, ir.Select):
        parts = [None if _is(x, name) else held_value(x, name) for x in (e.then, e.other)]
        kept = [_is(x, name) for x in (e.then, e.other)]
        if all(kept) or any(p is None and not k for p, k in zip(parts, kept, strict=True)):
            return None
        if name in scalars_of(e.cond):
            return None
        one, other = parts
        otherwise = operate("not", e.cond)
        if one is None or other is None:
            found, where = (one, e.cond) if one is not None else (other, otherwise)
            assert found is not None
            test = where if found[0] is None else operate("and", where, found[0])
            return test, found[1]
        if one[0] is None and other[0] is None:
            return None, e
        yes, no = (number(True) if p[0] is None else p[0] for p in (one, other))
        both = operate("and", e.cond, yes), operate("and", otherwise, no)
        return operate("or", *both), replace(e, then=one[1], other=other[1])
    return None if name in scalars_of(e) else (None, e)


def _is(e: ir.Expr, name: str) -> bool:
    return isinstance(e, ir.Local) and e.name == name


def chosen(s: ir.Stmt, inside: bool = False) -> ir.Stmt:
    """A branch that only gives a variable another value, or keeps it, as a choice of values.

    A sum where a condition holds stays one, unless it is one of several choices.
    """
    if not isinstance(s, ir.If):
        return s
    lets = [x.name for x in statements((s,)) if isinstance(x, ir.Let)]
    names = set(lets)
    one, other = _given(s.body), _given(s.orelse)
    if len(names) != 1 or one is None or other is None:
        return s
    (name,) = names
    dtype = next(x.value.dtype for x in statements((s,)) if isinstance(x, ir.Let))
    old = ir.Local(name, dtype)
    value = ir.Select(s.cond, one[0] if one else old, other[0] if other else old, dtype)
    alike = all(x.dtype == dtype for x in (value.then, value.other))
    plain = inside or len(lets) > 1 or held_value(value, name) is not None
    return ir.Let(name, value, s.origin) if alike and plain else s


def _given(body: Sequence[ir.Stmt]) -> list[ir.Expr] | None:
    """What a block gives the one variable that it assigns: nothing, a value; None for others."""
    match [chosen(x, inside=True) for x in body]:
        case []:
            return []
        case [ir.Let(value=value)]:
            return [value]
    return None


def values_in_place(
    body: tuple[ir.Stmt, ...], carried: set[str], after: set[str]
) -> tuple[ir.Stmt, ...]:
    """The statements, those that change what is carried with values of it in the place of the
    variables that have them, if nothing changes in between: `gap = high - x[i]`."""
    written = defs_in(body).arrays
    names = Counter(x.name for x in statements(body) if isinstance(x, ir.Let))
    for k, s in enumerate(body):
        if not isinstance(s, ir.Let) or names[s.name] > 1 or s.name in carried | after:
            continue
        read, rest = scalars_of(s.value), body[k + 1 :]
        users = [x for x in rest if s.name in uses_in((x,)).scalars]
        changing = [x for x in users if defs_in((x,)).scalars & carried]
        if not (changing and read & carried) or loaded(s.value) & written:
            continue
        ends = (n for n, x in enumerate(rest) if defs_in((x,)).scalars & read)
        if s.name in uses_in(rest[next(ends, len(rest)) :]).scalars:
            continue
        value = variables_as({s.name: s.value})
        moved = tuple(map_exprs(x, value) if x in changing else x for x in rest)
        own = (s,) if len(changing) < len(users) else ()
        return values_in_place((*body[:k], *own, *moved), carried, after)
    return body


def running_extremes(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements, `if x > m: m = x` as `m = maximum(m, x)` behind what else the branch does;
    `if x != m: m = x` is `m = x`."""
    for s in body:
        cond: ir.Expr | None = None
        block: tuple[ir.Stmt, ...] = ()
        if isinstance(s, ir.If) and not s.orelse:
            cond, block = s.cond, s.body
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Select):
            if s.value.other == ir.Local(s.name, s.value.dtype):
                cond, block = s.value.cond, (replace(s, value=s.value.then),)
        found = None if cond is None else _only_extreme(cond, block)
        if found is None or cond is None:
            yield s
            continue
        let, op = found
        rest = tuple(x for x in block if x is not let)
        if rest:
            yield ir.If(cond, rest, (), s.origin)
        dtype = let.value.dtype
        if op != "ne":
            value = ir.Op(op, (ir.Local(let.name, dtype), ordered(op, let.value)), dtype)
            let = replace(let, value=value)
        yield let


def _only_extreme(cond: ir.Expr, block: Sequence[ir.Stmt]) -> tuple[ir.Let, str] | None:
    """The statement of a branch that takes the larger value, which may as well be the last one."""
    for s in block:
        op = _extreme(s.name, cond, s.value) if isinstance(s, ir.Let) else None
        if isinstance(s, ir.Let) and op is None and s.value.dtype.kind in "iub":
            sides = {s.value, ir.Local(s.name, s.value.dtype)}
            differs = isinstance(cond, ir.Op) and cond.op == "ne" and {*cond.args} == sides
            op = "ne" if differs else None
        if op is None or not isinstance(s, ir.Let) or s.value.dtype.kind not in "fiub":
            continue
        rest = [x for x in block if x is not s]
        touched = {s.name} | scalars_of(s.value)
        if s.name in uses_in(rest).scalars or defs_in(rest).scalars & touched:
            return None
        return None if defs_in(rest).arrays & loaded(s.value) else (s, op)
    return None


def ordered(op: str, term: ir.Expr) -> ir.Expr:
    """A term of a maximum or a minimum; a NaN never compares greater, so it is left out."""
    if term.dtype.kind != "f":
        return term
    neutral = ir.Const(-math.inf if op == "maximum" else math.inf, term.dtype)
    return ir.Select(ir.Op("eq", (term, term), BOOL), term, neutral, term.dtype)


def _python_extreme(s: ir.Let, op: str, term: ir.Expr, axis: ir.Axis) -> ir.Let:
    """`if x > m: m = x` over the axis."""
    dtype = s.value.dtype
    if dtype.kind != "f":
        return ir.Let(s.name, _with_old(op, term, ir.Local(s.name, dtype), axis), s.origin)
    total = ir.Reduce(_FOLDS[op], (axis,), ordered(op, term), dtype)
    old = ir.Local(s.name, dtype)
    better = ir.Op("gt" if op == "maximum" else "lt", (total, old), BOOL)
    return ir.Let(s.name, ir.Select(better, total, old, dtype), s.origin)


def _accumulation(s: ir.Let) -> tuple[str, ir.Expr] | None:
    """(op, term) of `s = s op term`."""
    value = s.value
    if isinstance(value, ir.Select) and isinstance(value.other, ir.Local):
        op = _extreme(s.name, value.cond, value.then) if value.other.name == s.name else None
        return None if op is None else (op, value.then)
    if not isinstance(value, ir.Op) or value.op not in _FOLDS or len(value.args) != 2:
        return None
    left, right = value.args
    before = _earlier_term(s, left) if value.op in ("add", "sub") else None
    if before is not None and s.name not in scalars_of(right):
        op, term = before
        same = "add" if value.op == op else "sub"
        return op, ir.Op(same, (cast(term, value.dtype), right), value.dtype)
    sides = (value.args,) if value.op == "sub" else (value.args, value.args[::-1])
    for own, term in sides:
        if isinstance(own, ir.Local) and own.name == s.name and s.name not in scalars_of(term):
            return value.op, term
    return None


def _earlier_term(s: ir.Let, left: ir.Expr) -> tuple[str, ir.Expr] | None:
    """(op, term) of the left side in `s = s + a - b`."""
    if not isinstance(left, ir.Op) or left.op not in ("add", "sub") or left.dtype != s.value.dtype:
        return None
    return _accumulation(ir.Let(s.name, left, s.origin))
