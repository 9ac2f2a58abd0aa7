"""Threads that stop and go on: kernels with barriers are compiled as generators.

A call of `pause(site)` in a kernel, or in a device function inlined into it, becomes a `yield`
of that place's number; Numba keeps the thread's variables.  A new thread's state is put into
memory of the launch (`entries.py`), `step` runs a thread to its next pause.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import iscode
from typing import Any

from llvmlite import ir as llvm
from numba import njit, types
from numba.core import cgutils, config, ir, postproc
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.typed_passes import (
    AnnotateTypes,
    NativeLowering,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables, WithLifting
from numba.extending import intrinsic

from porter.emulate.device import context as ctx

#: what `step` gives for a thread that has ended
ENDED = -1
_I64 = llvm.IntType(64)


def pause(site: int) -> None:
    """Wait at a place; only compiled code calls it."""


@register_pass(mutates_CFG=True, analysis_only=False)
class Pauses(FunctionPass):  # type: ignore[misc]
    """Makes a `yield` of every call of `pause`, after inlining."""

    _name = "porter_pauses"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change the function's IR."""
        function = state.func_ir
        blocks = function.blocks.values()
        names = {s.target.name for block in blocks for s in block.body if _is_pause(s)}
        for block in blocks:
            block.body = [s for s in block.body if not _is_pause(s)]
            for statement in block.body:
                value = getattr(statement, "value", None)
                if not isinstance(value, ir.Expr) or value.op != "call":
                    continue
                if value.func.name in names:
                    statement.value = ir.Yield(value.args[0], statement.loc, 0)
        postproc.PostProcessor(function).run()
        return True


def _is_pause(statement: Any) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ir.Global | ir.FreeVar) and value.value is pause


class _Lower(Lower):  # type: ignore[misc]
    """Leaves variables as they are when they are not used again, if nothing counts references."""

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt:
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):  # type: ignore[misc]
    """Numba's, with the class above."""

    _name = "porter_lowering"

    @property
    def lowering_class(self) -> Any:
        """What makes LLVM's code of a function."""
        return _Lower


#: for `with` blocks, expressions of whole arrays, parallel loops and reports: each of them looks
#: through the whole function again
_LEFT_OUT = (WithLifting, NopythonRewrites, AnnotateTypes, NoPythonSupportedFeatureValidation)


class Straight(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with that lowering, and without the passes that kernels need not."""

    def define_pipelines(self) -> list[Any]:
        """The nopython pipeline."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (Lowering if step is NativeLowering else step, said)
            for step, said in manager.passes
            if self.needed(step)
        ]
        self.change(manager)
        manager.finalize()
        return [manager]

    def needed(self, step: Any) -> bool:
        """Whether the kernel goes through a pass."""
        if step is InlineClosureLikes:
            return any(iscode(c) for c in self.state.func_id.code.co_consts)
        return step not in (*_LEFT_OUT, InlineInlinables)

    def change(self, manager: Any) -> None:
        """What else is different."""


class Pausing(Straight):
    """The same with the pass that makes threads pause."""

    def needed(self, step: Any) -> bool:
        """Device functions that wait become part of the kernel."""
        return step is InlineInlinables or super().needed(step)

    def change(self, manager: Any) -> None:
        """Put it in."""
        manager.add_pass_after(Pauses, InlineInlinables)


def compiled(function: Any, kinds: tuple[Any, ...], *, pausing: bool, memory: bool = True) -> Any:
    """A function compiled for some types, whose machine code is made when its address is asked for.

    Without the wrappers that Python would call it by, which take half of a compilation, and
    without `memory` of Numba's own, counts of references that nothing needs.
    """
    flags = Flags()
    cpu_target.options.parse_as_flags(flags, {"error_model": "numpy", "nopython": True})
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    flags.nrt = memory
    contexts = cpu_target.typing_context, cpu_target.target_context
    pipeline = Pausing if pausing else Straight
    return compile_extra(*contexts, function, kinds, None, flags, {}, pipeline_class=pipeline)


#: how much LLVM does, unless `optimised` says otherwise
_LEVEL = config.OPT


@contextmanager
def optimised(fully: bool) -> Iterator[None]:
    """Compile as Numba does, or without optimising."""
    before = config.OPT
    config.OPT = _LEVEL if fully else type(_LEVEL)(0)
    try:
        yield
    finally:
        config.OPT = before


def machine_code(kernel: Any, name: str) -> int:
    """The address of a function in a compiled kernel's library."""
    with global_compiler_lock:
        return int(kernel.library.get_pointer_to_function(name))


def state_size(kind: Any) -> int:
    """Bytes of a thread's state, a multiple of 16."""
    context = cpu_target.target_context
    size = int(context.get_abi_sizeof(context.get_data_type(kind)))
    return -(-size // 16) * 16


def code_address(kernel: Any) -> int:
    """Where the machine code of a kernel is; finishes its library."""
    address = machine_code(kernel, kernel.fndesc.llvm_func_name)
    context = cpu_target.target_context
    kernel.library.codegen.set_env(context.get_env_name(kernel.fndesc), kernel.environment)
    return address


def step_address(kernel: Any) -> int:
    """Where the machine code is that runs a thread of a kernel to its next pause."""
    found = cpu_target.target_context.get_generator_desc(kernel.signature.return_type)
    return machine_code(kernel, found.llvm_func_name)


@intrinsic  # type: ignore[untyped-decorator]
def step(typing: Any, code: Any, address: Any) -> Any:
    """Run the thread whose state is at an address to its next pause, and say which it is."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # all states are called by the address of their bytes
        kind = context.call_conv.get_function_type(types.int64, (types.voidptr,))
        function = builder.inttoptr(args[0], kind.as_pointer())
        state = builder.inttoptr(args[1], llvm.IntType(8).as_pointer())
        status, site = context.call_conv.call_function(
            builder, function, types.int64, (types.voidptr,), (state,)
        )
        result = cgutils.alloca_once_value(builder, llvm.Constant(_I64, ENDED))
        with cgutils.if_likely(builder, status.is_ok):
            builder.store(site, result)
        failed = builder.and_(status.is_error, builder.not_(status.is_stop_iteration))
        with cgutils.if_unlikely(builder, failed):
            context.call_conv.return_status_propagate(builder, status)
        return builder.load(result)

    return types.int64(types.int64, types.int64), codegen


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def advance(
    code: int, memory: int, size: int, order: Any, orders: Any, where: Any, plain: Any, table: Any
) -> None:
    """Run the threads of `order` to their next pause, and all from one barrier to another.

    `where` keeps the place of each; it ends when not all are at the same plain barrier.
    """
    turn = 0
    while True:
        for k in order:
            where[k] = step(code, memory + k * size)
        first = where[0]
        if first < 0 or not plain[first]:
            return
        for k in range(1, len(where)):
            if where[k] != first:
                return
        table[ctx.PHASE] += 1
        order = orders[turn]
        turn = (turn + 1) % len(orders)


def _raw(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A number's bits as an int64."""
    if isinstance(kind, types.Float):
        value = builder.bitcast(value, llvm.IntType(kind.bitwidth))
    elif isinstance(kind, types.Boolean):
        return context.cast(builder, value, kind, types.int64)
    return builder.zext(value, _I64) if value.type.width < 64 else value


def _number(context: Any, builder: Any, kind: Any, bits: Any) -> Any:
    if isinstance(kind, types.Boolean):
        return context.cast(builder, bits, types.int64, kind)
    width = kind.bitwidth
    bits = builder.trunc(bits, llvm.IntType(width)) if width < 64 else bits
    return builder.bitcast(bits, context.get_value_type(kind))


@intrinsic  # type: ignore[untyped-decorator]
def bits(typing: Any, value: Any) -> Any:
    """A number's bits as an int64, for comparing."""
    kind = types.unliteral(value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _raw(context, builder, kind, args[0])

    return types.int64(kind), codegen


@intrinsic  # type: ignore[untyped-decorator]
def post(typing: Any, thread: Any, mask: Any, value: Any, operand: Any) -> Any:
    """Lay out what the other threads of the warp may take; gives the value back."""
    kind = types.unliteral(value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        cells = (ctx.MASK, args[1], sig.args[1]), (ctx.OPERAND, args[3], sig.args[3])
        for number, given, given_kind in cells:
            whole = context.cast(builder, given, given_kind, types.int64)
            builder.store(whole, ctx.cell(builder, args[0], number))
        bits = _raw(context, builder, kind, args[2])
        builder.store(bits, ctx.cell(builder, args[0], ctx.VALUE))
        return args[2]

    return kind(thread, mask, kind, operand), codegen


@intrinsic  # type: ignore[untyped-decorator]
def collect(typing: Any, thread: Any, posted: Any, paused: Any) -> Any:
    """What the exchange gave this thread, of the type that it posted."""
    kind = types.unliteral(posted)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = ctx.field(builder, args[0], ctx.RESULT)
        return _number(context, builder, kind, bits)

    return kind(thread, kind, paused), codegen
