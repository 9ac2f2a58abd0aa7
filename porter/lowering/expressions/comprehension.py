"""List comprehensions and generator expressions: their items one by one, where these are few and
known here, or an array whose element is a function of its index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import libcst as cst

from porter import ir
from porter.ir.scalars import constant_of, integer, truth
from porter.ir.walk import substitute
from porter.lowering.arrays.calculus import as_array
from porter.lowering.arrays.compaction import whole
from porter.lowering.arrays.rearrange import along
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.expressions.iterations import iterate, trips
from porter.lowering.expressions.methods import positive
from porter.lowering.state.ambiguous import candidates_of, is_ambiguous
from porter.numpy_functions import Dotted
from porter.resolve.values import Array, Listed, Range, Value
from porter.sizes.polynomial import Dim, Poly, sym

#: functions that take a list as they take an array, whatever its length
_JOINING = "concatenate concat stack vstack hstack dstack column_stack"
_FOLDING = "sum mean prod max min amax amin median any all std var"
TAKERS = {f"numpy.{n}" for n in f"array asarray {_FOLDING} {_JOINING}".split()}
TAKERS |= {f"builtins.{n}" for n in ("sum", "any", "all", "max", "min")}
#: a comprehension that is no array has at most so many items
MAX_ITEMS = 32


def listed(ev: Evaluator, node: cst.ListComp | cst.GeneratorExp) -> Listed:
    """The items one by one: what the loops run over, and the conditions, must be known."""
    found = Listed(inner(node.elt) for inner in _runs(ev, node.for_in))
    if len(found) > MAX_ITEMS:
        raise _too_long(ev)
    return found


def argument(ev: Evaluator, name: Dotted, node: cst.BaseExpression) -> Value:
    """An argument of a function: a long list is an array, a function of its index."""
    if name.library == "numpy" and isinstance(node, cst.BinaryOperation):
        repeated = _repeated(ev, node)
        return ev(node) if repeated is None else repeated
    if name not in TAKERS or not (
        isinstance(node, cst.ListComp)
        # NumPy makes an array of no dimensions of a generator
        or (isinstance(node, cst.GeneratorExp) and name.library != "numpy")
    ):
        return ev(node)
    items = ev(node.for_in.iter)
    return ev(node) if _is_short(items) else array_of(ev, node, items)


def _repeated(ev: Evaluator, node: cst.BinaryOperation) -> Array | None:
    """`[1.0] * n` as the array that NumPy makes of it; None for anything else."""
    written, other = node.left, node.right
    if not isinstance(written, cst.List):
        written, other = other, written
    if not isinstance(node.operator, cst.Multiply) or not isinstance(written, cst.List):
        return None
    items, times = ev(written), ev(other)
    if not isinstance(items, tuple) or not items or not is_repetition(times):
        return None
    count = ev.size(times, other)
    if not all(isinstance(a, Dim) for a in count.atoms()):
        return None  # an argument may be an array of no dimensions, and the list's factor then
    array = as_array(ev.as_numeric(items, written))
    size = array.shape[0]
    start = (lambda _: Poly()) if len(items) == 1 else (lambda k: k % size)
    return along(array, 0, positive(count) * size, start)


def is_repetition(times: Value) -> TypeGuard[ir.Expr]:
    """Whether a list times this is the list repeated: an integer that is not known here."""
    return is_expr(times) and times.dtype.kind in "iub" and constant_of(times) is None


def _is_short(items: Value) -> bool:
    if not isinstance(items, Range):
        return isinstance(items, tuple)
    first, last = items.start.constant, items.stop.constant
    if first is None or last is None:
        return False
    return len(range(first, last, items.step)) <= MAX_ITEMS


def array_of(ev: Evaluator, node: cst.ListComp | cst.GeneratorExp, items: Value) -> Array:
    """`[f(i) for i in range(n)]` as the array whose element i is f(i)."""
    b, loop = ev.b, iterate(ev.b, items)
    if node.for_in.ifs or node.for_in.inner_for_in is not None:
        raise b.refuse(
            "PRT902",
            "a comprehension with `if` or with two `for` clauses is not supported",
            "fill an array in a `for` loop",
        )
    count = positive(b.sizes.resolve(trips(loop.range)))
    axis = ir.Axis(b.out.fresh("c_"), count)
    here = sym(axis.name, True)
    item = loop.item(loop.range.start + here * loop.range.step)
    inner = ev.within(ev.scope, ev.env | dict(_bound(ev, node.for_in.target, item)))
    b.scope.ranges.append(axis)
    try:
        with b.out.block() as emitted:
            element = _element(inner, node.elt)
    finally:
        b.scope.ranges.pop()
    if emitted or any(axis.name in n.names() for n in element.shape):
        raise b.refuse(
            "PRT902",
            "an element of this comprehension cannot be computed in one expression",
            "fill an array in a `for` loop",
        )
    if element.ndim:
        # of an empty list NumPy makes an array of one dimension, whatever its items would have been
        b.sizes.check(ir.Check("index", Poly.of(1), count, "a list without items", "ValueError"))
    return Array(
        (count, *element.shape),
        element.dtype,
        lambda idx: substitute(element.at(idx[1:]), {axis.name: idx[0]}),
    )


def _element(ev: Evaluator, node: cst.BaseExpression) -> Array:
    if isinstance(node, cst.ListComp) and not _is_short(items := ev(node.for_in.iter)):
        return array_of(ev, node, items)
    value = ev.as_numeric(ev(node), node)
    if isinstance(value, Array):
        return whole(ev.b, value)
    if is_ambiguous(candidates_of(ev.b.dtypes, value)):
        raise ev.b.refuse(
            "PRT908",
            "the dtype of an element of this list depends on the data",
            "give both the same dtype, for example with `x.dtype.type(2)`",
        )
    return as_array(value)


def _runs(ev: Evaluator, loop: cst.CompFor) -> Iterator[Evaluator]:
    """The names of each run, the innermost loop fastest."""
    for value in _items(ev, ev(loop.iter)):
        inner = ev.within(ev.scope, ev.env | dict(_bound(ev, loop.target, value)))
        if not all(_holds(inner, condition.test) for condition in loop.ifs):
            continue
        if loop.inner_for_in is None:
            yield inner
        else:
            yield from _runs(inner, loop.inner_for_in)


def _items(ev: Evaluator, items: Value) -> tuple[Value, ...]:
    if isinstance(items, Range):
        first, last = items.start.constant, items.stop.constant
        if first is None or last is None or len(range(first, last, items.step)) > MAX_ITEMS:
            raise _too_long(ev)
        return tuple(integer(k) for k in range(first, last, items.step))
    if not isinstance(items, tuple):
        raise ev.b.refuse("PRT902", "a comprehension over this value is not supported",
                          "fill an array in a `for` loop")  # fmt: skip
    return items


def _too_long(ev: Evaluator) -> Exception:
    return ev.b.refuse(
        "PRT902",
        "a comprehension over a range without a short constant length",
        "fill an array in a `for` loop",
    )


def _bound(ev: Evaluator, target: cst.BaseExpression, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(target, cst.Name):
        yield target.value, value
        return
    items = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
    if not isinstance(value, tuple) or len(items) != len(value):
        raise ev.b.refuse(
            "PRT902",
            "the targets of this comprehension do not fit the values",
            "unpack the values in a `for` loop",
        )
    for element, item in zip(items, value, strict=True):
        yield from _bound(ev, element.value, item)


def _holds(ev: Evaluator, test: cst.BaseExpression) -> bool:
    value = ev.numeric(test)
    known = None if isinstance(value, Array) else constant_of(truth(value))
    if not isinstance(known, bool):
        raise ev.b.refuse(
            "PRT902",
            "the condition of the comprehension is not known at conversion",
            "use `np.where`",
        )
    return known
