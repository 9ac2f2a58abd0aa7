"""A function that Numba's `stencil` decorates: it is called for the elements of arrays.

Its subscripts count from the element, and it computes with the types that Numba infers: numbers
of the source are float64 and int64, and so are integers of fewer bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Span, refusal
from porter.dtypes.dtype import strengthen
from porter.ir.scalars import cast, constant_of, number
from porter.lowering.arrays.calculus import reindex
from porter.lowering.arrays.rearrange import readonly
from porter.lowering.arrays.stores import store
from porter.lowering.arrays.subscripts import index, index_array
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.state.scope import Loop
from porter.resolve.definitions import meaning
from porter.resolve.globals import Globals
from porter.resolve.values import NONE, Array, Relative, Slice, Value
from porter.sizes.polynomial import Poly, sym
from porter.source.walk import walk
from porter.support.parsing import literal_value

_STENCIL = "numba.stencil"
_NEIGHBORHOOD = "state the neighborhood: `@stencil(neighborhood=((-1, 1),))`"

#: the smallest and the largest offset along an axis
Reach = tuple[int, int]


@dataclass(frozen=True)
class Stencil:
    """What a decorator says; `cval` and `neighborhood` are None where it does not give them."""

    span: Span
    cval: cst.BaseExpression | None = None
    neighborhood: cst.BaseExpression | None = None
    standard: frozenset[str] = frozenset()


def stencil_of(scope: Globals, function: cst.FunctionDef) -> Stencil | None:
    """What is stated of a function by Numba's `stencil`; None if that does not decorate it."""
    for decorator in function.decorators:
        node = decorator.decorator
        call = node if isinstance(node, cst.Call) else None
        if meaning(scope, call.func if call else node) != _STENCIL:
            continue
        span = scope.module.span(decorator)
        modes = [_literal(scope, a.value) for a in (call.args if call else ()) if not a.keyword]
        if modes not in ([], ["constant"]):
            raise refusal("PRT902", "the only mode of a stencil is `constant`", span,
                          "write `@stencil`")  # fmt: skip
        given = {a.keyword.value: a.value for a in (call.args if call else ()) if a.keyword}
        named = given.get("standard_indexing")
        names = _literal(scope, named) if named is not None else ()
        if not isinstance(names, (tuple, list)):
            raise refusal("PRT902", "`standard_indexing` is not a list of names", span,
                          "write the names of the parameters out")  # fmt: skip
        return Stencil(span, given.get("cval"), given.get("neighborhood"), frozenset(names))
    return None


def _literal(scope: Globals, node: cst.BaseExpression) -> Any:
    """The value of a literal, None for anything else."""
    try:
        return literal_value(scope.module.code(node))
    except (SyntaxError, ValueError):
        return None


def call_stencil(
    ev: Evaluator, function: cst.FunctionDef, stated: Stencil, env: dict[str, Value],
    keywords: dict[str, Any], statements: Sequence[cst.BaseStatement],
) -> Array:  # fmt: skip
    """The value of a call of a stencil, of which `env` has the arguments by parameter."""
    unknown = [key for key in keywords if key != "out" and key not in env]
    if unknown:
        raise ev.b.refuse("PRT902", f"a stencil that is called with `{unknown[0]}=`",
                          "write it in the decorator")  # fmt: skip
    return run_stencil(ev, function, stated, env, keywords.get("out", NONE), statements)


def run_stencil(
    ev: Evaluator, function: cst.FunctionDef, stated: Stencil, env: dict[str, Value], out: Value,
    statements: Sequence[cst.BaseStatement],
) -> Array:  # fmt: skip
    """Emit loops over the elements whose neighbors exist; the value is the array of results.

    `env` has the arguments by parameter, `out` the array that is stored into, or None for a new
    one, whose border is `cval` or 0.
    """
    b, name = ev.b, function.name.value
    first = next(iter(env.values()), NONE)
    key = next(iter(env), "")
    if not isinstance(first, Array) or not first.ndim or key in stated.standard:
        raise b.refuse("PRT903", f"the first argument of the stencil `{name}` is not an array",
                       "pass an array first, of which neighbors are read")  # fmt: skip
    reached = _reaches(ev, function, stated, env, first.ndim)
    axes = tuple(
        ir.Axis(a.name, a.hi - max(0, high), Poly.of(-min(0, low)))
        for a, (low, high) in zip(b.axes(first.shape), reached, strict=True)
    )
    at = [sym(a.name, True) for a in axes]
    own = {n: _seen(ev, n, v, key, first, at, stated) for n, v in env.items()}
    b.scope.ranges += axes
    b.scope.loops.append(Loop.THREADS)
    with b.out.block() as collected:
        inner = ev.as_numba(own)
        value = ev.bodies(inner, name).run_helper(list(statements))
        if value is None or value is NONE:
            raise b.refuse("PRT902", f"the stencil `{name}` returns nothing on some path",
                           "return the result on every path")  # fmt: skip
        result = inner.as_numeric(value, function)
        if isinstance(result, Array):
            raise b.refuse("PRT902", f"the stencil `{name}` returns an array for an element",
                           "return a number")  # fmt: skip
        made = None if isinstance(out, Array) else _made(ev, first.shape, result)
        target = Array.of(made) if made is not None else out
        assert isinstance(target, Array)
        place = index_array(b, target, [ir.Value(p, number(0).dtype) for p in at], target=True)
        store(b, place, cast(result, strengthen(target.dtype)))
    b.scope.loops.pop()
    del b.scope.ranges[len(b.scope.ranges) - len(axes) :]
    origin = b.place.origin
    if made is not None:
        b.out.emit(ir.Alloc(made, origin))
    if made is not None or stated.cval is not None:
        _fill(ev, target, stated)
    body: Sequence[ir.Stmt] = collected
    for a in reversed(axes):
        body = (ir.For(a.name, a.lo, a.hi, 1, tuple(body), origin),)
    for s in body:
        b.out.emit(s)
    return target


def _made(ev: Evaluator, shape: tuple[Poly, ...], result: ir.Expr) -> ir.Buffer:
    buffer = ir.Buffer(ev.b.out.fresh("out"), shape, strengthen(result.dtype))
    ev.b.out.add(buffer)
    return buffer


def _fill(ev: Evaluator, target: Array, stated: Stencil) -> None:
    """`cval` in all elements: those with all neighbors get their results after it."""
    given = number(0) if stated.cval is None else ev.numeric(stated.cval)
    if isinstance(given, Array):
        raise ev.b.refuse("PRT902", "`cval` is not a number", "pass a number")
    store(ev.b, target, cast(given, strengthen(target.dtype)))


def _seen(
    ev: Evaluator, name: str, value: Value, key: str, first: Array, at: list[Poly],
    stated: Stencil,
) -> Value:  # fmt: skip
    """What the body sees of an argument: a number as Numba types it, or an array to read."""
    if is_expr(value):
        return cast(value, strengthen(value.dtype))
    if not isinstance(value, Array):
        return value
    read = readonly(value, "a stencil reads its arguments only")
    if name in stated.standard:
        return read
    if read.ndim != first.ndim:
        raise ev.b.refuse("PRT903", f"`{name}` has {read.ndim} dimensions, `{key}` has "
                          f"{first.ndim}", "pass arrays of one shape, or name it in "
                          "`standard_indexing`")  # fmt: skip
    for own, least in zip(read.shape, first.shape, strict=True):
        if ev.b.sizes.resolve(own) != ev.b.sizes.resolve(least):
            message = f"an axis of {name} is shorter than that of {key}"
            ev.b.sizes.check(ir.Check("index", least, own, message))
    # no neighbor is beyond the end of the first array
    return Relative(reindex(read, first.shape, list), tuple(at))


# -- how far a stencil reaches ----------------------------------------------------------------


def _reaches(
    ev: Evaluator, function: cst.FunctionDef, stated: Stencil, env: dict[str, Value], ndim: int
) -> list[Reach]:
    """The offsets along each axis: the stated neighborhood, or those of the subscripts and 0."""
    if stated.neighborhood is not None:
        found = ev(stated.neighborhood)
        rows = found if isinstance(found, tuple) else ()
        pairs = [_pair(row) for row in rows if isinstance(row, tuple)]
        if len(pairs) != ndim or None in pairs:
            raise refusal("PRT903", f"the neighborhood is not {ndim} pairs of integers",
                          stated.span, "write a pair for each axis")  # fmt: skip
        return [p for p in pairs if p is not None]
    relative = {n for n, v in env.items() if isinstance(v, Array) and n not in stated.standard}
    found_at = [_offsets(ev, node, ndim) for node in _subscripts(function, relative)]
    return [
        (min(0, *(o[k] for o in found_at)), max(0, *(o[k] for o in found_at)))
        if found_at
        else (0, 0)
        for k in range(ndim)
    ]


def _pair(row: Sequence[Any]) -> Reach | None:
    """Two integers that are known."""
    match [constant_of(p) for p in row]:
        case [int(low), int(high)]:
            return low, high
    return None


def _subscripts(function: cst.FunctionDef, names: set[str]) -> Iterator[cst.Subscript]:
    for node in walk(function.body):
        if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name):
            if node.value.value in names:
                yield node


def _offsets(ev: Evaluator, node: cst.Subscript, ndim: int) -> list[int]:
    """The constant offsets of a subscript. Refuses others."""
    values: list[Any] = []
    for element in node.slice:
        plain = element.slice.value if isinstance(element.slice, cst.Index) else None
        known = _literal(ev.scope, plain) if plain is not None else None
        values += known if isinstance(known, tuple) else [known]
    if not all(isinstance(v, int) for v in values):
        raise refusal("PRT905", f"the offset `{ev.scope.module.brief(node)}` of the stencil is not "
                      "constant", ev.scope.module.span(node), _NEIGHBORHOOD)  # fmt: skip
    if len(values) != ndim:
        raise refusal("PRT903", f"`{ev.scope.module.brief(node)}` has {len(values)} offsets for "
                      f"{ndim} dimensions", ev.scope.module.span(node),
                      "write an offset for each axis")  # fmt: skip
    return values


def from_element(ev: Evaluator, owner: Relative, items: Sequence[Any]) -> Array | ir.Expr:
    """What subscripts that count from the element mean."""
    if len(items) != len(owner.index):
        raise ev.b.refuse("PRT903", f"{len(items)} offsets for {len(owner.index)} dimensions",
                          "write an offset for each axis")  # fmt: skip
    moved = [_moved(ev, item, at) for item, at in zip(items, owner.index, strict=True)]
    return index(ev.b, owner.array, moved)


def _moved(ev: Evaluator, item: Any, at: Poly) -> Any:
    if isinstance(item, Slice) and item.start is not None and item.stop is not None:
        return Slice(item.start + at, item.stop + at, item.step)
    if not is_expr(item) or item.dtype.kind not in "iu":
        raise ev.b.refuse("PRT905", "the offset of a stencil is not an integer",
                          "write an integer, or a slice with both ends")  # fmt: skip
    return ir.Value(ev.size(item, ev.b.place.node or cst.Name("x")) + at, number(0).dtype)
