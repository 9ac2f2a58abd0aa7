"""Where the local names of a function come from, as far as the text shows it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.source.walk import walk

Expressions = dict[str, list[cst.BaseExpression]]


def expressions_of(body: cst.CSTNode) -> Expressions:
    """The expressions that each name is given, by `=` also of tuples."""
    found: Expressions = {}
    for node in walk(body):
        if isinstance(node, cst.Assign):
            for target in node.targets:
                for name, value in _pairs(target.target, node.value):
                    found.setdefault(name, []).append(value)
    return found


def counters(body: cst.CSTNode) -> set[str]:
    """The variables of loops over ranges, and what `enumerate` counts."""
    found: set[str] = set()
    for n in walk(body):
        if not (isinstance(n, cst.For) and isinstance(n.iter, cst.Call)):
            continue
        function = n.iter.func.value if isinstance(n.iter.func, cst.Name) else ""
        target: cst.BaseExpression = n.target
        if function == "enumerate" and isinstance(target, cst.Tuple):
            target = target.elements[0].value
        if function in ("range", "prange", "enumerate") and isinstance(target, cst.Name):
            found.add(target.value)
    return found


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[str, cst.BaseExpression]]:
    if isinstance(target, cst.Name):
        yield target.value, value
    elif isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        for t, v in zip(target.elements, value.elements, strict=False):
            yield from _pairs(t.value, v.value)


def elements_of(target: cst.BaseExpression, items: cst.BaseExpression) -> Iterator[tuple[str, str]]:
    """(variable, array) of `for i, (t, p) in enumerate(zip(a, b))` and its parts."""
    if isinstance(items, cst.Name):
        parts = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
        yield from ((t.value, items.value) for t in parts if isinstance(t, cst.Name))
    if not (isinstance(items, cst.Call) and isinstance(items.func, cst.Name)):
        return
    inner = list(target.elements) if isinstance(target, cst.Tuple) else []
    if items.func.value == "enumerate" and len(inner) == 2 and items.args:
        yield from elements_of(inner[1].value, items.args[0].value)
    elif items.func.value == "zip":
        for t, a in zip(inner, items.args, strict=False):
            yield from elements_of(t.value, a.value)


def has_number(value: cst.BaseExpression) -> bool:
    """Whether a display has a literal among its elements: then the others are numbers, too."""
    if isinstance(value, (cst.List, cst.Tuple)):
        return any(has_number(e.value) for e in value.elements)
    return isinstance(value, (cst.Integer, cst.Float))
