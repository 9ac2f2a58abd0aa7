"""Functions that kernels call by their address: each is compiled once for all kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from porter.emulate.device import context as ctx
from porter.emulate.source.threads import compiled, machine_code, optimised

_I64 = ir.IntType(64)


class Native:
    """A Python function of integers, compiled when it is first needed.

    Linked into every kernel, it would be compiled again with each.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.kinds = (types.int64,) * function.__code__.co_argcount

    @cached_property
    def address(self) -> int:
        """Where its machine code is."""
        with optimised(fully=True):
            self.compiled = compiled(self.function, self.kinds, pausing=False, memory=False)
            return machine_code(self.compiled, self.compiled.fndesc.llvm_func_name)

    def call(self, context: Any, builder: Any, args: list[Any]) -> Any:
        """Compile a call of it, with int64 arguments; its status, which is not 0 if it raised."""
        kind = context.call_conv.get_function_type(types.none, self.kinds)
        address = ir.Constant(_I64, self.address)
        callee = builder.inttoptr(address, kind.as_pointer())
        # the caller's own place for exceptions, which it hands on as they are
        error = builder.function.args[1]
        result = cgutils.alloca_once(builder, kind.args[0].pointee)
        return builder.call(callee, [result, error, *args])


@intrinsic  # type: ignore[untyped-decorator]
def peek(typing: Any, address: Any, number: Any) -> Any:
    """The int64 some cells after an address."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(ctx.cell(builder, *args))

    return types.int64(types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def poke(typing: Any, address: Any, number: Any, value: Any) -> Any:
    """Set the int64 some cells after an address."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], ctx.cell(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen
