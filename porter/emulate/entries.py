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
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from porter.emulate import context as ctx
from porter.emulate.threads import machine_code

_I64 = ir.IntType(64)
_I8 = ir.IntType(8)
#: cells of a call: the blocks to run, as rows of their places, and their number; the cells of
#: the block's threads, and their number; what of the block's head is cleared for each block;
#: where the states of threads that pause are made; what an error was; then the arguments
BLOCKS, BLOCK_COUNT, THREADS, THREAD_COUNT, HEAD, HEAD_SIZE = range(6)
MEMORY, STATE_SIZE, ERROR, ARGUMENTS = range(6, 10)
#: a place: three numbers, and one
_PLACE = ir.VectorType(_I64, 4)


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
        return _array(context, builder, kind, given, at)
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


def _array(context: Any, builder: Any, kind: Any, given: Any, at: Iterator[int]) -> Any:
    """An array that owns nothing."""
    model = context.data_model_manager[kind]
    item = context.get_data_type(kind.dtype)
    data, size, *rest = (_cell(builder, given, next(at)) for _ in range(2 + 2 * kind.ndim))
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


def _cell(builder: Any, given: Any, number: int) -> Any:
    return builder.load(builder.gep(given, [ir.Constant(_I64, number)]))


class _Entry:
    """Writes one entry: `int32 entry(int64 *call)`, 0 or the code of an error."""

    def __init__(self, context: Any, kernel: Any, name: str) -> None:
        self.context, self.kernel = context, kernel
        self.module = kernel.library.create_ir_module(name)
        kind = ir.FunctionType(ir.IntType(32), [_I64.as_pointer()])
        function = ir.Function(self.module, kind, name)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.given = function.args[0]

    def cell(self, number: int) -> Any:
        return _cell(self.builder, self.given, number)

    def at(self, start: Any, size: Any, number: Any) -> Any:
        """The address of one of equal parts of some memory."""
        return self.builder.add(start, self.builder.mul(size, number))

    def write(self, kinds: tuple[Any, ...], *, pausing: bool, shared: bool) -> None:
        """The whole function."""
        builder = self.builder
        numbers = count(ARGUMENTS)
        args = [_passed(self.context, builder, k, self.given, numbers) for k in kinds]
        blocks, threads, memory = (self.cell(k) for k in (BLOCKS, THREADS, MEMORY))
        row, own = (ir.Constant(_I64, 8 * n) for n in (4, ctx.CELLS))
        with cgutils.for_range(builder, self.cell(BLOCK_COUNT)) as block_loop:
            if shared and not pausing:
                self._clear()
            source = builder.inttoptr(self.at(blocks, row, block_loop.index), _PLACE.as_pointer())
            block = builder.load(source, align=8)
            with cgutils.for_range(builder, self.cell(THREAD_COUNT)) as loop:
                thread = self.at(threads, own, loop.index)
                place = ctx.cell(builder, thread, ctx.BLOCK)
                builder.store(block, builder.bitcast(place, _PLACE.as_pointer()), align=8)
                made = self._call([thread, *args])
                if pausing:
                    state = self.at(memory, self.cell(STATE_SIZE), loop.index)
                    builder.store(builder.load(made), builder.inttoptr(state, made.type))
        builder.ret(ir.Constant(ir.IntType(32), 0))

    def _clear(self) -> None:
        """A new block has no shared arrays yet."""
        builder, head = self.builder, self.cell(HEAD)
        builder.store(ir.Constant(_I64, 0), ctx.cell(builder, head, ctx.USED))
        first = ctx.cell(builder, head, ctx.FIRST_SHARED)
        cgutils.memset(builder, builder.bitcast(first, _I8.as_pointer()), self.cell(HEAD_SIZE), 0)

    def _call(self, args: list[Any]) -> Any:
        builder, convention = self.builder, self.context.call_conv
        described, signature = self.kernel.fndesc, self.kernel.signature
        callee = self.context.declare_function(self.module, described)
        status, made = convention.call_function(
            builder, callee, signature.return_type, signature.args, args
        )
        with cgutils.if_unlikely(builder, status.is_error):
            error = builder.gep(self.given, [ir.Constant(_I64, ERROR)])
            builder.store(builder.ptrtoint(status.excinfoptr, _I64), error)
            builder.ret(status.code)
        return made


def entry(
    kernel: Any, kinds: tuple[Any, ...], *, pausing: bool, shared: bool
) -> Callable[[np.ndarray[Any, Any]], None]:
    """What runs a compiled kernel, given the cells of a call; finishes its library."""
    from numba.core.registry import cpu_target

    context, library = cpu_target.target_context, kernel.library
    name = f"porter.entry.{kernel.fndesc.mangled_name}"
    written = _Entry(context, kernel, name)
    written.write(kinds, pausing=pausing, shared=shared)
    library.add_ir_module(written.module)
    address = machine_code(kernel, name)
    library.codegen.set_env(context.get_env_name(kernel.fndesc), kernel.environment)
    called = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address)

    def enter(call: np.ndarray[Any, Any]) -> None:
        code = called(call.ctypes.data)
        if code:
            raised(code, int(call[ERROR]))

    return enter


@intrinsic  # type: ignore[untyped-decorator]
def _propagate(typing: Any, code: Any, error: Any) -> Any:
    """Leave the function as another one was left."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # a pointer to what describes the error, as every function has one
        place = builder.function.args[1]
        builder.store(builder.inttoptr(args[1], place.type.pointee), place)
        leaves = builder.append_basic_block("leaves")
        builder.branch(leaves)
        builder.position_at_end(leaves)
        builder.ret(builder.trunc(args[0], ir.IntType(32)))
        builder.position_at_end(builder.append_basic_block("never"))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@njit  # type: ignore[untyped-decorator]
def raised(code: int, error: int) -> None:
    """Raise the exception that a compiled function ended with."""
    if code != 0:
        _propagate(code, error)
