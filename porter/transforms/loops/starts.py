"""A loop that became a reduction starts from a value, which is written out in the reduction.

`s = 0.0` and `for v in x: s += v` have become `s = 0.0` and `s = s + sum(x)`.  The second `s` is
data and lives on the device.  The first is a number of the host; to store it there takes a launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.effects import defs_in, uses_in
from porter.ir.rebuild import map_blocks
from porter.ir.scalars import cast, constant_of, operate
from porter.ir.walk import jumps, loaded, rewrite, scalars_of, walk
from porter.ir.weights import is_trivial

Body = tuple[ir.Stmt, ...]


def write_out_starts(body: Body, context: Context) -> Body:
    """The pass: `s = 0.0; s = s + sum(x)` is `s = sum(x)`, wherever nothing reads the first `s`."""
    result: list[ir.Stmt] = []
    work = list(body)
    while work:
        s = work.pop(0)
        if not isinstance(s, ir.Stage):
            s = map_blocks(s, lambda block: write_out_starts(block, context))
        k = _reader(s, work) if isinstance(s, ir.Let) else None
        if isinstance(s, ir.Let) and k is not None:
            work[k] = _begun(s, work[k])
        else:
            result.append(s)
    return tuple(result)


def _reader(start: ir.Let, rest: Sequence[ir.Stmt]) -> int | None:
    """Which statement gives the variable the result of a reduction, before anyone else reads it."""
    if not _is_element(start.value):
        return None
    read, arrays = scalars_of(start.value) | {start.name}, loaded(start.value)
    for k, s in enumerate(rest):
        if isinstance(s, ir.Let) and s.name == start.name:
            folds = any(isinstance(e, ir.Reduce) for e in walk(s.value))
            return k if folds and s.name in scalars_of(s.value) else None
        changed = defs_in([s])
        if changed.scalars & read or (arrays and changed.arrays):
            return None
        if start.name in uses_in([s]).scalars or jumps([s]):
            return None
    return None


def _is_element(value: ir.Expr) -> bool:
    """Whether it costs no more than reading one element."""
    loads = [e for e in walk(value) if isinstance(e, ir.Load)]
    return is_trivial(value) or loads == [value]


def _begun(start: ir.Let, reader: ir.Stmt) -> ir.Stmt:
    assert isinstance(reader, ir.Let)

    def begun(e: ir.Expr) -> ir.Expr | None:
        # a sum of threads begins with zero, and is never -0.0 itself
        if isinstance(e, ir.Op) and e.op == "add" and constant_of(start.value) == 0:
            first, then = e.args
            if _is(first, start.name) and isinstance(then, ir.Reduce) and then.op == "sum":
                return cast(then, e.dtype)
        return cast(start.value, e.dtype) if _is(e, start.name) else None

    return replace(reader, value=_as_truth(rewrite(reader.value, begun)))


def _as_truth(value: ir.Expr) -> ir.Expr:
    """`found` of `True if found else False`."""
    match value:
        case ir.Select(cond, ir.Const(True), ir.Const(False), dtype) if dtype.kind == "b":
            return cond
        case ir.Select(cond, ir.Const(False), ir.Const(True), dtype) if dtype.kind == "b":
            return operate("not", cond)
    return value


def _is(e: ir.Expr, name: str) -> bool:
    return isinstance(e, ir.Local) and e.name == name
