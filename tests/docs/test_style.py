"""What users read holds none of the phrases that the word list of docs/style.md says to avoid."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from porter.cli import app
from tests.support.paths import GOLDEN, ROOT

STYLE = ROOT / "docs" / "style.md"
COMMANDS = ("", "analyze", "convert", "verify", "trace", "explain", "rules", "doctor")
#: pages that are generated: their texts come from measurements or from the rules
GENERATED = {"numpy-support.md"}


def avoided(page: str) -> list[str]:
    """The phrases of the word list's first column."""
    rows = re.findall(r"^\| ([^|]+) \|[^|]+\|[^|]+\|$", page.split("## Word list")[1], re.M)
    return [phrase.strip() for row in rows if row != "avoid" for phrase in row.split(",")]


PHRASES = avoided(STYLE.read_text("utf-8"))
PATTERN = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, PHRASES))})(?![\w-])", re.I)


def found(text: str) -> list[str]:
    """Avoided phrases in a text, each with the words around it; a line's end is a space."""
    flat = re.sub(r"\s+", " ", re.sub(r"^# ", "", text, flags=re.M))
    return [flat[max(m.start() - 40, 0) : m.end() + 20] for m in PATTERN.finditer(flat)]


def literals(source: str) -> Iterator[str]:
    """The string literals of a module with a space in them, without docstrings."""
    tree = ast.parse(source)
    statements = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    inside = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if " " in node.value and id(node) not in statements | inside:
                yield node.value


def pages() -> list[Path]:
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [p for p in every if p != STYLE and p.name not in GENERATED]


def named(paths: list[Path]) -> list[str]:
    return [str(p.relative_to(ROOT)) for p in paths]


@pytest.mark.parametrize("page", pages(), ids=named(pages()))
def test_pages(page: Path) -> None:
    assert found(page.read_text("utf-8")) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0
    assert found(done.output) == []


def test_the_texts_in_the_program() -> None:
    files = sorted((ROOT / "porter").rglob("*.py"))
    wrong = {f.name: [h for s in literals(f.read_text("utf-8")) for h in found(s)] for f in files}
    assert {name: hits for name, hits in wrong.items() if hits} == {}


def test_templates_and_generated_modules() -> None:
    files = [f for f in (ROOT / "templates").rglob("*") if f.is_file()]
    files += sorted(GOLDEN.glob("*_cuda.py"))
    assert len(files) > 20
    assert {f.name: hits for f in files if (hits := found(f.read_text("utf-8")))} == {}


def test_the_test_finds_what_was_planted() -> None:
    assert len(PHRASES) > 30 and "tamer" in PHRASES
    assert found("The kernel is\nproved here.") == ["The kernel is proved here."]
    assert found("# porter: Tamer inputs") and found("it waits\n# for ever")
    assert found("improved, waterproof, for every, proof-read, a proven bound") == []


def test_messages_are_found_in_the_program_and_docstrings_are_not() -> None:
    source = '''
def f(name):
    """A proof in a docstring."""
    # a proof in a comment
    raise ValueError(f"`{name}` lacks its " "argument", "tamer")
'''
    assert list(literals(source)) == ["`{}` lacks its argument"]
    assert found("".join(literals(source)))
