"""Documents of statements: simple ones, and the headers of compound ones."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from porter.codegen.style.doc import (
    HARD,
    SPACE,
    BestFitParens,
    BestFitting,
    Doc,
    If,
    Suffix,
    block,
    forces_break,
    group,
    new_id,
)
from porter.codegen.style.expressions import (
    INSIDE,
    Parens,
    commas,
    expr,
    items,
    optional_parens,
    parens_if_broken,
    wrap,
)
from porter.codegen.style.facts import (
    Expr,
    Literal,
    Needs,
    Text,
    Unsupported,
    bracketed,
    can_omit_parens,
    head,
    in_brackets,
    looseness,
    needs,
    parenthesized,
    source,
    symbol,
)
from porter.codegen.style.printer import width_of

#: comments of other tools, which do not count as part of the line
PRAGMAS = ("type:", "noqa", "pyright:", "pylint:", "flake8:", "ruff:", "isort:", "nosec")


def comment_text(text: str) -> str:
    """A comment with a blank after its hash (but not in `#!` and `#:`)."""
    text = text[1:].rstrip()
    return f"#{text}" if not text or text[0] in " !:#\t" else f"# {text}"


def comment_suffix(comment: cst.Comment | None) -> Doc:
    """A trailing comment, two blanks before it."""
    if comment is None:
        return ()
    text = f"  {comment_text(comment.value)}"
    pragma = text[3:].lstrip().startswith(PRAGMAS)
    return Suffix(text, 0 if pragma else width_of(text))


def simple(statement: cst.BaseSmallStatement, comment: Doc) -> Doc:
    """A statement that is not a block.

    Raises `Unsupported` for one that generated modules do not have.
    """
    if isinstance(statement, cst.Assign):
        return assign([t.target for t in statement.targets], "=", statement.value, comment)
    if isinstance(statement, cst.AugAssign):
        operator = symbol(statement.operator)
        return assign([statement.target], operator, statement.value, comment)
    if isinstance(statement, cst.Return):
        return (_return(statement, comment),)
    if isinstance(statement, (cst.Pass, cst.Break, cst.Continue)):
        return (type(statement).__name__.lower(), comment)
    return (_other(statement), comment)


def _other(statement: cst.BaseSmallStatement) -> Doc:
    if isinstance(statement, cst.Expr):
        arithmetic = _is_arithmetic(statement.value)
        return wrap(statement.value, Parens.KEEP) if arithmetic else expr(statement.value)
    if isinstance(statement, cst.Raise):
        return _raise(statement)
    if isinstance(statement, cst.Assert):
        doc: Doc = ("assert ", wrap(statement.test))
        message = statement.msg
        return doc if message is None else (doc, ", ", wrap(message, Parens.IF_BREAKS_ALWAYS))
    if isinstance(statement, cst.ImportFrom):
        return _import_from(statement)
    if isinstance(statement, cst.Import):
        return ("import ", ", ".join(_alias(name) for name in statement.names))
    raise Unsupported(type(statement).__name__)


def _is_arithmetic(node: Expr) -> bool:
    operator = symbol(node.operator) if isinstance(node, cst.BinaryOperation) else "**"
    return looseness(operator) in (5, 6, 8, 9)


def _raise(statement: cst.Raise) -> Doc:
    if statement.exc is None:
        return "raise"
    doc: Doc = ("raise ", wrap(statement.exc, Parens.KEEP))
    cause = statement.cause
    return doc if cause is None else (doc, " from ", wrap(cause.item, Parens.KEEP))


def _import_from(statement: cst.ImportFrom) -> Doc:
    module = "" if statement.module is None else source(statement.module)
    start = f"from {'.' * len(statement.relative)}{module} import "
    if isinstance(statement.names, cst.ImportStar):
        return start + "*"
    magic = isinstance(statement.names[-1].comma, cst.Comma)
    names = [_alias(name) for name in statement.names]
    return (start, parens_if_broken(commas(names, magic, always=True)))


def _alias(alias: cst.ImportAlias) -> str:
    name = source(alias.name)
    return name if alias.asname is None else f"{name} as {source(alias.asname.name)}"


def _return(statement: cst.Return, comment: Doc) -> Doc:
    value = statement.value
    if value is None:
        return ("return", comment)
    if not isinstance(value, cst.Tuple):
        return ("return ", last_value(value, comment))
    if value.lpar or len(value.elements) != 2:
        return ("return ", expr(value, parens=False), comment)
    id = new_id()
    return ("return ", optional_parens(items(value.elements, id), id), comment)


def _is_inline(value: Expr) -> bool:
    """A value without places to break: its comment goes with it into the parentheses."""
    if isinstance(value, cst.Ellipsis):
        return False
    return isinstance(value, Literal) or (
        isinstance(value, Text) and needs(value) is Needs.BEST_FIT
    )


def last_value(value: Expr, comment: Doc) -> Doc:
    """The value that ends a statement, after a target or keyword that cannot be broken."""
    if not _is_inline(value):
        return (wrap(value), comment)
    id = new_id()
    inside = (expr(value, parens=False), If(comment))
    return (BestFitParens(inside, id), If(comment, id, broken=False))


def assign(targets: Sequence[Expr], operator: str, value: Expr, comment: Doc) -> Doc:
    """An assignment: the value is broken before the target is."""
    sign, last = f" {operator} ", targets[-1]
    if len(targets) == 1 and (not _has_brackets(last) or parenthesized(last)):
        return (expr(last), sign, last_value(value, comment))
    start: list[Doc] = []
    for i, target in enumerate(targets[:-1]):
        start += [_target(target) if i else expr(target), sign]
    target_doc = _last_target(last)
    inline = _is_inline(value)
    trailer = head(value) is not None and needs(value) is Needs.BEST_FIT
    if not (inline or trailer):
        return (*start, target_doc, sign, wrap(value), comment)
    flat = (expr(value, parens=False), comment if inline else ())
    after = () if inline else comment
    if forces_break(target_doc):
        return (*start, target_doc, sign, flat, after)
    wrapped: Doc = ("(", group(block(flat), expand=True), ")")
    split = group(target_doc, expand=True)
    variants: list[Doc] = [(target_doc, sign, flat), (target_doc, sign, wrapped)]
    if trailer:  # rather break after the bracket of `target = call(` than before the value
        variants.insert(1, (target_doc, sign, group(flat, expand=True)))
    return (*start, BestFitting((*variants, (split, sign, flat))), after)


def _has_brackets(target: Expr) -> bool:
    return isinstance(target, cst.Tuple) or bracketed(target) is not None


def _is_wrapped(target: Expr) -> bool:
    """Whether a target gets parentheses when it has to be broken."""
    return not (_has_brackets(target) or _breaks_inside(target))


def _breaks_inside(target: Expr) -> bool:
    if isinstance(target, cst.Attribute):
        return in_brackets(target.value) is not None or _breaks_inside(target.value)
    return isinstance(target, cst.Subscript) or (isinstance(target, cst.Call) and bool(target.args))


def _target(target: Expr) -> Doc:
    if _is_wrapped(target):
        return parens_if_broken(expr(target, INSIDE, parens=False))
    return expr(target, parens=False)


def _last_target(target: Expr) -> Doc:
    if not (_is_wrapped(target) and can_omit_parens(target)):
        return _target(target)
    id = new_id()
    return optional_parens(expr(target, id, parens=False), id)


def header(statement: cst.BaseCompoundStatement) -> Doc:
    """The first line of a block, with its colon.

    Raises `Unsupported` for one that generated modules do not have.
    """
    if isinstance(statement, cst.If):
        return ("if ", wrap(statement.test), ":")
    if isinstance(statement, cst.While):
        return ("while ", wrap(statement.test), ":")
    if isinstance(statement, cst.For) and statement.asynchronous is None:
        return ("for ", loop_target(statement.target), " in ", wrap(statement.iter), ":")
    if isinstance(statement, cst.FunctionDef) and statement.asynchronous is None:
        return (_function(statement), ":")
    raise Unsupported(type(statement).__name__)


def loop_target(target: Expr) -> Doc:
    """The names of a `for`; parentheses around a tuple are dropped when it fits."""
    if not isinstance(target, cst.Tuple) or len(target.elements) < 2:
        return wrap(target)
    id = new_id()
    return optional_parens(items(target.elements, id), id)


def decorator(node: cst.Decorator) -> Doc:
    """A decorator line."""
    return ("@", wrap(node.decorator, Parens.KEEP))


def _function(node: cst.FunctionDef) -> Doc:
    parameters, magic = _parameters(node.params)
    returns: Doc = ()
    if node.returns is not None:
        returns = (" -> ", _annotation(node.returns.annotation, bool(parameters)))
    start = f"def {node.name.value}"
    if not parameters:
        return (start, group(("()", returns)))
    joined: list[Doc] = [parameters[0]]
    for part in parameters[1:]:
        joined += [",", SPACE, part]
    content: Doc = (*joined, If(","), *((HARD,) if magic else ()))
    alone = len(parameters) == 1
    return (start, group(("(", block(content if alone else group(content)), ")", returns)))


def _annotation(node: Expr, after_parameters: bool) -> Doc:
    if isinstance(node, cst.Subscript) and needs(node) is Needs.BEST_FIT:
        if after_parameters:
            return expr(node, parens=False)
        id = new_id()
        return optional_parens(expr(node, id, parens=False), id)
    return wrap(node, Parens.IF_BREAKS if after_parameters else Parens.IF_BREAKS_ALWAYS)


def _parameters(params: cst.Parameters) -> tuple[list[Doc], bool]:
    """The parts of a parameter list, and whether it ends with a magic trailing comma."""
    parts = [_parameter(p) for p in params.posonly_params]
    if parts:
        parts.append("/")
    parts += [_parameter(p) for p in params.params]
    if isinstance(params.star_arg, cst.Param):
        parts.append(("*", _parameter(params.star_arg)))
    elif params.kwonly_params:
        parts.append("*")
    parts += [_parameter(p) for p in params.kwonly_params]
    if params.star_kwarg is not None:
        parts.append(("**", _parameter(params.star_kwarg)))
    star = [params.star_arg] if isinstance(params.star_arg, cst.Param) else []
    ends = [*params.posonly_params, *params.params, *star, *params.kwonly_params]
    last = params.star_kwarg or (ends[-1] if ends else None)
    return parts, last is not None and isinstance(last.comma, cst.Comma)


def _parameter(param: cst.Param) -> Doc:
    annotation: Doc = ()
    if param.annotation is not None:
        annotation = (": ", expr(param.annotation.annotation, INSIDE))
    if param.default is None:
        return (param.name.value, annotation)
    equals = "=" if param.annotation is None else " = "
    return (param.name.value, annotation, equals, expr(param.default, INSIDE))
