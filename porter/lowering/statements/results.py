"""`return`: what the function gives back, and the early ones of helpers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from porter import ir
from porter.dtypes.dtype import strengthen
from porter.ir.scalars import number, on_host
from porter.lowering.arrays.compaction import whole
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.state.ambiguous import candidates_of, check_result, is_ambiguous
from porter.lowering.state.builder import Builder
from porter.lowering.statements.jumps import jump
from porter.lowering.statements.untouched import narrow_returned, return_unless_run
from porter.resolve.values import NONE, Array, Listed, Value


def give_back(body: Body, node: cst.BaseExpression | None) -> None:
    """A `return` statement of the function, or of a helper from inside a loop."""
    if body.early is not None:
        value = NONE if node is None else body.ev(node)
        _return_early(body, value, node or cst.Name("None"))
        return
    nodes = [node] if node is not None else []
    elements = [e.value for e in node.elements] if isinstance(node, (cst.Tuple, cst.List)) else []
    with narrow_returned(body, elements or nodes):
        body.b.place.results = (*nodes, *elements)
        value = NONE if node is None else body.ev(node)
        body.b.place.results = ()
        values = list(value) if isinstance(value, tuple) else [value]
        nodes = elements if isinstance(value, tuple) and elements else nodes
        returned(body, values, not isinstance(value, tuple), isinstance(value, Listed), nodes)


def returned(
    body: Body, values: Sequence[Value], single: bool, listed: bool = False,
    nodes: Sequence[cst.BaseExpression] = (),
) -> None:  # fmt: skip
    """The end of the function with these results, which the expressions `nodes` make."""
    names = ["out"] if len(values) == 1 else [f"out{k}" for k in range(1, len(values) + 1)]
    results = [_result(body, v, name) for v, name in zip(values, names, strict=True)]
    given = frozenset(k for k, v in enumerate(values) if body.b.host.is_given(v))
    end = ir.Return(tuple(results), single, body.b.place.origin, listed, given=given)
    if len(nodes) == len(results) and not listed:
        return_unless_run(body, nodes, end)
    made = body.b.place.only_returned
    values_of = (made.get(n.value, n) if isinstance(n, cst.Name) else n for n in nodes)
    squeezed = frozenset(k for k, n in enumerate(values_of) if n in body.b.place.squeezed)
    body.b.out.emit(replace(end, squeezed=squeezed))
    body.returned = body.b.out.depth == 0


def _return_early(body: Body, value: Value, node: cst.CSTNode) -> None:
    assert body.early is not None
    result, returned = body.early
    expr = body.ev.as_numeric(value, node)
    if isinstance(expr, Array):
        raise body.b.refuse(
            "PRT902",
            "an array is returned from inside a loop",
            "assign it in the loop, and return it after the loop",
        )
    body.b.let(result, expr)
    body.b.let(returned, number(True))
    jump(body, "break")


def _result(body: Body, value: Value, name: str) -> str | ir.Expr | None:
    if value is NONE:
        return None
    if isinstance(value, Array):
        value = whole(body.b, value, name)
        _check_chosen(body.b, value)
        if value.view is not None and value.view.only is not None:
            body.b.dtypes.pin(value.view.only)
            value = Array(value.shape, value.dtype, value.at)
        if value.view is None:
            value = body.b.define(name, value)
        value = body.b.out.named(name, value)
        assert isinstance(value, Array) and value.view is not None
        if value.is_buffer:
            return value.view.buffer
        return _returned_view(body, name, value)
    if isinstance(value, ir.Object):
        return value
    if not is_expr(value):
        raise body.b.refuse(
            "PRT902",
            "the returned value is not an array, a number or a tuple of them",
            "return arrays, numbers or a tuple of them",
        )
    expr: ir.Expr = value
    if is_ambiguous(candidates := candidates_of(body.b.dtypes, expr)):
        body.b.restarts.must_have_one_dtype(expr)
        check_result(body.b.dtypes, candidates)
    if on_host(expr):
        return expr
    if isinstance(expr, ir.Local) or (isinstance(expr, ir.Load) and _is_own_scalar(body.b, expr)):
        return expr
    strong = Array((), strengthen(expr.dtype), lambda _: expr)
    array = body.b.define(name, strong)
    assert array.view is not None
    return ir.Load(array.view.buffer, (), expr.dtype)


def _is_own_scalar(b: Builder, e: ir.Load) -> bool:
    """Whether a scalar has a buffer of its own, and not that of an argument."""
    return e.index == () and not any(map(b.out.is_parameter, b.aliases.may_be(e.buffer)))


def _check_chosen(b: Builder, value: Array) -> None:
    """Refuses what may be an argument itself: a copy would be returned."""
    names = {
        m for n in value.shown_of.split() for m in b.aliases.may_be(n) if b.out.is_parameter(m)
    }
    if value.chosen and names:
        raise b.refuse("PRT905", f"the returned array may be a view of `{min(names)}`",
                       "return a copy: `.copy()`")  # fmt: skip


def _returned_view(body: Body, name: str, value: Array) -> str:
    assert value.view is not None
    if any(map(body.b.out.is_parameter, body.b.aliases.may_be(value.view.buffer))):
        raise body.b.refuse("PRT905", "the returned array is a view of an argument",
                            "return a copy: `.copy()`")  # fmt: skip
    copy = body.b.define(name, Array(value.shape, value.dtype, value.at))
    assert copy.view is not None
    return copy.view.buffer
