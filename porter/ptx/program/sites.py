"""What the machine knows of each access of memory in a kernel."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES
from porter.ptx.program.operations import Operation


@dataclass(frozen=True, eq=False)
class Site:
    """One load, store or atomic; `vector` elements of a type lie side by side.

    `function` computes what an atomic stores; `wanted` says whether its result is used.
    """

    opcode: str
    space: str
    dtype: np.dtype[Any]
    vector: int
    writes: bool
    function: Any
    wanted: bool
    line: int
    source: int

    @property
    def size(self) -> int:
        """Bytes of a whole access."""
        return self.vector * self.dtype.itemsize

    @property
    def where(self) -> str:
        """The place in the source, or in the PTX where that is not known."""
        return f"line {self.source}" if self.source else f"line {self.line} of the PTX"


def site_of(operation: Operation, used: Set[str]) -> Site:
    """The site of an operation; `used` are the registers whose values are read."""
    form = operation.form
    return Site(
        form.opcode,
        operation.space,
        DTYPES[form.type],
        operation.vector,
        operation.row.name != "ld",
        operation.row.make(form),
        any(name in used for name, _ in operation.results),
        operation.given.line,
        operation.given.source,
    )
