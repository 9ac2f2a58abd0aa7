"""How a launch comes into compiled code: a function that takes all it needs from memory.

Numba's own wrappers, by which Python calls what was compiled, take longer to compile than most
kernels.  An entry is written in LLVM's terms instead, beside the kernel, and is given one
address: that of the cells below, with the kernel's arguments behind them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.np import arrayobj

from porter.emulate import context as ctx
from porter.emulate.threads import machine_code

_I64 = ir.IntType(64)
#: cells of a call: addresses and lengths of what a launch keeps, then the arguments; without
#: `MEMORY` threads run from start to end, with it their states are made there
REPORT, HEAD, HEAD_SIZE, BLOCKS, BLOCK_COUNT, THREADS, THREAD_COUNT = range(7)
BLOCK_DIM, GRID_DIM, MEMORY, STATE_SIZE, SLOTS, ARGUMENTS = 7, 10, 13, 14, 15, 16
_DIM = ctx.Dim3(np.int32(1), np.int32(1), np.int32(1))
CONTEXT = typeof(ctx.Context(_DIM, _DIM, _DIM, _DIM, False, *[0] * 5))
_DIM_TYPE = typeof(_DIM)


class NotPassed(Exception):
    """An argument that an entry cannot take."""


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


def _passed(context: Any, builder: Any, kind: Any, given: Any, at: Iterator[int]) -> Any:
    """An argument as the kernel takes it; raises `NotPassed`."""
    if isinstance(kind, types.Array):
        made = arrayobj.make_array(kind)(context, builder)
        data, _, *rest = (_cell(builder, given, next(at)) for _ in range(2 + 2 * kind.ndim))
        item = context.get_data_type(kind.dtype)
        arrayobj.populate_array(
            made, builder.inttoptr(data, item.as_pointer()),
            rest[: kind.ndim], rest[kind.ndim :],
            ir.Constant(_I64, context.get_abi_sizeof(item)), None,
        )  # fmt: skip
        return made._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = [_passed(context, builder, k, given, at) for k in kind]
        return context.make_tuple(builder, kind, items)
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    if not isinstance(kind, types.Number | types.Boolean):
        raise NotPassed(f"an argument of type {kind}")
    model = context.data_model_manager[kind]
    place = builder.gep(given, [ir.Constant(_I64, next(at))])
    for _ in range(1, -(-context.get_abi_sizeof(context.get_data_type(kind)) // 8)):
        next(at)
    pointer = builder.bitcast(place, model.get_data_type().as_pointer())
    return model.load_from_data_pointer(builder, pointer)


def _cell(builder: Any, given: Any, number: Any) -> Any:
    if isinstance(number, int):
        number = ir.Constant(_I64, number)
    return builder.load(builder.gep(given, [number]))


class _Entry:
    """Writes one entry."""

    def __init__(self, context: Any, kernel: Any, name: str) -> None:
        self.context, self.kernel = context, kernel
        self.module = kernel.library.create_ir_module(name)
        kind = ir.FunctionType(ir.VoidType(), [_I64.as_pointer()])
        function = ir.Function(self.module, kind, name)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.given = function.args[0]

    def cell(self, number: int) -> Any:
        return _cell(self.builder, self.given, number)

    def dims(self, numbers: list[Any]) -> Any:
        short = [self.builder.trunc(n, ir.IntType(32)) for n in numbers]
        return self.context.make_tuple(self.builder, _DIM_TYPE, short)

    def row(self, address: Any, number: Any) -> Any:
        """A place as (x, y, z), of an array of such."""
        builder = self.builder
        rows = builder.inttoptr(address, ir.IntType(32).as_pointer())
        first = builder.mul(number, ir.Constant(_I64, 3))
        at = [builder.add(first, ir.Constant(_I64, k)) for k in range(3)]
        return [builder.load(builder.gep(rows, [k])) for k in at]

    def number(self, place: list[Any], dims: list[Any]) -> Any:
        """A place as one number, x running fastest."""
        builder = self.builder
        x, y, z = (builder.sext(p, _I64) for p in place)
        return builder.add(x, builder.mul(dims[0], builder.add(y, builder.mul(dims[1], z))))

    def write(self, kinds: tuple[Any, ...], *, pausing: bool) -> None:
        """The whole function."""
        builder = self.builder
        at = count(ARGUMENTS)
        args = [_passed(self.context, builder, k, self.given, at) for k in kinds]
        block_dim = [self.cell(BLOCK_DIM + k) for k in range(3)]
        grid_dim = [self.cell(GRID_DIM + k) for k in range(3)]
        sizes = [self.dims(block_dim), self.dims(grid_dim)]
        head, blocks, threads = (self.cell(k) for k in (HEAD, BLOCKS, THREADS))
        counts = self.cell(BLOCK_COUNT), self.cell(THREAD_COUNT)
        fields = self.cell(REPORT), head, self.cell(SLOTS)
        memory, size, cleared = (self.cell(k) for k in (MEMORY, STATE_SIZE, HEAD_SIZE))
        with cgutils.for_range(builder, counts[0]) as block_loop:
            if not pausing:
                self._clear(head, cleared)
            place = self.row(blocks, block_loop.index)
            block = self.context.make_tuple(builder, _DIM_TYPE, place)
            block_number = self.number(place, grid_dim)
            with cgutils.for_range(builder, counts[1]) as loop:
                place = self.row(threads, loop.index)
                thread = self.context.make_tuple(builder, _DIM_TYPE, place)
                report, head, slots = fields
                step = ir.Constant(_I64, 8 * ctx.SLOT_FIELDS)
                slots = builder.add(slots, builder.mul(step, loop.index)) if pausing else slots
                numbers = [self.number(place, block_dim), block_number]
                never = self.context.get_constant(types.boolean, False)
                held = [thread, block, *sizes, never, report, head, slots, *numbers]
                made = self._call([self.context.make_tuple(builder, CONTEXT, held), *args])
                if pausing:
                    state = builder.add(memory, builder.mul(size, loop.index))
                    builder.store(builder.load(made), builder.inttoptr(state, made.type))
        builder.ret_void()

    def _clear(self, head: Any, size: Any) -> None:
        """A new block has no shared arrays yet."""
        builder = self.builder
        builder.store(ir.Constant(_I64, 0), ctx.cell(builder, head, ctx.USED))
        first = ir.Constant(_I64, ctx.FIRST_SHARED)
        byte = builder.bitcast(ctx.cell(builder, head, first), ir.IntType(8).as_pointer())
        length = builder.mul(builder.sub(size, first), ir.Constant(_I64, 8))
        cgutils.memset(builder, byte, length, 0)

    def _call(self, args: list[Any]) -> Any:
        builder, convention = self.builder, self.context.call_conv
        described, signature = self.kernel.fndesc, self.kernel.signature
        callee = self.context.declare_function(self.module, described)
        status, made = convention.call_function(
            builder, callee, signature.return_type, signature.args, args
        )
        with cgutils.if_unlikely(builder, status.is_error):
            api = self.context.get_python_api(builder)
            convention.raise_error(builder, api, status)
            builder.ret_void()
        return made


def entry(kernel: Any, kinds: tuple[Any, ...], *, pausing: bool) -> Callable[[int], None]:
    """What runs a compiled kernel, given the address of the cells; finishes its library."""
    from numba.core.registry import cpu_target

    context, library = cpu_target.target_context, kernel.library
    name = f"porter.entry.{kernel.fndesc.mangled_name}"
    written = _Entry(context, kernel, name)
    written.write(kinds, pausing=pausing)
    library.add_ir_module(written.module)
    address = machine_code(kernel, name)
    library.codegen.set_env(context.get_env_name(kernel.fndesc), kernel.environment)
    # with the lock of Python's interpreter, which an exception needs
    called: Callable[[int], None] = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address)
    return called
