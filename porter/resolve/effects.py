"""What a piece of code does to names: binds them, needs them, changes what they hold.

A `Region` is code that runs as a whole: a statement of a module's top level, or the body of a
function.  `Walker` reads one from its syntax.  Where it is not known what a call does, the region
may change every argument of it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field

from porter.numpy_functions import method_of, spec_of
from porter.resolve import calls
from porter.resolve.filenames import NOTHING, FileNames, Names
from porter.resolve.syntax import (
    arguments,
    assigned,
    bound,
    calls_globals,
    dotted,
    expressions,
    targets,
    unpacked,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Change:
    """A name whose object is changed in place; `sure` unless only an unknown call may do it."""

    name: str
    line: int
    sure: bool


@dataclass(frozen=True)
class FileCall:
    """A call of a function of the same file, with what each argument may be."""

    callee: str
    positional: tuple[Names, ...]
    keywords: tuple[tuple[str, Names], ...]
    line: int


@dataclass(frozen=True)
class Patch:
    """An attribute that is set: `np.sqrt = ...` has the owner `np` and the attribute `sqrt`."""

    owner: str
    attribute: str
    line: int


@dataclass
class Region:
    """What the code of one statement or function does; local names are qualified, `f:x`."""

    name: str
    binds: list[tuple[str, int]] = field(default_factory=list)
    rebinds: dict[str, int] = field(default_factory=dict)  # by `global`
    needs: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    aliases: list[tuple[str, str]] = field(default_factory=list)
    calls: list[FileCall] = field(default_factory=list)
    patches: list[Patch] = field(default_factory=list)
    opaque: list[tuple[int, str]] = field(default_factory=list)
    star: bool = False


class Walker:
    """Reads the effects of syntax into a region.

    `local` are the names that belong to the region, `shared` those that it declares `global`.
    """

    def __init__(
        self, region: Region, names: FileNames, local: Names = NOTHING, shared: Names = NOTHING
    ) -> None:
        self.region, self.modules = region, names.modules
        self.libraries, self.functions = names.libraries, names.functions
        self.lists, self.flat, self.makers = names.lists, names.flat, names.makers
        self.compiled = names.compiled
        self.local: set[str] = set(local)
        self.shared = shared  # declared `global`

    # -- names ---------------------------------------------------------------------------

    def _qualified(self, name: str) -> str:
        return f"{self.region.name}:{name}" if name in self.local else name

    def _read(self, name: str) -> Names:
        if name in self.local:
            return frozenset({self._qualified(name)})
        self.region.needs.add(name)
        return NOTHING if name in self.modules else frozenset({name})

    def _change(self, names: Iterable[str], line: int, sure: bool = True) -> None:
        self.region.changes += [Change(n, line, sure) for n in names]

    def _alias(self, name: str, others: Iterable[str]) -> None:
        self.region.aliases += [(name, other) for other in others if other != name]

    def _bind(self, target: ast.AST, held: Names, line: int) -> None:
        """A target of an assignment, a loop or a `with` holds what may be one of `held`."""
        match target:
            case ast.Name(id=name):
                if name in self.local:
                    self._alias(self._qualified(name), held)
                elif name in self.shared:
                    self.region.rebinds.setdefault(name, line)
                else:
                    self.region.binds.append((name, line))
                    self._alias(name, held)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._bind(part, held, line)
            case ast.Starred(value=value):
                self._bind(value, held, line)
            case ast.Attribute(value=owner, attr=attr):
                self._patch(owner, attr, line)
                self._store(self.flow(owner), held, line)
            case ast.Subscript(value=owner, slice=index):
                self.flow(index)
                self._store(self.flow(owner), held, line)

    def _store(self, owner: Names, held: Names, line: int) -> None:
        self._change(owner, line)
        for name in owner:
            self._alias(name, held)

    def _patch(self, owner: ast.expr, attr: str, line: int) -> None:
        root = dotted(owner)
        if root and root.split(".")[0] not in self.local:
            self.region.patches.append(Patch(root, attr, line))

    # -- statements ----------------------------------------------------------------------

    def run(self, statements: Iterable[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Read one statement."""
        method = getattr(self, f"_do_{type(node).__name__.removeprefix('Async')}", None)
        if method is not None:
            method(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.flow(child)
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def _do_Assign(self, node: ast.Assign) -> None:
        pairs = [(t, node.value) for t in node.targets]
        if len(pairs) == 1 and unpacked(*pairs[0]):
            pairs = list(zip(pairs[0][0].elts, node.value.elts, strict=True))  # type: ignore[attr-defined]
        flows = {id(value): self.flow(value) for _, value in pairs}
        for target, value in pairs:
            self._bind(target, flows[id(value)], node.lineno)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        # annotations are never evaluated
        if node.value is not None:
            self._bind(node.target, self.flow(node.value), node.lineno)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        held = self.flow(node.value)
        if isinstance(node.target, ast.Name):
            own = self._read(node.target.id)
            self._change(own, node.lineno)
        self._bind(node.target, held, node.lineno)

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._bind(target, NOTHING, node.lineno)

    def _do_For(self, node: ast.For) -> None:
        self._bind(node.target, self.flow(node.iter), node.lineno)
        self.run([*node.body, *node.orelse])

    def _do_With(self, node: ast.With) -> None:
        for item in node.items:
            held = self.flow(item.context_expr)
            self._change(held, node.lineno, False)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, held, node.lineno)
        self.run(node.body)

    def _do_Try(self, node: ast.Try) -> None:
        self.run(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.flow(handler.type)
            if handler.name:
                self._bind(ast.Name(handler.name), NOTHING, handler.lineno)
            self.run(handler.body)
        self.run([*node.orelse, *node.finalbody])

    _do_TryStar = _do_Try

    def _do_Match(self, node: ast.Match) -> None:
        held = self.flow(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self._bind(ast.Name(name), held, node.lineno)
                elif isinstance(part, ast.expr):
                    self.flow(part)
            if case.guard is not None:
                self.flow(case.guard)
            self.run(case.body)

    def _do_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.region.star = True
                continue
            name = alias.asname or alias.name.split(".")[0]
            self._bind(ast.Name(name), NOTHING, node.lineno)

    _do_ImportFrom = _do_Import

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.outside(node)
        self._bind(ast.Name(node.name), NOTHING, node.lineno)
        if self.region.name and not self.region.name.startswith("#"):
            # a function inside of a function: it may be called wherever its name goes
            self.local |= ({a.arg for a in arguments(node)} | set(assigned(node))) - self.shared
            self.run(node.body)

    def _do_ClassDef(self, node: ast.ClassDef) -> None:
        for value in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self._alias(node.name, self.flow(value))
        own = self.local
        self.local = own | {n for s in node.body for n in bound(s)}
        for statement in node.body:
            if isinstance(statement, _FUNCTIONS):
                self.outside(statement)
            else:
                self.statement(statement)
        held = {self._qualified(n) for s in node.body for n in bound(s)}
        self.local = own
        self._bind(ast.Name(node.name), frozenset(held), node.lineno)

    def outside(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What a definition evaluates where it stands: decorators and defaults."""
        for decorator in node.decorator_list:
            self.flow(decorator)
        spec = node.args
        plain = [*spec.posonlyargs, *spec.args]
        pairs = [*zip(reversed(plain), reversed(spec.defaults), strict=False)]
        pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d]
        for argument, default in pairs:
            self._alias(f"{node.name}:{argument.arg}", self.flow(default))

    # -- expressions -----------------------------------------------------------------------

    def flow(self, node: ast.expr) -> Names:
        """The names whose objects an expression's value may be, or be a part of."""
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is not None:
            found: Names = method(node)
            return found
        for child in expressions(node):
            self.flow(child)
        return NOTHING

    def _all(self, nodes: Iterable[ast.expr | None]) -> Names:
        return frozenset().union(*(self.flow(n) for n in nodes if n is not None))

    def _of_Name(self, node: ast.Name) -> Names:
        return self._read(node.id)

    def _of_BinOp(self, node: ast.BinOp) -> Names:
        # a sum may have thousands of terms
        terms: list[ast.expr] = []
        part: ast.expr = node
        while isinstance(part, ast.BinOp):
            terms.append(part.right)
            part = part.left
        terms.append(part)
        held = self._all(terms)
        # lists that are joined or repeated share their elements; arrays are new
        return held if any(map(self._is_list, terms)) else NOTHING

    def _is_list(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.lists
        return isinstance(node, (ast.List, ast.Tuple, ast.ListComp))

    def _of_Attribute(self, node: ast.Attribute) -> Names:
        held = self.flow(node.value)
        path = dotted(node)
        root = path.split(".")[0]
        if path and not held and root in self.modules - self.local:
            # an object of another module; those of libraries are numbers and functions
            known = self.libraries[root].split(".")[0] in calls.READERS
            return NOTHING if known else frozenset({path})
        return NOTHING if node.attr in calls.PLAIN_ATTRIBUTES else held

    def _of_Subscript(self, node: ast.Subscript) -> Names:
        self.flow(node.slice)
        held = self.flow(node.value)
        one = isinstance(node.value, ast.Name) and node.value.id in self.flat - self.local
        return NOTHING if one and not isinstance(node.slice, ast.Slice) else held

    def _of_Starred(self, node: ast.Starred) -> Names:
        return self.flow(node.value)

    def _of_Tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Names:
        return self._all(node.elts)

    _of_List = _of_Set = _of_Tuple

    def _of_Dict(self, node: ast.Dict) -> Names:
        return self._all([*node.keys, *node.values])

    def _of_IfExp(self, node: ast.IfExp) -> Names:
        self.flow(node.test)
        return self._all([node.body, node.orelse])

    def _of_BoolOp(self, node: ast.BoolOp) -> Names:
        return self._all(node.values)

    def _of_NamedExpr(self, node: ast.NamedExpr) -> Names:
        held = self.flow(node.value)
        self._bind(node.target, held, node.lineno)
        return held

    def _of_Lambda(self, node: ast.Lambda) -> Names:
        own = self.local
        self.local = own | {a.arg for a in arguments(node)}
        held = self._all([node.body, *node.args.defaults, *node.args.kw_defaults])
        self.local = own
        return held

    def _of_ListComp(self, node: ast.ListComp | ast.DictComp) -> Names:
        own = self.local
        for part in node.generators:
            held = self.flow(part.iter)
            self.local = self.local | set(targets(part.target))
            self._bind(part.target, held, node.lineno)
            self._all(part.ifs)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = self._all(parts)
        self.local = own
        return found

    _of_SetComp = _of_GeneratorExp = _of_DictComp = _of_ListComp

    def _of_Await(self, node: ast.Await | ast.YieldFrom) -> Names:
        held = self.flow(node.value)
        self._change(held, node.lineno, False)
        return held

    _of_YieldFrom = _of_Await

    def _of_Yield(self, node: ast.Yield) -> Names:
        return self._all([node.value])

    # -- calls -----------------------------------------------------------------------------

    def _of_Call(self, node: ast.Call) -> Names:
        positional = tuple(self.flow(a) for a in node.args)
        keywords = tuple((k.arg or "", self.flow(k.value)) for k in node.keywords)
        given = frozenset().union(*positional, *(held for _, held in keywords))
        for keyword, held in keywords:
            if keyword == "out":
                self._change(held, node.lineno)
        name = self._callee(node.func)
        if name is None and isinstance(node.func, ast.Attribute):
            return self._method(node, self.flow(node.func.value), given)
        if name is None:
            # a function that an expression makes
            held = self.flow(node.func)
            self._change(given | held, node.lineno, False)
            return given | held
        name = self.compiled.get(name, name)
        if name in self.functions:
            self.region.needs.add(name)
            self.region.calls.append(FileCall(name, positional, keywords, node.lineno))
            result = frozenset({_result(name)})
            return result if name in self.makers else given | result
        return self._library(node, name, positional, given)

    def _callee(self, func: ast.expr) -> str | None:
        """The dotted name of a library's function, the name of one of the file, of a builtin."""
        path = dotted(func)
        root, _, rest = path.partition(".")
        if not path or root in self.local:
            return None
        if root in self.libraries:
            self.region.needs.add(root)
            return f"{self.libraries[root]}.{rest}" if rest else self.libraries[root]
        if rest:
            return None
        self.region.needs.add(root)
        return root

    def _method(self, node: ast.Call, owner: Names, given: Names) -> Names:
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        spec = method_of(name)
        if name in calls.FRESH_METHODS or (spec and not (spec.view or spec.changes)):
            return NOTHING
        if name in calls.VIEW_METHODS or (spec and spec.view):
            return owner | given
        sure = name in calls.CHANGING_METHODS or spec is not None
        self._change(owner, node.lineno, sure)
        for own in owner:
            self._alias(own, given)
        if not sure:
            self._change(given, node.lineno, False)
        return owner | given

    def _library(
        self, node: ast.Call, name: str, positional: tuple[Names, ...], given: Names
    ) -> Names:
        root, _, last = name.rpartition(".")
        if name == last and not hasattr(builtins, name):
            # a variable: what it holds may change itself and its arguments
            given |= {name}
        if not root and last in calls.OPAQUE:
            self._opaque(node, last, given)
            return given
        if not root and last in calls.FRESH_BUILTINS:
            return NOTHING
        if not root and last in calls.VIEW_BUILTINS:
            return given
        if root.split(".")[0] not in calls.READERS or root == "numba.extending":
            if name != "copy.deepcopy":
                self._change(given, node.lineno, False)
            return given
        if root.split(".")[0] == "numpy":
            spec = spec_of(last)
            if spec.changes and positional:
                self._change(positional[0], node.lineno)
            for held in positional[len(positional) if spec.inputs is None else spec.inputs :]:
                self._change(held, node.lineno)
            out = frozenset().union(*(self.flow(k.value) for k in node.keywords if k.arg == "out"))
            return given if spec.view else out
        return given

    def _opaque(self, node: ast.Call, name: str, given: Names) -> None:
        """`exec` and the like: what they reach is in no name."""
        arguments = [a for a in node.args if not isinstance(a, ast.Starred)]
        if name in ("setattr", "delattr"):
            owner, attr = dotted(arguments[0]) if arguments else "", ""
            if len(arguments) > 1 and isinstance(arguments[1], ast.Constant):
                attr = str(arguments[1].value)
            self._change(given, node.lineno)
            self.region.patches.append(Patch(owner or "*", attr or "*", node.lineno))
        elif name == "exec" and len(arguments) > 1 and not calls_globals(arguments[1]):
            self._change(given, node.lineno, False)
        elif name == "vars" and arguments:
            self.region.patches.append(Patch(dotted(arguments[0]) or "*", "*", node.lineno))
        elif name != "__import__":
            self.region.opaque.append((node.lineno, name))


def function_region(
    name: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    names: FileNames,
) -> Region:
    """What the body of a function does when it is called."""
    shared = frozenset(
        n for part in ast.walk(node) if isinstance(part, ast.Global) for n in part.names
    )
    local = {a.arg for a in arguments(node)} | set(assigned(node))
    region = Region(name)
    own = frozenset(local - shared)
    walker = Walker(region, names.without(own), own, shared)
    walker.run(node.body)
    for part in ast.walk(node):
        if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None:
            # what a function returns, whoever calls it may change
            walker._alias(_result(name), walker.flow(part.value))
    return region


def _result(name: str) -> str:
    """What a function returns: an object of its own, beside the function."""
    return f"{name}()"
