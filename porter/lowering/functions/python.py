"""Python's builtins of ranges, sizes and sequences, and NumPy's functions that are like them.

They take a selection by a mask as it is: its length is asked for, or it is made whole where
a loop runs through it.
"""

from __future__ import annotations

from porter.ir.scalars import constant_of, integer
from porter.lowering.arrays.calculus import normal_axis
from porter.lowering.arrays.compaction import length
from porter.lowering.expressions.iterations import counted, iterate, trips
from porter.lowering.expressions.methods import attribute, positive
from porter.lowering.functions.registry import Call, function
from porter.lowering.state.facts import lowest
from porter.resolve.values import NONE, Grid, Iteration, Range, Value
from porter.sizes.polynomial import Poly


@function("builtins.range numba.prange", "start stop=None step=None")
def _range(call: Call) -> Value:
    b = call.b
    given = [v for v in call.arguments.values() if v is not NONE]
    parts = [call.ev.size(v, call.node) for v in given]
    start, stop = (Poly(), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    step = parts[2].constant if len(parts) == 3 else 1
    if step is None and lowest(b.sizes, b.sizes.resolve(parts[2])).is_positive():
        # positions of a step that is known at run time only: they are counted instead
        count = (stop - start + parts[2] - 1) // parts[2]
        return Iteration(Range(Poly(), count, 1), lambda k: integer(start + k * parts[2]))
    if not step:
        for v in given[2:]:
            b.restarts.must_be_known(v)
        raise call.refuse(
            "PRT902",
            "the step of `range` must be a nonzero constant",
            "write the step as a literal, or compute the index in the loop",
        )
    return Range(start, stop, step)


@function("builtins.len", "obj", lazy=True)
def _len(call: Call) -> Value:
    if isinstance(call.value("obj"), tuple):
        call.b.sizes.asked.add("rank")  # it may be a shape
        return integer(len(call.value("obj")))
    call.b.sizes.asked.add("shape")
    array = call.array("obj")
    call.b.sizes.tell(array)
    if array.mask is not None:
        return length(call.b, array)
    if not array.ndim:
        raise call.refuse(
            "PRT903",
            "`len` is applied to a scalar",
            "pass an array, or give its type with `--signature`",
        )
    return integer(positive(call.b.sizes.resolve(array.shape[0])))


@function("builtins.enumerate", "iterable start=0", lazy=True)
def _enumerate(call: Call) -> Value:
    given, start = call.value("iterable"), Poly()
    if call.value("start") != 0:
        start = call.ev.size(call.value("start"), call.node)
    if isinstance(given, tuple):
        return tuple((integer(start + k), item) for k, item in enumerate(given))
    inner = counted(iterate(call.b, given))
    return Iteration(inner.range, lambda k: (integer(k + start), inner.item(k)))


@function("builtins.reversed", "sequence", lazy=True)
def _reversed(call: Call) -> Value:
    if isinstance(call.value("sequence"), tuple):
        return call.value("sequence")[::-1]  # type: ignore[no-any-return]
    loop = iterate(call.b, call.value("sequence"))
    r = loop.range
    last = r.start + (trips(r) - 1) * r.step
    before = r.start - (1 if r.step > 0 else -1)
    return Iteration(Range(last, before, -r.step), loop.item)


def _items(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple, or of a range of constants."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Range) and value.start.constant is not None:
        if value.stop.constant is not None:
            found = range(value.start.constant, value.stop.constant, value.step)
            return tuple(integer(k) for k in found)
    return None


@function("builtins.zip", "*iterables strict=False", lazy=True)
def _zip(call: Call) -> Value:
    given = call.value("iterables")
    if not given:
        raise call.refuse("PRT901", "`zip` does not take 0 arguments", "pass what to loop over")
    known = [_items(a) for a in given]
    if any(isinstance(a, tuple) for a in given) and None not in known:
        return tuple(zip(*(items for items in known if items is not None), strict=False))
    inner = [iterate(call.b, a) for a in given]
    first = inner[0].range
    if any(i.range.start != first.start or i.range.step != first.step for i in inner):
        inner = [counted(i) for i in inner]
        first = inner[0].range
    for other in inner[1:]:
        call.b.sizes.unify(first.stop, other.range.stop, "`zip` of arrays of different lengths")
    return Iteration(first, lambda k: tuple(i.item(k) for i in inner))


@function("builtins.tuple builtins.list", "iterable=None", lazy=True)
def _tuple(call: Call) -> Value:
    given = call.value("iterable")
    if given is NONE or isinstance(given, tuple):
        return () if given is NONE else given
    raise call.refuse(
        "PRT902",
        "`tuple` or `list` of a value that is not a tuple",
        "write the elements out: `(x[0], x[1])`",
    )


@function("numpy.ndindex", "*shape", lazy=True)
def _ndindex(call: Call) -> Value:
    given = call.value("shape")
    sizes = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    shape = tuple(call.ev.size(n, call.node) for n in sizes)
    if not shape:
        raise call.refuse(
            "PRT902",
            "`np.ndindex` is called without sizes",
            "pass the sizes: `np.ndindex(*x.shape)`",
        )
    return Grid(shape, lambda at: tuple(map(integer, at)))


@function("numpy.ndenumerate", "arr", lazy=True)
def _ndenumerate(call: Call) -> Value:
    array = call.array("arr")
    if not array.ndim or array.mask is not None:
        raise call.refuse(
            "PRT902", "`np.ndenumerate` is applied to a value that is not an array", "pass an array"
        )
    shape = tuple(positive(call.b.sizes.resolve(n)) for n in array.shape)
    return Grid(shape, lambda at: (tuple(map(integer, at)), array.at(at)))


@function("numpy.shape numpy.ndim", "a", lazy=True)
def _shape(call: Call) -> Value:
    return attribute(call.ev, call.value("a"), call.name.path)


@function("numpy.size", "a axis=None", lazy=True)
def _size(call: Call) -> Value:
    if call.value("axis") is NONE:
        return attribute(call.ev, call.operand("a"), "size")
    sizes, axis = attribute(call.ev, call.operand("a"), "shape"), constant_of(call.value("axis"))
    if not isinstance(axis, int) or not isinstance(sizes, tuple):
        raise call.refuse(
            "PRT903", "the axis of `np.size` must be a constant", "write the axis as a literal"
        )
    return sizes[normal_axis(call.b, axis, len(sizes), "`size`")]  # type: ignore[no-any-return]
