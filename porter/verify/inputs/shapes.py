"""The header's `shapes` line: which dimensions of a function's arguments belong together."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable, Mapping

from porter.support.parsing import expression_of

_PARAMETER = re.compile(r"(\w+)\[([^\]]*)\]")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def parse_shapes(text: str) -> dict[str, tuple[str, ...]]:
    """`x[n, m+1] k[]` as {"x": ("n", "m+1"), "k": ()}."""
    return {
        name: tuple(entry.strip() for entry in dims.split(",") if entry.strip())
        for name, dims in _PARAMETER.findall(text)
    }


def symbols(entries: Iterable[str]) -> list[str]:
    """The names in the entries, in order, without repeats."""
    found: dict[str, None] = {}
    for entry in entries:
        found |= dict.fromkeys(re.findall(r"[A-Za-z_]\w*", entry))
    return list(found)


def evaluate(entry: str, values: Mapping[str, int]) -> int:
    """The extent that an entry stands for; raises `ValueError` when it cannot be read."""
    try:
        return _evaluate(expression_of(entry), values)
    except (SyntaxError, KeyError, ZeroDivisionError) as error:
        raise ValueError(f"`{entry}` in the shapes line cannot be evaluated") from error


def _evaluate(node: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply = _OPERATORS[type(node.op)]
        return int(apply(_evaluate(node.left, values), _evaluate(node.right, values)))
    raise ValueError("not an affine expression")


def holds(test: str, values: Mapping[str, float]) -> bool:
    """Whether a test of the header holds for some numbers; raises `ValueError` if it is none."""
    try:
        return _holds(expression_of(test), values)
    except (SyntaxError, KeyError) as error:
        raise ValueError(f"`{test}` in the header cannot be evaluated") from error


def _holds(node: ast.expr, values: Mapping[str, float]) -> bool:
    match node:
        case ast.BoolOp(ast.And(), parts):
            return all(_holds(p, values) for p in parts)
        case ast.BoolOp(ast.Or(), parts):
            return any(_holds(p, values) for p in parts)
        case ast.UnaryOp(ast.Not(), arg):
            return not _holds(arg, values)
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARE:
            return bool(_COMPARE[type(op)](_number(left, values), _number(right, values)))
        case ast.Name(name):
            return bool(values[name])
    raise ValueError("not a test of numbers")


def _number(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(int() | float() as value):
            return value
        case ast.Name(name):
            return values[name]
        case ast.UnaryOp(ast.USub(), arg):
            return -_number(arg, values)
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            apply = _OPERATORS[type(op)]
            return float(apply(_number(left, values), _number(right, values)))
    raise ValueError("not a number")


def complete(
    shapes: Mapping[str, tuple[str, ...]], ranks: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Shapes for every array: an unknown entry (`*`) becomes a dimension of its own.

    An array that the header says nothing about takes its last dimensions from the first
    array of the highest rank, as broadcasting would.
    """
    known = {n: shapes[n] for n, rank in ranks.items() if len(shapes.get(n, ())) == rank}
    model = max(known.values(), key=len, default=())
    highest = max(ranks.values(), default=0)
    if len(model) < highest:
        model = tuple(f"axis_{k}" for k in range(highest - len(model))) + model
    return {
        name: tuple(
            f"{name}_{k}" if entry == "*" else entry
            for k, entry in enumerate(known.get(name, model[len(model) - rank :]))
        )
        for name, rank in ranks.items()
    }
