"""What the budgets count in porter's code: lines, branches, fields, files in a folder."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

FILES = sorted((ROOT / "porter").rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def named(path: Path, name: str = "") -> str:
    """A file, and something in it, as the lists of the budgets write it."""
    return str(path.relative_to(ROOT / "porter")).replace("\\", "/") + f" {name}".rstrip()


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def functions() -> Iterator[tuple[Path, Function]]:
    for path in FILES:
        yield from ((path, n) for n in ast.walk(tree(path)) if isinstance(n, Function))


def length(node: Function) -> int:
    """From `def` to the last line of the body, docstring included."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def branchy(limit: int) -> set[str]:
    """The functions with more branches than the limit, as ruff counts them (C901)."""
    command = [sys.executable, "-m", "ruff", "check", "porter", "--no-cache", "--select", "C901"]
    command += ["--config", f"lint.mccabe.max-complexity={limit}", "--output-format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    return {named(Path(f["filename"]), f["message"].split("`")[1]) for f in found}


def folders() -> Counter[str]:
    """How many files each folder of the package has, its `__init__.py` apart."""
    return Counter(named(p.parent) for p in FILES if p.name != "__init__.py")


def fields(node: ast.ClassDef) -> set[str]:
    """What the instances of a class hold, if it can change: none for a frozen dataclass."""
    decorators = [ast.unparse(d) for d in node.decorator_list]
    if any("frozen=True" in d for d in decorators):
        return set()
    found: set[str] = set()
    if any(d.startswith("dataclass") for d in decorators):
        found |= {
            ast.unparse(n.target)
            for n in node.body
            if isinstance(n, ast.AnnAssign) and "ClassVar" not in ast.unparse(n.annotation)
        }
    for n in ast.walk(node):
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store):
            if isinstance(n.value, ast.Name) and n.value.id == "self":
                found.add(n.attr)
    return found


def states() -> dict[str, int]:
    """The number of fields of each class whose instances can change."""
    return {
        named(path, node.name): len(fields(node))
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    }
