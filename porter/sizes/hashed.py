"""Trees whose objects remember their hash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def hashed_once(kind: type[T]) -> type[T]:
    """A frozen class whose objects remember their hash: that of a tree asks for all below."""
    fresh: Callable[[Any], int] = kind.__hash__

    def remembered(self: Any) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = fresh(self)
        return known

    kind.__hash__ = remembered  # type: ignore[method-assign]
    return kind
