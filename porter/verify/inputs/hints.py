"""What a function seems to take, by its own checks and its docstring.

Where the original raises for most inputs, others are searched with these: they narrow no case that
gives a result without them, and are no promise, as a `# porter: domain` comment is one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.support.parsing import expression_of
from porter.verify.inputs.domains import Condition, Domain, conditions_of

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_BETWEEN = re.compile(rf"(?:\bin\b|\bbetween\b|\bfrom\b)?\s*([\[(])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\])])", re.I)  # fmt: skip  # noqa: E501
_WORDS = re.compile(rf"\b(?:between|from)\s+({_NUMBER})\s+(?:and|to)\s+({_NUMBER})", re.I)
_COMPARED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_SIGNS = (
    (re.compile(r"\bnon-?\s?negative\b|\bnot negative\b", re.I), "{0} >= 0"),
    (re.compile(r"\bnon-?\s?zero\b|\bnot (?:be )?(?:0|zero)\b", re.I), "{0} != 0"),
    (re.compile(r"\bpositive\b|\bgreater than (?:0|zero)\b", re.I), "{0} > 0"),
    (re.compile(r"\bnegative\b", re.I), "{0} < 0"),
    (re.compile(r"\bprobabilit(?:y|ies)\b|\bfraction\b", re.I), "0 <= {0} <= 1"),
    (re.compile(r"\b(?:sorted|increasing|ascending)\b", re.I), "sorted({0})"),
    (re.compile(r"\bfinite\b", re.I), "finite({0})"),
)
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


def hints(function: Function) -> Domain:
    """The conditions that the checks and the docstring of a function state."""
    found: list[Condition] = []
    for test in _required(function):
        found += conditions_of(test, function)
    # what the code tests decides; the docstring may be loose
    bound = {name for c in found for name in _about(c)}
    for name, text in _described(function):
        if name not in bound:
            found += conditions_of(expression_of(text), function)
    return Domain(tuple(dict.fromkeys(found)))


def _about(condition: Condition) -> Iterator[str]:
    yield getattr(condition, "name", "") or getattr(getattr(condition, "subject", None), "name", "")


def _required(function: Function) -> Iterator[ast.expr]:
    """The conditions under which none of the function's checks raises."""
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            yield from _holding(statement.test)
        elif isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):
            yield from _failing(statement.test)

    for node in ast.walk(function):
        yield from _chosen(node)


def _chosen(node: ast.AST) -> Iterator[ast.expr]:
    """The positions that `np.choose(k, [a, b])` and `k.choose([a, b])` take."""
    match node:
        case ast.Call(func=func, args=[ast.Name() as name, ast.List() | ast.Tuple() as choices],
                      keywords=[]) if _last(func) == "choose":  # fmt: skip
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="choose"),
                      args=[ast.List() | ast.Tuple() as choices], keywords=[]):  # fmt: skip
            pass
        case _:
            return
    least, most = ast.Constant(0), ast.Constant(len(choices.elts))
    yield ast.Compare(least, [ast.LtE(), ast.Lt()], [name, most])


def _holding(test: ast.expr) -> Iterator[ast.expr]:
    """What is the case where a test is true."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _holding(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _failing(operand)
        case ast.Call(args=[one], func=func) if _last(func) in ("all", "bool") and not _has(one):
            yield from _holding(one)
        case ast.Call(args=[], func=ast.Attribute(value=value, attr="all" | "item")):
            yield from _holding(value)
        case ast.Call(args=[ast.Name() as name], func=func) if _last(func) == "isfinite":
            yield _call("finite", name)
        case ast.Compare():
            yield from _compared(test)


def _failing(test: ast.expr) -> Iterator[ast.expr]:
    """What is the case where a test is false."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            for value in values:
                yield from _failing(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _holding(operand)
        case ast.Call(args=[one], func=func) if _last(func) in ("any", "bool") and not _has(one):
            yield from _failing(one)
        case ast.Call(args=[], func=ast.Attribute(value=value, attr="any" | "item")):
            yield from _failing(value)
        case ast.Call(args=[ast.Name() as name], func=func) if _last(func) in ("isnan", "isinf"):
            yield _call("finite", name)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            yield from _failing(left)
            yield from _failing(right)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _NEGATED:
            yield from _compared(ast.Compare(left, [_NEGATED[type(op)]()], [right]))
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            yield ast.Compare(left, [ast.In()], [right])


def _has(node: ast.expr) -> bool:
    return isinstance(node, (ast.GeneratorExp, ast.ListComp))


def _compared(test: ast.Compare) -> Iterator[ast.expr]:
    """A comparison; one of the smallest or the largest element is one of all elements."""
    left, sides = _whole(test.left), [_whole(c) for c in test.comparators]
    yield ast.Compare(left, test.ops, sides)


def _whole(node: ast.expr) -> ast.expr:
    """`x` for `x.min()` and `np.min(x)`, `x.shape[0]` and `len(x)` for `x.size`."""
    match node:
        case ast.Call(args=[], func=ast.Attribute(value=ast.Name() as name, attr="min" | "max")):
            return name
        case ast.Call(args=[ast.Name() as name], func=func) if _last(func) in (
            "min", "max", "amin", "amax", "abs", "float", "int",
        ):  # fmt: skip
            return name
        case ast.Attribute(value=ast.Name() as name, attr="size"):
            return _call("len", name)
    return node


def _call(word: str, name: ast.Name) -> ast.expr:
    return ast.Call(ast.Name(word, ast.Load()), [name], [])


def _last(func: ast.expr) -> str:
    return str(getattr(func, "attr", getattr(func, "id", "")))


def _described(function: Function) -> Iterator[tuple[str, str]]:
    """Each parameter that the docstring gives a range, and that range as a condition."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    lines = (ast.get_docstring(function) or "").splitlines()
    for name in names:
        start = re.compile(
            rf"^\W*(?:param\s+)?(?:\w+\s+)?`*{re.escape(name)}`*\s*(?:\([^)]*\))?\s*:"
        )
        for k, line in enumerate(lines):
            if not start.match(line):
                continue
            indent = len(line) - len(line.lstrip())
            more = [m for m in lines[k + 1 : k + 4]]
            text = line[start.match(line).end() :]  # type: ignore[union-attr]
            for m in more:
                if not m.strip() or len(m) - len(m.lstrip()) <= indent:
                    break
                text += " " + m.strip()
            yield from ((name, said) for said in _ranges(text, name))
            break


def _ranges(text: str, name: str) -> Iterator[str]:
    for match in _BETWEEN.finditer(text):
        low = "<" if match[1] == "(" else "<="
        high = "<" if match[4] == ")" else "<="
        if float(match[2]) < float(match[3]):
            yield f"{match[2]} {low} {name} {high} {match[3]}"
            return
    for match in _WORDS.finditer(text):
        if float(match[1]) < float(match[2]):
            yield f"{match[1]} <= {name} <= {match[2]}"
            return
    found = [(m[1].replace("≤", "<=").replace("≥", ">="), m[2]) for m in _COMPARED.finditer(text)]
    if found:
        yield f"{name} {found[0][0]} {found[0][1]}"
        return
    for pattern, condition in _SIGNS:
        if pattern.search(text):
            yield condition.format(name)
            return
