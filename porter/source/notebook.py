"""The code cells of a notebook as one Python text, with the way back to cell and line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.diagnostics import Edit, Span, UsageError
from porter.source import newer
from porter.source.text import split_lines

_MAGIC = re.compile(
    r"^(\s*)(%[A-Za-z%]|!|\?)|^(\s*)[\w.]+\?{1,2}\s*$|^(\s*)[\w, ]+=\s*[!%][A-Za-z]"
    # what IPython takes for a command although no sign says so
    r"|^(pip|conda|mamba|uv)\s+[a-z]|^(ls|cd|cat|cp|mv|rm|mkdir|less|more|man)\s+[\w./~-]"
)
#: cell magics whose body is still Python
_PYTHON_CELL = re.compile(
    r"%%(time|timeit|capture|prun|memit|python3?)\b|%%(writefile|file)\b.*\.py\s*$"
)


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among the code cells (from 1) and where it starts in the text."""

    number: int
    start: int
    size: int


@dataclass(frozen=True)
class BrokenCell:
    """A cell that is not Python: the line (of the joined text) and column of the error."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Notebook:
    """The joined text; cells that are not Python are commented out and listed in `broken`."""

    text: str
    cells: tuple[Cell, ...]
    broken: tuple[BrokenCell, ...]


def read_notebook(raw: str, path: str) -> Notebook:
    """Join the code cells of the notebook whose JSON is `raw`.

    Raises `UsageError` when it is not a notebook.
    """
    lines: list[str] = []
    cells: list[Cell] = []
    broken: list[BrokenCell] = []
    for number, source in enumerate(_code_cells(raw, path), 1):
        body = _without_magics(split_lines(source))
        start = len(lines) + 1
        error = _syntax_error(body)
        if error is not None:
            broken.append(BrokenCell(start + (error.lineno or 1) - 1, error.offset or 1, error.msg))
            body = [f"# {line}" for line in body]
        cells.append(Cell(number, start, len(body)))
        lines += [*body, ""]
    return Notebook("\n".join(lines), tuple(cells), tuple(broken))


def _code_cells(raw: str, path: str) -> list[str]:
    try:
        cells = json.loads(raw)["cells"]
        found = [c["source"] for c in cells if c["cell_type"] == "code"]
        return [s if isinstance(s, str) else "".join(s) for s in found]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a notebook") from error


def locked_lines(raw: str, cells: Sequence[Cell], lines: Sequence[str]) -> frozenset[int]:
    """Lines of the joined text that are not what the notebook holds there, such as magics."""
    sources = _code_cells(raw, "")
    return frozenset(
        cell.start + k
        for cell in cells
        for k, line in enumerate(split_lines(sources[cell.number - 1]))
        if lines[cell.start + k - 1] != line
    )


def edit_notebook(
    raw: str, cells: Sequence[Cell], edits: Sequence[Edit], apply: Callable[[str, list[Edit]], str]
) -> str:
    """The notebook's JSON after edits of the joined text, none of which leaves its cell.

    `apply` makes edits in the text of one cell.
    """
    data = json.loads(raw)
    code = [c for c in data["cells"] if c["cell_type"] == "code"]
    for cell in cells:
        mine = [_moved(e, 1 - cell.start) for e in edits
                if cell.start <= e.span.line <= cell.start + cell.size]  # fmt: skip
        if mine:
            entry = code[cell.number - 1]
            was = entry["source"]
            text = apply(was if isinstance(was, str) else "".join(was), mine)
            entry["source"] = text if isinstance(was, str) else text.splitlines(keepends=True)
    indent = re.match(r"\{\n( +)", raw)
    text = json.dumps(data, indent=len(indent[1]) if indent else None, ensure_ascii=False)
    return text + "\n" * raw.endswith("\n")


def _moved(edit: Edit, lines: int) -> Edit:
    s = edit.span
    return Edit(Span(s.line + lines, s.column, s.end_line + lines, s.end_column), edit.text)


def _syntax_error(body: list[str]) -> SyntaxError | None:
    try:
        newer.parse("\n".join(body))
    except SyntaxError as error:
        return error
    return None


def _without_magics(body: list[str]) -> list[str]:
    """The cell with its magics commented out, each on the line where it stood."""
    # Colab's forms begin with a comment, which hides the magic from IPython and not from Colab
    first = next((line for line in body if line.strip() and not line.startswith("#")), "")
    if first.startswith("%%") and not _PYTHON_CELL.match(first):
        return [f"# {line}" for line in body]
    if _syntax_error(body) is None:
        return body
    plain: list[str] = []
    for line, before in zip(body, ["", *body], strict=False):
        # a command goes on below a backslash
        goes_on = before.endswith("\\") and plain[-1].startswith("# ")
        plain.append(f"# {line}" if goes_on else _comment(line))
    return plain


def _comment(line: str) -> str:
    if not _MAGIC.match(line):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    # an indented magic may be the only statement of its block
    return f"{indent}pass  # {line.lstrip()}" if indent else f"# {line}"
