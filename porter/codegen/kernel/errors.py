"""What threads find wrong: a kernel sets an element of `error`, the host function raises."""

from __future__ import annotations

#: elements of `error`
OUT_OF_BOUNDS, NEGATIVE_POWER = 0, 1
#: the exception of each
RAISED = {
    OUT_OF_BOUNDS: 'IndexError("an index read from data is out of bounds")',
    NEGATIVE_POWER: 'ValueError("an integer has a negative power")',
}
