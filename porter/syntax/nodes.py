"""The nodes of a tree that are of some kind: `libcst.matchers` takes long to import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import libcst as cst

from porter.source.walk import walk

T = TypeVar("T", bound=cst.CSTNode)


def nodes_of(root: cst.CSTNode, kind: type[T]) -> Iterator[T]:
    """The nodes of a kind in a tree, the root among them."""
    return (node for node in walk(root) if isinstance(node, kind))


def is_name(node: cst.CSTNode | None, *names: str) -> bool:
    """Whether a node is one of some names."""
    return isinstance(node, cst.Name) and node.value in names


def calls_named(root: cst.CSTNode, *names: str) -> Iterator[cst.Call]:
    """The calls of functions by their own names: `f(x)`, not `np.f(x)`."""
    return (c for c in nodes_of(root, cst.Call) if is_name(c.func, *names))


def calls_of_attribute(root: cst.CSTNode, *names: str) -> Iterator[cst.Call]:
    """The calls of attributes with these names: `x.f()`, `np.f(x)`."""
    calls = nodes_of(root, cst.Call)
    return (c for c in calls if isinstance(c.func, cst.Attribute) and is_name(c.func.attr, *names))
