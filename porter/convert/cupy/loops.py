"""Loops over elements: each becomes a function of its own, and that one kernels of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from porter import ir
from porter.codegen.module.module import FunctionText
from porter.convert.cupy.places import ARRAY, HOST, Places, beyond
from porter.diagnostics import Refusal
from porter.lowering.evaluation import is_expr
from porter.resolve.values import Array, Function, Module, Value
from porter.source.module import FunctionSource
from porter.syntax.liveness import exposed
from porter.syntax.names import contains
from porter.target.base import Call

#: the kernels of a function, and their host function, for these types
Convert = Callable[[FunctionSource, str], Sequence[FunctionText]]


@dataclass
class Loops:
    """The loops of one function and its helpers that have kernels."""

    owner: str
    convert: Convert
    texts: list[FunctionText] = field(default_factory=list)
    count: int = 0

    def outlined(self, places: Places, node: cst.For | cst.While, results: set[str]) -> Call:
        """Statements that call the kernels in place of a loop, whose `results` are read later."""
        if contains(node, cst.Return):
            raise beyond(places.scope, node, "returns out of a loop over elements", _CURE)
        env = places.seen.names.get(node)
        if env is None:
            raise beyond(places.scope, node, "what the loop works with cannot be told", _CURE)
        names = [n for n in env if n in exposed([node]) or n in results]
        given = {n: env[n] for n in names if not isinstance(env[n], (Function, Module))}
        order = sorted(results)
        self.count += 1
        name = f"{self.owner}_loop{self.count if self.count > 1 else ''}"
        function = _function(places, node, name, list(given), order)
        try:
            made = self.convert(function, ", ".join(_type(places, node, n, v)
                                                    for n, v in given.items()))  # fmt: skip
        except Refusal as refused:
            why = refused.diagnostic
            text = f"the loop over elements has no kernel: {why.message}"
            found = beyond(places.scope, node, text, why.help).diagnostic
            raise Refusal(replace(found, span=why.span)) from None
        self.texts += [replace(t, fixed=None) for t in made]
        return _call(places, name, list(given), order)


_CURE = "use --target cuda"


def _call(places: Places, name: str, given: Sequence[str], results: Sequence[str]) -> Call:
    """The call of the kernels' host function, and where its results go."""
    arguments = [
        n if places.names.get(n, HOST) in (ARRAY, HOST) else f"_scalar({n})" for n in given
    ]
    call = f"{name}({', '.join([*arguments, 'stream=_numba_stream()'])})"
    makers = ["_scalar" if places.names.get(n, HOST) is HOST else "cp.asarray" for n in results]
    read = ("_scalar",) if "_scalar" in makers or arguments != list(given) else ()
    helpers = ("_numba_stream", *read)
    if not results:
        return Call(call, helpers)
    if len(results) == 1:
        return Call(f"{results[0]} = {makers[0]}({call})", helpers)
    both = ", ".join(results)
    made = ", ".join(f"{m}({n})" for m, n in zip(makers, results, strict=True))
    return Call(f"{both} = {call}\n{both} = {made}", helpers)


def _function(
    places: Places, node: cst.For | cst.While, name: str, given: Sequence[str],
    results: Sequence[str],
) -> FunctionSource:  # fmt: skip
    """A function with a loop as its body, at the loop's place in the file."""
    module = places.scope.module
    body: list[cst.BaseStatement] = [node]
    if results:
        body.append(cst.parse_statement(f"return {', '.join(results)}\n"))
    params = cst.Parameters(params=[cst.Param(name=cst.Name(n)) for n in given])
    made = cst.FunctionDef(name=cst.Name(name), params=params, body=cst.IndentedBlock(body=body))
    module.put(made, node)
    return FunctionSource(name, made, module)


def _type(places: Places, node: cst.CSTNode, name: str, value: Value) -> str:
    """A value's type in a signature."""
    if isinstance(value, Array):
        dtype = "boolean" if value.dtype.name == "bool" else value.dtype.name
        return f"{dtype}[{', '.join(':' * value.ndim)}]" if value.ndim else f"{dtype}[()]"
    if is_expr(value):
        return "boolean" if value.dtype.name == "bool" else value.dtype.name
    if isinstance(value, tuple) and value and all(isinstance(v, ir.Value) for v in value):
        return f"UniTuple(int64, {len(value)})"
    raise beyond(places.scope, node, f"`{name}` is neither a number nor an array in the loop",
                 _CURE)  # fmt: skip
