"""How a launch comes into compiled code: one loop over blocks and threads for all kernels.

A kernel is compiled as a function of its thread's cells alone, and takes what it was launched
with from memory.  Numba's own wrappers, and a loop of its own for each kernel, would take
longer to compile than most kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.extending import intrinsic, register_model

from porter.emulate.device import context as ctx
from porter.emulate.device.native import peek, poke

_I64 = ir.IntType(64)
#: cells of a call: the blocks to run, as rows of their places, and their number; the cells of
#: the block's threads, and their number; the block's head, and how long it is where each block
#: clears it; where the states of threads that pause are made, and how large they are
BLOCKS, BLOCK_COUNT, THREADS, THREAD_COUNT, HEAD, HEAD_SIZE, MEMORY, STATE_SIZE = range(8)


class Arguments(types.Type):  # type: ignore[misc]
    """Says what a kernel is launched with; has no value."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        self.kinds = kinds
        super().__init__(f"Arguments{kinds}")


register_model(Arguments)(models.OpaqueModel)


def cells(value: Any) -> list[int]:
    """What an argument is in memory: an array's address, size, shape and strides, or its bits."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, value.size, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [cell for item in value for cell in cells(item)]
    if value is None:
        return []
    bits = np.asarray(value).tobytes()
    whole = np.frombuffer(bits.ljust(-(-len(bits) // 8) * 8, b"\0"), np.int64)
    return [int(cell) for cell in whole]


def _size(context: Any, kind: Any) -> int:
    """How many cells an argument takes; raises `TypingError` for what no kernel is given."""
    if isinstance(kind, types.Array):
        return 2 + 2 * int(kind.ndim)
    if isinstance(kind, types.BaseTuple):
        return sum(_size(context, k) for k in kind)
    if isinstance(kind, types.NoneType):
        return 0
    if not isinstance(kind, types.Number | types.Boolean):
        raise TypingError(f"an argument of type {kind}")
    return -(-int(context.get_abi_sizeof(context.get_data_type(kind))) // 8)


def _passed(context: Any, builder: Any, kind: Any, given: Any, at: Iterator[int]) -> Any:
    """An argument as the kernel takes it, from the cells at `given`."""
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, given, at)
    if isinstance(kind, types.BaseTuple):
        items = [_passed(context, builder, k, given, at) for k in kind]
        return context.make_tuple(builder, kind, items)
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    model = context.data_model_manager[kind]
    taken = [next(at) for _ in range(_size(context, kind))]
    pointer = builder.bitcast(
        ctx.cell(builder, given, taken[0]), model.get_data_type().as_pointer()
    )
    return model.load_from_data_pointer(builder, pointer)


def _array(context: Any, builder: Any, kind: Any, given: Any, at: Iterator[int]) -> Any:
    """An array that owns nothing."""
    model = context.data_model_manager[kind]
    item = context.get_data_type(kind.dtype)
    taken = [builder.load(ctx.cell(builder, given, next(at))) for _ in range(2 + 2 * kind.ndim)]
    data, size, rest = taken[0], taken[1], taken[2:]
    fields = {
        "data": builder.inttoptr(data, item.as_pointer()), "nitems": size,
        "itemsize": ir.Constant(_I64, context.get_abi_sizeof(item)),
        "shape": cgutils.pack_array(builder, rest[: kind.ndim], _I64),
        "strides": cgutils.pack_array(builder, rest[kind.ndim :], _I64),
    }  # fmt: skip
    made = ir.Constant(model.get_value_type(), None)
    for name, value in fields.items():
        made = builder.insert_value(made, value, model.get_field_position(name))
    return made


@cache
def argument(number: int) -> Any:
    """The intrinsic `argument(arguments, thread)`: what the kernel is launched with, by number."""

    @intrinsic  # type: ignore[untyped-decorator]
    def argument(typing: Any, arguments: Any, thread: Any) -> Any:
        kind = arguments.kinds[number]

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            first = sum(_size(context, k) for k in arguments.kinds[:number])
            given = ctx.field(builder, args[1], ctx.ARGUMENTS)
            return _passed(context, builder, kind, given, count(first))

        return kind(arguments, thread), codegen

    return argument


@intrinsic  # type: ignore[untyped-decorator]
def _start(typing: Any, code: Any, thread: Any, state: Any) -> Any:
    """Call the kernel for one thread: what it gives, the state of one that pauses, is stored."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        convention = context.call_conv
        given = (types.int64, Arguments(()))
        kind = convention.get_function_type(types.none, given)
        callee = builder.inttoptr(args[0], kind.as_pointer())
        result = builder.inttoptr(args[2], kind.args[0])
        nothing = ir.Constant(kind.args[3], None)
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        code = builder.call(callee, [result, error, args[1], nothing])
        failed = builder.icmp_signed("!=", code, ir.Constant(code.type, 0))
        with cgutils.if_unlikely(builder, failed):
            builder.store(builder.load(error), builder.function.args[1])
            builder.ret(code)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def enter(code: int, call: int) -> None:
    """Run the kernel with this code for all blocks of a call, their threads in order."""
    head, cleared = peek(call, HEAD), peek(call, HEAD_SIZE)
    states, size = peek(call, MEMORY), peek(call, STATE_SIZE)
    for b in range(peek(call, BLOCK_COUNT)):
        if cleared > 0:
            # a new block has no shared arrays yet
            poke(head, ctx.USED, 0)
        for k in range(ctx.FIRST_SHARED, cleared):
            poke(head, k, 0)
        place = peek(call, BLOCKS) + 32 * b
        for t in range(peek(call, THREAD_COUNT)):
            thread = peek(call, THREADS) + 8 * ctx.CELLS * t
            for k in range(4):
                poke(thread, ctx.BLOCK + k, peek(place, k))
            _start(code, thread, states + size * t)
