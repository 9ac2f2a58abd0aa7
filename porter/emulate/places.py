"""Where a thread is in the grid: one operation each, because nearly every kernel asks.

Written out as fields of the context, products and sums, they were a tenth of what Numba compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from porter.emulate import context as ctx

_I64 = ir.IntType(64)


def _product(builder: Any, thread: Any, field: int, axis: int) -> Any:
    """A field of the context along an axis, times the threads of a block, as int64."""
    parts = (builder.extract_value(thread, [f, axis]) for f in (field, ctx.BLOCK_DIM))
    return builder.mul(*(builder.sext(p, _I64) for p in parts))


def _grid(axis: int) -> Callable[..., Any]:
    @intrinsic  # type: ignore[untyped-decorator]
    def grid(typing: Any, thread: Any) -> Any:
        """The thread's place in the grid along an axis."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            own = builder.extract_value(args[0], [ctx.THREAD, axis])
            before = _product(builder, args[0], ctx.BLOCK, axis)
            return builder.add(before, builder.sext(own, _I64))

        return types.int64(thread), codegen

    return grid  # type: ignore[no-any-return]


def _gridsize(axis: int) -> Callable[..., Any]:
    @intrinsic  # type: ignore[untyped-decorator]
    def gridsize(typing: Any, thread: Any) -> Any:
        """The threads of the grid along an axis."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _product(builder, args[0], ctx.GRID_DIM, axis)

        return types.int64(thread), codegen

    return gridsize  # type: ignore[no-any-return]


NAMES = {
    f"{name}_{letter}": make(axis)
    for name, make in (("grid", _grid), ("gridsize", _gridsize))
    for axis, letter in enumerate("xyz")
}
