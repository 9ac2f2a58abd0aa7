"""The size and form that code in porter/ keeps, so that one sitting suffices to read a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.support.paths import ROOT

FILES = sorted((ROOT / "porter").rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError|xfail)\b")


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def length(node: Function) -> int:
    """From `def` to the last line of the body, docstring included."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def unannotated(node: Function) -> list[str]:
    """The parameters (and `return`) without an annotation."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args]
    if named and named[0].arg in ("self", "cls"):
        named = named[1:]
    named += [*arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
    missing = [a.arg for a in named if a.annotation is None]
    return missing + ["return"] * (node.returns is None)


def test_files_are_short() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in FILES}
    # empty __init__ files would pull the median down without making anything shorter
    assert median(size for size in sizes.values() if size > 1) <= 150
    assert {name: size for name, size in sizes.items() if size > 600} == {}


def test_functions_are_short() -> None:
    sizes = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": length(node)
        for path in FILES
        for node in functions(path)
    }
    assert median(sizes.values()) <= 15
    assert {name: size for name, size in sizes.items() if size > 80} == {}


def test_functions_are_annotated() -> None:
    missing = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": unannotated(node)
        for path in FILES
        for node in functions(path)
    }
    assert {name: names for name, names in missing.items() if names} == {}


def test_nothing_is_left_unfinished() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNFINISHED.search(line)
    ]
    assert found == []
