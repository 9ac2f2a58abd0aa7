"""Calls: NumPy functions from the table, methods, builtins, and helpers of the same file."""

from __future__ import annotations

from typing import Any

import libcst as cst

from porter import ir
from porter.ir.scalars import integer
from porter.lowering.arrays.calculus import as_array, astype
from porter.lowering.arrays.compaction import unselected
from porter.lowering.arrays.stores import store
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.expressions.comprehension import argument
from porter.lowering.expressions.folding import folded
from porter.lowering.expressions.inline import inline
from porter.lowering.expressions.tables import table_method
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.ufuncs import strong
from porter.numpy_functions import MISSING, Dotted, FunctionSpec, converted, known, method_of
from porter.resolve.values import (
    NONE,
    Array,
    DTypeName,
    Function,
    Generator,
    Method,
    Module,
    Table,
    Value,
)

#: begins the names of the methods of generators of random numbers
_CASTS = ("typing.cast", "typing_extensions.cast")


def call(ev: Evaluator, node: cst.Call) -> Value:
    """The value of a call expression."""
    found = folded(ev, node)
    if found is not None:
        return found
    callee = ev(node.func)
    if isinstance(callee, Function) and callee.name in _CASTS and _is_plain(node, 2):
        # the type is for type checkers: Python returns the value as it is
        return ev(node.args[1].value)
    if isinstance(callee, Function) and callee.node is None:
        # before the arguments: what is wrong with them is beside the point
        _check_known(ev, callee.full, node)
    positional: list[Any] = []
    name = callee.full if isinstance(callee, Function) else Dotted()
    for a in node.args:
        if a.keyword is None:
            value = argument(ev, name, a.value)
            if a.star == "*" and is_expr(value):
                raise ev.b.refuse(
                    "PRT902", f"`{ev.b.place.module.brief(a.value)}` is not a tuple",
                    "write the arguments out, or give its type: `UniTuple(int64, 2)`",
                )  # fmt: skip
            positional += value if a.star == "*" and isinstance(value, tuple) else [value]
    keywords = {a.keyword.value: ev(a.value) for a in node.args if a.keyword is not None}
    if any(a.star == "**" for a in node.args):
        raise ev.b.refuse(
            "PRT902", "`**` arguments cannot be converted", "write the keyword arguments out"
        )
    ev.b.place.node = node
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
        return inline(ev, callee, positional, keywords)
    if isinstance(callee, Function):
        return named(ev, callee.full, positional, keywords, node)
    raise ev.b.refuse(
        "PRT901", f"`{ev.b.place.module.brief(node.func)}` cannot be called on the GPU"
    )


def named(
    ev: Evaluator, name: Dotted, positional: list[Any], keywords: dict[str, Any], node: cst.Call
) -> Value:
    """Call a library function by its dotted name."""
    _check_known(ev, name, node)
    spec = known(name)
    out = NONE
    if name.library == "numpy" and not spec.ufunc:
        out = keywords.pop("out", NONE)
    bound = unselected(ev.b, spec, bind(ev, spec, positional, keywords))
    if not spec.ufunc and out is NONE:
        out = bound.get("out", NONE)
    result = spec.convert(Call(ev, name, bound, node))
    if name.library == "numpy" and name not in _OF_PYTHON and not name.path.startswith("random."):
        result = _of_numpy(result)
    return ev.b.host.made(result) if out is NONE else _into(ev, out, result)


def _of_numpy(value: Value) -> Value:
    """NumPy's number in place of Python's, also among several (`np.modf`)."""
    if type(value) is tuple:
        return tuple(map(_of_numpy, value))
    return strong(value) if is_expr(value) else value


#: functions of NumPy that give numbers of Python
_OF_PYTHON = {
    f"numpy.{name}"
    for name in (
        "allclose", "array_equal", "array_equiv", "imag", "iscomplexobj", "isrealobj", "isscalar",
        "broadcast_shapes", "ndim", "real", "shape", "shares_memory", "may_share_memory", "size",
    )
}  # fmt: skip


_MADE_BEFORE = (
    "make the array before the loop and store into it: `out = np.zeros(n)`, `out[i] = ...`"
)
#: what to do instead, for methods of lists
_OTHER_METHODS = dict.fromkeys(("append", "extend", "insert"), _MADE_BEFORE)


def _check_known(ev: Evaluator, name: Dotted, node: cst.Call) -> None:
    """Refuse a library function that porter does not convert."""
    if not converted(name):
        ev.b.place.node = node
        shown = ev.b.place.module.code(node.func)
        raise ev.b.refuse("PRT901", f"`{shown}` cannot be converted to a kernel", _cure(name))


def _cure(name: Dotted) -> str:
    if name.library in ("numpy", "math"):
        return "compute it outside this function and pass the result as an argument"
    return "call it outside this function, and pass its result as an argument"


def _into(ev: Evaluator, out: Value, result: Value) -> Value:
    """`out=`: the result is stored there and is the value of the call; its dtype must be that."""
    if not isinstance(out, Array) or out.view is None:
        raise ev.b.refuse("PRT905", "`out=` must be given an array",
                          "allocate it before the call: `out = np.empty_like(x)`")  # fmt: skip
    value = as_array(ev.as_numeric(result, ev.b.place.node or cst.Name("out")))
    if value.dtype.name != out.dtype.name or value.ndim != out.ndim:
        raise ev.b.refuse("PRT907", f"`out=` is {out.ndim}-D {out.dtype.name}, the result is "
                          f"{value.ndim}-D {value.dtype.name}")  # fmt: skip
    ev.b.dtypes.same_dtype(out.dtype, value.dtype)
    sizes, unequal = ev.b.sizes, "`out=` has another shape than the result"
    for want, have in zip(out.shape, value.shape, strict=True):
        met = want != have and sizes.resolve(want) == sizes.resolve(have)
        # only ufuncs repeat what they store
        sizes.unify(want, have, unequal)
        if met and want.symbol and have.symbol:
            sizes.check(ir.Check("equal", want, have, unequal))
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
    if isinstance(m.owner, Generator):
        return named(ev, Dotted(f"{m.owner.methods}.{m.name}"), positional, keywords, node)
    if isinstance(m.owner, Table) and not keywords:
        return table_method(ev, m.owner, m.name, positional)
    if isinstance(m.owner, (tuple, Module)) or not hasattr(m.owner, "dtype"):
        raise ev.b.refuse(
            "PRT901", f"`.{m.name}()` cannot be converted", _OTHER_METHODS.get(m.name, "")
        )
    spec = method_of(m.name)
    if spec is None or spec.body is None:
        raise ev.b.refuse("PRT901", f"`.{m.name}()` of an array cannot be converted")
    positional.insert(spec.method or 0, m.owner)
    result = named(ev, Dotted(spec.name), positional, keywords, node)
    # a method of a number gives a number (`x.copy()`), where `np.copy(x)` gives an array
    if isinstance(result, Array) and not result.ndim and not isinstance(m.owner, Array):
        return result.at(())
    return result


@function("builtins.map", "*args", lazy=True)
def _map(call: Call) -> Value:
    """`map` over tuples: the items of its results, which Python makes when they are asked for."""
    rows = call.value("args")[1:]
    if not rows or not all(isinstance(r, tuple) for r in rows):
        raise call.refuse("PRT902", "`map` over a value that is not a tuple", "use a `for` loop")
    return tuple(
        _applied(call.ev, call.value("args")[0], list(items), {}, call.node)
        for items in zip(*rows, strict=False)
    )
