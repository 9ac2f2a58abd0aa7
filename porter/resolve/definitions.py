"""Whether a function is what its definition says: decorators, and names that are bound again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from porter.diagnostics import Refusal, brief
from porter.lowering.state.builder import refusal
from porter.resolve.globals import Globals
from porter.resolve.values import Function, Module
from porter.source.module import SourceModule
from porter.source.walk import walk

#: decorators that leave what a function computes as it is
_HARMLESS = {
    "numba.jit", "numba.njit", "numba.generated_jit", "numba.vectorize", "numba.cuda.jit",
    "numba.extending.register_jitable", "numba.core.decorators.njit", "jax.jit", "dace.program",
    "builtins.staticmethod", "typing.no_type_check", "typing.final", "typing.override",
    "typing_extensions.final", "typing_extensions.override", "line_profiler.profile",
    "memory_profiler.profile", "beartype.beartype", "jaxtyping.jaxtyped", "builtins.profile",
}  # fmt: skip
#: those whose functions are kernels or work on elements: refused only where they are inlined
_KERNELS = {"numba.guvectorize", "numba.stencil", "numba.cfunc", "numba.cuda.reduce"}
_COMPILING = {"numba.jit", "numba.njit"}
_ALWAYS_THERE = ("numpy", "math", "cmath", "numba", "builtins")
_HELP = "make it a plain function, and do what it adds outside"


@dataclass(frozen=True)
class Binding:
    """A statement of the module level that gives a name a meaning."""

    node: cst.CSTNode
    kind: str  # "def", "import", "assign", or what a "global" declaration allows
    meaning: str  # equal for imports of the same thing
    sure: bool  # whether it certainly runs
    spare: bool  # whether it runs only where an import of a `try` fails


def bindings(module: SourceModule) -> dict[str, list[Binding]]:
    """All bindings of each name of the module level, in order."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _statements(module.tree.body, True, False):
        found.setdefault(name, []).append(binding)
    for node in (n for f in module.functions for n in walk(f.node)):
        for item in node.names if isinstance(node, cst.Global) else ():
            found.setdefault(item.name.value, []).append(
                Binding(node, "global", str(id(node)), False, False)
            )
    return {n: _without_spares(own) for n, own in found.items()}


def _without_spares(own: list[Binding]) -> list[Binding]:
    """Without what stands in for a library that is certainly there."""
    there = any(
        b.kind == "import" and b.meaning.split(".")[0] in _ALWAYS_THERE and not b.spare for b in own
    )
    return [b for b in own if not (there and b.spare)]


def _statements(body: object, sure: bool, spare: bool) -> Iterator[tuple[str, Binding]]:
    for node in body if isinstance(body, (list, tuple)) else ():
        match node:
            case cst.SimpleStatementLine(body=parts):
                for part in parts:
                    yield from _small(part, sure, spare)
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                yield name.value, Binding(node, "def", str(id(node)), sure, spare)
            case cst.If() | cst.For() | cst.While() | cst.Else() | cst.Finally():
                yield from _parts(node, False, spare)
            case cst.Try() | cst.TryStar():
                yield from _statements(node.body.body, sure and not node.handlers, spare)
                for handler in node.handlers:
                    yield from _statements(handler.body.body, False, True)
                yield from _parts(node, False, spare, ("orelse", "finalbody"))
            case cst.With():
                yield from _parts(node, sure, spare)


def _parts(
    node: cst.CSTNode, sure: bool, spare: bool, names: tuple[str, ...] = ("body", "orelse")
) -> Iterator[tuple[str, Binding]]:
    for name in names:
        inner = getattr(node, name, None)
        if isinstance(inner, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            block = inner.body
            if isinstance(inner, cst.SimpleStatementSuite):
                for part in inner.body:
                    yield from _small(part, sure, spare)
            else:
                yield from _statements(block, sure, spare)
        elif inner is not None:
            yield from _statements([inner], sure, spare)


def _small(node: cst.CSTNode, sure: bool, spare: bool) -> Iterator[tuple[str, Binding]]:
    match node:
        case cst.Import() | cst.ImportFrom() if not isinstance(node.names, cst.ImportStar):
            base = ""
            if isinstance(node, cst.ImportFrom):
                base = "." * len(node.relative) + _dotted(node.module) + "."
            for alias in node.names:
                whole = alias.evaluated_name
                bound = alias.evaluated_alias or (whole if base else whole.partition(".")[0])
                meaning = base + whole if base or alias.asname else bound
                yield bound, Binding(node, "import", meaning, sure, spare)
        case cst.Assign(targets=targets):
            for name in (n for t in targets for n in _targets(t.target)):
                yield name, Binding(node, "assign", str(id(node)), sure, spare)
        case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
            yield name, Binding(node, "assign", str(id(node)), sure, spare)
        case cst.Del(target=target):
            for name in _targets(target):
                yield name, Binding(node, "del", str(id(node)), sure, spare)


def _targets(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for e in elements:
                yield from _targets(e.value)
        case cst.StarredElement(value=value):
            yield from _targets(value)


def _dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr.value}" if owner else ""
    return node.value if isinstance(node, cst.Name) else ""


# -- what a name means -------------------------------------------------------------------------


def unsettled(scope: Globals, name: str) -> tuple[int, int] | None:
    """Two lines that bind a function's or an import's name, if which one holds is not known."""
    own = scope.bindings.get(name, [])
    if len({b.meaning for b in own}) < 2:
        return None
    if all(b.sure for b in own) and not (
        own[-1].kind in ("def", "import") and any(b.kind == "assign" for b in own)
    ):
        return None
    lines = [scope.module.span(b.node).line for b in own]
    return lines[0], lines[-1]


def check_function(scope: Globals, node: cst.FunctionDef, top: bool) -> None:
    """Refuse a function that is not what it does when it is called by its name.

    `top` tells that it is to be converted, else it is inlined.
    """
    for d in node.decorators:
        text = scope.module.code(d.decorator)
        if not _is_harmless(scope, d.decorator, top):
            message = f"the decorator `{brief(text)}` may change what `{node.name.value}` computes"
            raise refusal("PRT902", message, scope.module.span(d), _HELP)
    if top and _is_bound(scope, node):
        _check_last(scope, node)


def _is_bound(scope: Globals, node: cst.FunctionDef) -> bool:
    return any(b.node is node for b in scope.bindings.get(node.name.value, ()))


def _check_last(scope: Globals, node: cst.FunctionDef) -> None:
    name = node.name.value
    own = scope.bindings[name]
    later = own[next(k for k, b in enumerate(own) if b.node is node) + 1 :]
    later = [b for b in later if not _compiles(scope, b.node, name)]
    if later:
        raise _again(scope, node, scope.module.span(later[-1].node).line)
    others = [b for b in own if b.node is not node and not b.sure]
    mine = next(b for b in own if b.node is node)
    if not mine.sure and len(own) > 1:
        others = [b for b in own if b.node is not node]
    if others and not mine.sure:
        raise _again(scope, node, scope.module.span(others[0].node).line)


def _again(scope: Globals, node: cst.FunctionDef, line: int) -> Refusal:
    name = node.name.value
    return refusal(
        "PRT902",
        f"`{name}` is redefined at line {line}",
        scope.module.span(node.name),
        "use a separate name for each of them",
    )


def _compiles(scope: Globals, node: cst.CSTNode, name: str) -> bool:
    """`f = numba.njit(f)`, or `numba.njit(...)(f)`."""
    if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Call):
        return False
    call = node.value
    if len(call.args) != 1 or not isinstance(call.args[0].value, cst.Name):
        return False
    func = call.func.func if isinstance(call.func, cst.Call) else call.func
    return call.args[0].value.value == name and _meaning(scope, func) in _COMPILING


def _is_harmless(scope: Globals, decorator: cst.BaseExpression, top: bool) -> bool:
    func = decorator.func if isinstance(decorator, cst.Call) else decorator
    meaning = _meaning(scope, func)
    if meaning in _HARMLESS or (top and meaning in _KERNELS):
        return True
    known = scope.names.get(func.value) if isinstance(func, cst.Name) else None
    return (
        decorator is func
        and isinstance(known, Function)
        and isinstance(known.node, cst.FunctionDef)
        and len(scope.bindings.get(known.name, ())) == 1
        and _returns_argument(known.node)
    )


def _returns_argument(node: cst.FunctionDef) -> bool:
    """A decorator of the file's own that gives back the function as it is."""
    params, body = node.params.params, node.body.body
    if len(params) != 1 or node.decorators:
        return False
    last = body[-1]
    parts = last.body if isinstance(last, cst.SimpleStatementLine) else [last]
    first = node.get_docstring() is not None
    value = parts[0].value if len(parts) == 1 and isinstance(parts[0], cst.Return) else None
    is_own = isinstance(value, cst.Name) and value.value == params[0].name.value
    return is_own and len(body) == 1 + first


def _meaning(scope: Globals, func: cst.BaseExpression) -> str:
    """The dotted name of a decorator, imports followed; empty if it is none."""
    path = _dotted(func)
    root, _, rest = path.partition(".")
    if not root:
        return ""
    known = scope.names.get(root)
    if isinstance(known, (Module, Function)):
        if isinstance(known, Function) and known.node is not None:
            return ""
        return f"{known.name}.{rest}" if rest else known.name
    return "" if root in scope.constants or root in scope.names else f"builtins.{path}"
