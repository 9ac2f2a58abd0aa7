"""What the statements of a top level are: imports, definitions, values of names."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from porter.resolve.syntax import bound, dotted

Names = frozenset[str]
NOTHING: Names = frozenset()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class FileNames:
    """What the names of a file's imports and functions are.

    `libraries` maps what is imported to dotted names, `modules` are the modules among it;
    `lists` are the names that are assigned a list somewhere, `flat` those that only ever hold
    tables of numbers: an element of one is no part that could be changed.  `makers` are functions
    whose results are new: no argument, and no part of one.  `compiled` maps what is assigned to
    the function that Numba makes it of: `fast = njit(slow)`.
    """

    libraries: Mapping[str, str]
    modules: Names
    functions: Names
    lists: Names = NOTHING
    flat: Names = NOTHING
    makers: Names = NOTHING
    compiled: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def without(self, local: Iterable[str]) -> FileNames:
        """The same where some names mean something else."""
        own = frozenset(local)
        libraries = {n: path for n, path in self.libraries.items() if n not in own}
        kinds = (self.modules, self.functions, self.lists, self.flat, self.makers)
        compiled = {n: of for n, of in self.compiled.items() if n not in own}
        return FileNames(libraries, *(names - own for names in kinds), compiled=compiled)


def file_names(body: list[ast.stmt]) -> FileNames:
    """What the imports, functions and tables of a file are called."""
    libraries: dict[str, str] = {}
    modules: set[str] = set()
    functions: set[str] = set()
    lists: set[str] = set()
    flat: set[str] = set()
    other: set[str] = set()
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        match node:
            case ast.Import(names=names):
                for a in names:
                    own = a.asname or a.name.split(".")[0]
                    libraries.setdefault(own, a.name if a.asname else own)
                    modules.add(own)
            case ast.ImportFrom(names=names, module=module, level=level):
                path = "." * level + (module or "")
                for a in names:
                    libraries.setdefault(a.asname or a.name, f"{path}.{a.name}")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                functions.add(name)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                held = node.targets if isinstance(node, ast.Assign) else [node.target]
                own_names = {t.id for t in held if isinstance(t, ast.Name)}
                lists |= own_names if isinstance(value, (ast.List, ast.ListComp)) else set()
                (flat if is_flat(value) else other).update(own_names)
            case ast.stmt() | ast.ExceptHandler() if not isinstance(node, ast.ClassDef):
                stack += reversed(list(ast.iter_child_nodes(node)))
    once = _bound_once(body)
    kinds = (modules, functions, lists, flat - other, _makers(body, once))
    compiled = _compiled(body, once, libraries)
    return FileNames(libraries, *map(frozenset, kinds), compiled=compiled)


def _bound_once(body: list[ast.stmt]) -> set[str]:
    """The names that one place of the file binds."""
    nodes = [n for statement in body for n in ast.walk(statement)]
    bindings = Counter(n.id for n in nodes if isinstance(n, ast.Name) and _is_stored(n))
    bindings.update(n.name for n in nodes if isinstance(n, (*FUNCTIONS, ast.ClassDef)))
    bindings.update(name for n in nodes if isinstance(n, ast.Global) for name in n.names)
    imports = [a for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
    bindings.update(a.asname or a.name.split(".")[0] for a in imports)
    return {name for name, places in bindings.items() if places == 1}


def _makers(body: list[ast.stmt], own: set[str]) -> set[str]:
    """The functions of the top level that return what is new, and that no other name replaces."""
    functions = [s for s in body if isinstance(s, ast.FunctionDef)]
    return {f.name for f in functions if f.name in own and _returns_new(f)}


def _compiled(body: list[ast.stmt], own: set[str], libraries: Mapping[str, str]) -> dict[str, str]:
    """What is assigned as Numba makes it of a function: `njit(slow)`, `njit(...)(slow)`."""
    functions = {s.name for s in body if isinstance(s, ast.FunctionDef)} & own
    found = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)],
                            value=ast.Call(func=func, args=[ast.Name(id=of), *_])):  # fmt: skip
                root = dotted(func.func if isinstance(func, ast.Call) else func).split(".")[0]
                library = libraries.get(root, "").split(".")[0]
                if library == "numba" and root in own and name in own and of in functions:
                    found[name] = of
    return found


def _is_stored(node: ast.Name) -> bool:
    """Whether a name is bound, or deleted."""
    return not isinstance(node.ctx, ast.Load)


#: what binds names in other ways than assignments do, or gives something else than a `return`
_OTHERS = (
    ast.Try, ast.TryStar, ast.Match, ast.With, ast.AsyncWith, ast.Import, ast.ImportFrom,
    ast.Global, ast.Nonlocal, *FUNCTIONS, ast.ClassDef, ast.Lambda, ast.Yield, ast.YieldFrom,
    ast.Await,
)  # fmt: skip


_OF_NUMBERS = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


def _repeats_nothing(e: ast.expr) -> bool:
    """Whether a factor is no integer, which a list could be repeated by."""
    match e:
        case ast.Constant(value=value):
            return isinstance(value, (float, complex))
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return _repeats_nothing(left) or _repeats_nothing(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _repeats_nothing(operand)
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div)


def _returns_new(node: ast.FunctionDef) -> bool:
    """Whether a function returns what it computes: `s` after `s = 0.0` and `s += a[i] * x`.

    Lists that are joined or repeated hold what they held: no term of a sum with a number is one.
    """
    inside = [n for statement in node.body for n in ast.walk(statement)]
    if node.decorator_list or any(isinstance(n, _OTHERS) for n in inside):
        return False
    held: dict[str, list[ast.expr | None]] = defaultdict(list)
    for statement in node.body:
        assigned_values(statement, held)
    stored = Counter(n.id for n in inside if isinstance(n, ast.Name) and _is_stored(n))
    # a number or an array of its own, added to, is one still
    added = {id(n.value) for n in inside if isinstance(n, ast.AugAssign)}
    given = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}

    def is_new(e: ast.expr | None, seen: Names = NOTHING) -> bool:
        match e:
            case ast.Constant() | ast.Compare():
                return True
            case ast.UnaryOp(op=ast.USub()):
                return True
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return is_new(left, seen) or is_new(right, seen)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return _repeats_nothing(left) or _repeats_nothing(right)
            case ast.BinOp(op=op):
                # `|` joins dicts, which hold what they held
                return isinstance(op, _OF_NUMBERS)
            case ast.Name(id=name) if name not in given | seen:
                values = held.get(name, [])
                first = [v for v in values if id(v) not in added]
                known = bool(first) and stored[name] == len(values)
                return known and all(is_new(v, seen | {name}) for v in first)
        return False

    values = [n.value for n in inside if isinstance(n, ast.Return) and n.value is not None]
    return all(is_new(p) for v in values for p in (v.elts if isinstance(v, ast.Tuple) else [v]))


def is_flat(value: ast.expr) -> bool:
    """Whether an expression makes a table of numbers with one axis: `[1, 2]`, `np.zeros(4)`, or a
    dictionary of constants."""
    if isinstance(value, ast.Call) and value.args and not value.keywords:
        name = dotted(value.func).rpartition(".")[2]
        first = value.args[0]
        if name in ("zeros", "ones", "full", "empty"):
            return isinstance(first, ast.Constant)
        if name in ("arange", "linspace", "range"):
            return True
        return name in ("array", "asarray", "tuple", "list") and is_flat(first)
    if not isinstance(value, (ast.List, ast.Tuple, ast.Dict)):
        return False
    values = value.values if isinstance(value, ast.Dict) else value.elts
    parts = (p.operand if isinstance(p, ast.UnaryOp) else p for p in values)
    return all(isinstance(p, ast.Constant) for p in parts)


def defines(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name its meaning by a definition or an import."""
    for node in ast.walk(statement):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name == name:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)) and name in bound(node):
            return True
    return False


def assigned_values(node: ast.AST, held: dict[str, list[ast.expr | None]]) -> None:
    """The expressions that names are assigned, None where it is something else."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                pair(target, value, held)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            pair(target, value, held)
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            held[name].append(value)
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))):
            pair(target, ast.Constant(0), held)
        case ast.NamedExpr(target=target, value=value):
            pair(target, value, held)
    if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not isinstance(
        node, (*FUNCTIONS, ast.ClassDef)
    ):
        for child in ast.iter_child_nodes(node):
            assigned_values(child, held)


def pair(target: ast.expr, value: ast.expr, held: dict[str, list[ast.expr | None]]) -> None:
    """Note the value of each name of a target."""
    displays = (ast.Tuple, ast.List)
    if isinstance(target, ast.Name):
        held[target.id].append(value)
    elif isinstance(target, displays) and isinstance(value, displays):
        if len(target.elts) == len(value.elts):
            for part, own in zip(target.elts, value.elts, strict=True):
                pair(part, own, held)


def is_main(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which does not run on import."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    match statement.test:
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()],
                         comparators=[ast.Constant(value="__main__")]):  # fmt: skip
            return True
        case ast.Compare(left=ast.Constant(value="__main__"), ops=[ast.Eq()],
                         comparators=[ast.Name(id="__name__")]):  # fmt: skip
            return True
    return False
