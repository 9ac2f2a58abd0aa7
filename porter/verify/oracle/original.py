"""The user's own functions, loaded without running the rest of their file.

Of the top level only that runs which gives the functions' names their values: the slice that
`porter.resolve.toplevel` finds, in the order of the file.  A script that trains, plots or writes
does not start.  What fails is remembered and explained only when a function needs it.
"""

from __future__ import annotations

import ast
import math
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porter.resolve.toplevel import TopLevel
from porter.source import newer
from porter.verify.oracle import rounding
from porter.verify.oracle.numba_objects import in_place
from porter.verify.oracle.values import Values, watch_source

#: calls that a constant may be made with
_PURE = frozenset(
    {"int", "float", "complex", "bool", "str", "len", "range", "min", "max", "abs", "sum"}
    | {"round", "pow", "tuple", "list", "dict", "set", "frozenset", "sorted", "zip"}
    | {"enumerate", "reversed", "divmod", "dtype", "array", "sqrt", "log", "exp"}
)
_PURE_MODULES = frozenset({"np", "numpy", "math", "cmath", "numba", "nb", "cp"})
#: what the fields of a class may be made with
_FIELDS = frozenset(
    {"field", "auto", "property", "staticmethod", "classmethod", "cached_property", "TypeVar"}
)
_IMPURE = frozenset(
    {"load", "save", "savez", "savetxt", "loadtxt", "genfromtxt", "fromfile", "tofile"}
    | {"memmap", "fromregex", "DataSource", "seterr", "set_printoptions"}
)
#: Numba's decorators compile; the Python function below them is the reference
_COMPILERS = frozenset({"jit", "njit", "generated_jit", "vectorize", "guvectorize"})


class Missing(LookupError):
    """The original cannot be had here: its definition, or what it needs, failed."""


@dataclass
class Original:
    """The namespace of the source file, and why names are missing from it."""

    namespace: dict[str, Any]
    missing: dict[str, str] = field(default_factory=dict)

    def function(self, name: str) -> Any:
        """The function `f` or `Class.f`; raises `LookupError` with a plain sentence."""
        first, *rest = name.split(".")
        if first not in self.namespace:
            why = self.missing.get(first, "the source file does not define it")
            raise Missing(f"the original `{name}` is not there: {why}")
        found = self.namespace[first]
        for part in rest:
            if not hasattr(found, part):
                raise LookupError(f"the original has no `{part}` in `{first}`")
            found = getattr(found, part)
        return found


def load(
    path: Path,
    text: str,
    names: Iterable[str] | None = None,
    *,
    run_module: bool = False,
    rough: bool = False,
    jitted: ast.Module | None = None,
    watch: Values | None = None,
) -> Original:
    """Load functions of a source file and what they need; raises `SyntaxError`.

    `names` are theirs (`f` or `Class.f`), or those of constants; None for all functions of the
    file.  With `run_module` the whole top level runs, as it does when Python imports the file.
    With `rough`, the functions round at random (see `rounding`).  `jitted` is a tree of the
    text whose decorators of Numba stay.  `watch` keeps the values of all assignments.
    """
    own, names_of_types = newer.runnable(text, str(path))
    tree = jitted or own
    chosen = None if run_module else _slice(text, names)
    if rough:
        tree = rounding.roughened(tree)
    if watch is not None:
        watch_source(tree)
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    # dataclasses and pickling look a class's module up
    sys.modules.setdefault(path.stem, module)
    module.__dict__.update(names_of_types)
    module.__dict__.update(rounding.NAMES if rough else {})
    module.__dict__.update(watch.names if watch else {})
    _place(module, path, tree)
    original = Original(module.__dict__)
    compilers = _COMPILERS | _aliases(tree)
    for statement in tree.body:
        if chosen is not None and _place_of(statement) not in chosen:
            continue
        if jitted is None:
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef):
                    node.decorator_list = [
                        d for d in node.decorator_list if _name(d) not in compilers
                    ]
        with in_place(str(path) if jitted is None else ""):
            _execute(statement, path, original)
    return original


def _slice(text: str, names: Iterable[str] | None) -> set[tuple[int, int]]:
    """Where the statements of the top level stand that these names need."""
    top = TopLevel(text)
    wanted = top.defined if names is None else {name.split(".")[0] for name in names}
    return {_place_of(top.body[k]) for k in top.slice(wanted)}


def _place_of(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _place(module: types.ModuleType, path: Path, tree: ast.Module) -> None:
    """Let imports of other files of the project find them, relative ones too."""
    newer.read_imports()
    folder = path.parent.resolve()
    sys.path += [str(p) for p in (folder, *folder.parents)[:4] if str(p) not in sys.path]
    if not any(isinstance(s, ast.ImportFrom) and s.level for s in ast.walk(tree)):
        return
    parts = [folder.name]
    while (folder / "__init__.py").exists() and (folder.parent / "__init__.py").exists():
        folder = folder.parent
        parts.insert(0, folder.name)
    module.__package__ = ".".join(parts)
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))


def _execute(statement: ast.stmt, path: Path, original: Original) -> None:
    # annotations are never evaluated: what only they need may be missing
    flags = annotations.compiler_flag
    code = compile(ast.Module([statement], []), str(path), "exec", flags, dont_inherit=True)
    try:
        exec(code, original.namespace)
    except BaseException as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        for name in targets(statement):
            original.missing[name] = f"line {statement.lineno} failed with {reason}"


def _name(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _aliases(tree: ast.Module) -> set[str]:
    """What a file calls Numba's decorators: `from numba import guvectorize as gv`."""
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "numba"]
    return {a.asname or a.name for n in imports for a in n.names if a.name in _COMPILERS}


def wanted(statement: ast.stmt, calls: frozenset[str] = frozenset()) -> bool:
    """Whether a statement of a module is an import, a definition or a constant.

    What else is in the body of a class is taken out of it.  `calls` are further names that a
    constant may be made with, as functions or as modules of functions.
    """
    if isinstance(statement, ast.ClassDef):
        statement.body = [s for s in statement.body if _belongs(s, calls)] or [ast.Pass()]
        ast.fix_missing_locations(statement)
        return True
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is not None and _constant(statement.value, calls)
    if isinstance(statement, ast.Try):
        parts = [statement.body, statement.orelse, statement.finalbody]
        parts += [h.body for h in statement.handlers]
        return all(isinstance(s, ast.Pass) or wanted(s, calls) for p in parts for s in p)
    return False


def _belongs(statement: ast.stmt, calls: frozenset[str]) -> bool:
    """Whether a statement in the body of a class only defines something."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return True
    return isinstance(statement, ast.Pass) or wanted(statement, calls | _FIELDS)


def _constant(value: ast.expr, calls: frozenset[str]) -> bool:
    forbidden = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    nodes = list(ast.walk(value))
    if any(isinstance(node, forbidden) for node in nodes):
        return False
    return all(_pure(node.func, calls) for node in nodes if isinstance(node, ast.Call))


def _pure(function: ast.expr, calls: frozenset[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _PURE | calls
    if not isinstance(function, ast.Attribute) or function.attr in _IMPURE:
        return False
    root: ast.expr = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in _PURE_MODULES | calls:
        return True
    if isinstance(root, ast.Name) and (root.id, function.attr) == ("logging", "getLogger"):
        return True
    if isinstance(root, ast.Name) and (root.id, function.attr) == ("dataclasses", "field"):
        return True
    # a method of a constant, such as np.array([...]).reshape(3, 3)
    return isinstance(root, (ast.Call, ast.Constant)) and not isinstance(function.value, ast.Name)


def targets(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from ((a.asname or a.name).split(".")[0] for a in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def index_parameters(text: str, name: str) -> frozenset[str]:
    """The parameters of a function whose values end up as subscripts or loop bounds.

    Found by name: a parameter inside a subscript or a `range`, directly or through local
    names.  Such arrays get only values that are valid indices.
    """
    function = _find(newer.parse(text), name.split("."))
    if function is None:
        return frozenset()
    used = set(_index_names(function))
    for _ in range(4):
        before = len(used)
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value:
                targets = {n.id for t in _assigned(node) for n in _names(t)}
                if targets & used:
                    used |= {n.id for n in _names(node.value)}
            elif isinstance(node, ast.For) and {n.id for n in _names(node.target)} & used:
                used |= {n.id for n in _names(node.iter)}
        if len(used) == before:
            break
    arguments = [*function.args.posonlyargs, *function.args.args]
    return frozenset(a.arg for a in arguments if a.arg in used)


def function_of(text: str, name: str) -> ast.FunctionDef | None:
    """The definition of `f` or `Class.f`."""
    return _find(newer.parse(text), name.split("."))


def sorted_parameters(text: str, name: str) -> list[str]:
    """The parameters that NumPy requires to be sorted: what it searches, bins, interpolates."""
    function = _find(newer.parse(text), name.split("."))
    if function is None:
        return []
    own = {a.arg for a in (*function.args.posonlyargs, *function.args.args)}
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call)]
    found: dict[str, None] = {}
    for node in calls:
        position = _SORTED.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
        if position is not None and len(node.args) > position:
            value = node.args[position]
            found |= {value.id: None} if isinstance(value, ast.Name) and value.id in own else {}
    return list(found)


def literals(text: str, name: str, namespace: dict[str, Any]) -> tuple[float, ...]:
    """The numbers that a function mentions, directly or as constants of its module.

    Inputs equal to them tell `<` from `<=`.  NaN is one of them if `isnan`, `nansum` and the like
    are mentioned.
    """
    function = _find(newer.parse(text), name.split("."))
    found: set[float] = set()
    missing: tuple[float, ...] = ()
    for node in ast.walk(function) if function is not None else ():
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Attribute) and (
            node.attr.startswith("nan") or node.attr in ("isnan", "isfinite")
        ):
            missing = (math.nan,)
        if isinstance(node, ast.Name):
            value = namespace.get(node.id)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6:
            found |= {float(value), -float(value)}
    return (*sorted(found), *missing)


def _assigned(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name))


#: where these functions take what must be sorted
_SORTED = {"searchsorted": 0, "digitize": 1, "interp": 1}
#: the arguments of calls that count or point into arrays
_POSITIONS = {"range": slice(None), "take": slice(None), "bincount": slice(1), "at": slice(1, 2),
              "take_along_axis": slice(1, 2)}  # fmt: skip


def _index_names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            yield from (n.id for n in _names(node.slice))
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in _POSITIONS:
                yield from (n.id for a in node.args[_POSITIONS[called]] for n in _names(a))


def _find(tree: ast.AST, path: list[str]) -> ast.FunctionDef | None:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == path[0]:
            if len(path) == 1:
                return node if isinstance(node, ast.FunctionDef) else None
            return _find(node, path[1:])
    return None
