"""The layout of a generalized ufunc, and what its function says of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.diagnostics import Span


@dataclass(frozen=True)
class Layout:
    """`(n,m),()->(n)`: the symbols of each array, and how many of them are inputs."""

    arrays: tuple[tuple[str, ...], ...]
    inputs: int

    @property
    def undefined(self) -> list[str]:
        """Symbols of the outputs that no input has."""
        known = {s for a in self.arrays[: self.inputs] for s in a}
        return [s for a in self.arrays[self.inputs :] for s in a if s not in known]

    @property
    def results(self) -> tuple[tuple[str, ...], ...]:
        """The symbols of the outputs."""
        return self.arrays[self.inputs :]

    def __str__(self) -> str:
        words = [f"({','.join(a)})" for a in self.arrays]
        return f"{','.join(words[: self.inputs])}->{','.join(words[self.inputs :])}"


def layout(text: str) -> Layout | None:
    """The parsed layout, None when it is not one."""
    left, arrow, right = text.replace(" ", "").partition("->")
    sides = [re.findall(r"\(([^()]*)\)", side) for side in (left, right)]
    if not arrow or not sides[1]:
        return None
    arrays = [tuple(filter(None, a.split(","))) for side in sides for a in side]
    return Layout(tuple(arrays), len(sides[0]))


@dataclass(frozen=True)
class Parts:
    """What `@guvectorize` says of a function that is called for parts of arrays.

    `types` has for each signature the dtype and the number of dimensions of every array;
    `outputs` are the parameters that results are stored into, none if they are returned.
    """

    layout: Layout
    types: tuple[tuple[tuple[str, int], ...], ...]
    outputs: tuple[str, ...]
    span: Span  # of the layout
