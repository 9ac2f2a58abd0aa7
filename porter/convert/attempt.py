"""The signatures that a function may have, tried in turn until one converts.

Code generation is no part of it: `analyze` needs the answer and not the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import libcst as cst

from porter import ir
from porter.analyses.testable import untestable
from porter.convert.passes import plan
from porter.convert.served.numbers import serves_integers, with_floats
from porter.diagnostics import Refusal, brief, refusal
from porter.dtypes.dtype import DType
from porter.inference.per_element import is_of_numbers, is_ufunc
from porter.inference.signature import choices
from porter.inference.types import OMITTED, ParameterType
from porter.inference.usage import usage_of
from porter.lowering.program import build
from porter.resolve.attributes import as_function, methods_of, parameters_of
from porter.resolve.globals import Globals
from porter.resolve.values import Function
from porter.schedule.base import Schedule
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Launch, Plan, items_of
from porter.source.module import FunctionSource
from porter.support.reserved import ATTRIBUTE_PREFIX


def front_end(
    function: FunctionSource, signature: str | None, scope: Globals,
    schedules: Sequence[Schedule] = (),
) -> tuple[tuple[ParameterType, ...], ir.Program, Plan]:  # fmt: skip
    """The first candidate signature that converts. Raises Refusal."""
    function, scope = method_apart(function, scope)
    first = None
    for partial in (False,) if scope.options.refuse_host else (False, True):
        try:
            return _first_candidate(function, signature, scope, partial, schedules)
        except Refusal as e:
            first = first or e
            if first.diagnostic.code not in ("PRT901", "PRT902"):
                break
    assert first is not None
    raise first


def for_elements(
    function: FunctionSource, scope: Globals, schedules: Sequence[Schedule]
) -> FunctionSource:
    """A function of numbers as one that is called for the elements of arrays.

    One that computes with arrays, as far as they are inferred, is left as it is.
    """
    if not is_ufunc(function, scope):
        if not is_of_numbers(function, scope):
            return function
        if any(use.arrays.seen for use in usage_of(function).values()):
            # it works with arrays as well, unless it asks for the truth of one
            with suppress(Refusal):
                front_end(function, None, scope, schedules)
                return function
    return replace(function, per_element=True)


def method_apart(function: FunctionSource, scope: Globals) -> tuple[FunctionSource, Globals]:
    """A method as a function of what it reads of `self`, with the names of its file."""
    plain = as_function(function)
    if plain is function:
        return function, scope
    names = scope.for_module(plain.module)
    names.names |= {n: Function(n, node) for n, node in methods_of(plain).items()}
    return plain, names


def _first_candidate(
    function: FunctionSource, signature: str | None, scope: Globals, partial: bool,
    schedules: Sequence[Schedule],
) -> tuple[tuple[ParameterType, ...], ir.Program, Plan]:  # fmt: skip
    """The first signature that converts; with `partial`, some statements may stay on the host.

    Numbers that become arrays (`total = 0; total += row`) come second: with other types they may
    be numbers that stay numbers.
    """
    best: Refusal | None = None
    unlike = False
    for grow in (False, True):
        for choice in choices(function, signature):
            types = choice.types
            try:
                program = build(function, types, scope, partial, grow)
                planned = _planned(function, program, schedules)
                if not choice.flat or is_elementwise(planned):
                    found = _settled(types, program), program, planned
                    return _with_numbers(function, found, scope, partial, grow, schedules)
            except Refusal as e:
                if choice.flat or (choice.shown and e.diagnostic.code == "PRT909"):
                    continue
                unlike |= e.diagnostic.code == "PRT908"
                # the types that took porter furthest are the likeliest, their refusal the reason
                further = best is None or _reached(function, e) > _reached(function, best)
                if further or e.diagnostic.code == "PRT909":
                    best = e
                if e.diagnostic.code in _FINAL and not choice.shown:
                    break
        if not unlike:
            break
    assert best is not None
    raise best


def _with_numbers(
    function: FunctionSource, found: tuple[tuple[ParameterType, ...], ir.Program, Plan],
    scope: Globals, partial: bool, grow: bool, schedules: Sequence[Schedule],
) -> tuple[tuple[ParameterType, ...], ir.Program, Plan]:  # fmt: skip
    """The same with floats in place of integers that are numbers only by their defaults."""
    for types in with_floats(function, found[0]):
        with suppress(Refusal):
            program = build(function, types, scope, partial, grow)
            if serves_integers(program, found[1]):
                return types, program, _planned(function, program, schedules)
    return found


def exact(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, partial: bool,
    schedules: Sequence[Schedule], idle: bool = False,
) -> tuple[tuple[ParameterType, ...], ir.Program, Plan] | None:  # fmt: skip
    """What `front_end` gives for these very types; None where they are refused.

    What only gives arguments back, or does nothing, is a form if that may be `idle`.
    """
    for grow in (False, True):
        try:
            program = build(function, types, scope, partial, grow)
            idles = idle and _gives_back(program)
            planned = plan(program, schedules) if idles else _planned(function, program, schedules)
            return _settled(types, program), program, planned
        except Refusal:
            continue
    return None


def _reached(function: FunctionSource, e: Refusal) -> int:
    """The line that a conversion came to: in a helper, further than any of the function's own."""
    line, own = e.diagnostic.span.line, function.span
    return line if own.line <= line <= own.end_line else own.end_line


def _settled(types: Sequence[ParameterType], program: ir.Program) -> tuple[ParameterType, ...]:
    """The types: omitted where the kernels were made for the default, an array's as converted."""
    settled = []
    for t, p in zip(types, program.parameters, strict=True):
        if p.conversion and not t.given:
            t = ParameterType(DType(p.dtype.name), t.ndim, source=t.source)
        settled.append(OMITTED if p.fixed and not (p.value or p.generator) else t)
    return tuple(settled)


#: refusals that other numbers of dimensions would not cure (or only by accident)
_FINAL = {"PRT901", "PRT904", "PRT906", "PRT909"}


def _computes(program: ir.Program, item: object) -> bool:
    """Whether an item of a plan is what the target computes: a launch, or a library's product.

    What is `kept` on the host is there because it cannot be converted.
    """
    if isinstance(item, ir.Host):
        return item.engine.on_device or (bool(item.makes) and not program.kept)
    return isinstance(item, Launch)


def _gives_back(program: ir.Program) -> bool:
    """Whether nothing is done but to return arguments as they came, or nothing at all.

    A number in place of an array that is stored into stays what it is: `x *= y` makes an array.
    """
    returns = [s for s in program.body if isinstance(s, ir.Return)]
    made = [s for s in program.body if isinstance(s, ir.Def)]
    return (
        not program.checks and len(returns) + len(made) == len(program.body)
        and all(len(r.given) == len(r.values) for r in returns)
    )  # fmt: skip


def _planned(function: FunctionSource, program: ir.Program, schedules: Sequence[Schedule]) -> Plan:
    result = plan(program, schedules)
    if not any(_computes(program, i) for i in items_of(result.items)):
        if program.kept:
            why = program.kept[0]
            raise refusal("PRT901", f"{why.message}, which leaves no kernel to run", why.span,
                          "call the function as it is, without converting it")  # fmt: skip
        raise refusal(
            "PRT909",
            f"`{function.name}` does not compute with arrays",
            function.module.span(function.node.name),
            "convert the function that loops over the arrays and calls this one",
        )
    known = [q.name for p in result.parameters for q in (p, *p.items)]
    check = untestable(result.checks, known, items_of(result.items))
    if check is not None:
        raise refusal("PRT903", f"`{brief(check.message)}` cannot be tested before the kernels run",
                      result.origin.span, 
                      "use a check or a size that follows from the arguments")  # fmt: skip
    return result


def assumptions(
    function: FunctionSource, types: Sequence[ParameterType], signature: str | None
) -> tuple[str, ...]:
    """What the types of a function were taken to be without being told."""
    if signature is not None:
        return ()
    return tuple(_assumed(p, t) for p, t in zip(parameters_of(function), types, strict=True)
                 if not t.given and not t.omitted)  # fmt: skip


def serial(planned: Plan) -> tuple[str, ...]:
    """What the header says of loops on one thread."""
    return tuple(
        f"the loop at line {d.span.line} may run on one thread (--allow-serial)"
        for d in planned.notes
    )


def differing(
    function: FunctionSource, types: Sequence[ParameterType], first: Sequence[ParameterType]
) -> tuple[str, ...]:
    """What other types were taken from, where they differ from the first ones."""
    rows = zip(parameters_of(function), types, first, strict=True)
    return tuple(_assumed(p, t) for p, t, own in rows if t.source and str(t) != str(own))


def assumable(function: FunctionSource, types: Sequence[ParameterType]) -> tuple[str, ...]:
    """What `assumptions` would say of these types, without the source in parentheses."""
    return tuple(
        text
        for p, t in zip(parameters_of(function), types, strict=True)
        for text in (
            _assumed(p, replace(t, traced=False, source="")),
            _assumed(p, replace(t, source="-")).removesuffix(" (-)"),
        )
    )


def _assumed(p: cst.Param, t: ParameterType) -> str:
    name = p.name.value
    name = (
        f"self.{name.removeprefix(ATTRIBUTE_PREFIX)}" if name.startswith(ATTRIBUTE_PREFIX) else name
    )
    if t.source:
        return f"{name} is {t} ({t.source})"
    told = " (from trace)" if t.traced else ""
    if t.items:
        return f"{name} is a tuple ({t}){told}"
    if t.ndim is None:
        what = f"a numpy.random.{t.generator}" if t.generator else f"a scalar ({t})"
        return f"{name} is {what}{told}"
    return f"{name} is a {t.ndim}-D array of {t.dtype.name}{told}"
