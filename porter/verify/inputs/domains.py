"""`# porter: domain x > 0`: what the author of a function says about its arguments.

The comments are read from the source file, without NumPy; `narrowing` makes arguments of them.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import math
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from porter.diagnostics import UsageError
from porter.source import newer
from porter.source.text import split_lines
from porter.support.parsing import expression_of
from porter.support.reserved import ATTRIBUTE_PREFIX

_COMMENT = re.compile(r"#\s*porter:\s*(?P<word>\w+)\b(?P<text>.*)$", re.IGNORECASE)
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Size:
    """The extent of a parameter along an axis: `len(x)`, `x.shape[1]`."""

    name: str
    axis: int


@dataclass(frozen=True)
class Number:
    """A number that the comment writes out."""

    value: float


@dataclass(frozen=True)
class Value:
    """A parameter's value."""

    name: str


@dataclass(frozen=True)
class Computed:
    """Arithmetic: `operator` is the name of ast's class."""

    operator: str
    left: Term
    right: Term


Term = Size | Number | Value | Computed


@dataclass(frozen=True)
class Bound:
    """One comparison: `subject operator limit`."""

    subject: Value | Size
    operator: str
    limit: Term


@dataclass(frozen=True)
class Among:
    """`mask in (0, 1)`."""

    subject: Value
    values: tuple[float, ...]


@dataclass(frozen=True)
class Property:
    """`finite` of a parameter, or of all when `name` is empty; `sorted` along the last axis."""

    what: str
    name: str = ""


Condition = Bound | Among | Property


@dataclass(frozen=True)
class Domain:
    """What holds for the arguments of one function; `texts` are the comments' conditions."""

    conditions: tuple[Condition, ...] = ()
    texts: tuple[str, ...] = ()

    def joined(self, other: Domain) -> Domain:
        """Both; the evidence says only what this one does."""
        return Domain((*self.conditions, *other.conditions), self.texts)

    @property
    def text(self) -> str:
        """All of it on one line, as the evidence says it."""
        return ", ".join(self.texts)


class _Malformed(Exception):
    """A comment that cannot be served; the text says why."""


def read_domains(text: str, path: str) -> dict[str, Domain]:
    """The domains of a source file by the function's name, `Class.method` for methods.

    Raises `UsageError` naming the line of a comment that is malformed, names something that is
    no parameter, or stands at no function.
    """
    found: dict[str, Domain] = {}
    for comment, name, part in _read(text):
        if isinstance(part, str):
            raise UsageError(f"{path}:{comment.line}: domain comment: {part}")
        before = found.get(name, Domain())
        found[name] = Domain((*before.conditions, *part.conditions), (*before.texts, *part.texts))
    return found


def problems(text: str) -> Iterator[tuple[Comment, str, str]]:
    """The comments of a source file that cannot be served, each with its function and why."""
    for comment, name, part in _read(text):
        if isinstance(part, str):
            yield comment, name, part


@dataclass(frozen=True)
class Comment:
    """Where a comment is, in lines from 1 and columns from 0, and what follows `domain`."""

    line: int
    start: int
    end: int
    text: str


def _read(text: str) -> Iterator[tuple[Comment, str, Domain | str]]:
    """Every comment with the name of its function and its domain, or what is wrong with it."""
    if "porter:" not in text.lower():
        return
    functions: list[tuple[str, _Function]] | None = None
    lines = split_lines(text)
    for comment in _comments(text):
        functions = functions or list(_functions(newer.parse(text), ""))
        name = ""
        try:
            name, node = _owner(functions, lines, comment.line)
            conditions, texts = _conditions(comment.text, node)
        except _Malformed as error:
            yield comment, name, str(error)
        else:
            yield comment, name, Domain(tuple(conditions), tuple(texts))


def comments_of(text: str, word: str) -> Iterator[tuple[int, str, str]]:
    """The comments `# porter: word ...`: line, function ('' where there is none), what is said."""
    if "porter:" not in text.lower():
        return
    lines, functions = split_lines(text), list(_functions(newer.parse(text), ""))
    for token in _tokens(text):
        match = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if match is None or match["word"].lower() != word:
            continue
        try:
            name = _owner(functions, lines, token.start[0])[0]
        except _Malformed:
            name = ""
        yield token.start[0], name, match["text"].strip().removeprefix(":").strip()


def _comments(text: str) -> Iterator[Comment]:
    for token in _tokens(text):
        if token.type == tokenize.COMMENT and (match := _COMMENT.search(token.string)):
            word = match["word"].lower()
            # a typing error must not leave the inputs as wide as they were
            if word == "domain" or difflib.get_close_matches(word, ["domain"], cutoff=0.82):
                said = match["text"] if word == "domain" else f"\0{word}"
                start = token.start[1] + match.start()
                yield Comment(token.start[0], start, token.end[1], said)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    # the parser takes a little more than the tokenizer of the library
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        yield from tokenize.generate_tokens(io.StringIO(newer.plain(text)).readline)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield prefix + child.name, child
        if isinstance(child, (_Function, ast.ClassDef)):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


def _first(node: _Function) -> int:
    return min(n.lineno for n in (node, *node.decorator_list))


def _owner(
    functions: Sequence[tuple[str, _Function]], lines: Sequence[str], line: int
) -> tuple[str, _Function]:
    """The innermost function around a line, or the one directly below its comments."""
    below = line + 1
    while below <= len(lines) and lines[below - 1].lstrip().startswith("#"):
        below += 1
    alone = lines[line - 1].lstrip().startswith("#")
    for name, node in functions:
        if alone and _first(node) == below:
            return name, node
    around = [(n, f) for n, f in functions if _first(f) <= line <= (f.end_lineno or 0)]
    if not around:
        raise _Malformed("it stands neither in a function nor directly above one")
    return max(around, key=lambda pair: pair[1].lineno)


def _conditions(comment: str, node: _Function) -> tuple[list[Condition], list[str]]:
    text = comment.strip().removeprefix(":").strip()
    if text.startswith("\0"):
        raise _Malformed(f"`{text[1:]}` is not a word of porter's: is `domain` meant?")
    try:
        tree = expression_of(text)
    except SyntaxError as error:
        raise _Malformed(f"`{text}` is not a condition") from error
    parser = _Parser(node)
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    while any(isinstance(p, ast.BoolOp) and isinstance(p.op, ast.And) for p in parts):
        parts = [q for p in parts for q in (p.values if isinstance(p, ast.BoolOp) else [p])]
    conditions = [c for part in parts for c in parser.condition(part)]
    return conditions, [ast.unparse(part) for part in parts]


def conditions_of(test: ast.expr, function: _Function) -> list[Condition]:
    """The conditions on parameters that an expression states; none where it is about others."""
    try:
        return list(_Parser(function).condition(test))
    except _Malformed:
        return []


class _Parser:
    """Reads the conditions of one function."""

    def __init__(self, node: _Function) -> None:
        a = node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        # the attributes that a method reads are its parameters too
        own = {n.attr for n in ast.walk(node) if _is_self(n) and isinstance(n, ast.Attribute)}
        self.function = node.name
        self.names = [*names, *sorted(ATTRIBUTE_PREFIX + attribute for attribute in own)]

    def condition(self, node: ast.expr) -> Iterator[Condition]:
        """The conditions that one expression states."""
        if isinstance(node, ast.Name) and node.id == "finite" and "finite" not in self.names:
            yield Property("finite")
        elif isinstance(node, ast.Call):
            yield self.property(node)
        elif (
            isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In)
        ):
            yield self.among(node)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                yield self.bound(left, op, right, ast.unparse(node))
        else:
            raise _Malformed(f"`{ast.unparse(node)}` is not a condition")

    def property(self, node: ast.Call) -> Property:
        """`finite(x)` or `sorted(x)`."""
        what = getattr(node.func, "id", "")
        if what not in ("finite", "sorted") or len(node.args) != 1 or node.keywords:
            raise _Malformed(f"`{ast.unparse(node)}` is not a condition")
        return Property(what, self.name(node.args[0]))

    def among(self, node: ast.Compare) -> Among:
        """`x in (0, 1)`."""
        choices = node.comparators[0]
        if not isinstance(choices, (ast.Tuple, ast.List, ast.Set)) or not choices.elts:
            raise _Malformed(f"`{ast.unparse(choices)}` is not a list of numbers")
        terms = [self.term(e) for e in choices.elts]
        values = tuple(t.value for t in terms if isinstance(t, Number))
        if len(values) < len(terms):
            raise _Malformed(f"`{ast.unparse(choices)}` is not a list of numbers")
        return Among(Value(self.name(node.left)), values)

    def bound(self, left: ast.expr, op: ast.cmpop, right: ast.expr, text: str) -> Bound:
        """One comparison; of two parameters the later one is what is bounded."""
        if type(op) not in _OPERATORS:
            raise _Malformed(f"`{text}` is not a condition")
        sign = _OPERATORS[type(op)]
        one, two = self.term(left), self.term(right)
        first, second = self.rank(one), self.rank(two)
        if max(first, second) < 0:
            raise _Malformed(f"`{text}` bounds no parameter")
        if second > first:
            one, two, sign = two, one, _FLIPPED[sign]
        assert isinstance(one, (Value, Size))
        if isinstance(one, Value) and one.name in _values(two):
            raise _Malformed(f"`{text}` bounds `{one.name}` by itself")
        return Bound(one, sign, two)

    def rank(self, term: Term) -> int:
        """Which side of a comparison is bounded: values come before sizes, later before earlier."""
        if isinstance(term, Value):
            return 1 + self.names.index(term.name)
        return 0 if isinstance(term, Size) else -1

    def name(self, node: ast.expr) -> str:
        """The parameter that a name or `self.name` stands for."""
        if _is_self(node):
            assert isinstance(node, ast.Attribute)
            found = ATTRIBUTE_PREFIX + node.attr
        elif isinstance(node, ast.Name):
            found = node.id
        else:
            raise _Malformed(f"`{ast.unparse(node)}` is not a parameter")
        if found not in self.names:
            shown = ast.unparse(node)
            raise _Malformed(f"`{shown}` is not a parameter of `{self.function}`")
        return found

    def term(self, node: ast.expr) -> Term:
        """A number, a parameter, a size, or arithmetic with them."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, bool)):
            return Number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            sign = Number(-1 if isinstance(node.op, ast.USub) else 1)
            return _computed("Mult", sign, self.term(node.operand))
        if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
            name = type(node.op).__name__
            return _computed(name, self.term(node.left), self.term(node.right))
        if (size := self.size(node)) is not None:
            return size
        word = getattr(node, "attr", getattr(node, "id", ""))
        module = getattr(getattr(node, "value", None), "id", "")
        plain = isinstance(node, ast.Name) and node.id not in self.names
        if word in _CONSTANTS and (plain or module in ("np", "numpy", "math")):
            return Number(_CONSTANTS[word])
        return Value(self.name(node))

    def size(self, node: ast.expr) -> Size | None:
        """`len(x)` or `x.shape[0]`; None for anything else."""
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len" and node.args:
            return Size(self.name(node.args[0]), 0)
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
            assert isinstance(node.value, ast.Attribute)
            axis = self.term(node.slice)
            if isinstance(axis, Number) and isinstance(axis.value, int):
                return Size(self.name(node.value.value), axis.value)
        return None


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"


def _computed(operator: str, left: Term, right: Term) -> Term:
    term = Computed(operator, left, right)
    if not (isinstance(left, Number) and isinstance(right, Number)):
        return term
    try:
        return Number(evaluate(term, {}, {}))
    except (ArithmeticError, ValueError) as error:
        raise _Malformed(f"`{left.value} {operator} {right.value}` has no value") from error


def evaluate(term: Term, values: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> Any:
    """The number or array that a term stands for; raises LookupError for an axis too many."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Value):
        return values[term.name]
    if isinstance(term, Size):
        return shapes[term.name][term.axis]
    left, right = evaluate(term.left, values, shapes), evaluate(term.right, values, shapes)
    return _APPLY[term.operator](left, right)


_APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mult": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "Pow": lambda a, b: a**b,
}


def _values(term: Term) -> set[str]:
    if isinstance(term, Computed):
        return _values(term.left) | _values(term.right)
    return {term.name} if isinstance(term, Value) else set()


def needs(condition: Condition) -> set[str]:
    """The parameters whose values a condition asks for besides its subject."""
    return _values(condition.limit) if isinstance(condition, Bound) else set()
