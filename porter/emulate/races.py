"""Races: which thread touched which element when, and who else did without a barrier between.

Compiled with these notes, a kernel keeps for every element of its arrays and of shared memory
the last write, the last atomic and two reads: by whom, at which place, and in which phase.  Two
accesses of one element by different threads, one of them a plain write, are a race

* between blocks, if no barrier of the grid lies between them;
* between warps of a block, if no barrier of the block does;
* in a warp, if neither that nor an operation of the warp that both take part in does.

Not reported: threads that write the value which is there already (a flag that many set), and
shared memory of other blocks.  Between blocks nothing is reported of a kernel with fences,
whose order this cannot follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from porter.emulate.device import context as ctx
from porter.emulate.device.accesses import ATOMIC, READ, WRITE
from porter.emulate.device.native import Native, peek, poke
from porter.emulate.errors import Stopped
from porter.emulate.source.helpers import names_with

_I64 = ir.IntType(64)
#: the report's axis when a race was found
RACE = -3
#: a write of what is there already, and an access that meets any other
SAME, ANY = 3, 4
#: the kinds of access in words
DID = {READ: "reads", WRITE: "writes", ATOMIC: "updates", SAME: "writes"}
#: cells of one record, and of one element: a plain write, two reads and an atomic
_BLOCK, _THREAD, _PHASE, _CLOCK, _GRID, _PLACE, _KIND, _RECORD = range(8)
CELLS = 4 * _RECORD
#: cells of the control: how many ranges are shared memory, how many there are, whether the
#: kernel has fences; then base, end, shift and records of each
SHARED_RANGES, RANGES, FENCES, FIRST_RANGE, RANGE_CELLS = 0, 1, 2, 3, 4


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _meets(
    other: int, kind: int, thread: int, block: int, phase: int, clock: int, grid: int, near: bool
) -> bool:
    """Whether a recorded access and this one are of two threads and in no order."""
    if peek(other, _BLOCK) == 0:
        return False
    written = peek(other, _KIND)
    if kind == SAME and written in (WRITE, SAME):
        return False
    if peek(other, _BLOCK) - 1 != block:
        return not near and peek(other, _GRID) == grid
    if peek(other, _THREAD) == thread or peek(other, _PHASE) != phase:
        return False
    if peek(other, _THREAD) // 32 != thread // 32:
        return True
    return bool(clock <= peek(other, _CLOCK))


def _record(address: int, kind: int, site: int, cells: int) -> None:
    """Note one access by the thread with these cells; raises `Stopped` when it meets another."""
    thread, block = peek(cells, ctx.NUMBER), peek(cells, ctx.BLOCK_NUMBER)
    report, head = peek(cells, ctx.REPORT), peek(cells, ctx.HEAD)
    control = peek(report, ctx.SHADOW)
    for r in range(peek(control, RANGES)):
        entry = FIRST_RANGE + RANGE_CELLS * r
        base = peek(control, entry)
        if base <= address < peek(control, entry + 1):
            number = (address - base) >> peek(control, entry + 2)
            element = peek(control, entry + 3) + 8 * CELLS * number
            phase, grid = peek(head, ctx.PHASE), peek(head, ctx.GRID_PHASE)
            clock = peek(cells, ctx.CLOCK)
            near = r < peek(control, SHARED_RANGES) or peek(control, FENCES) != 0
            # only plain writes meet reads and atomics
            for k in range(1 if kind in (READ, ATOMIC) else 4):
                other = element + 8 * _RECORD * k
                if _meets(other, kind, thread, block, phase, clock, grid, near):
                    poke(report, ctx.SITE, site)
                    poke(report, ctx.AXIS, RACE)
                    poke(report, ctx.INDEX, kind)
                    # a place in shared memory says nothing
                    shared = r < peek(control, SHARED_RANGES)
                    poke(report, ctx.SIZE, -1 if shared else number)
                    poke(report, ctx.OTHER_SITE, peek(other, _PLACE))
                    poke(report, ctx.OTHER_KIND, peek(other, _KIND))
                    poke(report, ctx.OTHER_THREAD, peek(other, _THREAD))
                    poke(report, ctx.OTHER_BLOCK, peek(other, _BLOCK) - 1)
                    poke(report, ctx.THREAD_AT, thread)
                    poke(report, ctx.BLOCK_AT, block)
                    raise Stopped("the kernel is stopped")
            kept = element + 8 * 3 * _RECORD if kind == ATOMIC else element
            if kind == READ:
                kept += 8 * _RECORD
                # the first read stays as long as it could meet a write
                if _meets(kept, ANY, thread, block, phase, clock, grid, near):
                    kept += 8 * _RECORD
            poke(kept, _BLOCK, block + 1)
            poke(kept, _THREAD, thread)
            poke(kept, _PHASE, phase)
            poke(kept, _CLOCK, clock)
            poke(kept, _GRID, grid)
            poke(kept, _PLACE, site)
            poke(kept, _KIND, kind)
            return


_RECORD_CALL = Native(_record)


def note(
    context: Any,
    builder: Any,
    array: Any,
    pointer: Any,
    kind: int,
    site: Any,
    thread: Any,
    item: Any,
) -> None:
    """Compile the note of one access into a kernel."""
    number = ir.Constant(_I64, kind)
    if kind == WRITE and isinstance(array.dtype, types.Number | types.Boolean):
        same = _same(context, builder, array, pointer, item)
        number = builder.select(same, ir.Constant(_I64, SAME), number)
    address = builder.ptrtoint(pointer, _I64)
    status = _RECORD_CALL.call(context, builder, [address, number, site, thread])
    failed = builder.icmp_unsigned("!=", status, ir.Constant(status.type, 0))
    with cgutils.if_unlikely(builder, failed):
        builder.ret(status)


def _same(context: Any, builder: Any, array: Any, pointer: Any, item: Any) -> Any:
    """Whether an element holds these very bits already."""
    data = context.data_model_manager[array.dtype].as_data(builder, item)
    width = ir.IntType(8 * context.get_abi_sizeof(data.type))
    # complex numbers lie where a number of one part may
    old = builder.load(builder.bitcast(pointer, width.as_pointer()), align=1)
    slot = cgutils.alloca_once_value(builder, data)
    new = builder.load(builder.bitcast(slot, width.as_pointer()), align=1)
    return builder.icmp_unsigned("==", old, new)


#: the names of kernels that are compiled with these notes
NOTED = names_with(note)


class Shadow:
    """The records of one launch: memory for every element of some ranges of addresses."""

    def __init__(self, arrays: list[Any], shared: list[Any], *, fences: bool) -> None:
        spans = [(a.ctypes.data, a.ctypes.data + a.nbytes, 0) for a in shared]
        spans += _merged([_span(a) for a in arrays if a.nbytes])
        self._records = [np.zeros((((e - b) >> s) + 1, CELLS), np.int64) for b, e, s in spans]
        rows = [
            (base, end, shift, records.ctypes.data)
            for (base, end, shift), records in zip(spans, self._records, strict=True)
        ]
        head = [len(shared), len(rows), int(fences)]
        self.control = np.array([*head, *(n for row in rows for n in row)], np.int64)


def _span(array: Any) -> tuple[int, int, int]:
    """Where an array's elements lie, and the logarithm of their size."""
    low, high = np.lib.array_utils.byte_bounds(array)
    size = array.itemsize
    return int(low), int(high), (size & -size).bit_length() - 1


def _merged(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Overlapping ranges (one array given twice, views of one) as one."""
    found: list[tuple[int, int, int]] = []
    for low, high, shift in sorted(spans):
        if found and low < found[-1][1]:
            before = found.pop()
            low, high, shift = before[0], max(high, before[1]), min(shift, before[2])
        found.append((low, high, shift))
    return found
