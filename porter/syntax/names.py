"""Which names a piece of syntax assigns or uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from porter.source.walk import children, walk

# a function is evaluated for many signatures, and its syntax is the same each time
_remembered = lru_cache(maxsize=4096)


def assigned_names(nodes: Sequence[cst.CSTNode]) -> Iterator[str]:
    """The names that statements bind, once for each binding; nested functions left out."""
    for node in nodes:
        yield from _all_bindings(node)


def straight_names(statements: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements bind once, or one after the other and nowhere deeper."""
    counts = Counter(assigned_names(statements))
    plain = [s for s in statements if isinstance(s, cst.SimpleStatementLine)]
    straight = Counter(assigned_names(plain))
    return {n for n, c in counts.items() if c in (1, straight[n])}


def loop_names(statements: Sequence[cst.CSTNode]) -> set[str]:
    """The names that only `for` loops bind, and that only statements inside these read.

    No iteration of a loop around them can see what an earlier one left in such a name.
    """
    counts: Counter[str] = Counter()
    outside: set[str] = set()

    # a sum may have thousands of terms: no recursion
    pending: list[tuple[cst.CSTNode, frozenset[str]]] = [(s, frozenset()) for s in statements]
    while pending:
        node, inside = pending.pop()
        match node:
            case cst.For(target=target, body=body):
                own = set(target_names(target))
                counts.update(own)
                outside.update(own & inside)
                pending += [(c, inside) for c in (node.iter, node.orelse) if c is not None]
                pending.append((body, inside | own))
            case cst.Name(value=name):
                outside.update({name} - inside)
            case cst.Attribute(value=value):
                pending.append((value, inside))
            case _:
                pending += [(child, inside) for child in children(node)]
    bindings = Counter(assigned_names(statements))
    return {n for n, c in counts.items() if n not in outside and bindings[n] == c}


@_remembered
def _all_bindings(node: cst.CSTNode) -> tuple[str, ...]:
    return tuple(_bindings(node))


def _bindings(node: cst.CSTNode, augmented: bool = True) -> Iterator[str]:
    match node:
        case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
            return
        case cst.Assign(targets=targets):
            for t in targets:
                yield from target_names(t.target)
        case cst.AnnAssign(target=target):
            yield from target_names(target)
        case cst.AugAssign(target=target) if augmented:
            # two bindings: an augmented name is never assigned just once
            yield from [*target_names(target)] * 2
        case cst.For(target=target):
            yield from target_names(target)
    for child in children(node):
        if not isinstance(child, cst.BaseExpression):
            yield from _bindings(child, augmented)


def only_returned(statements: Sequence[cst.BaseStatement]) -> dict[str, cst.BaseExpression]:
    """What the names are given that are assigned once, and then returned and nothing else."""
    given = {
        target.value: small.value
        for line in statements if isinstance(line, cst.SimpleStatementLine)
        for small in line.body if isinstance(small, cst.Assign) and len(small.targets) == 1
        for target in [small.targets[0].target] if isinstance(target, cst.Name)
    }  # fmt: skip
    used = [n.value for s in statements for n in walk(s) if isinstance(n, cst.Name)]
    last = statements[-1] if statements else None
    ends = last.body[-1:] if isinstance(last, cst.SimpleStatementLine) else ()
    value = next((s.value for s in ends if isinstance(s, cst.Return)), None)
    results = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
    names = {n.value for n in results if isinstance(n, cst.Name)}
    return {n: v for n, v in given.items() if n in names and used.count(n) == 2}


def rebound_names(nodes: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements bind by other ways than `+=`, which changes an array in place."""
    return {name for node in nodes for name in _all_rebound(node)}


@_remembered
def _all_rebound(node: cst.CSTNode) -> tuple[str, ...]:
    return tuple(_bindings(node, augmented=False))


def target_names(target: cst.CSTNode) -> Iterator[str]:
    """The names in the target of an assignment or a loop."""
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for e in elements:
                yield from target_names(e.value)


def used_names(node: cst.CSTNode) -> set[str]:
    """Every name that a piece of syntax reads (attributes and keywords left out)."""
    return set(_all_uses(node))


@_remembered
def _all_uses(node: cst.CSTNode) -> frozenset[str]:
    return frozenset(_uses(node))


def _uses(node: cst.CSTNode) -> Iterator[str]:
    stack = [node]
    while stack:
        node = stack.pop()
        match node:
            case cst.Name(value=name):
                yield name
            case cst.Attribute(value=value) | cst.Arg(value=value):
                stack.append(value)
            case _:
                stack += children(node)


def contains(node: cst.CSTNode, kind: type[cst.CSTNode]) -> bool:
    """Whether a node of this type is anywhere inside."""
    return any(isinstance(inner, kind) for inner in walk(node))
