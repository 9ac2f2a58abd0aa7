"""Helpers of the same file are evaluated in place, with their own names."""

from __future__ import annotations

from typing import Any

import libcst as cst

from porter.diagnostics import Refusal
from porter.lowering.constants import check_default
from porter.lowering.evaluation import Evaluator
from porter.lowering.expressions.stencils import call_stencil, stencil_of
from porter.resolve.definitions import check_function
from porter.resolve.globals import Globals
from porter.resolve.values import NONE, Function, Value, arrays_in
from porter.support.reserved import given

MAX_DEPTH = 12


def bind_parameters(
    ev: Evaluator,
    function: cst.FunctionDef | cst.Lambda,
    positional: list[Any],
    keywords: dict[str, Any],
) -> dict[str, Value]:
    """The helper's parameters with the call's arguments and the defaults."""
    params = function.params
    name = function.name.value if isinstance(function, cst.FunctionDef) else "lambda"
    if isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None:
        raise ev.b.refuse(
            "PRT902",
            f"`{name}` takes a variable number of arguments",
            "declare each parameter by name",
        )
    ordered = [*params.posonly_params, *params.params]
    if len(positional) > len(ordered):
        raise ev.b.refuse(
            "PRT901",
            f"`{name}` is called with too many arguments",
            "pass only the arguments that it takes",
        )
    env: dict[str, Value] = {}
    for p, value in zip(ordered, positional, strict=False):
        env[p.name.value] = value
    for p in [*ordered, *params.kwonly_params]:
        key = p.name.value
        if given(key) in keywords:
            env[key] = keywords[given(key)]
        elif key not in env:
            if p.default is None:
                raise ev.b.refuse(
                    "PRT901", f"`{name}` is missing the argument `{key}`", "pass the argument"
                )
            if isinstance(function, cst.FunctionDef):
                check_default(ev.b, ev.scope, p.default, ev.scope.module.span(function).line)
            env[key] = ev.within(ev.scope, {})(p.default)
    return env


def inline(
    ev: Evaluator, callee: Function, positional: list[Any], keywords: dict[str, Any]
) -> Value:
    """The value of a call to a function of the file. Refuses recursion."""
    scope = callee.scope or ev.scope
    if scope.module is not ev.b.place.module:
        with ev.b.place.elsewhere(scope.module):
            return inline(ev.within(scope, ev.env), callee, positional, keywords)
    ev = ev.within(scope, ev.env)
    function = callee.node
    closure = dict(callee.env or {})
    if isinstance(function, cst.Lambda):
        own = bind_parameters(ev, function, positional, keywords)
        return ev.within(ev.scope, closure | own)(function.body)
    assert isinstance(function, cst.FunctionDef)
    active = ev.b.place.active
    if callee.name in active or len(active) >= MAX_DEPTH:
        raise ev.b.refuse("PRT902", f"`{callee.name}` is recursive, which kernels do not support",
                          "write it as a loop")  # fmt: skip
    # a method is known by its place in the class, and a place in another file is the call's
    if scope is ev.scope and function.decorators:
        _check_decorators(ev, scope, function)
    env = closure | bind_parameters(ev, function, positional, keywords)
    # an attempt inside that is given up puts back a copy of the list
    ev.b.place.active = [*active, callee.name]
    outer = ev.b.place.origin
    stencil = stencil_of(ev.scope, function)
    try:
        if stencil is not None:
            return call_stencil(ev, function, stencil, env, keywords, statements_of(function))
        body = ev.bodies(ev.within(ev.scope, env), callee.name)
        body.lent = tuple(a for v in ev.env.values() for a in arrays_in(v))
        result = body.run_helper(list(statements_of(function)))
    finally:
        ev.b.place.active = active
        ev.b.place.origin = outer
    return NONE if result is None else result


def _check_decorators(ev: Evaluator, scope: Globals, function: cst.FunctionDef) -> None:
    """Refuse a helper whose decorator may make another function of it."""
    try:
        check_function(scope, function, top=False)
    except Refusal as refused:
        if ev.b.place.call_here is None:
            raise
        raise ev.b.refuse("PRT902", refused.diagnostic.message, refused.diagnostic.help) from None


def statements_of(function: cst.FunctionDef) -> tuple[cst.BaseStatement, ...]:
    """The statements of a function's body."""
    body = function.body
    if isinstance(body, cst.IndentedBlock):
        return tuple(body.body)
    assert isinstance(body, cst.SimpleStatementSuite)
    return (cst.SimpleStatementLine(body=body.body),)
