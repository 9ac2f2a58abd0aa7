"""`==` of what is not only numbers, and `in`: decided at conversion, or made of comparisons."""

from __future__ import annotations

import libcst as cst

from porter import ir
from porter.dtypes.dtype import INT64
from porter.ir.scalars import cast, integer, number, operate, truth
from porter.lowering.arrays import calculus
from porter.lowering.evaluation import Evaluator
from porter.lowering.expressions.tables import known_key
from porter.lowering.functions.registry import Call, dtype_of
from porter.lowering.state.builder import Builder
from porter.resolve.values import NONE, Array, DTypeName, Listed, Range, Special, Table, Text, Value

_STATIC = (Text, Special)


def is_static(left: Value, right: Value) -> bool:
    """Whether comparing two values is not the arithmetic of numbers and arrays."""
    kinds = (*_STATIC, DTypeName)
    both = isinstance(left, tuple) and isinstance(right, tuple)
    return both or isinstance(left, kinds) or isinstance(right, kinds)


def identical(ev: Evaluator, left: Value, right: Value) -> bool | None:
    """`left is right` for None, and for two arguments, which the host function then tests: kernels
    are made for different ones.  None where it is not known."""
    if NONE in (left, right):
        return left == right
    names = [v.view.buffer for v in (left, right)
             if isinstance(v, Array) and v.view is not None and v.is_buffer]  # fmt: skip
    b = ev.b
    fixed = all(b.out.is_parameter(n) and b.aliases.may_be(n) == {n} for n in names)
    if len(names) < 2 or not fixed:
        return None
    b.aliases.keep_apart(names[0], names[1:])
    for value in (left, right):
        b.host.note_classes(value, ir.Classes(("np.ndarray",), True))  # lists become new arrays
    return names[0] == names[1]


def equal(ev: Evaluator, left: Value, right: Value) -> ir.Expr:
    """Whether two values are equal, as a scalar. Refuses what NumPy finds ambiguous."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        alike = isinstance(left, Listed) == isinstance(right, Listed)
        result: ir.Expr = number(alike and len(left) == len(right))
        for x, y in zip(left, right, strict=False):
            result = operate("and", result, _is_or_equals(ev, x, y))
        return result
    if isinstance(left, DTypeName) or isinstance(right, DTypeName):
        return number(_same_dtype(ev, left, right))
    for text, other in ((left, right), (right, left)):
        if isinstance(text, Text) and isinstance(other, ir.Scalar):
            raise ev.b.refuse(
                "PRT902", f"`{other.name}` is compared with a string but has no known value",
                "give the parameter a default; the function is converted for that value",
            )  # fmt: skip
    if isinstance(left, _STATIC) or isinstance(right, _STATIC):
        if any(isinstance(v, Array) and v.ndim for v in (left, right)):
            raise ev.b.refuse("PRT902", "`==` compares every element of this array",
                              "use `x is None` to test for None")  # fmt: skip
        return number(left == right)  # no number is a text or None
    x, y = (ev.as_numeric(v, ev.b.place.node or cst.Name("value")) for v in (left, right))
    found = calculus.elementwise(ev.b, "eq", x, y)
    if isinstance(found, Array) and found.ndim:
        raise ev.b.refuse(
            "PRT902",
            "the truth value of an array is ambiguous",
            "use `np.where`, `np.any` or `np.all`",
        )
    return truth(found.at(()) if isinstance(found, Array) else found)


def _same_dtype(ev: Evaluator, left: Value, right: Value) -> bool:
    one, other = dtype_of(left), dtype_of(right)
    if one is None or other is None:
        if isinstance(left, Special) or isinstance(right, Special):
            return False
        raise ev.b.refuse("PRT907", "the dtype in this comparison is not known at conversion",
                          "compare with a constant such as `np.float64`")  # fmt: skip
    roots = {ev.b.dtypes.root(d.var) if d.var else None for d in (one, other)}
    if None in roots or len(roots) > 1:
        # the answer holds for these dtypes only, and not for the others of their kind
        ev.b.dtypes.pin(one, other)
    return one.name == other.name


def contained(ev: Evaluator, left: Value, right: Value) -> ir.Expr:
    """Whether a value is in a tuple, a list, a range, a text or an array."""
    node = ev.b.place.node or cst.Name("value")
    if isinstance(right, Text) and isinstance(left, Text):
        return number(left.value in right.value)
    if isinstance(right, Table):
        return number(known_key(ev, left) in right.keys)
    if isinstance(right, tuple):
        found: ir.Expr = number(False)
        for item in right:
            found = operate("or", found, _is_or_equals(ev, left, item))
        return found
    if isinstance(right, (Range, Array)) and not isinstance(left, (*_STATIC, DTypeName, tuple)):
        k = ev.as_numeric(left, node)
        if isinstance(right, Array):
            return _any(ev, calculus.elementwise(ev.b, "eq", right, k), node)
        if not isinstance(k, Array):
            return _in_range(k, right)
    raise ev.b.refuse("PRT902", "`in` is not supported for this value",
                      "compare with each value: `k == 1 or k == 2`")  # fmt: skip


def _any(ev: Evaluator, same: Array | ir.Expr, node: cst.CSTNode) -> ir.Expr:
    found = Call(ev, "numpy.any", {}, node).as_function("numpy.any", a=same)
    value = ev.as_numeric(found, node)
    return truth(value.at(()) if isinstance(value, Array) else value)


def _is_or_equals(ev: Evaluator, left: Value, item: Value) -> ir.Expr:
    # Python asks for identity first: a variable is itself, NaN or not
    if isinstance(left, (ir.Local, ir.Scalar)) and left == item:
        return number(True)
    return equal(ev, left, item)


def _in_range(k: ir.Expr, range_: Range) -> ir.Expr:
    first, stop = (ir.Value(p, integer(0).dtype) for p in (range_.start, range_.stop))
    whole = k.dtype.kind in "biu"
    wide = cast(k, INT64) if whole and not k.dtype.weak else k  # no difference wraps around
    value = k if k.dtype.name == "uint64" else wide
    bounds = (("ge", first), ("lt", stop)) if range_.step > 0 else (("le", first), ("gt", stop))
    inside = operate("and", *(operate(op, value, bound) for op, bound in bounds))
    if whole and abs(range_.step) == 1:
        return inside
    apart = operate("mod", operate("sub", wide, first), integer(abs(range_.step)))
    return operate("and", inside, operate("eq", apart, integer(0)))


def dtype_attribute(b: Builder, owner: DTypeName, attr: str) -> Value:
    """`x.dtype.kind`, `.name`, `.itemsize` or `.type`. Refuses others."""
    dtype = owner.dtype
    if attr == "type":
        return owner
    if attr == "kind":
        return Text(dtype.kind)
    if attr in ("name", "itemsize"):
        b.dtypes.pin(dtype)  # the others of its kind have others
        return Text(dtype.name) if attr == "name" else integer(dtype.itemsize)
    raise b.refuse("PRT902", f"the attribute `.{attr}` of a dtype is not supported",
                   "use `.kind`, `.name` or `.itemsize`")  # fmt: skip
