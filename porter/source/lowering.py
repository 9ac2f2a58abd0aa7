"""What of newer Python is in a text, and its replacement in the text (see `newer`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from porter.support.parsing import tree_of

_LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTES = ("'''", '"""')


class TooNew(Exception):
    """Syntax that has no older form; the text says what."""

    def __init__(self, text: str, line: int, column: int) -> None:
        super().__init__(text)
        self.line, self.column = line, column


@dataclass
class Found:
    """The edits of a text, as offsets and the new text, and its type parameters."""

    edits: list[tuple[int, int, str]] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    classes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    aliases: set[int] = field(default_factory=set)


def found(text: str) -> Found:
    """What is newer in a text; raises `TooNew` and libcst's `ParserSyntaxError`."""
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    finder = _Finder(text, wrapper)
    wrapper.module.visit(finder)
    return finder.found


class _Finder(cst.CSTVisitor):
    """Collects what is newer than Python 3.11."""

    def __init__(self, text: str, wrapper: MetadataWrapper) -> None:
        super().__init__()
        self.text = text
        self.module = wrapper.module
        self.ranges = wrapper.resolve(PositionProvider)
        self.starts = [0, *(m.end() for m in _LINE_END.finditer(text))]
        self.found = Found()

    def range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node stands: offsets."""
        place = self.place(node)
        return (
            self.starts[place.start.line - 1] + place.start.column,
            self.starts[place.end.line - 1] + place.end.column,
        )

    def place(self, node: cst.CSTNode) -> CodeRange:
        """Where a node stands: lines and columns."""
        return self.ranges[node]

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node."""
        start, end = self.range(node)
        return self.text[start:end]

    def replace(self, start: int, end: int, new: str) -> None:
        """Put a text in place of another one."""
        self.found.edits.append((start, end, new))

    # -- type parameters and aliases -----------------------------------------------------------

    def visit_TypeAlias(self, node: cst.TypeAlias) -> None:
        """`type X = ...` becomes an assignment whose value stays where it is."""
        self.found.aliases.add(self.place(node).start.line)
        self._declare(node.type_parameters)
        start, end = self.range(node)[0], self.range(node.value)[0]
        own, lines = node.name.value, _LINE_END.findall(self.text[start:end])
        if lines:
            indent = " " * (end - self.starts[self.place(node.value).start.line - 1])
            self.replace(start, end, own + " = " + "".join(f"\\{x}" for x in lines) + indent)
        else:
            self.replace(start, end, own.ljust(end - start - 2) + "= ")

    def visit_TypeParameters(self, node: cst.TypeParameters) -> bool:
        """`[T]` becomes blanks; lines within it stay lines."""
        start, end = self.range(node)
        text = self.text[start:end]
        if not any(start >= a and end <= b for a, b, _ in self.found.edits):
            ends = _LINE_END.findall(text)
            lines = _LINE_END.split(text)
            blank = "".join(" " * len(x) + f"\\{e}" for x, e in zip(lines, ends, strict=False))
            self.replace(start, end, blank + " " * len(lines[-1]))
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """The parameters become names of the module."""
        self._declare(node.type_parameters)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        """The class is generic in its parameters."""
        names = self._declare(node.type_parameters)
        if names:
            # the line of `class`: decorators do not count
            self.found.classes[self.place(node.name).start.line] = names

    def _declare(self, node: cst.TypeParameters | None) -> tuple[str, ...]:
        names = {p.param.name.value: type(p.param).__name__ for p in node.params} if node else {}
        self.found.parameters |= names
        return tuple(names)

    # -- exceptions, templates -----------------------------------------------------------------

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        """`except A, B` gets its brackets."""
        self._bracket(node.type)

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:
        """So does `except* A, B`."""
        self._bracket(node.type)

    def _bracket(self, node: cst.BaseExpression | None) -> None:
        if isinstance(node, cst.Tuple) and not node.lpar:
            start, end = self.range(node)
            self.replace(start, end, f"({self.text[start:end]})")

    def visit_TemplatedString(self, node: cst.CSTNode) -> None:
        """Their values are objects that there are not before Python 3.14."""
        start = self.place(node).start
        raise TooNew("template strings need Python 3.14", start.line, start.column + 1)

    # -- f-strings -------------------------------------------------------------------------------

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        """Other quotes around it, or else its parts joined."""
        self._strings([node])
        return False

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> bool:
        """Strings side by side are one string."""
        self._strings(list(_parts(node)))
        return False

    def _strings(self, parts: Sequence[cst.CSTNode]) -> None:
        newer = [p for p in parts if not _is_read(self.source(p))]
        if not newer:
            return
        quoted = [self._quoted(p) for p in newer if isinstance(p, cst.FormattedString)]
        if len(quoted) == len(newer) and all(quoted):
            for part, text in zip(newer, quoted, strict=True):
                self.replace(*self.range(part), text)
            return
        start, end = self.range(parts[0])[0], self.range(parts[-1])[1]
        template, values, at = "", list[str](), start
        for part in parts:
            first, last = self.range(part)
            # what stands between two strings may be the ends of lines
            template += self.text[at:first]
            if isinstance(part, cst.FormattedString):
                quote = part.prefix.lower().replace("f", "") + part.quote
                template += quote + self._template(part.parts, quote, values) + part.end
            else:
                template += _without_fields(self.text[first:last])
            at = last
        self.replace(start, end, f"({template}).format({', '.join(values)})")

    def _quoted(self, node: cst.FormattedString) -> str:
        """The string between quotes that its expressions do not have, as far as there are some."""
        start, end = self.range(node)
        body = self.text[start + len(node.start) : end - len(node.end)]
        for quotes in _QUOTES:
            text = f"{node.prefix}{quotes}{body}{quotes}"
            if quotes not in body and not body.endswith(quotes[0]) and _is_read(text):
                return text
        return ""

    def _template(
        self, parts: Sequence[cst.BaseFormattedStringContent], quote: str, values: list[str]
    ) -> str:
        """What `format` makes the same text of, between such quotes; its arguments are added to
        `values`."""
        text = ""
        for part in parts:
            if isinstance(part, cst.FormattedStringText):
                text += part.value
            elif isinstance(part, cst.FormattedStringExpression):
                text += self._field(part, quote, values)
        return text

    def _field(self, part: cst.FormattedStringExpression, quote: str, values: list[str]) -> str:
        code = self.module.code_for_node
        before, after = part.whitespace_before_expression, part.whitespace_after_expression
        inner = code(before) + code(part.expression) + code(after)
        values.append(f"({inner})")
        shown, conversion = "", part.conversion
        if part.equal is not None:
            # the text of the expression may have any quotes: it is a string of its own
            end = quote.lstrip("rR")
            shown = f"{end} {_without_fields(repr(inner + code(part.equal)))} {quote}"
            conversion = conversion or (None if part.format_spec else "r")
        how = f"!{conversion}" if conversion else ""
        if part.format_spec:
            how += ":" + self._spec(part.format_spec, quote, values)
        return f"{shown}{{{how}}}"

    def _spec(
        self, parts: Sequence[cst.BaseFormattedStringContent], quote: str, values: list[str]
    ) -> str:
        """The same for what stands after a colon, where `format` has plain fields only."""
        text = ""
        for part in parts:
            if isinstance(part, cst.FormattedStringText):
                text += part.value
            elif isinstance(part, cst.FormattedStringExpression):
                own: list[str] = []
                field = self._field(part, quote, own)
                plain = field == "{}"
                end = quote.lstrip("rR")
                made = own[0] if plain else f"({quote}{field}{end}).format({', '.join(own)})"
                values.append(made)
                text += "{}"
        return text


def _without_fields(literal: str) -> str:
    """A string's literal of which `format` makes that string."""
    named = "" if "r" in literal[: literal.find(literal[-1])].lower() else r"\\N\{[^}]*\}|"
    return re.sub(named + "[{}]", lambda m: m[0] * 2 if m[0] in "{}" else m[0], literal)


def _parts(node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.ConcatenatedString):
        yield from _parts(node.left)
        yield from _parts(node.right)
    else:
        yield node


def _is_read(text: str) -> bool:
    """Whether Python's own parser reads a string."""
    try:
        tree_of(f"({text}\n)")
    except (SyntaxError, ValueError):
        return False
    return True
