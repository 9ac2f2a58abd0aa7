"""Memory of the arrays of a launch, and of the module's own variables.

Addresses are those of the host.  An access lies inside of one array; overlapping arrays are one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array


@dataclass
class Region:
    """Bytes from `low` to `high` that some arrays share; `views` are typed views of them."""

    low: int
    high: int
    names: list[str]
    views: dict[np.dtype[Any], tuple[int, Array]] = field(default_factory=dict)

    def view(self, dtype: np.dtype[Any]) -> tuple[int, Array]:
        """The first address of elements of a type, and all of them."""
        if dtype not in self.views:
            first = -(-self.low // dtype.itemsize) * dtype.itemsize
            count = max(0, (self.high - first) // dtype.itemsize)
            memory: Any = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(first)
            self.views[dtype] = first, np.frombuffer(memory, dtype, count)
        return self.views[dtype]


class Memory:
    """All regions of a launch, in the order of their addresses."""

    def __init__(self, arrays: Iterable[tuple[str, Array]]) -> None:
        spans = []
        self.kept = []
        for name, array in arrays:
            if array.nbytes:
                low, high = np.lib.array_utils.byte_bounds(array)
                spans.append((int(low), int(high), name))
                self.kept.append(array)
        self.regions: list[Region] = []
        for low, high, name in sorted(spans):
            last = self.regions[-1] if self.regions else None
            if last is not None and low < last.high:
                last.high = max(last.high, high)
                last.names.append(name)
            else:
                self.regions.append(Region(low, high, [name]))
        self.lows = np.array([r.low for r in self.regions], np.int64)

    def find(self, address: int) -> int:
        """The number of the last region that begins at an address or before, -1 for none."""
        return int(np.searchsorted(self.lows, address, "right")) - 1

    def inside(self, addresses: Array, size: int) -> tuple[Array, Array]:
        """For each address the number of its region, and whether the access lies in one."""
        numbers = np.searchsorted(self.lows, addresses, "right") - 1
        if not self.regions:
            return numbers, np.zeros(numbers.shape, np.bool_)
        highs = np.array([r.high for r in self.regions], np.int64)
        return numbers, (numbers >= 0) & (addresses + size <= highs[np.maximum(numbers, 0)])

    def described(self, address: int, size: int) -> str:
        """Where an address outside of all arrays is."""
        number = self.find(address)
        near = []
        for region in self.regions[max(number, 0) : number + 2]:
            names = " or ".join(f"`{n}`" for n in dict.fromkeys(region.names))
            distance = (
                region.low - address if address < region.low else address + size - region.high
            )
            side = "before" if address < region.low else "beyond the end of"
            near.append((distance, f"{distance} bytes {side} {names}"))
        return min(near)[1] if near else "and the launch was given no array"
