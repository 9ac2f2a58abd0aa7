"""Threads that stop and go on: kernels with barriers are compiled as generators.

A call of `pause(site)` in a kernel, or in a device function inlined into it, becomes a `yield`
of that place's number; Numba keeps the thread's variables.  `start` puts a new thread's
state into memory of the launch, `make_step` runs a thread to its next pause.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils, ir, postproc
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import InlineInlinables
from numba.extending import intrinsic

from porter.emulate import context as ctx

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


class Pausing(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with the pass above."""

    def define_pipelines(self) -> list[Any]:
        """The nopython pipeline."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(Pauses, InlineInlinables)
        manager.finalize()
        return [manager]


@intrinsic  # type: ignore[untyped-decorator]
def start(typing: Any, address: Any, kernel: Any, arguments: Any) -> Any:
    """Make the state of a thread at an address; the kernel's first argument is its context."""
    inner = typing.resolve_function_type(kernel, tuple(arguments), {})

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        call = context.get_function(kernel, inner)
        context.add_linking_libs(getattr(call, "libs", ()))
        state = call(builder, cgutils.unpack_tuple(builder, args[2]))
        builder.store(builder.load(state), builder.inttoptr(args[0], state.type))
        return context.get_dummy_value()

    return types.void(address, kernel, arguments), codegen


def state_size(kind: Any) -> int:
    """Bytes of a thread's state, a multiple of 16."""
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    size = int(context.get_abi_sizeof(context.get_data_type(kind)))
    return -(-size // 16) * 16


def make_step(kind: Any) -> Any:
    """The intrinsic `step(address)`: run a thread to its next pause, and say which it is."""

    @intrinsic  # type: ignore[untyped-decorator]
    def step(typing: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            resume = context.get_generator_impl(kind)
            state = builder.inttoptr(args[0], context.get_value_type(kind))
            status, site = resume(context, builder, types.int64(kind), (state,))
            context.add_linking_libs(getattr(resume, "libs", ()))
            result = cgutils.alloca_once_value(builder, llvm.Constant(_I64, ENDED))
            with cgutils.if_likely(builder, status.is_ok):
                builder.store(site, result)
            failed = builder.and_(status.is_error, builder.not_(status.is_stop_iteration))
            with cgutils.if_unlikely(builder, failed):
                context.call_conv.return_status_propagate(builder, status)
            return builder.load(result)

        return types.int64(address), codegen

    return step


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
        slots = ctx.field(builder, args[0], ctx.SLOTS)
        cells = (ctx.MASK, args[1], sig.args[1]), (ctx.OPERAND, args[3], sig.args[3])
        for number, given, given_kind in cells:
            whole = context.cast(builder, given, given_kind, types.int64)
            builder.store(whole, ctx.cell(builder, slots, number))
        bits = _raw(context, builder, kind, args[2])
        builder.store(bits, ctx.cell(builder, slots, ctx.VALUE))
        return args[2]

    return kind(thread, mask, kind, operand), codegen


@intrinsic  # type: ignore[untyped-decorator]
def collect(typing: Any, thread: Any, posted: Any, paused: Any) -> Any:
    """What the exchange gave this thread, of the type that it posted."""
    kind = types.unliteral(posted)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        slots = ctx.field(builder, args[0], ctx.SLOTS)
        bits = builder.load(ctx.cell(builder, slots, ctx.RESULT))
        return _number(context, builder, kind, bits)

    return kind(thread, kind, paused), codegen
