"""Who wants to know what each expression of a function was found to be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import libcst as cst

from porter.resolve.values import Value


class Observer(ABC):
    """Is told of every value of an evaluation; an attempt that is given up is told of, too."""

    @abstractmethod
    def clear(self) -> None:
        """The evaluation starts again: what was seen holds no more."""

    @abstractmethod
    def saw(self, node: cst.BaseExpression, value: Value) -> None:
        """An expression has been evaluated."""

    @abstractmethod
    def at(self, node: cst.BaseStatement, names: Mapping[str, Value]) -> None:
        """A statement is about to be evaluated, where names mean this."""
