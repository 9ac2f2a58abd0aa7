"""`x = np.asarray(x, dtype=float)` at the start: the host converts the argument, as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from porter.dtypes.dtype import DType
from porter.resolve.globals import Globals, dtype_named, dtype_of_text
from porter.resolve.values import DTypeName, Function, Module
from porter.source.module import FunctionSource
from porter.support.parsing import string_value
from porter.syntax.names import used_names

_CONVERTING = {"numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray"}


@dataclass(frozen=True)
class Conversion:
    """What the host makes of an argument: an array of `dtype` (None: its own), maybe 1-D."""

    dtype: DType | None
    at_least_1d: bool

    def text(self, name: str) -> str:
        """The conversion as the host function has it."""
        inner = name
        if self.dtype is not None:
            shown = "bool_" if self.dtype.name == "bool" else self.dtype.name
            inner = f"np.asarray({name}, dtype=np.{shown})"
        return f"np.atleast_1d({inner})" if self.at_least_1d else inner


def conversions(function: FunctionSource, scope: Globals) -> dict[str, Conversion]:
    """The arguments that are made other arrays before anything else is done with them."""
    found = array_arguments(function, scope)
    return {n: c for n, c in found.items() if c.dtype is not None or c.at_least_1d}


def array_arguments(function: FunctionSource, scope: Globals) -> dict[str, Conversion]:
    """The arguments that are made arrays before anything else is done with them."""
    found: dict[str, Conversion] = {}
    used: set[str] = set()
    body = function.node.body
    for node in body.body if isinstance(body, cst.IndentedBlock) else ():
        small = node.body if isinstance(node, cst.SimpleStatementLine) else ()
        for name, value in (pair for part in small for pair in _assignments(part)):
            conversion = _conversion(name, value, scope)
            if conversion is not None and name not in used:
                found[name] = conversion
        used |= used_names(node)
    return found


def _assignments(part: cst.BaseSmallStatement) -> Iterator[tuple[str, cst.BaseExpression]]:
    match part:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            yield name, value
        case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
            yield name, value
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=names))],
            value=cst.Tuple(elements=values),
        ) if len(names) == len(values):
            for n, v in zip(names, values, strict=True):
                if isinstance(n.value, cst.Name):
                    yield n.value.value, v.value


def _conversion(name: str, value: cst.BaseExpression, scope: Globals) -> Conversion | None:
    """`np.asarray(name, dtype)`, `np.atleast_1d(...)` of that, or None."""
    if not isinstance(value, cst.Call) or not value.args:
        return None
    called, first = _called(value.func, scope), value.args[0]
    if called == "numpy.atleast_1d" and len(value.args) == 1:
        if isinstance(first.value, cst.Name) and first.value.value == name:
            return Conversion(None, True)
        inner = _conversion(name, first.value, scope)
        return None if inner is None else Conversion(inner.dtype, True)
    if called not in _CONVERTING or not isinstance(first.value, cst.Name):
        return None
    if first.value.value != name or first.keyword is not None or len(value.args) > 2:
        return None
    if len(value.args) == 1:
        return Conversion(None, False)
    second = value.args[1]
    if second.keyword is not None and second.keyword.value != "dtype":
        return None
    dtype = _dtype(second.value, scope)
    return None if dtype is None else Conversion(dtype, False)


def _called(func: cst.BaseExpression, scope: Globals) -> str:
    match func:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=attr)):
            module = scope.names.get(owner)
            return f"{module.name}.{attr}" if isinstance(module, Module) else ""
        case cst.Name(value=name):
            known = scope.names.get(name)
            return known.name if isinstance(known, Function) else ""
    return ""


def _dtype(node: cst.BaseExpression, scope: Globals) -> DType | None:
    match node:
        case cst.SimpleString():
            text = string_value(node)
            return dtype_of_text(text) if isinstance(text, str) else None
        case cst.Name(value="float" | "int" | "bool" | "complex" as name):
            return dtype_named(name)
        case cst.Name(value=name):
            known = scope.names.get(name)
            return known.dtype if isinstance(known, DTypeName) else None
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=attr)):
            module = scope.names.get(owner)
            return dtype_named(attr) if isinstance(module, Module) else None
    return None
