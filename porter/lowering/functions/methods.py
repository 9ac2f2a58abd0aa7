"""Methods of arrays that are no functions, or do something else than the function."""

from __future__ import annotations

from porter.lowering.arrays import subscripts
from porter.lowering.arrays.calculus import astype
from porter.lowering.arrays.rearrange import flat
from porter.lowering.arrays.stores import store
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value


@function("ndarray.astype", "a dtype order=None casting=unsafe subok=True copy=True", lazy=True)
def _astype(call: Call) -> Value:
    return astype(call.operand("a"), call.ev_dtype(call.value("dtype")))


@function("ndarray.reshape", "*args order=None")
def _reshape(call: Call) -> Value:
    """The shape in one argument, or a size in each."""
    array, *shape = call.value("args")
    wanted = shape[0] if len(shape) == 1 else tuple(shape)
    return call.as_function("numpy.reshape", a=array, shape=wanted, order=call.value("order"))


@function("ndarray.transpose", "*args")
def _transpose(call: Call) -> Value:
    """The axes in one argument, or each in its own."""
    array, *axes = call.value("args")
    wanted = axes[0] if len(axes) == 1 else tuple(axes) or NONE
    return call.as_function("numpy.transpose", a=array, axes=wanted)


@function("ndarray.flatten", "a order=None")
def _flatten(call: Call) -> Value:
    """`ravel`, but always a copy."""
    order = call.value("order")
    array = call.as_function("numpy.ravel", a=call.value("a"), order=order)
    assert isinstance(array, Array)
    return Array(array.shape, array.dtype, array.at)


@function("ndarray.conj ndarray.conjugate", "a", lazy=True)
def _conj(call: Call) -> Value:
    """Unlike the function, the method gives a real array itself."""
    if call.array("a").dtype.kind != "c":
        return call.array("a")
    return call.as_function("numpy.conj", x=call.value("a"))


@function("ndarray.fill", "a value")
def _fill(call: Call) -> Value:
    store(call.b, call.array("a"), call.operand("value"))
    return NONE


@function("ndarray.item", "a index=None")
def _item(call: Call) -> Value:
    """An element as Python's number: the only one, or that at an index in row-major order."""
    array, index = call.array("a"), call.value("index")
    if index is NONE and array.ndim:
        raise call.refuse("PRT901", "`.item()` of an array cannot be converted",
                          "index the element, as in `.item(0)`")  # fmt: skip
    items = list(index) if isinstance(index, tuple) else [index]
    one = array if len(items) == array.ndim else flat(call.b, array)
    element = array.at(()) if index is NONE else subscripts.index(call.b, one, items)
    name, value = _PYTHON[array.dtype.kind]
    return call.as_function(f"builtins.{name}", **{value: element})


#: Python's type of an element, and the parameter of it as a function
_PYTHON = {"b": ("bool", "x"), "i": ("int", "x"), "u": ("int", "x"), "f": ("float", "x"),
           "c": ("complex", "real")}  # fmt: skip
