"""Stages in which one thread computes scalars of the device."""

from __future__ import annotations

from collections.abc import Mapping

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.walk import jumps, statements


def is_of_scalars(s: ir.Stmt, buffers: Mapping[str, ir.Buffer]) -> bool:
    """Whether one thread computes scalars of the device from others, without a loop.

    None of them is an element of an argument, which another argument may share.
    """
    if not isinstance(s, ir.Stage) or s.axes or jumps(s.body):
        return False
    inner = list(statements(s.body))
    looped = any(isinstance(x, (ir.For, ir.While)) for x in inner)
    if looped or any(isinstance(x, ir.Write) and x.checked for x in inner):
        return False
    touched = [buffers[a.buffer] for a in accesses(s.body)]
    return not any(b.shape or b.parameter for b in touched)
