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

from porter.emulate.device import context as ctx
from porter.emulate.device.native import Native, peek, poke
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


def _stopped(thread: int, site: int, axis: int, index: int, size: int) -> None:
    """Say what went wrong and which thread it was, and leave the kernel."""
    report = peek(thread, ctx.REPORT)
    poke(report, ctx.SITE, site)
    poke(report, ctx.AXIS, axis)
    poke(report, ctx.INDEX, index)
    poke(report, ctx.SIZE, size)
    poke(report, ctx.THREAD_AT, peek(thread, ctx.NUMBER))
    poke(report, ctx.BLOCK_AT, peek(thread, ctx.BLOCK_NUMBER))
    raise Stopped("the kernel is stopped")


_STOPPED = Native(_stopped)


def stop(context: Any, builder: Any, thread: Any, values: list[Any]) -> None:
    """Leave the compiled function with `Stopped`; the report says why."""
    builder.ret(_STOPPED.call(context, builder, [thread, *values]))


def _position(builder: Any, kind: Any, value: Any, size: Any) -> Any:
    """An index as a position: negative ones wrap once, as Numba compiles them."""
    if not (isinstance(kind, types.Integer) and kind.signed):
        return value
    negative = builder.icmp_signed("<", value, ir.Constant(_I64, 0))
    return builder.select(negative, builder.add(value, size), value)


def _checked(
    context: Any, builder: Any, sig: Any, shape: list[Any], index: Any, site: Any, thread: Any
) -> list[Any]:
    """The positions of an index's integers, each tested against its axis."""
    array_type, index_type = sig
    parts = _parts(index_type)
    is_tuple = isinstance(index_type, types.BaseTuple)
    values = cgutils.unpack_tuple(builder, index, len(parts)) if is_tuple else [index]
    positions, tests = [], []
    for k, axis in _axes(index_type, array_type.ndim):
        value = context.cast(builder, values[k], parts[k], types.intp)
        positions.append(_position(builder, parts[k], value, shape[axis]))
        beyond = builder.icmp_unsigned(">=", positions[-1], shape[axis])
        tests.append((beyond, [ir.Constant(_I64, axis), value, shape[axis]]))
    if not tests:
        return []
    # one test for all axes, and what is said is about the first
    wrong, said = tests[-1]
    for beyond, these in reversed(tests[:-1]):
        wrong = builder.or_(beyond, wrong)
        said = [builder.select(beyond, a, b) for a, b in zip(these, said, strict=True)]
    with cgutils.if_unlikely(builder, wrong):
        stop(context, builder, thread, [site, *said])
    return positions


def _fields(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, list[Any], list[Any]]:
    """An array's data, shape and strides, without a copy of its structure in memory."""
    model = context.data_model_manager[kind]
    data, shape, strides = (
        builder.extract_value(array, model.get_field_position(name))
        for name in ("data", "shape", "strides")
    )
    axes = range(kind.ndim)
    return (
        data,
        [builder.extract_value(shape, k) for k in axes],
        [builder.extract_value(strides, k) for k in axes],
    )


def _element(
    context: Any, builder: Any, sig: Any, args: tuple[Any, ...], site: Any, thread: Any
) -> Any:
    """A pointer to the element that an index names."""
    kind = sig[0]
    data, shape, strides = _fields(context, builder, kind, args[0])
    positions = _checked(context, builder, sig, shape, args[1], site, thread)
    return cgutils.get_item_pointer2(context, builder, data, shape, strides, kind.layout, positions)


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
            pointer = _element(context, builder, sig.args[:2], args, args[2], args[3])
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
            pointer = _element(context, builder, sig.args[1:3], args[1:], args[3], args[4])
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
            _, shape, _ = _fields(context, builder, array_type, pair[0])
            site, thread = args[len(first) + 2 :]
            _checked(context, builder, inner.args[:2], shape, pair[1], site, thread)
        return context.get_function(function, inner)(builder, [*pair, *value])

    return sig, codegen
