"""Forms for integers, where NumPy's results for them need other kernels than for floats.

Each form has a text of its own.  So one is made only where something says that callers pass
integers: a call that is known, or a function that asks what its argument is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import libcst as cst
import libcst.matchers as m

from porter.dtypes.dtype import KINDS, DType
from porter.inference.docstrings import documented
from porter.inference.known import calls_of
from porter.inference.signature import decorator_signature, hint_of
from porter.inference.types import ParameterType
from porter.inference.values import as_array
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.source.module import FunctionSource
from porter.support.reserved import given

Types = tuple[ParameterType, ...]
_ASKS = m.Attribute(
    value=m.Attribute(attr=m.Name("dtype")), attr=m.Name("kind") | m.Name("char")
) | m.Call(func=m.Attribute(attr=m.Name("issubdtype")))
_LIMITS = m.Call(func=m.Attribute(attr=m.Name("iinfo")))
#: how many functions deep a function is searched
_DEPTH = 3


def integer_forms(
    function: FunctionSource, types: Types, scope: Globals, served: Collection[str]
) -> Iterator[Types]:
    """Types with integers in place of floats; those of the arrays `served` are taken as it is."""
    if decorator_signature(function) is not None:
        return
    params = parameters_of(function)
    names = [p.name.value for p in params]
    arrays = [
        k for k, (p, t) in enumerate(zip(params, types, strict=True))
        if t.ndim is not None and t.dtype.name == "float64" and not (t.given or t.traced)
        and hint_of(p.annotation, scope.texts)[0] is None
    ]  # fmt: skip
    if not arrays or {names[k] for k in arrays} <= set(served):
        return
    found: dict[Types, None] = {}
    for passed in _passed(function, names):
        if all(k in passed for k in arrays):
            found[_with(types, {k: passed[k] for k in arrays})] = None
    said = documented(function.node.get_docstring(clean=True))
    floats = any(KINDS.get(said[given(names[k])].dtype) == "f" for k in arrays
                 if given(names[k]) in said)  # fmt: skip
    asked = "" if found or floats else _asked(function.node, scope)
    if asked:
        found[_with(types, {k: replace(types[k], dtype=DType(asked)) for k in arrays})] = None
    yield from found


def _passed(function: FunctionSource, names: Sequence[str]) -> Iterator[dict[int, ParameterType]]:
    """The arrays of integers that each known call passes."""
    for call in calls_of(function):
        arguments = call.arguments([given(n) for n in names])
        if arguments is None:
            continue
        arrays = {k: as_array(arguments.get(given(n))) for k, n in enumerate(names)}
        yield {
            k: ParameterType(DType(a.dtype), a.ndim, source=call.shown)
            for k, a in arrays.items()
            if a is not None and a.ndim and KINDS.get(a.dtype) in ("i", "u")
        }


def _asked(node: cst.FunctionDef, scope: Globals) -> str:
    """The integers for which a function has a branch of its own: those of images where it asks
    for the limits of their dtype; '' where it asks for none."""
    done: set[str] = set()
    asks = limits = False
    level = [node]
    for _ in range(_DEPTH):
        called: list[cst.FunctionDef] = []
        for one in level:
            asks |= bool(m.findall(one.body, _ASKS))
            limits |= bool(m.findall(one.body, _LIMITS))
            for call in m.findall(one.body, m.Call(func=m.Name())):
                assert isinstance(call, cst.Call) and isinstance(call.func, cst.Name)
                name = call.func.value
                if name in scope.functions and name not in done:
                    done.add(name)
                    called.append(scope.functions[name])
        level = called
    return ("uint8" if limits else "int64") if asks else ""


def _with(types: Types, others: dict[int, ParameterType]) -> Types:
    return tuple(others.get(k, t) for k, t in enumerate(types))
