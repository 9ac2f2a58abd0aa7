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
