"""Which names of a file mean what generated modules call something else: they get a mark.

Names are resolved as Python does it, scope by scope.  One that is bound to something of the
user's, but is spelled like a name that porter gives a meaning (`range`, `np`, `stream`), or that
hides a name of the module level, carries a mark from here on (`support/reserved.py`).  The nodes
keep their identity and with it their places in the text as written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from porter.source.walk import children
from porter.support.reserved import IMPORTED, is_reserved, marked

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


@dataclass(eq=False)
class Scope:
    """A module, class, function, lambda or comprehension: the names that it binds."""

    kind: str
    parent: Scope | None = None
    bound: dict[str, bool] = field(default_factory=dict)  # whether only an import like ours does
    elsewhere: dict[str, str] = field(default_factory=dict)  # names that are global or nonlocal
    marks: set[str] = field(default_factory=set)

    @property
    def top(self) -> Scope:
        """The scope of the module."""
        return self if self.parent is None else self.parent.top

    def bind(self, name: str, ours: bool = False) -> None:
        """Note that the scope gives the name a value."""
        if name in self.elsewhere:
            self.top.bind(name)
            return
        self.bound[name] = self.bound.get(name, True) and ours

    def owner(self, name: str) -> Scope | None:
        """The scope whose name it is, seen from this one."""
        if self.elsewhere.get(name) == "global":
            return self.top
        scope: Scope | None = self
        while scope is not None:
            seen = scope is self or scope.kind != "class"
            if seen and name in scope.bound and name not in scope.elsewhere:
                return scope
            scope = scope.parent
        return None


class _Names:
    """Reads a tree: its scopes, and each name with the scope that it stands in."""

    def __init__(self) -> None:
        self.found: list[tuple[cst.Name, Scope]] = []
        self.imports: list[tuple[cst.ImportAlias, Scope]] = []
        self.scopes: list[Scope] = []
        self._todo: list[tuple[cst.CSTNode, Scope]] = []

    def read(self, tree: cst.Module) -> None:
        self._todo = [(tree, self._scope("module", None))]
        while self._todo:
            node, scope = self._todo.pop()
            handler = _HANDLERS.get(type(node))
            if handler is None:
                self._later(children(node), scope)
            else:
                handler(self, node, scope)

    # -- pieces ------------------------------------------------------------------------

    def _scope(self, kind: str, parent: Scope | None) -> Scope:
        self.scopes.append(Scope(kind, parent))
        return self.scopes[-1]

    def _later(self, nodes: list[cst.CSTNode], scope: Scope) -> None:
        self._todo += [(n, scope) for n in reversed(nodes)]

    def _bind(self, name: cst.Name, scope: Scope) -> None:
        scope.bind(normal(name.value))
        self.found.append((name, scope))

    def _target(self, node: cst.CSTNode, scope: Scope) -> None:
        """What is stored into: names are bound, the rest is read."""
        stack = [node]
        while stack:
            node = stack.pop()
            match node:
                case cst.Name():
                    self._bind(node, scope)
                case cst.Tuple(elements=elements) | cst.List(elements=elements):
                    stack += [e.value for e in elements]
                case cst.StarredElement(value=value):
                    stack.append(value)
                case _:
                    self._later([node], scope)

    # -- nodes -------------------------------------------------------------------------

    def name(self, node: cst.Name, scope: Scope) -> None:
        self.found.append((node, scope))

    def attribute(self, node: cst.Attribute, scope: Scope) -> None:
        self._later([node.value], scope)

    def argument(self, node: cst.Arg, scope: Scope) -> None:
        self._later([node.value], scope)

    def assigned(self, node: cst.CSTNode, scope: Scope) -> None:
        rest = []
        for child in children(node):
            if child is getattr(node, "target", None):
                self._target(child, scope)
            else:
                rest.append(child)
        self._later(rest, scope)

    def named(self, node: cst.NamedExpr, scope: Scope) -> None:
        outer = scope
        while outer.kind == "comprehension" and outer.parent is not None:
            outer = outer.parent
        self._target(node.target, outer)
        self._later([node.value], scope)

    def deleted(self, node: cst.Del, scope: Scope) -> None:
        self._target(node.target, scope)

    def alias(self, node: cst.AsName, scope: Scope) -> None:
        self._target(node.name, scope)

    def function(self, node: cst.FunctionDef, scope: Scope) -> None:
        self._bind(node.name, scope)
        inner = self._scope("function", scope)
        outside: list[cst.CSTNode] = [*node.decorators]
        outside += [node.returns] if node.returns is not None else []
        self._parameters(node.params, inner, outside)
        self._later(outside, scope)
        self._later([node.body], inner)

    def function_like(self, node: cst.Lambda, scope: Scope) -> None:
        inner = self._scope("function", scope)
        outside: list[cst.CSTNode] = []
        self._parameters(node.params, inner, outside)
        self._later(outside, scope)
        self._later([node.body], inner)

    def _parameters(self, p: cst.Parameters, inner: Scope, outside: list[cst.CSTNode]) -> None:
        stars = [s for s in (p.star_arg, p.star_kwarg) if isinstance(s, cst.Param)]
        for param in (*p.posonly_params, *p.params, *p.kwonly_params, *stars):
            self._bind(param.name, inner)
            outside += [x for x in (param.annotation, param.default) if x is not None]

    def class_(self, node: cst.ClassDef, scope: Scope) -> None:
        self._bind(node.name, scope)
        self._later([*node.decorators, *node.bases, *node.keywords], scope)
        self._later([node.body], self._scope("class", scope))

    def comprehension(self, node: cst.CSTNode, scope: Scope) -> None:
        inner = self._scope("comprehension", scope)
        comp = getattr(node, "for_in")  # noqa: B009
        assert isinstance(comp, cst.CompFor)
        self._later([comp.iter], scope)
        self._later([c for c in children(node) if c is not comp], inner)
        while comp is not None:
            self._target(comp.target, inner)
            self._later([*comp.ifs], inner)
            comp = comp.inner_for_in
            if comp is not None:
                self._later([comp.iter], inner)

    def outer(self, node: cst.CSTNode, scope: Scope) -> None:
        kind = "global" if isinstance(node, cst.Global) else "nonlocal"
        for item in getattr(node, "names"):  # noqa: B009
            name = normal(item.name.value)
            scope.elsewhere[name] = kind
            scope.bound.pop(name, None)
            if kind == "global":
                scope.top.bind(name)
            self.found.append((item.name, scope))

    def imported(self, node: cst.CSTNode, scope: Scope) -> None:
        names = getattr(node, "names")  # noqa: B009
        base = f"{_dotted(node.module)}." if isinstance(node, cst.ImportFrom) else ""
        for alias in () if isinstance(names, cst.ImportStar) else names:
            whole = alias.evaluated_name
            bound = alias.evaluated_alias or (whole if base else whole.partition(".")[0])
            meant = f"{base}{whole}" if base or alias.asname else bound
            scope.bind(normal(bound), IMPORTED.get(bound) == meant)
            self.imports.append((alias, scope))

    def match_name(self, node: cst.CSTNode, scope: Scope) -> None:
        bound = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(bound, cst.Name):
            self._bind(bound, scope)
        self._later([c for c in children(node) if c is not bound], scope)


_HANDLERS: dict[type, Callable[..., None]] = {
    cst.Name: _Names.name, cst.Attribute: _Names.attribute, cst.Arg: _Names.argument,
    cst.AssignTarget: _Names.assigned, cst.AnnAssign: _Names.assigned,
    cst.AugAssign: _Names.assigned, cst.For: _Names.assigned, cst.NamedExpr: _Names.named,
    cst.Del: _Names.deleted, cst.AsName: _Names.alias, cst.FunctionDef: _Names.function,
    cst.Lambda: _Names.function_like, cst.ClassDef: _Names.class_, cst.Global: _Names.outer,
    cst.Nonlocal: _Names.outer, cst.Import: _Names.imported, cst.ImportFrom: _Names.imported,
    cst.MatchAs: _Names.match_name, cst.MatchStar: _Names.match_name,
    cst.MatchMapping: _Names.match_name,
    **dict.fromkeys(_COMPREHENSIONS, _Names.comprehension),
}  # fmt: skip


def set_names_apart(tree: cst.Module) -> set[str]:
    """Mark the user's names that would be taken for others; all become Python's normal form.

    Gives the names of the module level that are marked, without their marks.
    """
    names = _Names()
    names.read(tree)
    if not tree.code.isascii():
        for node in _every_name(tree):
            _rename(node, normal(node.value))
    top = names.scopes[0]
    for scope in names.scopes:
        if scope.kind != "class":
            scope.marks = {n for n, ours in scope.bound.items() if _confusing(n, ours, scope, top)}
    if not any(scope.marks for scope in names.scopes):
        return set()
    for alias, scope in names.imports:
        _mark_import(alias, scope)
    for node, scope in names.found:
        owner = scope.owner(node.value)
        if owner is not None and node.value in owner.marks:
            _rename(node, marked(node.value))
    return top.marks


def _confusing(name: str, ours: bool, scope: Scope, top: Scope) -> bool:
    if is_reserved(name):
        return not ours
    return scope is not top and name in top.bound


def _mark_import(alias: cst.ImportAlias, scope: Scope) -> None:
    """An import that binds a marked name; `import a.b` cannot bind another one."""
    bound = alias.evaluated_alias or alias.evaluated_name
    owner = scope.owner(bound)
    if owner is None or bound not in owner.marks or "." in bound:
        return
    if alias.asname is None:
        object.__setattr__(alias, "asname", cst.AsName(name=cst.Name(marked(bound))))
    elif isinstance(alias.asname.name, cst.Name):
        _rename(alias.asname.name, marked(bound))


def _rename(node: cst.Name, name: str) -> None:
    # in place: the node is the same one, at the place where the user wrote it
    object.__setattr__(node, "value", name)


def normal(name: str) -> str:
    """An identifier as Python compares it."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _every_name(tree: cst.Module) -> Iterator[cst.Name]:
    stack: list[cst.CSTNode] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Name):
            yield node
        stack += children(node)


def _dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
