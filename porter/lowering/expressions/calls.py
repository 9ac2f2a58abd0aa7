"""Calls: NumPy functions from the table, methods, builtins, and helpers of the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from porter.ir.scalars import constant_of, integer
from porter.lowering.arrays.calculus import as_array, astype, normal_axis
from porter.lowering.arrays.compaction import length, unselected, whole
from porter.lowering.arrays.subscripts import row
from porter.lowering.expressions import methods
from porter.lowering.expressions.comprehension import argument
from porter.lowering.functions.registry import Call
from porter.lowering.state.facts import lowest
from porter.numpy_functions import MISSING, FunctionSpec, converted, known, method_of
from porter.resolve.values import (
    NONE,
    Array,
    DTypeName,
    Function,
    Grid,
    Iteration,
    Method,
    Module,
    Range,
    Value,
)
from porter.sizes.polynomial import Poly

if TYPE_CHECKING:
    from porter.lowering.expressions.evaluate import Evaluator


_CASTS = ("typing.cast", "typing_extensions.cast")


def call(ev: Evaluator, node: cst.Call) -> Value:
    """The value of a call expression."""
    callee = ev(node.func)
    if isinstance(callee, Function) and callee.name in _CASTS and _is_plain(node, 2):
        # the type is for type checkers: Python returns the value as it is
        return ev(node.args[1].value)
    if isinstance(callee, Function) and callee.node is None:
        # before the arguments: what is wrong with them is beside the point
        _check_known(ev, callee.name, node)
    positional: list[Any] = []
    for a in node.args:
        if a.keyword is None:
            value = argument(ev, getattr(callee, "name", ""), a.value)
            positional += value if a.star == "*" and isinstance(value, tuple) else [value]
    keywords = {a.keyword.value: ev(a.value) for a in node.args if a.keyword is not None}
    if any(a.star == "**" for a in node.args):
        raise ev.b.refuse(
            "PRT902", "`**` arguments cannot be converted", "write the keyword arguments out"
        )
    ev.b.node = node
    return _applied(ev, callee, positional, keywords, node)


def _is_plain(node: cst.Call, count: int) -> bool:
    """Whether a call has as many arguments, all of them positional."""
    return len(node.args) == count and not any(a.keyword or a.star for a in node.args)


def _applied(
    ev: Evaluator, callee: Value, positional: list[Any], keywords: dict[str, Any], node: cst.Call
) -> Value:
    if isinstance(callee, DTypeName):
        return _convert(ev, callee, positional, node)
    if isinstance(callee, Method):
        return _method(ev, callee, positional, keywords, node)
    if isinstance(callee, Function) and callee.node is not None:
        from porter.lowering.expressions.inline import inline

        return inline(ev, callee, positional, keywords)
    if isinstance(callee, Function):
        return named(ev, callee.name, positional, keywords, node)
    raise ev.b.refuse("PRT901", f"`{ev.b.module.brief(node.func)}` cannot be called on the GPU")


def named(
    ev: Evaluator, name: str, positional: list[Any], keywords: dict[str, Any], node: cst.Call
) -> Value:
    """Call a library function by its dotted name."""
    special = _BUILTINS.get(name)
    if special is not None:
        least, most = _COUNTS[name]
        if not least <= len(positional) <= most:
            shown = ev.b.module.code(node.func)
            raise ev.b.refuse(
                "PRT901",
                f"`{shown}` does not take {len(positional)} arguments",
                "pass only the arguments that it takes",
            )
        return special(ev, positional, node)
    _check_known(ev, name, node)
    spec = known(name)
    out = NONE
    if name.startswith("numpy.") and not spec.ufunc:
        out = keywords.pop("out", NONE)
    bound = unselected(ev.b, spec, bind(ev, spec, positional, keywords))
    if not spec.ufunc and out is NONE:
        out = bound.get("out", NONE)
    result = spec.convert(Call(ev, name, bound, node))
    return result if out is NONE else _into(ev, out, result)


_MADE_BEFORE = (
    "make the array before the loop and store into it: `out = np.zeros(n)`, `out[i] = ...`"
)
#: what to do instead, for methods of lists
_OTHER_METHODS = dict.fromkeys(("append", "extend", "insert"), _MADE_BEFORE)


def _check_known(ev: Evaluator, name: str, node: cst.Call) -> None:
    """Refuse a library function that porter does not convert."""
    if name not in _BUILTINS and not converted(name):
        ev.b.node = node
        shown = ev.b.module.code(node.func)
        raise ev.b.refuse("PRT901", f"`{shown}` cannot be converted to a kernel", _cure(name))


def _cure(name: str) -> str:
    if name.split(".")[0] in ("numpy", "math"):
        return "compute it outside this function and pass the result as an argument"
    return "call it outside this function, and pass its result as an argument"


def _into(ev: Evaluator, out: Value, result: Value) -> Value:
    """`out=`: the result is stored there and is the value of the call; its dtype must be that."""
    from porter.lowering.arrays.stores import store

    if not isinstance(out, Array) or out.view is None:
        raise ev.b.refuse("PRT905", "`out=` must be given an array",
                          "allocate it before the call: `out = np.empty_like(x)`")  # fmt: skip
    value = as_array(ev.as_numeric(result, ev.b.node or cst.Name("out")))
    if value.dtype.name != out.dtype.name or value.ndim != out.ndim:
        raise ev.b.refuse("PRT907", f"`out=` is {out.ndim}-D {out.dtype.name}, the result is "
                          f"{value.ndim}-D {value.dtype.name}")  # fmt: skip
    ev.b.same_dtype(out.dtype, value.dtype)
    store(ev.b, out, value)
    return out


def bind(
    ev: Evaluator, spec: FunctionSpec, positional: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Arguments by parameter name. Refuses keywords that porter does not convert."""
    name = spec.name
    if spec.variadic:
        rest = dict(spec.parameters[1:])
        for key in keywords.keys() - rest.keys():
            raise ev.b.refuse("PRT901", f"the keyword `{key}` of `{name}` is not supported")
        return {spec.parameters[0][0]: tuple(positional)} | rest | keywords
    names = [p for p, _ in spec.parameters]
    if len(positional) > len(names):
        raise ev.b.refuse(
            "PRT901", f"`{name}` does not take {len(positional)} positional arguments here"
        )
    bound = dict(spec.parameters)
    bound |= dict(zip(names, positional, strict=False))
    for key, value in keywords.items():
        if key not in names:
            raise ev.b.refuse("PRT901", f"the keyword `{key}` of `{name}` is not supported")
        bound[key] = value
    for key, value in bound.items():
        if value is MISSING:
            raise ev.b.refuse(
                "PRT901", f"`{name}` is missing the argument `{key}`", "pass the argument"
            )
    return bound


def _convert(ev: Evaluator, callee: DTypeName, positional: list[Any], node: cst.Call) -> Value:
    """`np.float32(x)`: a strong scalar, or an array's copy in that dtype."""
    if len(positional) != 1:
        return astype(integer(0), callee.dtype)
    return astype(ev.as_numeric(positional[0], node), callee.dtype)


def _method(
    ev: Evaluator, m: Method, positional: list[Any], keywords: dict[str, Any], node: cst.Call
) -> Value:
    if isinstance(m.owner, (tuple, Module)) or not hasattr(m.owner, "dtype"):
        raise ev.b.refuse(
            "PRT901", f"`.{m.name}()` cannot be converted", _OTHER_METHODS.get(m.name, "")
        )
    spec = method_of(m.name)
    if spec is None or spec.body is None:
        raise ev.b.refuse("PRT901", f"`.{m.name}()` of an array cannot be converted")
    positional.insert(spec.method or 0, m.owner)
    return named(ev, spec.name, positional, keywords, node)


# -- builtins --------------------------------------------------------------------------


def _range(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    parts = [ev.size(a, node) for a in args]
    start, stop = (Poly(), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    step = parts[2].constant if len(parts) == 3 else 1
    if step is None and lowest(ev.b, ev.b.resolve(parts[2])).is_positive():
        # positions of a step that is known at run time only: they are counted instead
        count = (stop - start + parts[2] - 1) // parts[2]
        return Iteration(Range(Poly(), count, 1), lambda k: integer(start + k * parts[2]))
    if not step:
        for a in args[2:]:
            ev.b.must_be_known(a)
        raise ev.b.refuse(
            "PRT902",
            "the step of `range` must be a nonzero constant",
            "write the step as a literal, or compute the index in the loop",
        )
    return Range(start, stop, step)


def _len(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    value = args[0]
    if isinstance(value, tuple):
        return integer(len(value))
    ev.b.reads_shape = True
    array = as_array(ev.as_numeric(value, node))
    ev.b.sized |= {n for p in array.shape for n in p.names()}
    if array.mask is not None:
        return length(ev.b, array)
    if not array.ndim:
        raise ev.b.refuse(
            "PRT903",
            "`len` is applied to a scalar",
            "pass an array, or give its type with `--signature`",
        )
    return integer(methods.positive(ev.b.resolve(array.shape[0])))


def iterate(ev: Evaluator, value: Value, node: cst.CSTNode) -> Iteration:
    """What a `for` loop over a value runs through."""
    if isinstance(value, Iteration):
        return value
    if isinstance(value, Range):
        return Iteration(value, integer)
    if isinstance(value, Array) and value.ndim:
        value = whole(ev.b, value)
        many = methods.positive(ev.b.resolve(value.shape[0]))
        return Iteration(Range(Poly(), many, 1), lambda k: row(ev.b, value, k))
    raise ev.b.refuse(
        "PRT902",
        "this loop does not run over `range`, an array, `enumerate` or `zip`",
        "loop over `range(n)`",
    )


def _counted(loop: Iteration) -> Iteration:
    """The same items, counted from 0."""
    r = loop.range
    if r.start == Poly() and r.step == 1:
        return loop
    return Iteration(Range(Poly(), trips(r), 1), lambda k: loop.item(r.start + k * r.step))


def trips(r: Range) -> Poly:
    """How many values a range has; a negative number counts as none."""
    span, size = (r.stop - r.start) * (1 if r.step > 0 else -1), abs(r.step)
    return span if size == 1 else (span + (size - 1)) // size


def _enumerate(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    start = ev.size(args[1], node) if len(args) > 1 else Poly()
    for a in node.args:
        if a.keyword is not None and a.keyword.value == "start":
            start = ev.size(ev(a.value), node)
    if isinstance(args[0], tuple):
        return tuple((integer(start + k), item) for k, item in enumerate(args[0]))
    inner = _counted(iterate(ev, args[0], node))
    return Iteration(inner.range, lambda k: (integer(k + start), inner.item(k)))


def _reversed(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    if isinstance(args[0], tuple):
        return args[0][::-1]
    loop = iterate(ev, args[0], node)
    r = loop.range
    last = r.start + (trips(r) - 1) * r.step
    before = r.start - (1 if r.step > 0 else -1)
    return Iteration(Range(last, before, -r.step), loop.item)


def _ndindex(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    sizes = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    shape = tuple(ev.size(n, node) for n in sizes)
    if not shape:
        raise ev.b.refuse(
            "PRT902",
            "`np.ndindex` is called without sizes",
            "pass the sizes: `np.ndindex(*x.shape)`",
        )
    return Grid(shape, lambda at: tuple(map(integer, at)))


def _ndenumerate(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    array = as_array(ev.as_numeric(args[0], node))
    if not array.ndim or array.mask is not None:
        raise ev.b.refuse(
            "PRT902", "`np.ndenumerate` is applied to a value that is not an array", "pass an array"
        )
    shape = tuple(methods.positive(ev.b.resolve(n)) for n in array.shape)
    return Grid(shape, lambda at: (tuple(map(integer, at)), array.at(at)))


def _items(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple, or of a range of constants."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Range) and value.start.constant is not None:
        if value.stop.constant is not None:
            counted = range(value.start.constant, value.stop.constant, value.step)
            return tuple(integer(k) for k in counted)
    return None


def _zip(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    known = [_items(a) for a in args]
    if any(isinstance(a, tuple) for a in args) and None not in known:
        return tuple(zip(*(items for items in known if items is not None), strict=False))
    inner = [iterate(ev, a, node) for a in args]
    first = inner[0].range
    if any(i.range.start != first.start or i.range.step != first.step for i in inner):
        inner = [_counted(i) for i in inner]
        first = inner[0].range
    for other in inner[1:]:
        ev.b.unify(first.stop, other.range.stop, "`zip` of arrays of different lengths")
    return Iteration(first, lambda k: tuple(i.item(k) for i in inner))


def _as_tuple(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    if not args or isinstance(args[0], tuple):
        return args[0] if args else ()
    raise ev.b.refuse(
        "PRT902",
        "`tuple` or `list` of a value that is not a tuple",
        "write the elements out: `(x[0], x[1])`",
    )


def _map(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    """`map` over tuples: the items of its results, which Python makes when they are asked for."""
    function, *rows = args
    if not rows or not all(isinstance(r, tuple) for r in rows):
        raise ev.b.refuse("PRT902", "`map` over a value that is not a tuple", "use a `for` loop")
    return tuple(
        _applied(ev, function, list(items), {}, node) for items in zip(*rows, strict=False)
    )


def _size(ev: Evaluator, args: list[Any], node: cst.Call) -> Value:
    if len(args) == 1:
        return methods.attribute(ev, ev.as_numeric(args[0], node), "size")
    sizes, axis = methods.attribute(ev, ev.as_numeric(args[0], node), "shape"), constant_of(args[1])
    if not isinstance(axis, int) or not isinstance(sizes, tuple):
        raise ev.b.refuse(
            "PRT903", "the axis of `np.size` must be a constant", "write the axis as a literal"
        )
    return sizes[normal_axis(ev.b, axis, len(sizes), "`size`")]  # type: ignore[no-any-return]


#: how many arguments by position they take, at least and at most
_COUNTS = {
    "builtins.range": (1, 3), "numba.prange": (1, 3), "builtins.len": (1, 1),
    "numpy.size": (1, 2), "numpy.shape": (1, 1), "numpy.ndim": (1, 1),
    "builtins.enumerate": (1, 2), "builtins.reversed": (1, 1), "builtins.zip": (1, 99),
    "builtins.map": (2, 99), "numpy.ndindex": (0, 99), "numpy.ndenumerate": (1, 1),
    "builtins.tuple": (0, 1), "builtins.list": (0, 1),
}  # fmt: skip
_BUILTINS = {
    "builtins.range": _range,
    "numba.prange": _range,
    "builtins.len": _len,
    "numpy.size": lambda ev, args, node: _size(ev, args, node),
    "numpy.shape": lambda ev, args, node: methods.attribute(ev, args[0], "shape"),
    "numpy.ndim": lambda ev, args, node: methods.attribute(ev, args[0], "ndim"),
    "builtins.enumerate": _enumerate,
    "builtins.reversed": _reversed,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "numpy.ndindex": _ndindex,
    "numpy.ndenumerate": _ndenumerate,
    "builtins.tuple": _as_tuple,
    "builtins.list": _as_tuple,
}
