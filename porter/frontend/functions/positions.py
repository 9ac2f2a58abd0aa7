"""Arrays made of their own positions, and positions of flat ones."""

from __future__ import annotations

from collections.abc import Sequence

from porter.arrays.dtypes import FLOAT64, INT64
from porter.arrays.sizes import Poly
from porter.frontend.calculus import index_value
from porter.frontend.functions.creation import shape_of
from porter.frontend.functions.registry import Call, function
from porter.frontend.scalars import cast, integer, operate
from porter.frontend.values import Array, Function, Value
from porter.ir.nodes import Expr, Reduce


@function("numpy.fromfunction", "function shape dtype=None")
def _fromfunction(call: Call) -> Value:
    """The function of the arrays of positions, as floats unless `dtype` says otherwise."""
    from porter.frontend.inline import inline

    callee = call.value("function")
    if not isinstance(callee, Function) or callee.node is None:
        raise call.refuse("PRT901", "`fromfunction` needs a function of this file or a lambda")
    shape = shape_of(call, call.value("shape"))
    dtype = call.dtype() or FLOAT64

    def along(d: int) -> Array:
        return Array(shape, dtype, lambda idx: cast(index_value(idx[d]), dtype))

    return inline(call.ev, callee, [along(d) for d in range(len(shape))], {})


@function("numpy.unravel_index", "indices shape")
def _unravel_index(call: Call) -> Value:
    """The position of a flat index that a reduction such as `argmax` found."""
    flat = call.operand("indices")
    if isinstance(flat, Array) or not isinstance(flat, Reduce):
        raise call.refuse("PRT901", "`unravel_index` of an index that may be out of bounds",
                          "give it np.argmax(...) or np.argmin(...) itself")  # fmt: skip
    return tuple(_position(flat, shape_of(call, call.value("shape"))))


def _position(flat: Expr, shape: Sequence[Poly]) -> list[Expr]:
    found: list[Expr] = []
    for n in reversed(shape[1:]):
        size = cast(integer(n), INT64)
        found.append(operate("mod", flat, size))
        flat = operate("floordiv", flat, size)
    return [flat, *reversed(found)]
