"""A file as the rules see it: names resolved to what they were imported as, and each
function with the compiler that its decorator hands it to.  Built on `ast` alone, which is
an order of magnitude faster than libcst."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from porter.diagnostics import Span
from porter.source import newer
from porter.source.text import column, split_lines

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(Enum):
    """Which compiler takes a function."""

    PLAIN = "plain"
    NOPYTHON = "nopython"
    OBJECT = "object"
    KERNEL = "kernel"
    DEVICE = "device"
    VECTORIZE = "vectorize"
    GUVECTORIZE = "guvectorize"
    STENCIL = "stencil"
    OTHER = "other"


_DECORATORS = {
    "numba.jit": Kind.NOPYTHON,
    "numba.njit": Kind.NOPYTHON,
    "numba.core.decorators.jit": Kind.NOPYTHON,
    "numba.core.decorators.njit": Kind.NOPYTHON,
    "numba.cuda.jit": Kind.KERNEL,
    "numba.vectorize": Kind.VECTORIZE,
    "numba.guvectorize": Kind.GUVECTORIZE,
    "numba.cuda.reduce": Kind.DEVICE,
    "numba.cuda.Reduce": Kind.DEVICE,
    "numba.stencil": Kind.STENCIL,
    "numba.cfunc": Kind.OTHER,
    "numba.generated_jit": Kind.OTHER,
}
#: compiled for the GPU, so that the CUDA target's rules hold
ON_DEVICE = (Kind.KERNEL, Kind.DEVICE)
#: who imports one of these has arrays
ARRAY_LIBRARIES = frozenset(("numpy", "numba", "cupy", "scipy", "jax", "torch", "pandas"))
#: compiled without the Python interpreter
COMPILED = (
    Kind.NOPYTHON, Kind.KERNEL, Kind.DEVICE, Kind.VECTORIZE, Kind.GUVECTORIZE, Kind.STENCIL,
)  # fmt: skip


@dataclass(eq=False)
class Function:
    """A function of the file; `name` is `f`, `Class.f` or `outer.inner`."""

    name: str
    node: FunctionNode
    kind: Kind = Kind.PLAIN
    decorator: ast.expr | None = None
    options: dict[str, ast.expr] = field(default_factory=dict)
    signatures: list[ast.expr] = field(default_factory=list)

    @property
    def target(self) -> str:
        """The `target` option of a ufunc: cpu, parallel or cuda."""
        value = self.options.get("target")
        return str(value.value) if isinstance(value, ast.Constant) else "cpu"

    @property
    def on_device(self) -> bool:
        """Whether the function runs on the GPU."""
        return self.kind in ON_DEVICE or (
            self.kind in (Kind.VECTORIZE, Kind.GUVECTORIZE) and self.target == "cuda"
        )

    @cached_property
    def parameters(self) -> list[str]:
        """Every parameter's name, in order."""
        a = self.node.args
        more = [x for x in (a.vararg, a.kwarg) if x is not None]
        return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *more)]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the body, nested functions and classes left out, in source order."""
        return [n for s in self.node.body for n in walk_own(s)]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call of the body, in source order."""
        return [n for n in self.nodes if isinstance(n, ast.Call)]

    @cached_property
    def local_names(self) -> set[str]:
        """Parameters and the names that the body binds."""
        return bound(self.nodes) | set(self.parameters)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: what stands before the name of a function or a class
_DEFINES = re.compile(r"(?:async\s+)?(?:def|class)\s+")


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what is below it, depth first in source order, not entering nested scopes."""
    # a stack of our own: a sum of a thousand terms is a thousand levels deep
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            todo += reversed([*ast.iter_child_nodes(node)])


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that some of these nodes bind."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that some of these nodes bind, delete or define."""
    found = set()
    for n in nodes:
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            found.add(n.id)
        elif isinstance(n, (*FUNCTIONS, ast.ClassDef)):
            found.add(n.name)
    return found


def uses_of(name: str, nodes: Iterable[ast.AST]) -> list[ast.Name]:
    """Every node among some that is this name, read or bound."""
    return [n for n in nodes if isinstance(n, ast.Name) and n.id == name]


def assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Name and value of each plain assignment to a name among some nodes."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))


def method_on(call: ast.Call, names: set[str]) -> ast.Attribute | None:
    """The method that a call calls of one of these names."""
    method = call.func if isinstance(call.func, ast.Attribute) else None
    owner = method.value if method is not None else None
    return method if isinstance(owner, ast.Name) and owner.id in names else None


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a literal string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives for a keyword."""
    return next((k.value for k in call.keywords if k.arg == name), None)


class PyFile:
    """A parsed file; raises `SyntaxError` or `ValueError` when the text is not Python."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        with warnings.catch_warnings():
            # invalid escapes are the business of other tools
            warnings.simplefilter("ignore")
            self.tree, plain = newer.read(text)
        self.lines = split_lines(text)
        #: the lines that the tree's columns are of
        self._read = self.lines if plain is text else split_lines(plain)

    def span(self, node: ast.AST) -> Span:
        """Where a node stands; of a compound statement or a function, its header only."""
        line, offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
        start = column(self._line(line), offset)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found = _DEFINES.match(self._line(line), start - 1)
            known = found is not None and self._line(line).startswith(node.name, found.end())
            word = found.end() if found and known else start - 1
            return Span(line, word + 1, line, word + 1 + len(node.name))
        header = _header_end(node)
        if header is not None:
            end_line, end_offset = header
            return Span(line, start, end_line, column(self._line(end_line), end_offset))
        end_line, end_offset = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return Span(line, start, end_line, column(self._line(end_line), end_offset))

    def _line(self, number: int) -> str:
        return self._read[number - 1] if 0 < number <= len(self._read) else ""

    def code(self, node: ast.AST) -> str:
        """The node's source text on one line."""
        if not isinstance(node, ast.expr) or node.end_lineno is None:
            return ast.unparse(node)
        span = self.span(node)
        lines = self._read[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(lines).split())

    @cached_property
    def _imports(self) -> dict[str, list[tuple[int, str]]]:
        """For each imported name, the lines and the dotted names it was bound to."""
        found: dict[str, list[tuple[int, str]]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for a in node.names:
                    name = a.asname or a.name.split(".")[0]
                    full = a.name if a.asname else name
                    found.setdefault(name, []).append((node.lineno, full))
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for a in node.names:
                    entry = (node.lineno, f"{node.module}.{a.name}")
                    found.setdefault(a.asname or a.name, []).append(entry)
        return found

    @cached_property
    def uses_arrays(self) -> bool:
        """Whether the file imports a library of arrays."""
        return any(
            full.split(".")[0] in ARRAY_LIBRARIES
            for entries in self._imports.values()
            for _, full in entries
        )

    def imported(self, name: str, line: int) -> str | None:
        """What an imported name means at a line: its last import above, else its first."""
        entries = self._imports.get(name)
        if not entries:
            return None
        above = [full for at, full in entries if at <= line]
        return above[-1] if above else entries[0][1]

    def qualified(self, node: ast.AST, function: Function | None = None) -> str | None:
        """`np.linalg.norm` as "numpy.linalg.norm"; None when its root is not an import."""
        parts: list[str] = []
        at = node
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return None
        if function is not None and at.id in function.local_names:
            return None
        root = self.imported(at.id, at.lineno)
        return ".".join([root, *reversed(parts)]) if root else None

    def callee(self, node: ast.AST | None, function: Function | None = None) -> str:
        """The dotted name of what a call calls; empty when unknown, or where there is no call."""
        return (self.qualified(node.func, function) or "") if isinstance(node, ast.Call) else ""

    def called(self, node: ast.expr, full: str) -> str:
        """A called function as messages name it: as written, and from where if that is bare."""
        text = self.code(node)
        module = full.rpartition(".")[0]
        return f"`{text}`" if "." in text or not module else f"`{text}` of {module}"

    @cached_property
    def functions(self) -> list[Function]:
        """Every function, methods and nested ones included, in source order."""
        found = list(self._functions(self.tree, ""))
        called = {
            n.func.id
            for f in found
            if f.on_device
            for n in f.nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id not in {f.node.name, *f.local_names}
        }
        for function in found:
            # Numba takes a function that other device code calls as a device function,
            # whether or not the decorator says so
            if function.kind is Kind.KERNEL and function.node.name in called:
                function.kind = Kind.DEVICE
        return found

    def _functions(self, node: ast.AST, prefix: str) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                yield self._function(child, prefix)
                yield from self._functions(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                yield from self._functions(child, f"{prefix}{child.name}.")
            elif not isinstance(child, ast.expr):
                yield from self._functions(child, prefix)

    def _function(self, node: FunctionNode, prefix: str) -> Function:
        function = Function(prefix + node.name, node)
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            kind = _DECORATORS.get(self.qualified(call.func if call else decorator) or "")
            if kind is None:
                continue
            function.kind, function.decorator = kind, decorator
            if call:
                function.options = {k.arg: k.value for k in call.keywords if k.arg}
                function.signatures = _signatures(call, function.options)
            function.kind = _refined(function)
        return function

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        """Functions by their own name, in source order (a notebook may define one twice)."""
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            found.setdefault(function.node.name, []).append(function)
        return found

    def defined(self, name: str, line: int) -> Function | None:
        """The function that a name means at a line: the last one above, else the first."""
        candidates = self.by_name.get(name, [])
        above = [f for f in candidates if f.node.lineno <= line]
        return above[-1] if above else next(iter(candidates), None)

    def function_at(self, node: ast.AST) -> str:
        """The name of the innermost function around a node, empty at module level."""
        line = node.lineno  # type: ignore[attr-defined]
        around = [f for f in self.functions if f.node.lineno <= line <= (f.node.end_lineno or line)]
        return around[-1].name if around else ""


def _signatures(call: ast.Call, options: dict[str, ast.expr]) -> list[ast.expr]:
    first = call.args[0] if call.args else options.get("signature") or options.get("func_or_sig")
    if isinstance(first, (ast.List, ast.Tuple)):
        return list(first.elts)
    return [] if first is None else [first]


def is_true(node: ast.expr | None) -> bool:
    """Whether an option is the literal True."""
    return isinstance(node, ast.Constant) and node.value is True


def _refined(function: Function) -> Kind:
    if function.kind is Kind.KERNEL and is_true(function.options.get("device")):
        return Kind.DEVICE
    if function.kind is Kind.NOPYTHON and is_true(function.options.get("forceobj")):
        return Kind.OBJECT
    return function.kind


def _header_end(node: ast.AST) -> tuple[int, int] | None:
    """Where the header of a compound statement ends; None for other nodes."""
    last: ast.expr
    if isinstance(node, (ast.For, ast.AsyncFor)):
        last = node.iter
    elif isinstance(node, (ast.While, ast.If)):
        last = node.test
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        item = node.items[-1]
        last = item.optional_vars or item.context_expr
    elif isinstance(node, ast.Try):
        return node.lineno, node.col_offset + 3
    else:
        return None
    return last.end_lineno or last.lineno, last.end_col_offset or last.col_offset
