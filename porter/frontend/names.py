"""Which names a piece of syntax assigns or uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst


def assigned_names(nodes: Sequence[cst.CSTNode]) -> Iterator[str]:
    """The names that statements bind, once for each binding; nested functions left out."""
    for node in nodes:
        match node:
            case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
                continue
            case cst.Assign(targets=targets):
                for t in targets:
                    yield from _target_names(t.target)
            case cst.AnnAssign(target=target):
                yield from _target_names(target)
            case cst.AugAssign(target=target):
                # two bindings: an augmented name is never assigned just once
                yield from [*_target_names(target)] * 2
            case cst.For(target=target):
                yield from _target_names(target)
        yield from assigned_names(
            [c for c in node.children if not isinstance(c, cst.BaseExpression)]
        )


def _target_names(target: cst.CSTNode) -> Iterator[str]:
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for e in elements:
                yield from _target_names(e.value)


def used_names(node: cst.CSTNode) -> set[str]:
    """Every name that a piece of syntax reads (attributes and keywords left out)."""
    match node:
        case cst.Name(value=name):
            return {name}
        case cst.Attribute(value=value):
            return used_names(value)
        case cst.Arg(value=value):
            return used_names(value)
    return {n for child in node.children for n in used_names(child)}


def contains(node: cst.CSTNode, kind: type[cst.CSTNode]) -> bool:
    """Whether a node of this type is anywhere inside."""
    return isinstance(node, kind) or any(contains(c, kind) for c in node.children)
