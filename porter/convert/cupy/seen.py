"""What the front end found every expression of a function to be: ranks and dtypes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from porter.dtypes.dtype import DType
from porter.lowering.evaluation import is_expr
from porter.lowering.observer import Observer
from porter.resolve.values import Array, Function, Listed, Value
from porter.source.walk import walk
from porter.syntax.names import contains

#: the number of dimensions of a value; None for what is neither a number nor an array
Rank = int | None | tuple["Rank", ...]


@dataclass
class Seen(Observer):
    """The values of expressions, and of names where statements begin."""

    values: dict[cst.CSTNode, list[Value]] = field(default_factory=dict)
    names: dict[cst.CSTNode, dict[str, Value]] = field(default_factory=dict)

    def clear(self) -> None:
        """Nothing was seen yet."""
        self.values.clear()
        self.names.clear()

    def saw(self, node: cst.BaseExpression, value: Value) -> None:
        """Keep a value; a helper's expressions have one for each call."""
        self.values.setdefault(node, []).append(value)

    def at(self, node: cst.BaseStatement, names: Mapping[str, Value]) -> None:
        """Keep what names mean where a statement begins for the first time."""
        self.names.setdefault(node, dict(names))

    def dead(self, node: cst.CSTNode) -> bool:
        """Whether a statement never ran: it is for other values of an argument than the module."""
        if not isinstance(node, cst.BaseStatement) or contains(node, cst.Raise):
            return False  # what raises is tested before anything else
        return not any(inner in self.names or inner in self.values for inner in walk(node))

    def one(self, node: cst.CSTNode) -> Value | None:
        """The value of an expression, the last one of several."""
        found = self.values.get(node)
        return found[-1] if found else None

    def function(self, node: cst.CSTNode) -> Function | None:
        """The function that an expression names."""
        found = self.one(node)
        return found if isinstance(found, Function) else None

    def ranks(self, node: cst.CSTNode) -> set[Rank]:
        """The ranks that an expression was seen with."""
        return {rank_of(v) for v in self.values.get(node, ())}

    def dtype(self, node: cst.CSTNode) -> DType | None:
        """The dtype of a number or an array."""
        return getattr(self.one(node), "dtype", None)


def rank_of(value: Value) -> Rank:
    """How many dimensions NumPy's value has."""
    if isinstance(value, Array):
        # a mask makes one axis of those that it covers
        return value.ndim if value.mask is None else value.ndim - max(value.lead, 1) + 1
    if isinstance(value, (tuple, Listed)):
        return tuple(map(rank_of, value))
    return 0 if is_expr(value) else None
