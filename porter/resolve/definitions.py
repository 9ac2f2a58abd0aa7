"""Whether a function is what its definition says: decorators, and names that are bound again."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.diagnostics import Refusal, brief, refusal
from porter.resolve.bindings import Binding, dotted
from porter.resolve.globals import Globals
from porter.resolve.project import imported_from
from porter.resolve.values import Function, Module
from porter.source.walk import children, walk

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
_PARTIAL = "functools.partial"
#: attributes of a function that say what a call of it does
_CALLED = {"__code__", "__defaults__", "__kwdefaults__"}
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

    A name of the project's own may have several meanings, of which each must do so.
    """
    match func:
        case cst.Lambda():
            return _returns_argument(func, called)
        case cst.Call(func=inner, args=[first, *_]) if meaning(scope, inner) == _PARTIAL:
            return _gives_back(scope, first.value, called, top, seen)
        case cst.Call(func=inner) if not called:
            return _gives_back(scope, inner, True, top, seen)
        case cst.IfExp(body=one, orelse=other):
            return all(_gives_back(scope, x, called, top, seen) for x in (one, other))
    name = meaning(scope, func)
    if name in _HARMLESS or (top and name in _KERNELS):
        return True
    own = scope.bindings.get(func.value, []) if isinstance(func, cst.Name) else []
    place = f"{scope.module.path}:{dotted(func)}"
    if not isinstance(func, cst.Name) or place in seen or not own:
        return False
    seen = seen | {place}

    def is_one(b: Binding) -> bool:
        match b.node:
            case cst.FunctionDef() as node:
                return not node.decorators and _returns_it(scope, node, called, top, seen)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value):
                return _gives_back(scope, value, called, top, seen)
        if b.kind != "import":
            return False
        found = None if b.meaning in _HARMLESS else imported_from(scope, func.value)
        return b.meaning in _HARMLESS or (
            found is not None and _gives_back(found[0], cst.Name(found[1]), called, top, seen)
        )

    return all(map(is_one, own))


def _returns_it(
    scope: Globals, node: cst.FunctionDef, called: bool, top: bool, seen: frozenset[str],
    around: frozenset[str] = frozenset(),
) -> bool:  # fmt: skip
    """Whether all that a function returns leaves a function as it is: its argument, that argument
    compiled, or, of one that is `called` for a decorator, such a decorator."""
    inner = {s.name.value: s for s in walk(node.body) if isinstance(s, cst.FunctionDef)}
    assigned = set(_assigned(node))
    local = around | assigned | {p.name.value for p in _parameters(node)}
    first = next((p.name.value for p in _parameters(node)), None)
    values = [r.value for r in _returns(node, None if called else first)]

    def is_one(value: cst.BaseExpression | None) -> bool:
        match value:
            case cst.Lambda() if called:
                return _returns_argument(value, False)
            case cst.Name(value=name) if called and name in inner:
                one = inner[name]
                return not one.decorators and _returns_it(scope, one, False, top, seen, local)
            case cst.Name(value=name) if not called:
                return name == first and name not in assigned
            case cst.Call(func=func) if called:
                return _root(func) not in local and _gives_back(scope, func, True, top, seen)
            case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=name), star=""), *_]):
                # `njit(f)`, or `njit(...)(f)`
                plain = name == first and _root(func) not in local
                return plain and _gives_back(scope, func, False, top, seen)
        return False

    return bool(values) and all(map(is_one, values))


def _assigned(node: cst.FunctionDef) -> Iterator[str]:
    """The names that the body of a function gives a value or a meaning."""
    for part in walk(node.body):
        match part:
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name) | cst.AsName(name=name):
                yield from (n.value for n in walk(name) if isinstance(n, cst.Name))
            case cst.ImportAlias(name=name):
                yield dotted(name).partition(".")[0]
            case (
                cst.AssignTarget(target=name) | cst.AnnAssign(target=name) | cst.For(target=name)
                | cst.AugAssign(target=name) | cst.NamedExpr(target=name) | cst.CompFor(target=name)
            ):  # fmt: skip
                yield from _bound(name)


def _bound(target: cst.BaseExpression) -> Iterator[str]:
    """The names that an assignment to a target makes another function of.

    `f.kind = "simple"` and `registry[f.__name__] = f` leave `f` what it is, `f.__code__ = …`
    does not.
    """
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _bound(element.value)
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=attribute)):
            if attribute in _CALLED:
                yield name


def _root(func: cst.BaseExpression) -> str:
    """The first name of a function, or of the one that makes it."""
    return _root(func.func) if isinstance(func, cst.Call) else dotted(func).partition(".")[0]


def _parameters(node: cst.FunctionDef) -> list[cst.Param]:
    """The parameters that may be passed by position."""
    return [*node.params.posonly_params, *node.params.params]


def _returns(node: cst.FunctionDef, given: str | None) -> Iterator[cst.Return]:
    """The `return` statements of a function where a parameter is `given`: not None.

    Those of functions inside of it are left out.
    """
    pending: list[cst.CSTNode] = [node.body]
    while pending:
        part = pending.pop()
        match part:
            case cst.Return():
                yield part
            case cst.If(
                test=cst.Comparison(
                    left=cst.Name(value=name),
                    comparisons=[
                        cst.ComparisonTarget(operator=cst.Is(), comparator=cst.Name(value="None"))
                    ],
                )
            ) if name == given:
                pending += [] if part.orelse is None else [part.orelse]
            case cst.FunctionDef() | cst.Lambda():
                pass
            case _:
                pending += children(part)


def _returns_argument(node: cst.Lambda, called: bool) -> bool:
    """Whether a function without a name gives back its argument as it is."""
    inner = node.body
    if called:
        return isinstance(inner, cst.Lambda) and _returns_argument(inner, False)
    match node.params.params:
        case [only]:
            return isinstance(inner, cst.Name) and inner.value == only.name.value
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
