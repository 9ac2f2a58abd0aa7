"""The text of a function of device arrays: the user's source with what the marks say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import libcst as cst

from porter.convert.cupy.calls import Marks
from porter.source.module import SourceModule
from porter.source.walk import joined
from porter.support.parsing import docstring_of

_ATOMS = (cst.Name, cst.Integer, cst.Float, cst.Call, cst.Subscript, cst.Attribute)


def written(
    module: SourceModule, node: cst.FunctionDef, name: str, marks: Marks, main: bool
) -> str:
    """The text of a function under a name, without annotations and docstring.

    The `main` one is called by its host function, with all arguments in order: it has no defaults.
    """
    body = cast(cst.FunctionDef, node.visit(_Rewriter(marks)))
    own = list(body.body.body)
    if docstring_of(node) is not None:
        own = own[1:]
    # the host function has the docstring
    said = f'"""`{node.name.value}` of arrays on the device."""'
    lines = [] if not main else [cst.parse_statement(said)]
    if not own and not lines:
        own = [cst.parse_statement("pass")]
    suite = cst.IndentedBlock(body=[*lines, *cast(Sequence[cst.BaseStatement], own)])
    changed = body.with_changes(
        name=cst.Name(name), params=_parameters(body.params, main), returns=None, decorators=[],
        body=suite, leading_lines=[], asynchronous=None,
        whitespace_before_params=cst.SimpleWhitespace(""),
    )  # fmt: skip
    return module.tree.code_for_node(changed).strip("\n")


def _parameters(params: cst.Parameters, main: bool) -> cst.Parameters:
    def plain(p: cst.Param) -> cst.Param:
        kept = p if not main else p.with_changes(default=None, equal=cst.MaybeSentinel.DEFAULT)
        return kept.with_changes(annotation=None, comma=cst.MaybeSentinel.DEFAULT)

    groups = [
        [plain(p) for p in group]
        for group in (params.posonly_params, params.params, params.kwonly_params)
    ]
    if main:
        return cst.Parameters(params=[p for group in groups for p in group])
    return cst.Parameters(
        posonly_params=groups[0], params=groups[1], kwonly_params=groups[2],
        star_arg=cst.ParamStar() if groups[2] else cst.MaybeSentinel.DEFAULT,
    )  # fmt: skip


class _Rewriter(cst.CSTTransformer):
    """Puts into the tree what the marks say."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self.marks = marks

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not (node in self.marks.names or node in self.marks.instead)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        marks = self.marks
        if isinstance(updated_node, cst.ParenthesizedWhitespace):
            return joined(updated_node)
        if original_node in marks.instead:
            return _statements(marks.instead[original_node], original_node)
        made = updated_node
        if original_node in marks.names:
            made = cst.parse_expression(marks.names[original_node])
        if original_node in marks.plain:
            made = _plain(cast("cst.AugAssign | cst.AnnAssign", made))
        around = marks.around.get(original_node, "")
        if around.startswith("."):
            value = cast(cst.BaseExpression, made)
            return cst.Call(func=cst.Attribute(value=value, attr=cst.Name(around[1:])))
        if around:
            value = cast(cst.BaseExpression, made)
            return cst.Call(func=cst.parse_expression(around), args=[cst.Arg(value=value)])
        return made


def _statements(text: str, node: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
    """Statements in place of one, whose comments stay above the first."""
    if not text:
        return cst.FlattenSentinel([])
    made = [cast(cst.SimpleStatementLine, cst.parse_statement(line)) for line in text.split("\n")]
    made[0] = made[0].with_changes(leading_lines=getattr(node, "leading_lines", ()))
    return cst.FlattenSentinel(made)


def _plain(node: cst.AugAssign | cst.AnnAssign) -> cst.Assign:
    """`t = t + x` for `t += x`: NumPy's scalars do not change in place; no annotation."""
    target = cst.AssignTarget(target=node.target)
    assert node.value is not None
    if isinstance(node, cst.AnnAssign):
        return cst.Assign(targets=[target], value=node.value)
    value = node.value
    if not isinstance(value, _ATOMS) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    operator = getattr(cst, type(node.operator).__name__.removesuffix("Assign"))()
    both = cst.BinaryOperation(left=node.target, operator=operator, right=value)
    return cst.Assign(targets=[target], value=both)
