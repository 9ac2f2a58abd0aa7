"""What takes the place of launches where arrays are in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter import ir
from porter.schedule.base import Kernel
from porter.sizes.polynomial import Poly


@dataclass(frozen=True)
class Input:
    """An array that a block function gets a block of: a letter for each axis.

    Along the axes in `whole` it is in one chunk.
    """

    name: str
    letters: str
    whole: tuple[int, ...] = ()


@dataclass(frozen=True)
class Blockwise:
    """`out` by a function that is called for each of its blocks, with the blocks of the inputs.

    `depth` tells of letters how many neighbours on both sides a block needs.  A letter in `folded`
    has one element for each block.  `made` are axes that no input has, with their sizes.  The
    kernel's arrays are blocks: `buffers` has their sizes, and `shape` that of the result.  With
    `renewed` the last input is what the kernel stores into.  `given` are the numbers that the
    function needs, by their names in it.
    """

    out: ir.Buffer
    letters: str
    inputs: tuple[Input, ...]
    kernel: Kernel
    buffers: Mapping[str, ir.Buffer]
    shape: tuple[Poly, ...]
    depth: Mapping[str, int] = field(default_factory=dict)
    folded: str = ""
    made: tuple[tuple[str, Poly], ...] = ()
    renewed: bool = False
    given: tuple[tuple[str, Poly], ...] = ()


@dataclass(frozen=True)
class Joined:
    """A fold of the parts that a block function has left along the last axes, as a tree."""

    out: ir.Buffer
    parts: str
    op: str
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Copied:
    """An array with the elements of another one."""

    out: ir.Buffer
    source: str


@dataclass(frozen=True)
class Filled:
    """An array of one number; its chunks are those of `like`, where there is such an array."""

    out: ir.Buffer
    value: ir.Expr
    like: str = ""


@dataclass(frozen=True)
class Made:
    """An array without values, as `np.empty` has it; its chunks are those of `like`."""

    out: ir.Buffer
    like: str = ""


Step = Blockwise | Joined | Copied | Filled | Made
