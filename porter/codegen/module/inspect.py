"""The last look at a module before anybody sees it: its tree is what the plans say.

Text of the user's becomes comments, strings and names of the module.  None of it may become
code: the tree holds the imports, constants, kernels, helpers and host functions that were meant,
and nothing else.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from porter.codegen.module.docstrings import name_in
from porter.support.parsing import tree_of

#: builtins, and functions of numpy and math, that constants and defaults are made with
_MAKERS = {
    "abs", "bool", "complex", "dict", "divmod", "float", "frozenset", "int", "len", "list", "max",
    "min", "pow", "range", "round", "set", "slice", "str", "sum", "tuple",
}  # fmt: skip
#: what keeps arrays from call to call
_STORES = {"threading.local"}
#: what sets how long OpenMP's threads wait, unless the user has set it
_SETTING = ("os.environ.setdefault", "GOMP_SPINCOUNT")
_MODULES = {"numpy", "math", "cmath", "numba", "logging", "types", "operator", "builtins"}
#: what those modules can do to the world around
_IMPURE = {
    "load", "save", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt", "fromfile",
    "tofile", "memmap", "fromregex", "DataSource", "seterr", "seterrcall", "set_printoptions",
    "basicConfig", "shutdown", "ctypeslib", "testing", "f2py", "distutils", "lib",
}  # fmt: skip
_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Call,
    ast.keyword, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_CHOICES = ("ENABLE_CUDASIM",)


class ModuleError(Exception):
    """A module's text is not what it was meant to be; the message is for the user."""


@dataclass(frozen=True)
class Expected:
    """What a module holds: functions with their parameters and docstrings, and constants."""

    hosts: Mapping[str, tuple[str, ...]]
    docstrings: Mapping[str, str]
    functions: Set[str]
    constants: Set[str]
    imports: Set[str]
    decorators: Set[str]
    open: bool = False  # a team's own templates may define more
    eager: Set[str] = frozenset()  # decorators that are given types
    own: Mapping[str, int] = field(default_factory=dict)  # what each host function takes beside


def inspect(text: str, meant: str, expected: Expected) -> None:
    """Raise ModuleError unless `text` is the module `meant`, docstrings put in, and harmless."""
    odd = next((c for c in text if c not in "\n\t" and _breaks(c)), None)
    if odd is not None:
        raise ModuleError(f"the character {ascii(odd)[1:-1]} of a text cannot be kept")
    try:
        # bytes: a line at the top may not tell another encoding than the file has
        tree = tree_of(text.encode("utf-8"))
        compile(tree, "<module>", "exec", dont_inherit=True)
        wanted = tree_of(meant)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", "") or type(error).__name__
        raise ModuleError(f"Python cannot parse its text: {reason}") from None
    for node in ast.walk(wanted):
        name = name_in(getattr(node, "value", None)) if isinstance(node, ast.Constant) else None
        if name is not None and isinstance(node, ast.Constant):
            node.value = expected.docstrings[name]
    if not same_tree(tree, wanted):
        raise ModuleError("its layout would change what it computes")
    _check_top(tree, expected)


def top_level(
    tree: ast.Module, decorators: Set[str], eager: Set[str] = frozenset()
) -> Iterator[tuple[ast.stmt, str]]:
    """The statements of a module that are more than imports, constants and definitions."""
    body = tree.body
    for k, node in enumerate(body):
        first = k == 0 and _is_docstring(node)
        why = "" if first else _objection(node, _imported(tree), decorators, eager)
        if why:
            yield node, why


def _check_top(tree: ast.Module, expected: Expected) -> None:
    bad = next(top_level(tree, expected.decorators, expected.eager), None)
    if bad is not None:
        raise ModuleError(f"line {bad[0].lineno} of it would {bad[1]}")
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    if len(names) != len(set(names)):
        twice = next(n for n in names if names.count(n) > 1)
        raise ModuleError(f"two of its functions are called `{twice}`")
    hosts = {
        n.name: n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in expected.hosts
    }
    for name, parameters in expected.hosts.items():
        own = expected.docstrings.get(name)
        _check_host(name, hosts.get(name), parameters, own, expected.own.get(name, 0))
    if expected.open:
        return
    _compare("functions", set(names), expected.functions)
    constants = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets
                 if isinstance(t, ast.Name)}  # fmt: skip
    _compare("constants", constants, expected.constants)
    _compare("imports", set(_imported(tree)), expected.imports)


def _compare(what: str, found: Set[str], wanted: Set[str]) -> None:
    if found != wanted:
        odd = ", ".join(f"`{n}`" for n in sorted(found ^ wanted))
        raise ModuleError(f"its {what} are not those of the plan: {odd}")


def _check_host(
    name: str, node: ast.FunctionDef | None, parameters: Sequence[str], docstring: str | None,
    more: int,
) -> None:  # fmt: skip
    if node is None:
        raise ModuleError(f"it has no function `{name}`")
    a = node.args
    found = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    own = found[: len(found) - more]
    if a.vararg or a.kwarg or set(own) != set(parameters):
        raise ModuleError(f"the parameters of `{name}` are not those of the source")
    if ast.get_docstring(node, clean=False) != docstring:
        raise ModuleError(f"the docstring of `{name}` is not that of the source")


def _breaks(c: str) -> bool:
    """Whether a character may end a line or cannot be written: controls, separators, halves."""
    return unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs")


def same_tree(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are equal, places apart."""
    stack: list[tuple[object, object]] = [(one, other)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            stack += zip(a, b, strict=True)
        elif isinstance(a, ast.AST) and isinstance(b, ast.AST):
            if type(a) is not type(b):
                return False
            stack += [(getattr(a, f, None), getattr(b, f, None)) for f in a._fields]
        elif type(a) is not type(b) or (a != b and not (a != a and b != b)):
            return False
    return True


# -- what runs when a module is imported -------------------------------------------------------


def _imported(tree: ast.Module) -> dict[str, str]:
    """The names that imports bind, and what of which module."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for a in node.names:
                found[a.asname or a.name.partition(".")[0]] = a.name
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found


def _is_docstring(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text and isinstance(node.value.value, str)  # type: ignore[attr-defined]


def _objection(
    node: ast.stmt, imports: Mapping[str, str], decorators: Set[str], eager: Set[str]
) -> str:
    """What a statement at the top does that it should not; empty if it may be there."""
    match node:
        case ast.Import():
            return ""
        case ast.ImportFrom(names=names):
            return "import every name" if any(a.name == "*" for a in names) else ""
        case ast.Assign(targets=[ast.Name()], value=value):
            return _evaluation(value, imports)
        case ast.FunctionDef():
            return _definition(node, imports, decorators, eager)
        case ast.If(test=ast.Attribute(value=ast.Name(id=name), attr=attr), orelse=[]):
            if attr in _CHOICES and imports.get(name) in ("numba.config",):
                inner = [
                    _objection(s, imports, decorators, eager)
                    for s in node.body
                    if isinstance(s, ast.Assign)
                ]
                if len(inner) == len(node.body):
                    return next(filter(None, inner), "")
    return "run something when it is imported"


def _definition(
    node: ast.FunctionDef, imports: Mapping[str, str], decorators: Set[str], eager: Set[str]
) -> str:
    for d in node.decorator_list:
        call = d.func if isinstance(d, ast.Call) else d
        if _dotted(call, imports) not in decorators:
            meant = sorted({".".join(n.split(".")[-2:]) for n in decorators})
            return f"be decorated with something other than {' or '.join(meant)}"
        arguments = d.keywords if isinstance(d, ast.Call) else []
        types = isinstance(d, ast.Call) and _dotted(call, imports) in eager and _are_texts(d.args)
        if isinstance(d, ast.Call) and d.args and not types:
            return "compile a kernel when it is imported"
        for k in arguments:
            if why := _evaluation(k.value, imports):
                return why
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    return next(filter(None, (_evaluation(d, imports) for d in defaults)), "")


def _are_texts(arguments: Sequence[ast.expr]) -> bool:
    """Whether arguments are texts and lists of texts."""
    items = [e for a in arguments for e in (a.elts if isinstance(a, ast.List) else [a])]
    return all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in items)


def _dotted(node: ast.expr, imports: Mapping[str, str]) -> str:
    """The full name of what an expression names through an import; empty for anything else."""
    if isinstance(node, ast.Attribute):
        outer = _dotted(node.value, imports)
        return f"{outer}.{node.attr}" if outer else ""
    return imports.get(node.id, "") if isinstance(node, ast.Name) else ""


def _evaluation(value: ast.expr, imports: Mapping[str, str]) -> str:
    """What evaluating a constant or a default does beyond giving a value."""
    for node in ast.walk(value):
        if not isinstance(node, _EXPRESSIONS):
            return "run more than a constant needs"
        if isinstance(node, ast.Call) and not (_makes(node.func, imports) or _sets(node, imports)):
            return f"call {ast.unparse(node.func)}"
    return ""


def _sets(call: ast.Call, imports: Mapping[str, str]) -> bool:
    """Whether a call is the one setting that modules may make, with texts."""
    texts = [a.value for a in call.args if isinstance(a, ast.Constant)]
    name = _dotted(call.func, imports)
    return len(texts) == len(call.args) == 2 and (name, texts[0]) == _SETTING and not call.keywords


def _makes(func: ast.expr, imports: Mapping[str, str]) -> bool:
    """Whether a call only makes a value."""
    names: list[str] = []
    while isinstance(func, ast.Attribute):
        names.append(func.attr)
        func = func.value
    if not isinstance(func, ast.Name):
        # a method of a value: `"a b".split()`, `np.arange(3).reshape(3, 1)`
        return bool(names) and not set(names) & _IMPURE
    whole = imports.get(func.id)
    if whole is None:
        return (func.id in _MAKERS and not names) or (bool(names) and not set(names) & _IMPURE)
    parts = [*whole.split("."), *names]
    if parts[0] == "builtins":
        return parts[-1] in _MAKERS
    if ".".join(parts) in _STORES:
        return True
    return parts[0] in _MODULES and not set(parts[1:]) & _IMPURE
