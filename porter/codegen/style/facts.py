"""What the layout asks about an expression: precedence, parentheses, call chains."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

Expr = cst.BaseExpression

#: how loosely an operator binds: the loosest is broken first
ATTRIBUTE, INVERT, COMPARISON, BOOLEAN, CONDITIONAL = 1, 3, 10, 11, 12
_BINARY = (("**",), ("~",), ("*", "@", "/", "%", "//"), ("+", "-"), ("<<", ">>"), ("&",), ("^",))
LOOSENESS = {text: level for level, row in enumerate(_BINARY, start=2) for text in row}
LOOSENESS |= {"|": 9, "and": BOOLEAN, "or": BOOLEAN}

BinaryLike = (cst.BinaryOperation, cst.BooleanOperation, cst.Comparison)
Comprehension = (cst.ListComp, cst.SetComp, cst.GeneratorExp)
Brackets = (cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp)
Literal = (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.Ellipsis)
Text = (cst.SimpleString, cst.FormattedString)
_CODE = cst.Module([])


class Needs(Enum):
    """What an expression wants done when it does not fit on its line."""

    NEVER = 0
    BEST_FIT = 1
    MULTILINE = 2


class Unsupported(Exception):
    """Raised for syntax that the layout does not know: the line is left as it is."""


def source(node: cst.CSTNode) -> str:
    """The node's text as it stands in the source."""
    return _CODE.code_for_node(node)


def symbol(operator: cst.CSTNode) -> str:
    """An operator without the blanks around it (`not in` has one inside)."""
    return " ".join(source(operator).split())


def looseness(operator: str) -> int:
    """The precedence level of a binary operator: higher binds less and breaks first."""
    return LOOSENESS.get(operator, COMPARISON)


def brings_parens(node: Expr) -> bool:
    """A tuple or generator written with its own parentheses."""
    return isinstance(node, (cst.Tuple, cst.GeneratorExp)) and bool(node.lpar)


def parenthesized(node: Expr) -> bool:
    """Whether redundant or grouping parentheses stand around the expression."""
    return len(node.lpar) > brings_parens(node)


def bracketed(node: Expr) -> bool | None:
    """None: no brackets of its own; else whether there is something between them."""
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp, cst.Subscript)):
        return True
    if isinstance(node, (cst.List, cst.Set, cst.Dict)):
        return bool(node.elements)
    if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and brings_parens(node):
        return isinstance(node, cst.GeneratorExp) or bool(node.elements)
    return bool(node.args) if isinstance(node, cst.Call) else None


def in_brackets(node: Expr) -> bool | None:
    """As `bracketed`, with the parentheses around the expression counted too."""
    return True if parenthesized(node) else bracketed(node)


def head(node: Expr) -> Expr | None:
    """What a call calls, a subscript indexes, or an attribute is taken of."""
    if isinstance(node, cst.Call):
        return node.func
    return node.value if isinstance(node, (cst.Subscript, cst.Attribute)) else None


def is_fluent(node: Expr) -> bool:
    """A chain such as `a.f().g().h()`: two attributes of calls, subscripts or parentheses."""
    dots, current = 0, node
    while (inner := head(current)) is not None:
        if isinstance(current, cst.Attribute):
            dots += parenthesized(inner) or isinstance(inner, (cst.Call, cst.Subscript))
        if parenthesized(inner):
            break
        current = inner
    return dots >= 2


def needs(node: Expr) -> Needs:
    """What the expression wants when it does not fit."""
    if isinstance(node, Literal):
        return Needs.BEST_FIT
    if isinstance(node, Text):
        return Needs.NEVER if "\n" in source(node) else Needs.BEST_FIT
    inner = node.expression if isinstance(node, cst.UnaryOperation) else head(node)
    if inner is not None:
        if not isinstance(node, cst.UnaryOperation) and is_fluent(node):
            return Needs.MULTILINE
        return Needs.NEVER if parenthesized(inner) else needs(inner)
    if isinstance(node, (*Brackets, cst.Tuple, cst.GeneratorExp)):
        return Needs.NEVER
    return Needs.MULTILINE


def children(node: Expr) -> Iterator[Expr]:
    """The direct subexpressions, in source order, of an expression without brackets."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        yield from (node.left, node.right)
    elif isinstance(node, cst.Comparison):
        yield node.left
        yield from (target.comparator for target in node.comparisons)
    elif isinstance(node, cst.IfExp):
        yield from (node.body, node.test, node.orelse)
    elif isinstance(node, cst.UnaryOperation):
        yield node.expression
    elif isinstance(node, cst.Tuple):
        yield from (element.value for element in node.elements)
    elif isinstance(node, cst.GeneratorExp):
        yield from (node.elt, node.for_in.iter)


class _Survey:
    """Counts the loosest operators and notes the outermost ends of an expression."""

    def __init__(self) -> None:
        self.loosest = self.count = 0
        self.brackets = False
        self.first: Expr | None = None
        self.started = False
        self.last: Expr | None = None

    def operators(self, level: int, count: int = 1) -> None:
        if level > self.loosest:
            self.loosest, self.count = level, 0
        self.count += count if level == self.loosest else 0

    def visit(self, node: Expr) -> None:
        self.last = node
        if parenthesized(node):
            self.brackets = True
        else:
            self.visit_inside(node)
        if not self.started:
            self.first, self.started = node, True

    def visit_inside(self, node: Expr) -> None:
        if isinstance(node, Brackets) or brings_parens(node):
            self.brackets = True
            return
        inner = head(node)
        if inner is not None:
            self.visit(inner)
            if not isinstance(node, cst.Attribute):
                self.brackets = True
            elif in_brackets(inner) is not None:
                self.operators(ATTRIBUTE)
            self.last = node
            return
        self._count(node)
        for child in children(node):
            self.visit(child)

    def _count(self, node: Expr) -> None:
        if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
            self.operators(looseness(symbol(node.operator)))
        elif isinstance(node, cst.Comparison):
            self.operators(COMPARISON, len(node.comparisons))
        elif isinstance(node, cst.IfExp):
            self.operators(CONDITIONAL, 2)
        elif isinstance(node, cst.UnaryOperation):
            if isinstance(node.operator, cst.BitInvert):
                self.operators(INVERT)
            self.started = True


def can_omit_parens(node: Expr) -> bool:
    """Whether the expression's own brackets may be broken instead of parenthesising it all."""
    survey = _Survey()
    survey.visit_inside(node)
    if not survey.brackets or survey.count > 1:
        return False
    if survey.loosest <= ATTRIBUTE:
        return True
    ends = (survey.last, survey.first)
    return any(e is not None and not isinstance(e, cst.Subscript) and in_brackets(e) for e in ends)
