"""What a thread knows: its place in the grid, and where the launch keeps its memory."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

Dim3 = namedtuple("Dim3", "x y z")

#: `never` is always false (it keeps a `yield` in generators that nothing reaches);
#: `report`, `head` and `slots` are addresses: of the launch's report of what went wrong,
#: of the block's table of shared arrays, of the thread's own exchange with its warp; `number`
#: and `block_number` are the thread's place in the block and the block's in the grid
Context = namedtuple(
    "Context", "thread block block_dim grid_dim never report head slots number block_number"
)
THREAD, BLOCK, BLOCK_DIM, GRID_DIM, NEVER, REPORT, HEAD, SLOTS, NUMBER, BLOCK_NUMBER = range(10)

#: fields of the report, all int64; the last is the address of the shadow memory's control
SITE, AXIS, INDEX, SIZE, THREAD_AT, BLOCK_AT = range(6)
OTHER_SITE, OTHER_KIND, OTHER_THREAD, OTHER_BLOCK, SHADOW, REPORT_FIELDS = range(6, 12)
#: fields of a block's head, before the addresses of its shared arrays; the phases count
#: barriers of the block and of the grid
ARENA, USED, LIMIT, DYNAMIC, PHASE, GRID_PHASE, FIRST_SHARED = range(7)
#: fields of a thread's slots; the clock counts operations of its warp
MASK, VALUE, OPERAND, RESULT, CLOCK, SLOT_FIELDS = range(6)


def field(builder: Any, context: Any, number: int) -> Any:
    """A field of the context in compiled code."""
    return builder.extract_value(context, number)


def cell(builder: Any, address: Any, number: Any) -> Any:
    """A pointer to an int64 in compiled code, `number` cells after an address."""
    from llvmlite import ir

    base = builder.inttoptr(address, ir.IntType(64).as_pointer())
    if isinstance(number, int):
        number = ir.Constant(ir.IntType(64), number)
    return builder.gep(base, [number])
