"""Questions about types, answered at conversion: `isinstance`, `np.isscalar`, `np.issubdtype`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from porter import ir
from porter.dtypes.dtype import promote, strengthen
from porter.ir.scalars import number
from porter.lowering.evaluation import is_expr
from porter.lowering.functions.registry import Call, dtype_of, function
from porter.resolve.values import NONE, Array, DTypeName, Function, Text, Value

_OF_KIND = {
    "b": {"bool", "int", "Integral", "Rational", "Real", "Complex", "Number"},
    "i": {"int", "Integral", "Rational", "Real", "Complex", "Number"},
    "u": {"int", "Integral", "Rational", "Real", "Complex", "Number"},
    "f": {"float", "Real", "Complex", "Number"},
    "c": {"complex", "Complex", "Number"},
}
_SCALARS = {"generic", "number", "integer", "floating", "inexact", "complexfloating"} | {
    "signedinteger", "unsignedinteger", "bool_",
}  # fmt: skip
_ABSTRACT = {
    "b": {"bool_", "generic"},
    "i": {"integer", "signedinteger", "number", "generic"},
    "u": {"integer", "unsignedinteger", "number", "generic"},
    "f": {"floating", "inexact", "number", "generic"},
    "c": {"complexfloating", "inexact", "number", "generic"},
}
_HAS = {"shape", "ndim", "dtype", "size", "T", "__len__", "__iter__", "__array__", "astype"}


@function("builtins.isinstance", "obj cls")
def _isinstance(call: Call) -> Value:
    value, classes = call.value("obj"), call.value("cls")
    names = {_short(call, c) for c in (classes if isinstance(classes, tuple) else (classes,))}
    found = _is_one_of(call, value, names)
    _note_classes(call, value, names, found)
    return number(found)


#: what may be given for an array, and what it is in Python's abstract classes
_GIVEN = {
    "list": {"list", "Sequence", "Iterable", "Collection"},
    "tuple": {"tuple", "Sequence", "Iterable", "Collection"},
    "int": {"int", "Integral", "Rational", "Real", "Complex", "Number"},
    "float": {"float", "Real", "Complex", "Number"},
}


def _note_classes(call: Call, value: Value, names: set[str], found: bool) -> None:
    """The host refuses a list or a number, given for an array, for which the answer is another."""
    own = tuple(n for n, classes in _GIVEN.items() if names & classes)
    if isinstance(value, Array) and own != tuple(_GIVEN if found else ()):
        call.b.host.note_classes(value, ir.Classes(("np.ndarray", *own) if found else own, found))


def _short(call: Call, cls: Any) -> str:
    """The last part of the name of a class."""
    if isinstance(cls, DTypeName):
        return cls.dtype.name
    if isinstance(cls, Function) and cls.node is None:
        return cls.full.short
    raise call.refuse(
        "PRT902",
        "`isinstance` with a class that is unknown to porter",
        "use Python's or NumPy's number types, or `np.ndarray`",
    )


def _is_one_of(call: Call, value: Any, names: set[str]) -> bool:
    if isinstance(value, Array):
        return "ndarray" in names
    if isinstance(value, Text):
        return "str" in names
    if isinstance(value, tuple):
        if ("tuple" in names) != ("list" in names):
            raise call.refuse(
                "PRT902",
                "whether this value is a tuple or a list is not known at conversion",
                "pass an array instead",
            )
        return "tuple" in names or "Sequence" in names
    if value is NONE:
        return "NoneType" in names
    if not is_expr(value):
        raise call.refuse(
            "PRT902",
            "the Python type of this value is not known at conversion",
            "convert the value explicitly, for example with `float(x)`",
        )
    if names & _OF_KIND[value.dtype.kind]:
        return True
    if names & (_SCALARS | {value.dtype.name}):
        # a Python number or NumPy's: both are taken
        raise call.refuse(
            "PRT902",
            "whether this value is a NumPy scalar is not known at conversion",
            "include Python's number types in the check: `(int, np.integer)`",
        )
    return False


@function("numpy.isscalar", "element")
def _isscalar(call: Call) -> Value:
    value = call.value("element")
    return number(not isinstance(value, (Array, tuple)) and value is not NONE)


@function("builtins.callable", "obj")
def _callable(call: Call) -> Value:
    return number(isinstance(call.value("obj"), (Function, DTypeName)))


@function("builtins.hasattr", "obj name")
def _hasattr(call: Call) -> Value:
    name = call.constant("name")
    if not isinstance(call.value("obj"), Array) or name not in _HAS:
        raise call.refuse(
            "PRT902",
            f"whether this value has `.{name}` is not known at conversion",
            "use an attribute that every array has",
        )
    return number(True)


@function("numpy.iscomplexobj", "x")
def _iscomplexobj(call: Call) -> Value:
    return number(call.operand("x").dtype.kind == "c")


@function("numpy.isrealobj", "x")
def _isrealobj(call: Call) -> Value:
    return number(call.operand("x").dtype.kind != "c")


@function("numpy.issubdtype", "arg1 arg2")
def _issubdtype(call: Call) -> Value:
    dtype, abstract = dtype_of(call.value("arg1")), call.value("arg2")
    if dtype is None:
        raise call.refuse(
            "PRT907",
            "the dtype given to `issubdtype` is not known at conversion",
            "pass a constant dtype such as `np.float64`",
        )
    if isinstance(abstract, Function) and abstract.full.library == "numpy":
        if abstract.full.path in _SCALARS:
            return number(abstract.full.path in _ABSTRACT[dtype.kind])
    other = dtype_of(abstract)
    if other is None or dtype.var is not None:
        raise call.refuse(
            "PRT907",
            "`issubdtype` with this type is not supported",
            "use an abstract type such as `np.floating`",
        )
    return number(other.name == dtype.name)


@function("numpy.promote_types", "type1 type2")
def _promote_types(call: Call) -> Value:
    return _promoted(call, [call.value("type1"), call.value("type2")])


@function("numpy.result_type", "*arrays_and_dtypes")
def _result_type(call: Call) -> Value:
    return _promoted(call, call.value("arrays_and_dtypes"))


def _promoted(call: Call, values: Sequence[Value]) -> DTypeName:
    """The dtype of an operation on values of some dtypes; of arrays and numbers, on these."""
    found = [v.dtype if isinstance(v, Array) or is_expr(v) else dtype_of(v) for v in values]
    dtypes = [d for d in found if d is not None]
    if len(dtypes) < len(found) or not dtypes:
        raise call.refuse("PRT907", f"a dtype given to `{call.name}` is not known at conversion",
                          "pass a constant dtype such as `np.float64`")  # fmt: skip
    call.b.dtypes.same_dtype(*dtypes)
    return DTypeName(strengthen(reduce(promote, dtypes)))
