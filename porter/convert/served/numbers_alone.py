"""Calls without an array, which no kernel serves: the user's function computes them on the host.

A function is for such calls where one is shown, or where it converts for numbers in place of its
arrays.  Kernels that serve numbers do not serve all of them: Python divides by zero with an error,
`x *= 2` changes no number, and NumPy's functions make narrow floats of narrow integers.  NumPy is
the truth and the fastest way for a single number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from porter import ir
from porter.codegen.module.host_form import HostForm
from porter.convert.served.numbers import lengths_of, taken_as_numbers
from porter.convert.served.variants import Made
from porter.dtypes.dtype import WEAK_FLOAT
from porter.guarded import doing_without
from porter.inference.known import Shown
from porter.inference.signature import shown_types
from porter.inference.types import (
    OMITTED,
    WEAK,
    ParameterType,
    literal_of,
    parse_signature,
    tuple_of,
)
from porter.inference.usage import usage_of
from porter.ir.effects import expressions
from porter.ir.walk import statements, walk
from porter.lowering.arguments import array_arguments
from porter.lowering.program import build
from porter.lowering.whole import whole
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.nodes import Launch, Plan, items_of
from porter.schedule.overlap import overlaps
from porter.source.module import FunctionSource
from porter.support.names import NameSupply
from porter.support.reserved import given
from porter.syntax.nodes import calls_named, is_name, nodes_of

#: how many items a list has in verification, where the function does not ask for a number
ITEMS = 3
#: what Python's own numbers raise an error for, and arrays do not
_RAISING = {"truediv", "floordiv", "mod", "pow", "lshift", "rshift"}
#: attributes of arrays and of NumPy's numbers that Python's have not
_OF_ARRAYS = {
    "T", "all", "any", "argmax", "argmin", "astype", "byteswap", "clip", "conj", "copy", "cumprod",
    "cumsum", "dot", "dtype", "fill", "flat", "flatten", "item", "itemsize", "max", "mean", "min",
    "nbytes", "ndim", "prod", "ravel", "repeat", "reshape", "round", "shape", "size", "squeeze",
    "std", "strides", "sum", "swapaxes", "take", "tolist", "trace", "transpose", "var", "view",
}  # fmt: skip
#: how many functions deep a function is searched
_DEPTH = 3
Types = tuple[ParameterType, ...]


def host_form(
    function: FunctionSource, forms: Sequence[Made], signatures: Sequence[str] | None,
    scope: Globals, partial: bool, takes_integers: bool | None,
) -> HostForm | None:  # fmt: skip
    """The function for numbers alone; None where its kernels serve them, or where it has none.

    `takes_integers` says whether some form takes integers for all arrays; None where nothing but
    types that are asked for or shown matters.
    """

    def converts(types: Types) -> bool:
        return _program(function, types, scope, partial) is not None

    if signatures is not None and len(signatures) == 1 and takes_integers is None:
        return None
    types = next(_wanted(function, forms, signatures, scope, converts), None)
    if types is None and takes_integers is not None:
        types = _for_others(function, forms, scope, takes_integers)
    if types is None:
        return None
    name = f"_{given(function.node.name.value).lstrip('_')}_host"
    name = NameSupply(forms[0].program.around).unused(name)
    found = whole(function, scope, name)
    if found is None or not set(found.assumed) <= set(forms[0].program.assumed):
        return None
    names = [given(p.name.value) for p in parameters_of(function)]
    return HostForm(
        name, found.text, ", ".join(map(str, types)), " ".join(f"{n}[]" for n in names),
        any(t.items and own.ndim is not None
            for t, own in zip(types, forms[0].types, strict=True)) or any(map(_idles, forms[1:])),
        found.constants, found.imports,
    )  # fmt: skip


def _wanted(
    function: FunctionSource, forms: Sequence[Made], signatures: Sequence[str] | None,
    scope: Globals, converts: Callable[[Types], bool],
) -> Iterator[Types]:  # fmt: skip
    """Types without an array that are asked for or shown, or that convert."""
    first = forms[0]
    if not any(t.ndim is not None for t in first.types):
        return
    if signatures is not None:
        for text in signatures[1:]:
            types = tuple(parse_signature(text))
            if all(t.ndim is None for t in types) and not _served(forms, types):
                yield types
        return
    if any(f.plan.items_of_lists or _refuses_lists(function, f.plan) for f in forms):
        yield _in_tuples(first)
    for shown in shown_types(function):
        found = _alone(function, shown)
        if found is not None and not _served(forms, found):
            yield found
    numbers = tuple(t if t.ndim is None else ParameterType(WEAK_FLOAT, None) for t in first.types)
    if not _served(forms, numbers) and _may_be_numbers(function, scope, first.plan):
        if converts(numbers):
            yield numbers


def _for_others(
    function: FunctionSource, forms: Sequence[Made], scope: Globals, takes_integers: bool
) -> Types | None:
    """Numbers in place of all arrays, if kernels take them and not all of them as NumPy does."""
    first, plan = forms[0], forms[0].plan
    arrays = {p.name for p in plan.parameters if p.ndim is not None}
    if not arrays or plan.per_element or plan.states or not arrays <= {*taken_as_numbers(plan)}:
        return None
    unlike = overlaps(plan).written & arrays or any(
        f.plan.no_points or f.plan.numbers.unlike for f in forms
    )
    if takes_integers and not (unlike or _asks_arrays(function, scope)):
        numbers = [t if t.ndim is None else ParameterType(WEAK[t.dtype.kind], None)
                   for t in first.types]  # fmt: skip
        program = _program(function, numbers, scope, False)
        if program is not None and not _may_raise(program):
            return None
    return tuple(t if t.ndim is None else ParameterType(WEAK_FLOAT, None) for t in first.types)


def _asks_arrays(function: FunctionSource, scope: Globals) -> bool:
    """Whether the function, or one that it calls, asks for what Python's numbers do not have."""
    return any(
        a.attr.value in _OF_ARRAYS and not is_name(a.value, *scope.imports)
        for node in bodies(function.node, scope) for a in nodes_of(node.body, cst.Attribute)
    )  # fmt: skip


def bodies(node: cst.FunctionDef, scope: Globals) -> Iterator[cst.FunctionDef]:
    """A function and those of its file that it calls, some calls deep."""
    done = {node.name.value}
    level = [node]
    for _ in range(_DEPTH):
        yield from level
        names = [
            call.func.value
            for one in level for call in nodes_of(one.body, cst.Call)
            if isinstance(call.func, cst.Name)
        ]  # fmt: skip
        level = [scope.functions[n] for n in dict.fromkeys(names)
                 if n in scope.functions and n not in done]  # fmt: skip
        done |= {*names}


def _may_raise(program: ir.Program) -> bool:
    """Whether Python computes something of its own numbers that may raise an error."""
    found = (x for s in statements(program.body) for e in expressions(s) for x in walk(e))
    return any(
        isinstance(x, ir.Op) and x.op in _RAISING and x.dtype.weak
        and (x.op == "pow" or not isinstance(x.args[1], ir.Const))
        for x in found
    )  # fmt: skip


def _may_be_numbers(function: FunctionSource, scope: Globals, planned: Plan) -> bool:
    """Whether nothing in a function asks its arrays for what a number does not have."""
    usage, made = usage_of(function), array_arguments(function, scope)

    def asked(name: str) -> bool:
        attributes = nodes_of(function.node.body, cst.Attribute)
        return usage[name].arrays.seen or any(is_name(a.value, name) for a in attributes)

    return all(
        p.ndim is None or p.name in made or (p.classes and _told_apart(function, p.name))
        or not asked(p.name)
        for p in planned.parameters
    )  # fmt: skip


def _told_apart(function: FunctionSource, name: str) -> bool:
    """Whether `isinstance` decides about a parameter other than by an exception."""
    body = function.node.body

    def asked(part: cst.CSTNode) -> set[int]:
        calls = calls_named(part, "isinstance")
        return {id(c) for c in calls if len(c.args) == 2 and is_name(c.args[0].value, name)}

    refused: list[cst.CSTNode] = [*nodes_of(body, cst.Assert)]
    refused += [node.test for node in nodes_of(body, cst.If) if _only_raises(node.body)]
    return not asked(body) <= {one for part in refused for one in asked(part)}


def _only_raises(body: cst.BaseSuite) -> bool:
    """Whether an indented block is one `raise`."""
    if not isinstance(body, cst.IndentedBlock) or len(body.body) != 1:
        return False
    line = body.body[0]
    return isinstance(line, cst.SimpleStatementLine) and [*map(type, line.body)] == [cst.Raise]


def _in_tuples(first: Made) -> Types:
    """The types with tuples of numbers for arrays, which are as long as the function asks."""
    lengths = lengths_of(first.plan)
    number = ParameterType(WEAK_FLOAT, None)
    return tuple(
        t if t.ndim is None else tuple_of([number] * lengths.get(p.name, ITEMS))
        for p, t in zip(first.plan.parameters, first.types, strict=True)
    )


def _idles(form: Made) -> bool:
    """Whether a form gives arrays back because of what they are of: a list has no dtype."""
    items = items_of(form.plan.items)
    given = any(isinstance(i, ir.Return) and i.given for i in items)
    return given and not any(isinstance(i, (Launch, ir.Host)) for i in items)


def _refuses_lists(function: FunctionSource, planned: Plan) -> bool:
    """Whether `isinstance` in the function has another answer for a list than for an array."""
    return any(
        ("list" in c.names) != c.taken and _told_apart(function, p.name)
        for p in planned.parameters for c in p.classes
    )  # fmt: skip


def _served(forms: Sequence[Made], types: Types) -> bool:
    """Whether the kernels of a form take these types; `isinstance` may tell numbers apart."""
    return any(f.takes(types) and not any(p.classes for p in f.plan.parameters) for f in forms)


def _alone(function: FunctionSource, shown: Shown) -> Types | None:
    """The types of a call that passes nothing but numbers and texts; None if it passes more."""
    types = []
    for k, p in enumerate(parameters_of(function)):
        value = shown.passed.get(k)
        if value is None:
            if not isinstance(p.default, cst.BaseExpression):
                return None
            types.append(OMITTED)
        elif value.kind == "text" and isinstance(value.constant, str):
            types.append(literal_of(value.constant))
        elif value.kind == "scalar" and isinstance(value.constant, (bool, int, float)):
            types.append(_number(value.constant))
        else:
            return None
    return tuple(types)


def _number(value: bool | int | float) -> ParameterType:
    """The type of a number; a bool is passed as it is."""
    if isinstance(value, bool):
        return literal_of(value)
    return ParameterType(WEAK["i" if isinstance(value, int) else "f"], None)


def _program(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, partial: bool
) -> ir.Program | None:
    """The program for these types; None where there is none: the function makes no sense then."""
    with doing_without():
        return build(function, types, scope, partial, grow=False)
    return None
