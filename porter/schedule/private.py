"""Which arrays a kernel's blocks may have of their own while they add to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.walk import statements

#: elements of one array in shared memory, and bytes of all of them
MOST_ELEMENTS, MOST_BYTES = 1024, 16384


def private_targets(body: Sequence[ir.Stmt], buffers: Mapping[str, ir.Buffer]) -> list[str]:
    """Small arrays of a known size that the statements only add to."""
    found: list[str] = []
    room = MOST_BYTES
    for s in statements(tuple(body)):
        if not isinstance(s, ir.Write) or s.combine != "add" or s.buffer in found:
            continue
        size = _size(buffers[s.buffer])
        only = all(a.combine == "add" for a in accesses(body) if a.buffer == s.buffer)
        if size is None or size > MOST_ELEMENTS or not only:
            continue
        room -= size * buffers[s.buffer].dtype.itemsize
        if room >= 0:
            found.append(s.buffer)
    return found


def _size(b: ir.Buffer) -> int | None:
    """The number of elements, if it is known at conversion."""
    total = 1
    for n in b.shape:
        if n.constant is None:
            return None
        total *= n.constant
    return total
