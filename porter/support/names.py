"""Fresh names."""

from __future__ import annotations

from collections.abc import Collection, Iterable


class NameSupply(set[str]):
    """The names that are taken; what the `others` hold when they are asked is not free either."""

    def __init__(self, taken: Iterable[str] = (), *others: Collection[str]) -> None:
        super().__init__(taken)
        self.others = others

    def unused(self, name: str) -> str:
        """The name if it is free, or else with a number after it."""
        candidate, k = name, 2
        while candidate in self or any(candidate in names for names in self.others):
            candidate, k = f"{name}{k}", k + 1
        return candidate

    def fresh(self, name: str) -> str:
        """An unused name, taken from now on."""
        given = self.unused(name)
        self.add(given)
        return given


def in_class(name: str, owner: str) -> str:
    """An attribute as code outside of its class names it: private ones with the class in front.

    Python calls this mangling: "Private name mangling", Language Reference, 6.2.1.
    """
    if not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{owner.lstrip('_')}{name}"
