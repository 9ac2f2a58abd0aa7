"""Shared and local arrays in compiled code: poisoned memory, one per block or thread."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.npydecl import parse_dtype
from numba.extending import intrinsic
from numba.np import arrayobj

from porter.emulate.device import context as ctx
from porter.emulate.device.accesses import stop

_I64 = ir.IntType(64)
#: the report's axis when an arena is full
ARENA_FULL = -2


def poison_byte(dtype: Any) -> int:
    """NaN for floats, large numbers for integers, true for bools: what nobody initialises to."""
    if isinstance(dtype, types.Float | types.Complex):
        return 0xFF
    return 1 if isinstance(dtype, types.Boolean) else 0x5A


def _array_type(shape: Any, dtype: Any) -> tuple[Any, tuple[int, ...]]:
    found = parse_dtype(dtype)
    if found is None:
        raise TypingError("the dtype of an array is not a constant")
    parts = tuple(shape) if isinstance(shape, types.BaseTuple) else (shape,)
    if not all(isinstance(p, types.IntegerLiteral) for p in parts):
        raise TypingError("the shape of an array is not a constant")
    sizes = tuple(p.literal_value for p in parts)
    return types.Array(found, len(sizes), "C"), sizes


def _fill(builder: Any, pointer: Any, size: Any, dtype: Any) -> None:
    byte = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    cgutils.memset(builder, byte, size, poison_byte(dtype))


def _view(context: Any, builder: Any, kind: Any, pointer: Any, sizes: list[Any]) -> Any:
    """An array structure over memory that the array does not own."""
    made = arrayobj.make_array(kind)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [ir.Constant(_I64, item)]
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    data = builder.bitcast(pointer, context.get_data_type(kind.dtype).as_pointer())
    itemsize = ir.Constant(_I64, item)
    arrayobj.populate_array(made, data, sizes, strides, itemsize, None)
    return made._getvalue()


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def shared(typing: Any, number: Any, shape: Any, dtype: Any, site: Any, thread: Any) -> Any:
    """The block's shared array of this number: the first thread makes it."""
    kind, sizes = _array_type(shape, dtype)
    sig = kind(number, shape, dtype, site, thread)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        head = ctx.field(builder, args[4], ctx.HEAD)
        item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        if sizes == (0,):
            # the array whose size the launch gives: all of them are one
            base = builder.load(ctx.cell(builder, head, ctx.ARENA))
            size = builder.load(ctx.cell(builder, head, ctx.DYNAMIC))
            count = builder.sdiv(size, ir.Constant(_I64, item))
            return _view(context, builder, kind, _pointer(builder, base), [count])
        number = builder.add(args[0], ir.Constant(_I64, ctx.FIRST_SHARED))
        at = ctx.cell(builder, head, number)
        missing = builder.icmp_signed("==", builder.load(at), ir.Constant(_I64, 0))
        with cgutils.if_unlikely(builder, missing):
            _allot(context, builder, kind, item * math.prod(sizes), at, args[3:])
        lengths = [ir.Constant(_I64, n) for n in sizes]
        pointer = _pointer(builder, builder.load(at))
        return _view(context, builder, kind, pointer, lengths)

    return sig, codegen


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(8).as_pointer())


def _allot(context: Any, builder: Any, kind: Any, size: int, at: Any, rest: Any) -> None:
    """Take the next part of the block's arena."""
    site, thread = rest
    head = ctx.field(builder, thread, ctx.HEAD)
    used = builder.load(ctx.cell(builder, head, ctx.USED))
    after = builder.add(used, ir.Constant(_I64, -(-size // 16) * 16))
    limit = builder.load(ctx.cell(builder, head, ctx.LIMIT))
    with cgutils.if_unlikely(builder, builder.icmp_signed(">", after, limit)):
        stop(context, builder, thread, [site, ir.Constant(_I64, ARENA_FULL), after, limit])
    address = builder.add(builder.load(ctx.cell(builder, head, ctx.ARENA)), used)
    builder.store(after, ctx.cell(builder, head, ctx.USED))
    builder.store(address, at)
    _fill(builder, _pointer(builder, address), ir.Constant(_I64, size), kind.dtype)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def local(typing: Any, shape: Any, dtype: Any) -> Any:
    """A new array of one thread."""
    kind, sizes = _array_type(shape, dtype)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lengths = [ir.Constant(_I64, n) for n in sizes]
        made = arrayobj._empty_nd_impl(context, builder, kind, lengths)
        size = builder.mul(made.itemsize, made.nitems)
        _fill(builder, made.data, size, kind.dtype)
        return made._getvalue()

    return kind(shape, dtype), codegen
