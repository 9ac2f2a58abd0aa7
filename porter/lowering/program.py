"""From a function and the types of its parameters to an array program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import libcst as cst
from libcst import matchers as m

from porter import ir
from porter.diagnostics import Refusal, Span, refusal
from porter.dtypes.dtype import WEAK_BOOL, DType, limits
from porter.inference.types import ParameterType
from porter.ir.check import check
from porter.ir.effects import floated_numbers
from porter.ir.rebuild import map_expr, map_statement
from porter.ir.scalars import constant_of
from porter.lowering.arguments import conversions
from porter.lowering.arrays import literals
from porter.lowering.arrays.calculus import ONE
from porter.lowering.arrays.subscripts import host_integer
from porter.lowering.constants import check_default, text_of
from porter.lowering.draws import generator_of
from porter.lowering.evaluation import is_expr
from porter.lowering.expressions.evaluate import ExpressionEvaluator
from porter.lowering.expressions.inline import statements_of
from porter.lowering.expressions.stencils import Stencil, run_stencil, stencil_of
from porter.lowering.observer import Observer
from porter.lowering.parts import run_parts
from porter.lowering.per_element import run_per_element
from porter.lowering.state.builder import Builder
from porter.lowering.state.restarts import Contradiction, Grown, Unspecialised
from porter.lowering.statements.statements import FunctionBody
from porter.resolve.attributes import parameters_of
from porter.resolve.definitions import check_function
from porter.resolve.globals import Globals
from porter.resolve.values import NONE, Array, DTypeName, Value
from porter.sizes.polynomial import Dim, Poly
from porter.source.module import FunctionSource
from porter.support.names import in_class
from porter.support.parsing import docstring_of
from porter.support.reserved import ATTRIBUTE_PREFIX
from porter.syntax.names import only_returned

MAX_RESTARTS = 6


def build(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, partial: bool = False,
    grow: bool = True, ones: frozenset[str] = frozenset(), loose: frozenset[str] = frozenset(),
    observer: Observer | None = None, way: tuple[bool, ...] | None = None,
) -> ir.Program:  # fmt: skip
    """The array program. Raises Refusal where a statement cannot be converted.

    With `partial`, such a statement stays on the host where that is possible; with `grow`, a
    number that a loop adds arrays to is an array from there on; the axes in `ones` have length 1,
    and the sizes in `loose` may be 1 where they meet others. Of the branches that numbers decide,
    a `way` takes one each.
    """
    _check_definition(function)
    check_function(scope, function.node, top=True)
    try:
        return _build(function, types, scope, partial, ones, grow, loose, observer, way)
    except Contradiction as contradiction:
        for axis in contradiction.axes:
            with suppress(Refusal):
                return _build(
                    function, types, scope, partial, ones | {axis}, grow, loose, observer, way
                )
        raise


def _build(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, partial: bool,
    ones: frozenset[str], grow: bool, loose: frozenset[str], observer: Observer | None,
    way: tuple[bool, ...] | None,
) -> ir.Program:  # fmt: skip
    """The array program with some axes of arguments taken to have length 1."""
    builder = Builder(function.module, partial, ones, grow, loose, observer, way)
    for _ in range(MAX_RESTARTS):
        env, parameters = _environment(builder, function, types, scope)
        evaluator = ExpressionEvaluator(builder, scope, env, FunctionBody)
        builder.place.active.append(function.name)
        builder.place.only_returned = only_returned(statements_of(function.node))
        try:
            if function.parts is not None:
                run_parts(evaluator, function, function.parts)
            elif (stencil := stencil_of(scope, function.node)) is not None:
                _run_stencil(evaluator, function, stencil)
            elif function.per_element:
                run_per_element(evaluator, function)
            else:
                _run(FunctionBody(evaluator), statements_of(function.node))
        except Unspecialised as needed:
            builder.restarts.fixed.add(needed.name)
        except Grown as found:
            builder.restarts.grown[found.name] = found
        else:
            if _is_one_product(builder) and not scope.options.library:
                builder.restarts.own_products = True
            elif literals.are_stored(builder):
                builder.restarts.reads_literals = False
            elif not builder.dtypes.retype:
                program = _finish(builder, function, parameters)
                own = builder.restarts.own_products
                return replace(
                    program,
                    allow_serial=scope.options.allow_serial,
                    host_products=scope.options.host_products and not own,
                )
        builder = builder.again()
    raise refusal(
        "PRT908",
        "a variable changes its type in each iteration",
        function.span,
        "give the variable its final type before the loop",
    )


def _run_stencil(ev: ExpressionEvaluator, function: FunctionSource, stencil: Stencil) -> None:
    """Emit the loops of a stencil, and the return of what it stores."""
    origin = ev.b.place.origin = ir.Origin(function.span)
    env = {**ev.env}
    out = env.pop(function.into, NONE)
    made = run_stencil(ev, function.node, stencil, env, out, statements_of(function.node))
    assert made.view is not None
    ev.b.out.emit(ir.Return((made.view.buffer,), True, origin))


def _is_one_product(b: Builder) -> bool:
    """Whether nothing is left but NumPy's product: the loops are what is asked for then."""
    match b.out.statements:
        case [ir.Host(makes=(_,)), ir.Return()]:
            return not b.restarts.own_products and not b.host.fallbacks
    return False


def _run(body: FunctionBody, statements: Sequence[cst.BaseStatement]) -> None:
    body.prepare(statements)
    body.run(statements)


def _check_definition(function: FunctionSource) -> None:
    node = function.node
    if node.asynchronous is not None:
        raise refusal(
            "PRT902",
            f"`{function.name}` is an `async` function",
            function.span,
            "make it a plain function",
        )
    if isinstance(node.params.star_arg, cst.Param) or node.params.star_kwarg is not None:
        raise refusal(
            "PRT902", f"`{function.name}` takes a variable number of arguments",
            _head(function), "declare each parameter by name",
        )  # fmt: skip


def _head(function: FunctionSource) -> Span:
    return function.module.span(function.node.name)


def _environment(
    b: Builder,
    function: FunctionSource,
    types: Sequence[ParameterType],
    scope: Globals,
) -> tuple[dict[str, Value], tuple[ir.Parameter, ...]]:
    env: dict[str, Value] = {}
    parameters: list[ir.Parameter] = []
    keywords = {id(p) for p in function.node.params.kwonly_params}
    converted = conversions(function, scope)
    names = ExpressionEvaluator(b, scope, {}, FunctionBody)
    for p, t in zip(parameters_of(function), types, strict=True):
        name = p.name.value
        b.out.taken.add(name)
        keyword = id(p) in keywords
        b.place.node = p.default
        if p.default is not None:
            check_default(b, scope, p.default, function.span.line)
        default = None if p.default is None else text_of(b, scope, p.default)
        value = None if p.default is None else names(p.default)
        b.place.node = None
        if t.literal:
            value = names(cst.parse_expression(t.literal))
        if value is not None and (t.omitted or t.literal or name in b.restarts.fixed):
            env[name] = value
            if isinstance(value, DTypeName):
                default = f"np.{value.dtype.name}"
            only = ir.Parameter(name, WEAK_BOOL, None, default, True, keyword, value=t.literal)
            parameters.append(only)
            continue
        if t.generator:
            env[name] = _generator(b, t)
            only = ir.Parameter(name, WEAK_BOOL, None, default, True, keyword)
            parameters.append(replace(only, generator=t.generator))
            continue
        if t.omitted:
            raise refusal(
                "PRT907",
                f"`{name}` has no default: its type must be given",
                _head(function),
                "give its type with `--signature`, or annotate the parameter",
            )
        if constant_of_default(value) is not None:
            b.restarts.fixable.add(name)
        if t.items:
            env[name], items = _tuple(b, name, t)
            parameters.append(
                ir.Parameter(name, t.dtype, None, default, False, keyword, items=items)
            )
            continue
        conversion = converted.get(name) if t.ndim is not None else None
        env[name] = _parameter(b, name, t, None if conversion is None else conversion.dtype)
        dtype = t.dtype if t.ndim is None else b.out.buffers[name].dtype
        own = _attribute(function, name)
        if own:
            b.host.attributes[name] = env[name]
        text = "" if conversion is None else conversion.text(name)
        made = ir.Parameter(name, dtype, t.ndim, default, False, keyword, own, text)
        parameters.append(replace(made, numeric=is_expr(value) and value.dtype.kind in "iuf"))
    return env, tuple(parameters)


def _generator(b: Builder, t: ParameterType) -> Value:
    """A random generator: kernels start from a seed that it gives, and from no other one."""
    b.out.draws = True
    return generator_of(t.generator)


def _tuple(b: Builder, name: str, t: ParameterType) -> tuple[Value, tuple[ir.Parameter, ...]]:
    """A tuple of numbers, and the parameters that these are."""
    items = tuple(
        ir.Parameter(b.out.fresh(f"{name}_{k}"), i.dtype, None) for k, i in enumerate(t.items)
    )
    pairs = zip(items, t.items, strict=True)
    return tuple(_parameter(b, q.name, i, None) for q, i in pairs), items


def _attribute(function: FunctionSource, name: str) -> str:
    attr = name.removeprefix(ATTRIBUTE_PREFIX)
    if not name.startswith(ATTRIBUTE_PREFIX) or attr not in function.attributes:
        return ""
    return in_class(attr, function.name.split(".")[-2])


def constant_of_default(value: Value | None) -> object:
    """The number that a default is, if it is one."""
    return constant_of(value) if is_expr(value) else None


def _parameter(b: Builder, name: str, t: ParameterType, converted: DType | None) -> Value:
    if t.ndim is None:
        if t.dtype.kind in "iu" and not t.numpys:
            b.strides.integers.add(name)
            b.restarts.way.numbers.add(name)
            return host_integer(name)
        b.restarts.way.numbers.add(name)
        return ir.Scalar(name, replace(t.dtype, weak=not t.numpys))
    dtype = converted or DType(
        t.dtype.name, var=name if t.dtype.kind in "iuf" and name not in b.dtypes.pinned else None
    )
    dims = [Dim(name, d) for d in range(t.ndim)]
    shape = tuple(ONE if d.name in b.sizes.ones else Poly.atom(d) for d in dims)
    b.sizes.checks += [ir.Check("equal", Poly.atom(d), ONE, "an axis of length 1 is needed",
                                ones=True)
                 for d in dims if d.name in b.sizes.ones]  # fmt: skip
    b.out.buffers[name] = ir.Buffer(name, shape, dtype, parameter=True)
    return Array.of(b.out.buffers[name])


def _finish(
    b: Builder, function: FunctionSource, parameters: tuple[ir.Parameter, ...]
) -> ir.Program:
    def poly(p: Poly) -> Poly:
        return b.strides.uncut(b.sizes.resolve(p))

    def dtype(d: DType) -> DType:
        return replace(d, var=b.dtypes.root(d.var)) if d.var else d

    for value, d in b.dtypes.literals:
        low, high = limits(d)
        if not low <= value <= high:
            raise refusal("PRT907", f"{value} does not fit in {d.name}",
                          function.span, "use a wider dtype")  # fmt: skip
    # the user's first checks test what the others take as equal because of them
    body: tuple[ir.Stmt, ...] = tuple(
        map_statement(s, (lambda p: p) if _as_it_is(b, s) else poly, dtype)
        for s in b.out.statements
    )
    buffers = {
        k: replace(v, shape=tuple(map(poly, v.shape)), dtype=dtype(v.dtype))
        for k, v in b.out.buffers.items()
    }
    b.out.updated |= _same_numbers(function.node, b.out.updated)
    program = ir.Program(
        name=function.node.name.value,
        parameters=tuple(_used(b, replace(p, dtype=dtype(p.dtype)), body) for p in parameters),
        buffers=buffers,
        body=body,
        checks=_checks(b, poly),
        docstring=docstring_of(function.node, clean=False),
        assumed=tuple(b.host.assumed),
        around=function.module.names,
        constants=dict(b.host.constants),
        origin=ir.Origin(function.span, f"def {function.name}"),
        imports=tuple(sorted(b.host.imports)),
        kept=tuple(b.host.fallbacks),
        shown=dict(b.out.shown),
        indexed="shape" in b.sizes.asked,
        ranked="rank" in b.sizes.asked,
        strict=bool(b.sizes.strict),
        stored="stored" in b.sizes.strict,
        no_alias=frozenset(b.aliases.no_alias),
        sized=frozenset(b.sizes.sized),
        shared_updates=b.out.shared_updates,
        per_element=function.per_element,
        seed=b.out.seed,
        way=tuple(b.restarts.way.taken),
        runs=tuple(b.restarts.way.runs),
    )
    check(program.body, program, program.buffers)
    return program


def _same_numbers(node: cst.FunctionDef, names: set[str]) -> set[str]:
    """Names that may stand for the same object as one of these: `level = capacity`."""
    found = set(names)
    named = m.findall(node, m.Assign(value=m.Name()))
    for _ in named:
        for s in named:
            assert isinstance(s, cst.Assign) and isinstance(s.value, cst.Name)
            targets = {t.target.value for t in s.targets if isinstance(t.target, cst.Name)}
            found |= {s.value.value} if targets & found else set()
    return found


def _used(b: Builder, p: ir.Parameter, body: tuple[ir.Stmt, ...]) -> ir.Parameter:
    """A parameter with what the function does with it."""
    return replace(
        p, classes=_classes(b.host.classes.get(p.name, [])),
        updated=p.ndim is None and p.name in b.out.updated, floated=p.name in floated_numbers(body),
        beside_bools=p.name in b.dtypes.beside_bools, pythons=p.name in b.dtypes.pythons,
    )  # fmt: skip


def _classes(noted: Sequence[ir.Classes]) -> tuple[ir.Classes, ...]:
    return tuple(dict.fromkeys(c for c in noted if c.names))


def _as_it_is(b: Builder, s: ir.Stmt) -> bool:
    """Whether a statement is about sizes as they are, before others are known to be equal."""
    return (isinstance(s, ir.Host) and s.first) or (
        isinstance(s, ir.Let) and s.name in b.strides.names
    )


def _checks(b: Builder, poly: Any) -> tuple[ir.Check, ...]:
    """The checks, each once; what certainly holds is dropped. Equalities stay as they are."""
    kept: dict[ir.Check, None] = {}
    for c in b.sizes.checks:
        if c.kind == "index":
            same = tuple(map_expr(e, poly, lambda d: d) for e in c.conditions)
            c = replace(c, left=poly(c.left), right=poly(c.right), conditions=same)
            c = replace(c, when=_weakest(tuple(map(poly, c.when))))
            if (c.right - c.left).is_nonneg():
                continue
        kept[c] = None
    chosen: list[ir.Check] = []
    for c in kept:
        if not any(_covers(d, c) for d in chosen):
            chosen = [d for d in chosen if not _covers(c, d)] + [c]
    # a loop that does not run is told last: its length may be one that another check is about
    return tuple(sorted(chosen, key=lambda c: c.error == "UnboundLocalError"))


def _weakest(when: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """Without the sizes that are positive if another one is."""
    kept: list[Poly] = []
    for p in when:
        if not any((p - q).is_nonneg() for q in kept):
            kept = [q for q in kept if not (q - p).is_nonneg()] + [p]
    return tuple(kept)


def _covers(d: ir.Check, c: ir.Check) -> bool:
    """Whether d fails wherever c would, with the same exception."""
    if d.kind != "index" or c.kind != "index" or d.error != c.error or d.right != c.right:
        return False
    return (
        (d.left - c.left).is_nonneg()
        and all(any((p - q).is_nonneg() for q in c.when) for p in d.when)
        and set(d.conditions) <= set(c.conditions)
    )


__all__ = ["build"]
