"""What was made of selections by a mask so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from porter import ir
from porter.lowering.state.part import Part
from porter.resolve.values import Array
from porter.sizes.polynomial import Poly

#: a mask, its shape, the block and how many statements it had, and what was made of the mask
Known = tuple[ir.Expr, tuple[Poly, ...], list[ir.Stmt], int, Any]


@dataclass
class Selections(Part):
    """By mask: the positions of the elements and the mask as it was; compacted arrays."""

    positions: list[Known] = field(default_factory=list)
    masks: list[Known] = field(default_factory=list)
    compacted: list[tuple[Array, Array]] = field(default_factory=list)
