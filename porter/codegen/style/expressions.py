"""Documents of expressions: where each kind may be broken.

`level` says what surrounds an expression: None when nothing lets it span lines, `INSIDE`
between brackets, or the id of the group whose parentheses are printed only if it breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import libcst as cst

from porter.codegen.style import atoms
from porter.codegen.style.doc import (
    SOFT,
    SPACE,
    BestFitParens,
    Doc,
    ExpandParent,
    FitsExpanded,
    If,
    Indent,
    block,
    forces_break,
    group,
    new_id,
)
from porter.codegen.style.facts import (
    BinaryLike,
    Comprehension,
    Expr,
    Literal,
    Needs,
    Unsupported,
    can_omit_parens,
    head,
    is_fluent,
    looseness,
    needs,
    parenthesized,
    source,
    symbol,
)

Level = int | None
INSIDE = 0


class Parens(Enum):
    """When a statement puts parentheses around its expression."""

    KEEP = 0
    IF_BREAKS = 1
    IF_BREAKS_ALWAYS = 2


def line(level: Level, flat: str = " ") -> Doc:
    """A break that exists only where the expression may span lines."""
    if level is None:
        return flat
    broken = SPACE if flat else SOFT
    return broken if level == INSIDE else (If(broken, level), If(flat, level, broken=False))


def loose_group(content: Doc, level: Level) -> Doc:
    """A group that exists only where the expression may span lines."""
    if level is None:
        return content
    return group(content) if level == INSIDE else group(content, when=level)


def brackets(left: str, content: Doc, right: str, level: Level) -> Doc:
    """Brackets whose content (built at level INSIDE) goes on its own lines when too long."""
    inner: Doc = group(block(content))
    if level:
        inner = FitsExpanded(inner, level, forces_break(inner))
    return (left, inner, right)


def commas(parts: Sequence[Doc], magic: bool, always: bool = False) -> Doc:
    """Parts separated by commas; the last comma is printed when broken, and breaks if magic."""
    joined = [parts[0]]
    for part in parts[1:]:
        joined += [",", SPACE, part]
    if magic or always or len(parts) > 1:
        joined.append(If(","))
    return (*joined, ExpandParent()) if magic else tuple(joined)


def expr(
    node: Expr, level: Level = None, *, parens: bool | None = None, chain: Level = None
) -> Doc:
    """The document of an expression; `parens` None keeps the parentheses of the source.

    `chain` is None at the start of a call chain, 1 inside a fluent one, 0 inside another.
    """
    if parenthesized(node) if parens is None else parens:
        return brackets("(", _plain(node, INSIDE, None), ")", level)
    return _plain(node, level, chain)


def _plain(node: Expr, level: Level, chain: Level) -> Doc:
    if isinstance(node, (cst.Integer, cst.Float, cst.Imaginary)):
        return atoms.number(node.value)
    if isinstance(node, cst.SimpleString):
        return atoms.string(node.value)
    if isinstance(node, cst.FormattedString):
        return formatted(node)
    if isinstance(node, Literal):
        return (
            "..." if isinstance(node, cst.Ellipsis) else source(node.with_changes(lpar=(), rpar=()))
        )
    if isinstance(node, BinaryLike):
        return binary(node, level)
    if isinstance(node, cst.UnaryOperation):
        return unary(node, level)
    if isinstance(node, cst.IfExp):
        return loose_group(conditional(node, level), level)
    if head(node) is not None:
        return trailer(node, level, chain)
    return displays(node, level)


def unary(node: cst.UnaryOperation, level: Level) -> Doc:
    """`-x`, `~x`, `+x`, `not x`; a power after the sign gets parentheses."""
    operand, sign = node.expression, symbol(node.operator)
    power = isinstance(operand, cst.BinaryOperation) and isinstance(operand.operator, cst.Power)
    return (sign, " " if sign == "not" else "", expr(operand, level, parens=power or None))


def conditional(node: cst.IfExp, level: Level) -> Doc:
    """`a if c else b`; a second conditional after `else` is laid out beside the first."""
    orelse = node.orelse
    if isinstance(orelse, cst.IfExp) and not parenthesized(orelse):
        last = conditional(orelse, level)
    else:
        last = loose_group(expr(orelse, level), level)
    test: Doc = ("if ", expr(node.test, level))
    return (expr(node.body, level), line(level), test, line(level), "else ", last)


def _flatten(node: Expr) -> list[Expr | str]:
    """Operands and operators in source order, with what is parenthesised left whole."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        pairs = [(symbol(node.operator), node.right)]
        first = node.left
    elif isinstance(node, cst.Comparison):
        pairs = [(symbol(c.operator), c.comparator) for c in node.comparisons]
        first = node.left
    else:
        return [node]
    parts: list[Expr | str] = [first] if parenthesized(first) else _flatten(first)
    for operator, operand in pairs:
        parts += [operator, *([operand] if parenthesized(operand) else _flatten(operand))]
    return parts


def binary(node: Expr, level: Level) -> Doc:
    """Operators of any kind: the loosest are broken first, all of one kind together."""
    return loose_group(_operators(_flatten(node), level), level)


def _operators(parts: Sequence[Expr | str], level: Level) -> Doc:
    operators = [i for i, part in enumerate(parts) if isinstance(part, str)]
    loosest = max(looseness(str(parts[i])) for i in operators)
    result: list[Doc] = []
    start = 0
    for i in operators:
        if looseness(str(parts[i])) == loosest:
            left, right = parts[start:i], parts[i + 1]
            result.append(_operand(left, level))
            result.append(_operator(str(parts[i]), left[-1], right, level))
            start = i + 1
    return (*result, _operand(parts[start:], level))


def _operand(parts: Sequence[Expr | str], level: Level) -> Doc:
    if len(parts) == 1 and not isinstance(parts[0], str):
        return expr(parts[0], level)
    return loose_group(_operators(parts, level), level)


def _operator(operator: str, left: Expr | str, right: Expr | str, level: Level) -> Doc:
    if operator != "**" or not (_is_simple(left) and _is_simple(right)):
        return (line(level), operator, " ")
    if level is None:
        return operator
    space = If(" ") if level == INSIDE else If(" ", level)
    return (line(level, ""), operator, space)


def _is_simple(node: Expr | str) -> bool:
    """A name, number, attribute of a name, or one of these with a sign: hugs its power."""
    if isinstance(node, str) or parenthesized(node):
        return False
    while isinstance(node, (cst.UnaryOperation, cst.Attribute)):
        if isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node.operator, cst.Not):
            return False
        else:
            node = node.expression
    return isinstance(node, Literal) and not isinstance(node, cst.Ellipsis)


def trailer(node: Expr, level: Level, chain: Level) -> Doc:
    """A call, subscript or attribute; a long fluent chain is broken before its dots."""
    fluent = is_fluent(node) if chain is None and level is not None else bool(chain)
    value = head(node)
    assert value is not None
    inherits = isinstance(value, (cst.Call, cst.Subscript, cst.Attribute))
    passed = int(fluent) if inherits and (fluent or not isinstance(node, cst.Attribute)) else None
    wrapped = parenthesized(value)
    first = expr(value, level, chain=None if wrapped else passed)
    if isinstance(node, cst.Call):
        result: Doc = (first, arguments(node, level))
    elif isinstance(node, cst.Subscript):
        result = (first, brackets("[", indices(node), "]", level))
    else:
        assert isinstance(node, cst.Attribute)
        dots = fluent and (wrapped or isinstance(value, (cst.Call, cst.Subscript)))
        result = (first, SOFT if dots else "", ".", node.attr.value)
    return group(result) if fluent and chain is None else result


def arguments(node: cst.Call, level: Level) -> Doc:
    """The parentheses of a call: all arguments on one indented line, else one on each."""
    if not node.args:
        return "()"
    last = node.args[-1]
    parts = [_argument(arg) for arg in node.args]
    content = group(commas(parts, isinstance(last.comma, cst.Comma)))
    return brackets("(", content, ")", level)


def _argument(arg: cst.Arg) -> Doc:
    value = arg.value
    if isinstance(value, cst.GeneratorExp) and not arg.keyword:
        raise Unsupported("a generator as an argument")
    name = "" if arg.keyword is None else f"{arg.keyword.value}="
    return (arg.star, name, expr(value, INSIDE))


def indices(node: cst.Subscript) -> Doc:
    """What stands between the brackets of a subscript."""
    elements = node.slice
    parts = [_index(element.slice) for element in elements]
    trailing = isinstance(elements[-1].comma, cst.Comma)
    if len(parts) == 1:
        return (parts[0], "," if trailing else "")
    return group(commas(parts, trailing))


def _index(element: cst.BaseSlice) -> Doc:
    if isinstance(element, cst.Index):
        return (element.star or "", expr(element.value, INSIDE))
    if not isinstance(element, cst.Slice):
        raise Unsupported("an index")
    bounds = (element.lower, element.upper, element.step)
    space = "" if all(b is None or _is_short_bound(b) for b in bounds) else " "
    lower, upper, step = (None if b is None else expr(b, INSIDE) for b in bounds)
    doc: Doc = (lower or "", space if lower else "", ":", (space, upper) if upper else "")
    if not isinstance(element.second_colon, cst.Colon):
        return doc
    return (doc, space if upper or not step else "", ":", (space, step) if step else "")


def _is_short_bound(node: Expr) -> bool:
    while isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        node = node.expression
    return isinstance(node, (*Literal, cst.SimpleString))


def displays(node: Expr, level: Level) -> Doc:
    """Tuples, lists, sets, dictionaries and comprehensions."""
    if isinstance(node, cst.Tuple):
        return tuple_(node, level)
    left, right = "{", "}"
    if isinstance(node, (cst.List, cst.ListComp)):
        left, right = "[", "]"
    if isinstance(node, (cst.List, cst.Set, cst.Dict)):
        return brackets(left, items(node.elements), right, level) if node.elements else left + right
    if isinstance(node, cst.DictComp):
        element: Doc = (expr(node.key, INSIDE), ": ", expr(node.value, INSIDE))
    elif isinstance(node, Comprehension):
        element = expr(node.elt, INSIDE)
    else:
        raise Unsupported(type(node).__name__)
    if isinstance(node, cst.GeneratorExp):
        left, right = "(", ")"
    return brackets(left, group((group(element), SPACE, clauses(node.for_in))), right, level)


def clauses(clause: cst.CompFor) -> Doc:
    """The `for ... in ... if ...` of a comprehension."""
    target: Doc = expr(clause.target, INSIDE)
    if isinstance(clause.target, cst.Tuple):
        target = optional_parens(items(clause.target.elements), new_id())
    parts: list[Doc] = ["for ", target, " in ", expr(clause.iter, INSIDE)]
    for test in clause.ifs:
        parts += [SPACE, "if ", expr(test.test, INSIDE)]
    if clause.inner_for_in is not None:
        parts += [SPACE, clauses(clause.inner_for_in)]
    return tuple(parts)


def items(elements: Sequence[cst.BaseElement | cst.BaseDictElement], level: Level = INSIDE) -> Doc:
    """The elements of a display, separated by commas."""
    return commas([_item(e, level) for e in elements], isinstance(elements[-1].comma, cst.Comma))


def _item(element: cst.BaseElement | cst.BaseDictElement, level: Level) -> Doc:
    if isinstance(element, cst.DictElement):
        return (expr(element.key, level), ": ", expr(element.value, level))
    if isinstance(element, cst.StarredDictElement):
        return ("**", expr(element.value, level))
    star = "*" if isinstance(element, cst.StarredElement) else ""
    return (star, expr(element.value, level))


def tuple_(node: cst.Tuple, level: Level) -> Doc:
    """A tuple: parentheses as in the source, added when a bare one does not fit."""
    if not node.elements:
        return "()"
    if len(node.elements) == 1:
        return brackets("(", (_item(node.elements[0], INSIDE), ","), ")", level)
    if node.lpar:
        return brackets("(", items(node.elements), ")", level)
    return parens_if_broken(items(node.elements))


def parens_if_broken(content: Doc) -> Doc:
    """Content (built at level INSIDE) between parentheses if it does not fit."""
    return optional_parens(content, new_id())


def optional_parens(content: Doc, id: int) -> Doc:
    """Parentheses that are printed if the group `id` around the content is broken."""
    return group((If("("), Indent((SOFT, content), id), SOFT, If(")")), id=id)


def wrap(node: Expr, parens: Parens = Parens.IF_BREAKS) -> Doc:
    """The expression of a statement, with parentheses if it needs them to span lines."""
    if parens is Parens.KEEP and parenthesized(node):
        return expr(node, None, parens=True)
    wanted = needs(node)
    if wanted is Needs.BEST_FIT and parens is Parens.IF_BREAKS:
        id = new_id()
        return BestFitParens(expr(node, id, parens=False), id)
    if wanted is Needs.NEVER or (wanted is Needs.BEST_FIT and parens is Parens.KEEP):
        return expr(node, None, parens=False)
    if can_omit_parens(node):
        id = new_id()
        return optional_parens(expr(node, id, parens=False), id)
    return parens_if_broken(expr(node, INSIDE, parens=False))


def formatted(node: cst.FormattedString) -> str:
    """An f-string on one line, with its quotes and its expressions as in the source."""
    return atoms.string(source(node.with_changes(lpar=(), rpar=())))
