"""One Python file, parsed once: its tree, the positions of its nodes, its functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from porter.diagnostics import Span, brief
from porter.guarded import Place, deep
from porter.source.depth import without_deep
from porter.source.layout import Parts
from porter.source.scopes import normal, set_names_apart
from porter.source.text import split_lines
from porter.support.reserved import given, marked


@dataclass(frozen=True)
class FunctionSource:
    """A function or method: `name` is `f` or `Class.f`, `node` its libcst definition.

    With `per_element` it is one of numbers, called for the elements of arrays; with `parts` it is
    called for parts of arrays, and `node` has the parameters that are read.  Numba adds `into`, a
    parameter for the array of the results, to a stencil, and so has `node`.
    """

    name: str
    node: cst.FunctionDef
    module: SourceModule
    attributes: tuple[str, ...] = ()  # of `self`, that a method reads
    per_element: bool = False
    parts: Parts | None = None
    into: str = ""

    @property
    def span(self) -> Span:
        """From the `def` line (decorators left out) to the end of the body."""
        return self.module.span(self.node)


def place_of(function: FunctionSource) -> Place:
    """Where a function stands, for what is said of it."""
    module = function.module
    return Place(function.name, module.path, module.span(function.node.name))


class SourceModule:
    """A parsed file.

    Functions that are nested too deeply (`too_deep`) are stubs in its tree.  Raises
    `SyntaxError` or `libcst.ParserSyntaxError` when the text is not Python.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        shallow, self.too_deep = deep(lambda: without_deep(text))
        tree = deep(lambda: cst.parse_module(shallow))
        self._wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self.tree = self._wrapper.module
        self.shown: SourceModule = self
        #: the file's own text, where this one leaves out what is not asked about
        self.whole = text
        self._apart = False
        self._marked: set[str] = set()
        #: types that a run showed: by function and parameter, in Numba's syntax
        self.traced: Mapping[str, Mapping[str, str]] = {}

    def set_names_apart(self) -> None:
        """Mark the user's names that are spelled like ours; places stay those of the text."""
        if not self._apart:
            self._apart = True
            assert self._positions is not None
            self._marked = set_names_apart(self.tree)

    def own(self, names: Iterable[str]) -> frozenset[str]:
        """Names of the module level as the tree has them, marks included."""
        return frozenset(marked(n) if n in self._marked else n for n in names)

    @cached_property
    def lines(self) -> list[str]:
        """The source lines as the user wrote them, without their line ends."""
        return split_lines(self.shown.text)

    @cached_property
    def _positions(self) -> dict[cst.CSTNode, object]:
        # what `resolve` does, without its walk over the tree for providers that there are not
        return deep(lambda: dict(PositionProvider()._gen(self._wrapper)))

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands (columns from 1)."""
        found = self._positions.get(node)
        if found is None:
            # a node made for a suite on the line of its header: where its first part stands
            return self.span(node.children[0])
        start, end = found.start, found.end  # type: ignore[attr-defined]
        return Span(start.line, start.column + 1, end.line, end.column + 1)

    def put(self, node: cst.CSTNode, like: cst.CSTNode) -> None:
        """A tree that is made of parts of this one stands where another node does."""
        stack = [node]
        while stack:
            inner = stack.pop()
            if inner not in self._positions:
                self._positions[inner] = self._positions[like]
                stack += inner.children

    def brief(self, node: cst.CSTNode) -> str:
        """The code of a node, short enough for a message."""
        return brief(self.code(node))

    def code(self, node: cst.CSTNode) -> str:
        """The node's own source text."""
        return deep(lambda: self.tree.code_for_node(node)).strip()

    @cached_property
    def functions(self) -> list[FunctionSource]:
        """Every function of the module and every method of its classes, in order."""
        return list(self._find(self.tree.body, ""))

    @cached_property
    def by_name(self) -> dict[str, FunctionSource]:
        """The functions by name."""
        return {f.name: f for f in self.functions}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the functions and methods, without those of their classes."""
        return frozenset(f.node.name.value for f in self.functions)

    def _find(self, body: object, prefix: str) -> Iterator[FunctionSource]:
        for node in body if isinstance(body, (list, tuple)) else ():
            if isinstance(node, cst.FunctionDef) and not _is_overload(node):
                name = normal(given(node.name.value))
                yield FunctionSource(prefix + name, node, self)
            elif isinstance(node, cst.ClassDef):
                yield from self._find(node.body.body, f"{node.name.value}.")
            elif isinstance(node, (cst.If, cst.Try)):
                yield from self._find(node.body.body, prefix)


def _is_overload(node: cst.FunctionDef) -> bool:
    """Whether a definition only states types: `@overload` over a body that is `...`."""
    names = [d.decorator for d in node.decorators]
    marked_so = any(
        (isinstance(n, cst.Name) and n.value == "overload")
        or (isinstance(n, cst.Attribute) and n.attr.value == "overload")
        for n in names
    )
    match node.body.body:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.Ellipsis())])]:
            return marked_so
        case [cst.Expr(value=cst.Ellipsis())]:
            return marked_so
    return False
