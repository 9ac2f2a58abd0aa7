"""Where a thread is in the grid: one operation each, because nearly every kernel asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from porter.emulate.device import context as ctx

#: of a thread's cells and a builder, a value
_Build = Callable[[Any, Any], Any]


def _place(kind: Any, build: _Build) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def place(typing: Any, thread: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return build(builder, args[0])

        return kind(thread), codegen

    return place


def _number(cell: int) -> Any:
    """A cell as CUDA's int32."""

    def build(builder: Any, thread: Any) -> Any:
        return builder.trunc(ctx.field(builder, thread, cell), ir.IntType(32))

    return _place(types.int32, build)


def _grid(axis: int) -> Any:
    """The thread's place in the grid along an axis."""

    def build(builder: Any, thread: Any) -> Any:
        return builder.add(
            _in_threads(builder, thread, ctx.BLOCK + axis, axis),
            ctx.field(builder, thread, ctx.THREAD + axis),
        )

    return _place(types.int64, build)


def _gridsize(axis: int) -> Any:
    """The threads of the grid along an axis."""

    def build(builder: Any, thread: Any) -> Any:
        return _in_threads(builder, thread, ctx.GRID_DIM + axis, axis)

    return _place(types.int64, build)


def _in_threads(builder: Any, thread: Any, blocks: int, axis: int) -> Any:
    """So many blocks as a cell says, in threads."""
    size = ctx.field(builder, thread, ctx.BLOCK_DIM + axis)
    return builder.mul(ctx.field(builder, thread, blocks), size)


def _lane(builder: Any, thread: Any) -> Any:
    """The thread's number in its warp."""
    number = builder.trunc(ctx.field(builder, thread, ctx.NUMBER), ir.IntType(32))
    return builder.and_(number, ir.Constant(number.type, 31))


def _never(builder: Any, thread: Any) -> Any:
    """False, but the compiler does not know."""
    return builder.icmp_unsigned("==", thread, ir.Constant(thread.type, 0))


_FIELDS = {
    "thread": ctx.THREAD, "block": ctx.BLOCK,
    "block_dim": ctx.BLOCK_DIM, "grid_dim": ctx.GRID_DIM,
}  # fmt: skip
NAMES: dict[str, Any] = {
    "lane": _place(types.int32, _lane),
    "never": _place(types.boolean, _never),
    "dim3": ctx.Dim3,
}
for _axis, _letter in enumerate("xyz"):
    NAMES |= {f"{name}_{_letter}": _number(cell + _axis) for name, cell in _FIELDS.items()}
    NAMES |= {f"grid_{_letter}": _grid(_axis), f"gridsize_{_letter}": _gridsize(_axis)}
