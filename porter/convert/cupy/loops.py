"""Loops over elements: each becomes a function of its own, and that one kernels of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from porter import ir
from porter.codegen.module.module import FunctionText
from porter.convert.cupy.places import ARRAY, HOST, Places, beyond
from porter.diagnostics import Refusal
from porter.lowering.evaluation import is_expr
from porter.numpy_functions import SPECS, known
from porter.resolve.values import Array, Function, Module, Value
from porter.source.module import FunctionSource
from porter.source.walk import walk
from porter.syntax.liveness import exposed
from porter.syntax.names import contains, target_names
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
            raise beyond(places.scope, node, "PRT806", "returns out of a loop over elements", _CURE)
        env = places.seen.names.get(node)
        if env is None:
            raise beyond(
                places.scope, node, "PRT806", "what the loop works with cannot be told", _CURE
            )
        names = [n for n in env if n in exposed([node]) or n in results]
        given = {n: env[n] for n in names if not isinstance(env[n], (Function, Module))}
        order = sorted(results)
        _check_apart(places, node, given)
        self.count += 1
        name = f"{self.owner}_loop{self.count if self.count > 1 else ''}"
        function = _function(places, node, name, list(given), order)
        try:
            made = self.convert(function, ", ".join(_type(places, node, n, v)
                                                    for n, v in given.items()))  # fmt: skip
        except Refusal as refused:
            why = refused.diagnostic
            text = f"the loop over elements has no kernel: {why.message}"
            found = beyond(places.scope, node, "PRT806", text, why.help).diagnostic
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
    makers = [_maker(places, n) for n in results]
    read = ("_scalar",) if any("_scalar" in m for m in [*makers, *arguments]) else ()
    helpers = ("_numba_stream", *read)
    if not results:
        return Call(call, helpers)
    if len(results) == 1:
        return Call(f"{results[0]} = {makers[0].format(call)}", helpers)
    both = ", ".join(results)
    made = ", ".join(m.format(n) for m, n in zip(makers, results, strict=True))
    return Call(f"{both} = {call}\n{both} = {made}", helpers)


def _maker(places: Places, name: str) -> str:
    """What is made of a result: an array of CuPy's, a scalar of NumPy's or a number of Python's."""
    if places.names.get(name, HOST) is not HOST:
        return "cp.asarray({})"
    values = (env[name] for env in places.seen.names.values() if name in env)
    dtypes = [v.dtype for v in values if is_expr(v)]
    if dtypes and all(d.weak for d in dtypes):
        kind = {"b": "bool", "f": "float", "c": "complex"}.get(dtypes[-1].kind, "int")
        return f"{kind}(_scalar({{}}))"
    return "_scalar({})"


def _check_apart(places: Places, node: cst.For | cst.While, given: Mapping[str, Value]) -> None:
    """Refuse arrays of which one may show a part of another, where the loop stores into one.

    The kernels are made for arrays that are the same one or have nothing in common.
    """
    arrays = {n for n, v in given.items() if isinstance(v, Array)}
    stores = any(isinstance(t, cst.Subscript) for t in _targets(node))
    shown = sorted(arrays & _views(places))
    if len(arrays) > 1 and shown and stores:
        text = f"`{shown[0]}` may show a part of another array that the loop works with"
        raise beyond(places.scope, node, "PRT806", text, "copy it before the loop: `.copy()`")


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for inner in walk(node):
        if isinstance(inner, cst.AssignTarget):
            yield from (t for t in walk(inner.target))
        elif isinstance(inner, cst.AugAssign):
            yield inner.target


def _views(places: Places) -> set[str]:
    """The names that are assigned something which may be a view."""
    found = set()
    for statement in places.body:
        for inner in walk(statement):
            match inner:
                case cst.Assign(targets=targets, value=value) if _may_show(value):
                    found |= {n for t in targets for n in target_names(t.target)}
                case cst.AnnAssign(target=target, value=value) if value and _may_show(value):
                    found |= set(target_names(target))
                case cst.For(target=target):
                    found |= set(target_names(target))
    return found


def _may_show(value: cst.BaseExpression) -> bool:
    """Whether an expression may be a part of an array and no array of its own."""
    match value:
        case cst.Subscript() | cst.Attribute() | cst.IfExp():
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_may_show(e.value) for e in elements)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name)):
            own = f"ndarray.{name}" in SPECS or f"numpy.{name}" in SPECS
            return not own or known(f"ndarray.{name}").view or known(f"numpy.{name}").view
    return False


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
    raise beyond(
        places.scope,
        node,
        "PRT806",
        f"`{name}` is neither a number nor an array in the loop",
        _CURE,
    )
