"""What the parts of a builder's state have in common: an attempt saves and restores them."""

from __future__ import annotations

from copy import copy
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

#: the values of a part's own fields at one time
Snapshot = dict[str, Any]


@dataclass
class Part:
    """A part of the state, a dataclass. Fields without a default are other parts: not its own."""

    def save(self) -> Snapshot:
        """The state as it is now."""
        return {name: copy(getattr(self, name)) for name in self._own()}

    @classmethod
    @cache
    def _own(cls) -> tuple[str, ...]:
        own = (f for f in fields(cls) if (f.default, f.default_factory) != (MISSING, MISSING))
        return tuple(f.name for f in own)

    def restore(self, snapshot: Snapshot) -> None:
        """The state as it was; lists, dictionaries and sets stay the same objects."""
        for name, value in snapshot.items():
            if isinstance(value, (list, dict, set)):
                refill(getattr(self, name), value)
            else:
                setattr(self, name, value)


def refill(container: Any, content: Any) -> None:
    """Give a list, a dictionary or a set other content."""
    if isinstance(container, list):
        container[:] = content
    else:
        container.clear()
        container.update(content)
