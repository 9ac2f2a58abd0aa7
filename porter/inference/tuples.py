"""Parameters that are tuples of integers: shapes and window sizes, by what is done with them.

A tuple is unpacked (`h, w = size`), subscripted with numbers (`shape[0]`), measured, or passed on
as a shape, and one of its numbers counts something: the bound of a range, a size, a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from porter.numpy_functions import Rank, spec_of
from porter.source.walk import children
from porter.syntax.forms import called, is_size


@dataclass
class _Uses:
    names: set[str]
    lengths: dict[str, int] = field(default_factory=dict)
    counting: set[str] = field(default_factory=set)
    otherwise: set[str] = field(default_factory=set)
    parts: dict[str, str] = field(default_factory=dict)  # of variables: what they were unpacked of

    def look(self, node: cst.CSTNode, counts: bool = False) -> None:
        """Note what is done with the parameters; `counts` where integers are expected."""
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=parts))],
                value=cst.Name(value=name),
            ) if name in self.names:
                self._unpacked(name, [p.value for p in parts])
            case cst.Subscript(value=cst.Name(value=name)) if name in self.names:
                self._item(name, node, counts)
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name())]):
                pass
            case cst.Call(func=func, args=[first, *rest]):
                self._call(func, first, rest)
            case cst.Subscript(value=value, slice=parts):
                self.look(value)
                for part in parts:
                    self.look(part, True)
            case cst.Param():
                pass
            case cst.Name(value=name):
                if name in self.names:
                    self.otherwise.add(name)
                elif counts and name in self.parts:
                    self.counting.add(self.parts[name])
            case _:
                for child in children(node):
                    self.look(child, counts)

    def _unpacked(self, name: str, parts: list[cst.BaseExpression]) -> None:
        if any(isinstance(p, cst.StarredElement) for p in parts):
            self.otherwise.add(name)
        self.lengths[name] = max(self.lengths.get(name, 0), len(parts))
        self.parts |= {p.value: name for p in parts if isinstance(p, cst.Name)}

    def _item(self, name: str, node: cst.Subscript, counts: bool) -> None:
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=text)))]:
                self.lengths[name] = max(self.lengths.get(name, 0), int(text, 0) + 1)
                if counts:
                    self.counting.add(name)
            case parts:
                self.otherwise.add(name)
                for part in parts:
                    self.look(part, True)

    def _call(self, func: cst.BaseExpression, first: cst.Arg, rest: Sequence[cst.Arg]) -> None:
        name = called(func)
        self.look(func) if isinstance(func, cst.Attribute) else None
        self._argument(first.value, name == "range", spec_of(name).rank is Rank.SHAPE)
        for position, other in enumerate(rest, 1):
            keyword = other.keyword.value if other.keyword else ""
            self._argument(other.value, name == "range", is_size(name, position, keyword))

    def _argument(self, value: cst.BaseExpression, counts: bool, sizes: bool) -> None:
        """Look at an argument: a number that `counts`, or `sizes`, one or a tuple of them."""
        if sizes and isinstance(value, cst.Name) and value.value in self.names:
            self.counting.add(value.value)
        else:
            self.look(value, counts or sizes)


def tuple_lengths(node: cst.FunctionDef, names: set[str]) -> dict[str, int]:
    """How many integers each parameter has that can only be a tuple of them."""
    uses = _Uses(names)
    uses.look(node.body)
    return {n: k for n, k in uses.lengths.items() if n in uses.counting - uses.otherwise}
