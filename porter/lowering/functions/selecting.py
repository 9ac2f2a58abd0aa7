"""Elements chosen by index or by condition: take, choose, select, piecewise, copyto."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from porter import ir
from porter.dtypes.dtype import BOOL, INT64, promote, strengthen
from porter.ir.scalars import cast, choose, integer, operate
from porter.lowering.arrays.calculus import (
    Operand,
    aligned,
    as_array,
    astype,
    broadcast_shape,
    elementwise,
    map_arrays,
    normal_axis,
    where,
)
from porter.lowering.arrays.picking import MASK_MISMATCH
from porter.lowering.arrays.rearrange import flat, settled
from porter.lowering.arrays.stores import same_kind, store
from porter.lowering.arrays.subscripts import as_index, index
from porter.lowering.expressions.inline import inline
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Function, Slice, Value
from porter.sizes.polynomial import Data, Poly, wrapped


def _moded(call: Call, positions: Operand, n: Poly) -> Operand:
    """Positions brought into range as `mode` says; `raise` leaves that to the subscript."""
    mode = call.constant("mode")
    if mode == "raise":
        return positions
    if mode == "wrap":
        return elementwise(call.b, "mod", positions, integer(n))
    lowest = elementwise(call.b, "maximum", positions, integer(0))
    return elementwise(call.b, "minimum", lowest, integer(n - 1))


@function("numpy.take", "a indices axis=None mode=raise")
def _take(call: Call) -> Value:
    array, axis = call.array("a"), call.constant("axis")
    array = settled(call.b, flat(call.b, array) if axis is None else array)
    d = normal_axis(call.b, int(axis or 0), array.ndim, "`take`")
    given = call.operand("indices")
    if given.dtype.kind not in "iu":
        raise call.refuse(
            "PRT905",
            f"the indices of `take` have the dtype {given.dtype.name}",
            "convert the indices with `astype(np.int64)`",
        )
    positions = _moded(call, given, call.b.sizes.resolve(array.shape[d]))
    items: list[Any] = [Slice(None, None, None)] * d + [positions]
    found = index(call.b, array, items)
    return Array(found.shape, found.dtype, found.at) if isinstance(found, Array) else found


@function("numpy.take_along_axis", "arr indices axis=-1")
def _take_along_axis(call: Call) -> Value:
    """Element idx is the one at `indices[idx]` along the axis, and at idx along the others."""
    array, positions = settled(call.b, call.array("arr")), call.array("indices")
    d = normal_axis(call.b, int(call.constant("axis")), array.ndim, "`take_along_axis`")
    if positions.ndim != array.ndim or positions.dtype.kind not in "iu":
        raise call.refuse(
            "PRT903", "`take_along_axis` requires integer indices with the array's ndim"
        )
    for k in range(array.ndim):
        if k != d:
            call.b.sizes.unify(array.shape[k], positions.shape[k], "`take_along_axis`")

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = wrapped(as_index(positions.at(idx)), call.b.sizes.resolve(array.shape[d]))
        return array.at([*idx[:d], k, *idx[d + 1 :]])

    return Array(positions.shape, array.dtype, at)


@function("numpy.choose", "a choices mode=raise")
def _choose(call: Call) -> Value:
    """`choices[a]` element by element; positions out of range follow `mode`."""
    value = call.value("choices")
    if isinstance(value, Array) and value.ndim and value.shape[0].constant:
        value = tuple(index(call.b, value, [integer(k)]) for k in range(value.shape[0].constant))
    if not isinstance(value, tuple) or not value:
        raise call.refuse(
            "PRT902", "`choose` requires a tuple or list of choices", "pass the choices as a tuple"
        )
    choices = [call.ev.as_numeric(v, call.node) for v in value]
    which = call.operand("a")
    if which.dtype.kind not in "iub":
        raise call.refuse(
            "PRT907",
            f"the indices of `choose` have the dtype {which.dtype.name}",
            "convert the indices with `astype(np.int64)`",
        )
    call.b.dtypes.same_dtype(*(c.dtype for c in choices))
    dtype = choices[0].dtype
    for c in choices[1:]:
        dtype = promote(dtype, c.dtype)
    dtype = strengthen(dtype)
    count = Poly.of(len(choices))
    positions: Operand = _moded(call, astype(which, INT64), count)
    if call.constant("mode") == "raise" and not (which.dtype.kind == "b" and len(choices) > 1):
        positions = map_arrays(call.b, lambda e: _checked(e, count), [positions], "`choose`")
    result: Operand = astype(choices[-1], dtype)
    for k in reversed(range(len(choices) - 1)):
        test = elementwise(call.b, "eq", positions, integer(k))
        result = where(call.b, test, astype(choices[k], dtype), result)
    return result.at(()) if isinstance(result, Array) and not result.ndim else result


def _checked(e: ir.Expr, count: Poly) -> ir.Expr:
    """A position that the kernel tests: unlike in a subscript, a negative one is an error."""
    known = choose(operate("lt", e, integer(0)), cast(integer(count), e.dtype), e)
    return ir.Value(wrapped(Poly.atom(Data(known)), count), INT64)


def _conditions(call: Call, name: str) -> list[Operand]:
    value = call.value(name)
    values = value if isinstance(value, tuple) else (value,)
    found = [call.ev.as_numeric(v, call.node) for v in values]
    if any(c.dtype.kind != "b" for c in found):
        raise call.refuse(
            "PRT907",
            f"the conditions of `{call.name}` must be boolean",
            "pass comparisons, such as `x > 0`",
        )
    return found


@function("numpy.select", "condlist choicelist default=0")
def _select(call: Call) -> Value:
    """The choice of the first condition that holds, the default where none does."""
    conditions, choices = _conditions(call, "condlist"), call.value("choicelist")
    if not isinstance(choices, tuple) or len(choices) != len(conditions):
        raise call.refuse(
            "PRT903",
            "`select` requires as many choices as conditions",
            "pass one choice for each condition",
        )
    default = call.value("default")
    result: Operand = integer(0) if default == 0 else call.ev.as_numeric(default, call.node)
    values = [call.ev.as_numeric(v, call.node) for v in choices]
    for test, value in zip(reversed(conditions), reversed(values), strict=True):
        result = where(call.b, test, value, result)
    return result


@function("numpy.piecewise", "x condlist funclist")
def _piecewise(call: Call) -> Value:
    """In x's dtype: the value of the last condition that holds, else of one more function or 0."""
    array, conditions = call.array("x"), _conditions(call, "condlist")
    functions = call.value("funclist")
    for test in conditions:
        if isinstance(test, Array) and test.ndim:
            for have, want in zip(array.shape, test.shape, strict=False):
                call.b.sizes.unify(have, want, MASK_MISMATCH, error="IndexError")
    if not isinstance(functions, tuple) or len(functions) - len(conditions) not in (0, 1):
        raise call.refuse(
            "PRT903",
            "`piecewise` requires a function for each condition",
            "pass one function for each condition",
        )

    def value(f: Value, test: Operand | None) -> Operand:
        mask = None if test is None else as_array(test).at
        lead = 0 if test is None else as_array(test).ndim
        part = Array(array.shape, array.dtype, array.at, mask=mask if lead else None, lead=lead)
        given: Any = f
        if isinstance(f, Function):
            if f.node is None:
                raise call.refuse("PRT902", "`piecewise` with a library function is not supported",
                                  "write it as a lambda")  # fmt: skip
            given = inline(call.ev, f, [part], {})
        found = astype(call.ev.as_numeric(given, call.node), array.dtype)
        if isinstance(found, Array) and found.ndim and found.lead != lead:
            raise call.refuse(
                "PRT906",
                "a function given to `piecewise` is not elementwise",
                "use `np.where` with the whole expressions",
            )
        return Array(found.shape, found.dtype, found.at) if isinstance(found, Array) else found

    result: Operand = integer(0)
    if len(functions) > len(conditions):
        others = conditions[0]
        for test in conditions[1:]:
            others = elementwise(call.b, "or", others, test)
        result = value(functions[-1], elementwise(call.b, "not", others))
    for test, f in zip(conditions, functions, strict=False):
        result = where(call.b, test, value(f, test), result)
    return Array(array.shape, array.dtype, as_array(astype(result, array.dtype)).at)


@function("numpy.copyto", "dst src casting=same_kind where=True")
def _copyto(call: Call) -> Value:
    target, source = call.array("dst"), call.operand("src")
    if call.constant("casting") != "unsafe" and not same_kind(target, source):
        raise call.refuse(
            "PRT907",
            f"`copyto` cannot store {source.dtype.name} into {target.dtype.name}",
            "convert it with `astype` first",
        )
    if call.value("where") is True:
        store(call.b, target, source)
    else:
        _put(call, target, call.operand("where"), source)
    return NONE


@function("numpy.putmask numpy.place", "a mask values")
def _putmask(call: Call) -> Value:
    """`a[mask] = values`; values of another shape are repeated, which depends on the data."""
    target, source = call.array("a"), call.operand("values")
    if isinstance(source, Array) and source.ndim:
        if call.name == "numpy.place" or source.ndim != target.ndim:
            raise call.refuse("PRT906", f"`{call.name}` with an array of values is not supported",
                              "pass a number, or use `np.where`")  # fmt: skip
        for have, want in zip(source.shape, target.shape, strict=True):
            call.b.sizes.unify(want, have, f"`{call.name}`")
    _put(call, target, call.operand("mask"), source)
    return NONE


def _put(call: Call, target: Array, mask: Operand, source: Operand) -> None:
    """Store where the mask holds; it and the values are broadcast to the target."""
    whole = as_array(mask)
    if target.mask is not None:
        raise call.refuse("PRT906", f"`{call.name}` into a selection by a mask is not supported")
    shape = broadcast_shape(call.b, [target.shape, whole.shape], f"`{call.name}`")
    spread = Array(shape, BOOL, lambda idx: cast(whole.at(aligned(whole.shape, idx)), BOOL))
    values = as_array(source)
    picked: Operand = source
    if isinstance(source, Array) and source.ndim:
        broadcast_shape(call.b, [shape, values.shape], f"`{call.name}`")

        def at(idx: Sequence[Poly]) -> ir.Expr:
            return values.at(aligned(values.shape, idx))

        picked = Array(shape, values.dtype, at, mask=spread.at)
    store(call.b, replace(target, mask=spread.at), picked)
