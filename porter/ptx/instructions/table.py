"""The table of instructions, which is the machine's definition."""

from __future__ import annotations

from porter.ptx.instructions import accesses, choice, real, threads, whole
from porter.ptx.instructions.rows import Table

#: `setp` with two results
PAIRED = Table(choice.PAIRED)
TABLE = Table((*whole.ROWS, *real.ROWS, *choice.ROWS, *accesses.ROWS, *threads.ROWS))
