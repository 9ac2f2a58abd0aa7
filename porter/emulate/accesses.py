"""Loads, stores and atomics of kernels in compiled code, each subscript checked.

The functions here are Numba intrinsics: `load(array, index, site, context)` stands for
`array[index]` at a numbered place of the kernel.  Numba's own subscripts either do not check
or cannot say where; here a violation fills the launch's report and raises `Stopped`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np import arrayobj

from porter.emulate import context as ctx
from porter.emulate.errors import Stopped

_I64 = ir.IntType(64)
#: kinds of access, for the record of who touched what
READ, WRITE, ATOMIC = 0, 1, 2


def _parts(index: Any) -> tuple[Any, ...]:
    return tuple(index) if isinstance(index, types.BaseTuple) else (index,)


def _axes(index: Any, ndim: int) -> list[tuple[int, int]]:
    """Which parts of an index are integers, and the axes that they belong to."""
    parts = _parts(index)
    taken = sum(not isinstance(p, types.EllipsisType | types.NoneType) for p in parts)
    axis, found = 0, []
    for k, part in enumerate(parts):
        if isinstance(part, types.EllipsisType):
            axis += ndim - taken
        elif not isinstance(part, types.NoneType):
            if isinstance(part, types.Integer | types.Boolean):
                found.append((k, axis))
            axis += 1
    return found


def _is_element(array: Any, index: Any) -> bool:
    """Whether an index names one element (and not a part of the array)."""
    parts = _parts(index)
    whole = all(isinstance(p, types.Integer | types.Boolean) for p in parts)
    return whole and len(parts) == array.ndim


def _refuse_fancy(array: Any, index: Any) -> None:
    for part in _parts(index):
        if isinstance(part, types.Array | types.List | types.Float):
            raise TypingError(f"an array is indexed with {part}")
    if len(_parts(index)) > array.ndim + 2:
        raise TypingError("too many indices")


def _report(builder: Any, context: Any, values: list[Any]) -> None:
    """Write what went wrong, and which thread of which block it was."""
    address = ctx.field(builder, context, ctx.REPORT)
    for k, value in enumerate(values):
        builder.store(value, ctx.cell(builder, address, k))
    for at, where in ((ctx.THREAD_AT, ctx.THREAD), (ctx.BLOCK_AT, ctx.BLOCK)):
        place = ctx.field(builder, context, where)
        for k in range(3):
            number = builder.sext(builder.extract_value(place, k), _I64)
            builder.store(number, ctx.cell(builder, address, at + k))


def stop(context: Any, builder: Any, thread: Any, values: list[Any]) -> None:
    """Leave the compiled function with `Stopped`; the report says why."""
    _report(builder, thread, values)
    context.call_conv.return_user_exc(builder, Stopped, ("the kernel is stopped",))


def _position(
    context: Any, builder: Any, kind: Any, value: Any, size: Any, fail: Callable[[Any], None]
) -> Any:
    """An index as a position: negative ones wrap once, as Numba compiles them."""
    signed = isinstance(kind, types.Integer) and kind.signed
    value = context.cast(builder, value, kind, types.intp)
    if signed:
        negative = builder.icmp_signed("<", value, ir.Constant(_I64, 0))
        wrapped = builder.select(negative, builder.add(value, size), value)
    else:
        wrapped = value
    with cgutils.if_unlikely(builder, builder.icmp_unsigned(">=", wrapped, size)):
        fail(value)
    return wrapped


def _checked(
    context: Any, builder: Any, sig: Any, array: Any, index: Any, site: Any, thread: Any
) -> list[Any]:
    """The positions of an index's integers, each tested against its axis."""
    array_type, index_type = sig
    shape = cgutils.unpack_tuple(builder, array.shape, array_type.ndim)
    parts = _parts(index_type)
    is_tuple = isinstance(index_type, types.BaseTuple)
    values = cgutils.unpack_tuple(builder, index, len(parts)) if is_tuple else [index]
    positions = []
    for k, axis in _axes(index_type, array_type.ndim):

        def fail(value: Any, axis: int = axis) -> None:
            said = [site, ir.Constant(_I64, axis), value, shape[axis]]
            stop(context, builder, thread, said)

        positions.append(_position(context, builder, parts[k], values[k], shape[axis], fail))
    return positions


def _element(
    context: Any, builder: Any, sig: Any, args: tuple[Any, ...], site: Any, thread: Any
) -> tuple[Any, Any]:
    """The array's structure and a pointer to the element that an index names."""
    array_type = sig[0]
    array = arrayobj.make_array(array_type)(context, builder, args[0])
    positions = _checked(context, builder, sig, array, args[1], site, thread)
    pointer = cgutils.get_item_pointer(
        context, builder, array_type, array, positions, wraparound=False, boundscheck=False
    )
    return array, pointer


def make_load(note: Callable[..., None] | None = None) -> Any:
    """The intrinsic `load(array, index, site, thread)`; `note` is told of every access."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing: Any, array: Any, index: Any, site: Any, thread: Any) -> Any:
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return _item(array, index, site, thread)
        if not isinstance(array, types.Array):
            return _delegate(typing, operator.getitem, (array, index), (site, thread))
        _refuse_fancy(array, index)
        if not _is_element(array, index):
            return _delegate(typing, operator.getitem, (array, index), (site, thread))
        sig = array.dtype(array, index, site, thread)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            _, pointer = _element(context, builder, sig.args[:2], args, args[2], args[3])
            if note is not None:
                note(context, builder, array, pointer, READ, args[2], args[3], None)
            return arrayobj.load_item(context, builder, array, pointer)

        return sig, codegen

    return load


def make_store(note: Callable[..., None] | None = None) -> Any:
    """The intrinsic `store(value, array, index, site, thread)`; Python has the value first."""

    @intrinsic  # type: ignore[untyped-decorator]
    def store(typing: Any, value: Any, array: Any, index: Any, site: Any, thread: Any) -> Any:
        if not isinstance(array, types.Array):
            raise TypingError(f"an element of {array} is assigned")
        if not array.mutable:
            raise TypingError("an element of a constant array is assigned")
        _refuse_fancy(array, index)
        if not _is_element(array, index):
            return _delegate(typing, operator.setitem, (array, index, value), (site, thread))
        if typing.can_convert(value, array.dtype) is None:
            raise TypingError(f"{value} is stored into an array of {array.dtype}")
        sig = types.void(value, array, index, site, thread)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            _, pointer = _element(context, builder, sig.args[1:3], args[1:], args[3], args[4])
            item = context.cast(builder, args[0], sig.args[0], array.dtype)
            if note is not None:
                note(context, builder, array, pointer, WRITE, args[3], args[4], item)
            arrayobj.store_item(context, builder, array, item, pointer)
            return context.get_dummy_value()

        return sig, codegen

    return store


def _item(array: Any, index: Any, site: Any, thread: Any) -> Any:
    """An item of a tuple whose items may have different types."""
    number = index.literal_value
    if not -len(array) <= number < len(array):
        raise TypingError(f"item {number} of a tuple of {len(array)}")
    number %= len(array)
    kind = tuple(array)[number]

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.extract_value(args[0], number)
        return impl_ret_borrowed(context, builder, kind, value)

    return kind(array, index, site, thread), codegen


def _delegate(typing: Any, function: Any, given: tuple[Any, ...], rest: tuple[Any, ...]) -> Any:
    """Numba's own subscript, for tuples, views and slices, with its integers checked first."""
    inner = typing.resolve_function_type(function, given, {})
    if inner is None:
        raise TypingError(f"{given[0]} is indexed with {given[1]}")
    # of a store the value comes first here, and last in `setitem`
    first = inner.args[2:]
    sig = inner.return_type(*first, *inner.args[:2], *rest)
    array_type = given[0]

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, pair = args[: len(first)], args[len(first) : len(first) + 2]
        if isinstance(array_type, types.Array):
            array = arrayobj.make_array(array_type)(context, builder, pair[0])
            site, thread = args[len(first) + 2 :]
            _checked(context, builder, inner.args[:2], array, pair[1], site, thread)
        return context.get_function(function, inner)(builder, [*pair, *value])

    return sig, codegen
