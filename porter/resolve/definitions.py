"""Whether a function is what its definition says: decorators, and names that are bound again."""

from __future__ import annotations

import libcst as cst

from porter.diagnostics import Refusal, brief, refusal
from porter.resolve.bindings import Binding, dotted
from porter.resolve.globals import Globals
from porter.resolve.values import Function, Module
from porter.support.parsing import docstring_of

#: decorators that leave what a function computes as it is
_HARMLESS = {
    "numba.jit", "numba.njit", "numba.generated_jit", "numba.vectorize", "numba.cuda.jit",
    "numba.stencil",
    "numba.extending.register_jitable", "numba.core.decorators.njit", "jax.jit", "dace.program",
    "builtins.staticmethod", "typing.no_type_check", "typing.final", "typing.override",
    "typing_extensions.final", "typing_extensions.override", "line_profiler.profile",
    "memory_profiler.profile", "beartype.beartype", "jaxtyping.jaxtyped", "builtins.profile",
}  # fmt: skip
#: those whose functions are kernels or work on elements: refused only where they are inlined
_KERNELS = {"numba.guvectorize", "numba.cfunc", "numba.cuda.reduce"}
_COMPILING = {"numba.jit", "numba.njit"}
_HELP = "make it a plain function, and do what it adds outside"


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


def compiled(scope: Globals, name: str) -> str:
    """The function of the file that a name is assigned once as Numba compiles it, else "".

    `fast = njit(slow)` and `fast = jit(nopython=True)(slow)` compute what `slow` does.
    """
    match scope.assigned.get(name):
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=of), keyword=None), *_]):
            known = of in scope.functions and len(scope.bindings.get(name, ())) == 1
            if known and _gives_back(scope, func, False, False, frozenset()):
                return of
    return ""


def all_compiled(scope: Globals) -> dict[str, str]:
    """The names that are assigned so, with their functions."""
    found = ((name, compiled(scope, name)) for name in scope.assigned)
    return {name: of for name, of in found if of}


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
    return call.args[0].value.value == name and meaning(scope, func) in _COMPILING


def _is_harmless(scope: Globals, decorator: cst.BaseExpression, top: bool) -> bool:
    called = isinstance(decorator, cst.Call)
    func = decorator.func if isinstance(decorator, cst.Call) else decorator
    return _gives_back(scope, func, called, top, frozenset())


def _gives_back(
    scope: Globals, func: cst.BaseExpression, called: bool, top: bool, seen: frozenset[str]
) -> bool:
    """Whether a decorator leaves a function as it is: where it is `called`, what the call gives.

    A name of the file's own may have several meanings, of which each must do so.
    """
    match func:
        case cst.Lambda():
            return _returns_argument(func, called)
        case cst.Call(func=inner) if not called:
            return _gives_back(scope, inner, True, top, seen)
        case cst.IfExp(body=one, orelse=other):
            return all(_gives_back(scope, x, called, top, seen) for x in (one, other))
    name = meaning(scope, func)
    if name in _HARMLESS or (top and name in _KERNELS):
        return True
    own = scope.bindings.get(func.value, []) if isinstance(func, cst.Name) else []
    if not isinstance(func, cst.Name) or func.value in seen or not own:
        return False
    seen = seen | {func.value}

    def is_one(b: Binding) -> bool:
        match b.node:
            case cst.FunctionDef() as node:
                return not node.decorators and _returns_argument(node, called)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value):
                return _gives_back(scope, value, called, top, seen)
        return b.kind == "import" and b.meaning in _HARMLESS

    return all(map(is_one, own))


def _returns_argument(node: cst.FunctionDef | cst.Lambda, called: bool) -> bool:
    """Whether a function gives back its argument as it is; one that is `called` for a decorator,
    a function that does so."""
    inner: dict[str, cst.FunctionDef] = {}
    value: cst.BaseExpression | None = None
    if isinstance(node, cst.Lambda):
        value = node.body
    else:
        body = list(node.body.body)[docstring_of(node) is not None :]
        inner = {s.name.value: s for s in body[:-1] if isinstance(s, cst.FunctionDef)}
        last = body[-1] if body else None
        parts = last.body if isinstance(last, cst.SimpleStatementLine) else []
        value = parts[0].value if len(parts) == 1 and isinstance(parts[0], cst.Return) else None
        if len(inner) != len(body) - 1:
            return False
    if called:
        found = inner.get(value.value) if isinstance(value, cst.Name) else value
        return isinstance(found, cst.FunctionDef | cst.Lambda) and _returns_argument(found, False)
    match node.params.params:
        case [only]:
            return isinstance(value, cst.Name) and value.value == only.name.value and not inner
    return False


def meaning(scope: Globals, func: cst.BaseExpression) -> str:
    """The dotted name of a decorator, imports followed; empty if it is none."""
    path = dotted(func)
    root, _, rest = path.partition(".")
    if not root:
        return ""
    known = scope.names.get(root)
    if isinstance(known, (Module, Function)):
        if isinstance(known, Function) and known.node is not None:
            return ""
        return f"{known.name}.{rest}" if rest else known.name
    return "" if root in scope.constants or root in scope.names else f"builtins.{path}"
