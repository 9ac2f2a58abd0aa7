"""What all ufuncs share: `out`, `where` and `dtype`, and the methods `outer` and `reduce`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import BOOL, RANK, DType, strengthen
from porter.ir.ops import OPS
from porter.ir.scalars import cast, choose, constant_of, truth
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    accumulator,
    aligned,
    as_array,
    astype,
    broadcast_shape,
    elementwise,
    reindex,
)
from porter.lowering.arrays.stores import same_kind, store
from porter.lowering.functions.creation import Empty
from porter.lowering.functions.reductions import Fold, as_bool, extreme_of
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly

#: the keywords of every ufunc; `out` may be given by position
KEYWORDS = "out=None where=True dtype=None"
#: dtype rules for which `dtype=` means: compute in that dtype
_COMPUTED_IN = {"arith", "divide", "float", "real_float", "order", "keep", "bits"}


def ufunc_row(name: str, op: str) -> None:
    """Declare an operation of the table, with the keywords of a ufunc."""
    names = ("x1", "x2") if OPS[op].arity == 2 else ("x",)

    @function(name, f"{' '.join(names)} {KEYWORDS}", ufunc=True)
    def body(call: Call) -> Value:
        operands = [in_dtype(call, op, call.operand(n)) for n in names]
        result = elementwise(call.b, op, *operands)
        return into(call, strong(result))


def strong(e: Operand) -> Operand:
    """NumPy's functions give NumPy scalars, whose dtype counts in promotion (NEP 50)."""
    if isinstance(e, Array) or not e.dtype.weak or isinstance(e, ir.Local):
        return e
    if isinstance(e, (ir.Const, ir.Value)):
        return cast(e, strengthen(e.dtype))
    return replace(e, dtype=strengthen(e.dtype))


def in_dtype(call: Call, op: str, value: Operand) -> Operand:
    """An operand in the dtype that `dtype=` gives, where NumPy casts it (`same_kind`)."""
    dtype = call.dtype()
    if dtype is None:
        return value
    if OPS[op].rule not in _COMPUTED_IN or RANK[value.dtype.kind] > RANK[dtype.kind]:
        raise call.refuse(
            "PRT907",
            f"`{call.name}` with `dtype={dtype.name}` is not supported for these arguments",
        )
    return astype(value, dtype)


def into(call: Call, result: Operand) -> Value:
    """The result, stored into `out` (where `where` holds) if that is given."""
    out, where = call.value("out"), call.value("where")
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    everywhere = where is True or constant_of(where) is True
    if out is NONE:
        if everywhere:
            return result
        raise call.refuse("PRT905", "`where=` without `out=` leaves elements uninitialized",
                          "pass `out=`, or use `np.where`")  # fmt: skip
    if not isinstance(out, Array):
        raise call.refuse(
            "PRT905",
            "`out=` must be given an array",
            "allocate it before the call: `out = np.empty_like(x)`",
        )
    if not same_kind(out, result):
        raise call.refuse("PRT907", f"`out=` of {out.dtype.name} cannot take the "
                          f"{result.dtype.name} result")  # fmt: skip
    if out.view is None:
        return _fresh(call, out, result, True if everywhere else call.array("where"))
    if everywhere:
        store(call.b, out, result)
    else:
        _store_where(call, out, as_array(result), call.array("where"))
    return out


def _fresh(call: Call, out: Array, result: Operand, where: Array | bool) -> Array:
    """`out` was made for this call alone: what it holds stays where `where` does not hold."""
    chosen, condition = as_array(result), None if isinstance(where, bool) else where
    if isinstance(out, Empty) and condition is not None:
        raise call.refuse(
            "PRT905",
            "`where=` with `out=np.empty(...)` leaves elements uninitialized",
            "allocate `out` with `np.zeros`",
        )
    shapes = [out.shape, chosen.shape, *([condition.shape] if condition else [])]
    shape = broadcast_shape(call.b, shapes, f"`{call.name}`")
    if len(shape) != out.ndim or (condition and condition.dtype.kind != "b"):
        raise _other_shape(call)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        value = cast(chosen.at(aligned(chosen.shape, idx)), out.dtype)
        if condition is None:
            return value
        return choose(truth(condition.at(aligned(condition.shape, idx))), value, out.at(idx))

    return Array(out.shape, out.dtype, at)


def _other_shape(call: Call) -> Exception:
    return call.refuse(
        "PRT905",
        f"`out=` of `{call.name}` has a different shape than the result",
        "allocate `out` with the shape of the result",
    )


def _store_where(call: Call, out: Array, result: Array, where: Array) -> None:
    if where.dtype.kind != "b" or out.mask is not None or result.mask is not None:
        raise call.refuse(
            "PRT907",
            f"`where` of `{call.name}` must be a boolean array",
            "pass a comparison, such as `x > 0`",
        )
    shape = broadcast_shape(call.b, [out.shape, result.shape, where.shape], f"`{call.name}`")
    if len(shape) != out.ndim:
        raise _other_shape(call)

    def mask(idx: Sequence[Poly]) -> ir.Expr:
        return truth(where.at(aligned(where.shape, idx)))

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return result.at(aligned(result.shape, idx))

    source = Array(out.shape, result.dtype, at, mask=mask)
    store(call.b, replace(out, mask=mask), source)


# -- methods of ufuncs -------------------------------------------------------------------------


def _outer(name: str, op: str) -> None:
    @function(f"numpy.{name}.outer", "A B")
    def body(call: Call) -> Value:
        """All pairs: the axes of the first operand, then those of the second."""
        x, y = (strong(call.operand(n)) for n in "AB")
        tail = y.ndim if isinstance(y, Array) else 0
        if isinstance(x, Array) and tail:
            kept = x.ndim
            x = reindex(x, (*x.shape, *([ONE] * tail)), lambda idx: list(idx[:kept]))
        result = elementwise(call.b, op, x, y)
        return strong(result)


for _op, _info in OPS.items():
    if _info.arity == 2:
        _outer(_info.numpy, _op)
for _alias, _op in {"divide": "truediv", "mod": "mod"}.items():
    _outer(_alias, _op)

_REDUCE = "array axis=0 dtype=None out=None keepdims=False initial=None where=True"


def _reduced(name: str, op: str) -> None:
    @function(f"numpy.{name}.reduce", _REDUCE)
    def body(call: Call) -> Value:
        """The function of arrays that is this fold, but along axis 0 if none is given."""
        fold = Fold.of(call, "array")
        if fold.array.mask is not None or call.value("initial") is not NONE:
            raise call.refuse(
                "PRT901",
                f"`{name}.reduce` with `where` or `initial` is not supported",
                f"use `np.{_FUNCTIONS[name]}`",
            )
        dtype: DType | None = call.dtype()
        if op in ("max", "min"):
            if dtype is not None:
                raise call.refuse(
                    "PRT901",
                    f"the keyword `dtype` of `{name}.reduce` is not supported",
                    "use `astype`",
                )
            return extreme_of(fold, op)
        if op in ("any", "all"):
            return fold.run(op, BOOL, as_bool)
        return fold.run(op, dtype or accumulator(fold.array.dtype))


_FUNCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_or": "any",
    "logical_and": "all",
}  # fmt: skip
for _name, _fold in _FUNCTIONS.items():
    _reduced(_name, _fold)
