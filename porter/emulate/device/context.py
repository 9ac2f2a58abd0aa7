"""What a thread knows: its place in the grid, and where the launch keeps its memory.

Compiled code is given the address of the thread's cells, all int64.  A structure in their
place would be copied into every variable that holds it, which is most of what is compiled.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from llvmlite import ir

Dim3 = namedtuple("Dim3", "x y z")

#: the thread's cells: its exchange with its warp, whose clock counts the warp's operations; the
#: block's place in the grid and the thread's in the block, each as three numbers and as one; the
#: sizes of both; the addresses of the launch's report of what went wrong, of its arguments and of
#: the block's head
MASK, VALUE, OPERAND, RESULT, CLOCK = range(5)
BLOCK, BLOCK_NUMBER, THREAD, NUMBER, BLOCK_DIM, GRID_DIM = 5, 8, 9, 12, 13, 16
REPORT, ARGUMENTS, HEAD, CELLS = 19, 20, 21, 22

#: fields of the report, all int64; the last is the address of the shadow memory's control
SITE, AXIS, INDEX, SIZE, THREAD_AT, BLOCK_AT = range(6)
OTHER_SITE, OTHER_KIND, OTHER_THREAD, OTHER_BLOCK, SHADOW, REPORT_FIELDS = range(6, 12)
#: fields of a block's head, before the addresses of its shared arrays; the phases count
#: barriers of the block and of the grid
ARENA, USED, LIMIT, DYNAMIC, PHASE, GRID_PHASE, FIRST_SHARED = range(7)


def field(builder: Any, context: Any, number: int) -> Any:
    """One of the thread's cells in compiled code."""
    return builder.load(cell(builder, context, number))


def cell(builder: Any, address: Any, number: Any) -> Any:
    """A pointer to an int64 in compiled code, `number` cells after an address."""
    base = builder.inttoptr(address, ir.IntType(64).as_pointer())
    if isinstance(number, int):
        number = ir.Constant(ir.IntType(64), number)
    return builder.gep(base, [number])
