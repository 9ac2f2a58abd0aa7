"""`cuda.atomic` in compiled code: one thread runs at a time, so they are plain updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from porter.emulate.device.accesses import ATOMIC, _element

#: an update: builder, dtype, old value, value -> new value
Update = Callable[[Any, Any, Any, Any], Any]


def _floating(dtype: Any) -> bool:
    return isinstance(dtype, types.Float)


def _add(builder: Any, dtype: Any, old: Any, value: Any) -> Any:
    return builder.fadd(old, value) if _floating(dtype) else builder.add(old, value)


def _sub(builder: Any, dtype: Any, old: Any, value: Any) -> Any:
    return builder.fsub(old, value) if _floating(dtype) else builder.sub(old, value)


def _compare(builder: Any, dtype: Any, sign: str, left: Any, right: Any) -> Any:
    if _floating(dtype):
        return builder.fcmp_ordered(sign, left, right)
    compare = builder.icmp_signed if dtype.signed else builder.icmp_unsigned
    return compare(sign, left, right)


def _best(sign: str, over_nan: bool) -> Update:
    """Minimum or maximum: a NaN value never enters; one in memory stays unless `over_nan`."""

    def update(builder: Any, dtype: Any, old: Any, value: Any) -> Any:
        better = _compare(builder, dtype, sign, value, old)
        if over_nan and _floating(dtype):
            better = builder.or_(better, builder.fcmp_unordered("uno", old, old))
            better = builder.and_(better, builder.fcmp_ordered("ord", value, value))
        return builder.select(better, value, old)

    return update


def _inc(builder: Any, dtype: Any, old: Any, value: Any) -> Any:
    one, zero = ir.Constant(old.type, 1), ir.Constant(old.type, 0)
    full = builder.icmp_unsigned(">=", old, value)
    return builder.select(full, zero, builder.add(old, one))


def _dec(builder: Any, dtype: Any, old: Any, value: Any) -> Any:
    one, zero = ir.Constant(old.type, 1), ir.Constant(old.type, 0)
    low = builder.icmp_unsigned("==", old, zero)
    high = builder.icmp_unsigned(">", old, value)
    return builder.select(builder.or_(low, high), value, builder.sub(old, one))


#: the operations of `cuda.atomic` that take an array, an index and a value
UPDATES: dict[str, Update] = {
    "add": _add,
    "sub": _sub,
    "max": _best(">", False),
    "min": _best("<", False),
    "nanmax": _best(">", True),
    "nanmin": _best("<", True),
    "and_": lambda b, t, old, value: b.and_(old, value),
    "or_": lambda b, t, old, value: b.or_(old, value),
    "xor": lambda b, t, old, value: b.xor(old, value),
    "exch": lambda b, t, old, value: value,
    "inc": _inc,
    "dec": _dec,
}
_INTEGERS = ("and_", "or_", "xor", "exch", "inc", "dec")


def _test(operation: str, array: Any) -> None:
    """What CUDA's atomics take: 32 and 64 bits."""
    dtype = getattr(array, "dtype", None)
    wide = isinstance(dtype, types.Integer | types.Float) and dtype.bitwidth in (32, 64)
    if not wide or (operation in _INTEGERS and _floating(dtype)):
        raise TypingError(f"atomic.{operation} of {array}")


def make_atomic(operation: str, note: Callable[..., None] | None = None) -> Any:
    """The intrinsic `atomic(array, index, value, site, thread)`, which gives the old value."""
    update = UPDATES[operation]

    @intrinsic  # type: ignore[untyped-decorator]
    def atomic(typing: Any, array: Any, index: Any, value: Any, site: Any, thread: Any) -> Any:
        _test(operation, array)
        if typing.can_convert(value, array.dtype) is None:
            raise TypingError(f"atomic.{operation} of {value} in an array of {array.dtype}")

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _element(context, builder, sig.args[:2], args, args[3], args[4])
            value = context.cast(builder, args[2], sig.args[2], array.dtype)
            old = arrayobj.load_item(context, builder, array, pointer)
            if note is not None:
                note(context, builder, array, pointer, ATOMIC, args[3], args[4], None)
            new = update(builder, array.dtype, old, value)
            arrayobj.store_item(context, builder, array, new, pointer)
            return old

        return array.dtype(array, index, value, site, thread), codegen

    return atomic


def make_cas(note: Callable[..., None] | None = None) -> Any:
    """The intrinsic `cas(array, index, expected, value, site, thread)`."""

    @intrinsic  # type: ignore[untyped-decorator]
    def cas(typing: Any, array: Any, index: Any, old: Any, new: Any, site: Any, thread: Any) -> Any:
        _test("cas", array)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _element(context, builder, sig.args[:2], args, args[4], args[5])
            expected = context.cast(builder, args[2], sig.args[2], array.dtype)
            value = context.cast(builder, args[3], sig.args[3], array.dtype)
            found = arrayobj.load_item(context, builder, array, pointer)
            if note is not None:
                note(context, builder, array, pointer, ATOMIC, args[4], args[5], None)
            same = _compare(builder, array.dtype, "==", found, expected)
            kept = builder.select(same, value, found)
            arrayobj.store_item(context, builder, array, kept, pointer)
            return found

        return array.dtype(array, index, old, new, site, thread), codegen

    return cas
