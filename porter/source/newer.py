"""Syntax that is newer than the Python that runs porter, written in the older way.

The one place where a user's text becomes a tree.  What Python's own parser refuses is read by
libcst, which knows Python up to 3.14, and these are replaced in the text: `type` statements, type
parameters, f-strings with quotes, backslashes or comments inside of their braces (PEP 701), and
`except A, B` without brackets.  All lines keep their numbers, and nearly all columns stay.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import io
import re
import sys
import tokenize
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from porter.guarded import deep
from porter.support.parsing import tree_of

if TYPE_CHECKING:
    from porter.source.lowering import Found

#: what may be newer than Python 3.11: libcst is asked only about texts with one of these
_NEWER = re.compile(
    r"""^[ \t]*type\s+\w+\s*[\[=] | \b(?:def|class)\s+\w+\s*\[ | \b[rR]?[fFtT][rR]?["']
      | \bexcept\*?\s+[\w.]+\s*,""",
    re.M | re.X,
)
#: what libcst's tree has nodes of its own for, also where Python reads it
_TYPED = re.compile(r"^[ \t]*type\s+\w+\s*[\[=]|\b(?:def|class)\s+\w+\s*\[", re.M)
#: brackets within one another: libcst's parser takes its stack from the process
_MOST_OPEN = 60
#: f-strings within one another that are lowered
_PASSES = 8
GENERIC = "_porter_Generic"
#: what is said of a text that only a later Python reads
CURE = "run porter with that Python, or move what needs it to another file"
_LINE_END = re.compile(r"\r\n|\r|\n")


class TooNewSyntax(SyntaxError):
    """Syntax of a later Python that has no older form: the text is Python all the same."""


@dataclass(frozen=True)
class Lowered:
    """A text as older Pythons read it.

    `parameters` has the type parameters of functions, classes and aliases with their kind
    (TypeVar, TypeVarTuple or ParamSpec), `classes` those of each class by its line, `aliases` the
    lines of `type` statements.
    """

    text: str
    parameters: Mapping[str, str]
    classes: Mapping[int, tuple[str, ...]]
    aliases: frozenset[int]


def read(text: str, filename: str = "<unknown>") -> tuple[ast.Module, str]:
    """The tree of a text, and the text that it is the tree of: lowered where it has to be.

    Raises what `ast.parse` raises.
    """
    try:
        tree = tree_of(text, filename)
    except SyntaxError as error:
        older = _lowered(text, filename, error)
        return tree_of(older.text, filename), older.text
    if sys.version_info >= (3, 12) and _TYPED.search(text):
        # read by Python, but not by those who walk over libcst's tree
        older = _lowered(text, filename, SyntaxError("not read by libcst"))
        return tree_of(older.text, filename), older.text
    return tree, text


def parse(text: str, filename: str = "<unknown>") -> ast.Module:
    """The tree of a text; raises what `ast.parse` raises."""
    return read(text, filename)[0]


def plain(text: str) -> str:
    """A text as the library's tokenizer reads it; the text itself where it is not Python."""
    if not _NEWER.search(text):
        return text
    try:
        return read(text)[1]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def runnable(text: str, filename: str) -> tuple[ast.Module, dict[str, Any]]:
    """The tree of a text to be executed, and the names that its module has to have for that.

    Type parameters become names of the module, and classes that have some are generic.
    """
    try:
        return tree_of(text, filename), {}
    except SyntaxError as error:
        older = _lowered(text, filename, error)
    tree = _Runnable(older).visit(tree_of(older.text, filename))
    made: dict[str, Any] = {GENERIC: typing.Generic}
    made |= {name: getattr(typing, kind)(name) for name, kind in older.parameters.items()}
    return ast.fix_missing_locations(tree), made


def compiled(raw: bytes, filename: str) -> tuple[CodeType, dict[str, Any]]:
    """The code of a file, and the names that its module has to have before it runs.

    Raises what `compile` raises.
    """
    try:
        return compile(raw, filename, "exec", dont_inherit=True), {}
    except SyntaxError:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            text = io.TextIOWrapper(io.BytesIO(raw), encoding).read()
        except (SyntaxError, UnicodeDecodeError, LookupError):
            text = ""
        if not text:
            raise
    tree, names = runnable(text, filename)
    return compile(tree, filename, "exec", dont_inherit=True), names


def read_imports() -> None:
    """Let `import` lower modules that are too new for the Python that runs."""
    loader = importlib.machinery.SourceFileLoader
    before = loader.source_to_code
    if getattr(before, "porter_lowers", False):
        return

    def source_to_code(self: Any, data: Any, path: Any, *args: Any, **options: Any) -> Any:
        try:
            return before(self, data, path, *args, **options)
        except SyntaxError:
            text = importlib.util.decode_source(data) if isinstance(data, bytes) else ""
            if not text:
                raise
        tree, names = runnable(text, path)
        first = _prelude(tree)
        tree.body[first:first] = _declared(names)
        return compile(tree, path, "exec", dont_inherit=True)

    source_to_code.porter_lowers = True  # type: ignore[attr-defined]
    loader.source_to_code = source_to_code  # type: ignore[method-assign]


def _prelude(tree: ast.Module) -> int:
    """How many statements have to come first: a docstring, and what is from `__future__`."""
    count = 0
    for statement in tree.body:
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not text and not future:
            break
        count += 1
    return count


def _declared(names: Mapping[str, Any]) -> list[ast.stmt]:
    """Statements that give a module the names of `runnable`."""
    lines = [f"{GENERIC} = __import__('typing').Generic"] if names else []
    made = {name: type(value).__name__ for name, value in names.items() if name != GENERIC}
    lines += [f"{name} = __import__('typing').{kind}({name!r})" for name, kind in made.items()]
    return tree_of("\n".join(lines)).body


def changed_lines(text: str) -> frozenset[int]:
    """The lines that are not in the tree as they are in the text."""
    older = plain(text)
    if older is text:
        return frozenset()
    pairs = zip(_LINE_END.split(text), _LINE_END.split(older), strict=True)
    return frozenset(n for n, (one, other) in enumerate(pairs, 1) if one != other)


def _lowered(text: str, filename: str, error: SyntaxError) -> Lowered:
    """The text lowered; raises `error`, or a later one, when it is not Python at all."""
    if not _NEWER.search(text) or _open(text) > _MOST_OPEN:
        raise error
    found = _lower(text)
    if isinstance(found, Lowered):
        return found
    line, column, message = found
    if not message and line <= (error.lineno or 1):
        raise error
    # Python stops at the first line that is too new for it, libcst at the one that is wrong
    said = "".join(_LINE_END.split(text)[line - 1 : line])
    column = max(column, len(said) - len(said.lstrip()) + 1)
    place = (filename, line, column, said)
    raise TooNewSyntax(message, place) if message else SyntaxError("invalid syntax", place)


def _open(text: str) -> int:
    """How deep brackets are at most, roughly: those in strings count, each statement anew."""
    most = now = 0
    for line in _LINE_END.split(text):
        if line[:1].strip() and line[0] not in ")]}":
            now = 0
        for mark in line:
            now += (mark in "([{") - (mark in ")]}")
            most = max(most, now)
    return most


@lru_cache(maxsize=16)
def _lower(text: str) -> Lowered | tuple[int, int, str]:
    """The text lowered, or where it is wrong: line, column and, if libcst knows, what."""
    import libcst as cst

    from porter.source.lowering import TooNew, found

    def action() -> Lowered | tuple[int, int, str]:
        first: Found | None = None
        older = text
        try:
            for _ in range(_PASSES):
                here = found(older)
                first = first or here
                if not here.edits:
                    break
                older = _edited(older, here.edits)
        except cst.ParserSyntaxError as error:
            return error.raw_line, error.raw_column + 1, ""
        except TooNew as error:
            return error.line, error.column, str(error)
        assert first is not None
        return Lowered(older, first.parameters, first.classes, frozenset(first.aliases))

    return deep(action)


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Runnable(ast.NodeTransformer):
    """What the lowered text leaves out and a running program may need."""

    def __init__(self, older: Lowered) -> None:
        self.older = older

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class with type parameters is generic."""
        self.generic_visit(node)
        names: list[ast.expr] = []
        for name in self.older.classes.get(node.lineno, ()):
            loaded: ast.expr = ast.Name(name, ast.Load())
            several = self.older.parameters.get(name) == "TypeVarTuple"
            names.append(ast.Starred(loaded, ast.Load()) if several else loaded)
        if names:
            generic = ast.Name(GENERIC, ast.Load())
            index = ast.Tuple(names, ast.Load())
            node.bases.append(ast.Subscript(generic, index, ast.Load()))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """The value of a `type` statement may use names that come later: then it is its text."""
        if node.lineno not in self.older.aliases:
            return node
        text = ast.Assign(node.targets, ast.Constant(ast.unparse(node.value)))
        handler = ast.ExceptHandler(None, None, [text])
        return ast.copy_location(ast.Try([node], [handler], [], []), node)
