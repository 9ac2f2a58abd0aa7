"""Blocks that run as if they stood alone: `with np.errstate(...)`, and a `try` that cannot fail."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from porter.diagnostics import Refusal
from porter.ir.scalars import constant_of
from porter.lowering.evaluation import Body
from porter.lowering.host.statements import transparent
from porter.resolve.values import NONE, Text, Value


def alone(body: Body, node: cst.With | cst.Try) -> Sequence[cst.BaseStatement]:
    """The statements to run in place of a `with` or a `try`. Raises Refusal for all others."""
    if isinstance(node, cst.With):
        return transparent(body, node)
    inside = node.body.body
    after = [] if node.orelse is None else node.orelse.body.body
    if node.finalbody is None and all(_is_known(body, s) for s in inside):
        return [s for s in (*inside, *after) if isinstance(s, cst.BaseStatement)]
    raise body.b.refuse("PRT902", "`try` cannot be converted")


def _is_known(body: Body, node: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    """Whether a statement only names or returns what is known before any call, such as the
    entry of a dictionary at a constant key: no argument can make it raise."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Return(value=value)]) if value is not None:
            return _is_constant(body, value)
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value)]
        ):
            return _is_constant(body, value)
    return False


def _is_constant(body: Body, node: cst.BaseExpression) -> bool:
    blocks = body.b.out.blocks
    before = sum(map(len, blocks))
    try:
        with body.b.attempt(body.env) as undo:
            value = body.ev(node)
            emitted = sum(map(len, blocks)) - before
            undo()
    except Refusal:
        return False
    return not emitted and _is_settled(value)


def _is_settled(value: Value) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_settled, value))
    return value is NONE or isinstance(value, Text) or constant_of(value) is not None
