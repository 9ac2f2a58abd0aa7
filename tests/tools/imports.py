"""Who imports whom in porter: circles, imports inside functions, fan-in and fan-out, the floors.

    python -m tests.tools.imports                 circles, imports that go up, the busiest modules
    python -m tests.tools.imports --all           every module's fan-in and fan-out
    python -m tests.tools.imports --svg FILE      the floors as a drawing

Every import counts, also one inside a function or under `if TYPE_CHECKING`.  The floors are the
layers of the contract in `pyproject.toml`.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.support.paths import ROOT

When = Literal["module", "function", "types"]
Graph = dict[str, set[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, order=True)
class Import:
    """One import: when it runs, or whether only type checkers read it."""

    importer: str
    imported: str
    when: When
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} -> {self.imported}"


@cache
def modules() -> dict[str, Path]:
    """Each module of porter by its dotted name."""
    found = {}
    for path in sorted((ROOT / "porter").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Every import of a module, of porter's and of others'."""
    return tuple(
        Import(name, imported, when, line)
        for name, path in modules().items()
        for imported, when, line in _imports(ast.parse(path.read_text("utf-8")), "module")
    )


def _imports(node: ast.AST, when: When) -> Iterator[tuple[str, When, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield inner if inner in modules() else child.module, when, child.lineno
        elif isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.name, when, child.lineno
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _imports(ast.Module(child.body, []), "types")
            yield from _imports(ast.Module(child.orelse, []), when)
        elif not isinstance(child, ast.expr):
            yield from _imports(child, "function" if isinstance(child, Function) else when)


def inside() -> list[Import]:
    """The imports of one module of porter by another."""
    return [i for i in imports() if i.imported in modules() and i.imported != i.importer]


def graph(edges: Iterable[tuple[str, str]]) -> Graph:
    found: Graph = {}
    for a, b in edges:
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set())
    return found


def circles(g: Graph) -> list[set[str]]:
    """The groups of nodes that reach each other (Tarjan's algorithm), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(g[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = set(stack[stack.index(v) :])
            del stack[stack.index(v) :]
            if len(group) > 1:
                found.append(group)

    for v in sorted(g):
        if v not in index:
            visit(v)
    return sorted(found, key=lambda c: (-len(c), min(c)))


def module_circles() -> list[set[str]]:
    """The circles of modules, imports inside functions and for types counted."""
    return circles(graph((i.importer, i.imported) for i in inside() if i.imported != "porter"))


def floors() -> list[list[str]]:
    """The contract's layers, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return [layer.replace("|", ":").replace(" ", "").split(":") for layer in contract["layers"]]


def room(module: str) -> str:
    """The folder or the file of the package that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def rooms() -> Counter[tuple[str, str]]:
    """How often a module of one room imports one of another."""
    pairs = ((room(i.importer), room(i.imported)) for i in inside() if i.imported != "porter")
    return Counter((a, b) for a, b in pairs if a != b)


def upward() -> list[Import]:
    """Imports of a higher floor."""
    height = {name: -n for n, floor in enumerate(floors()) for name in floor}
    return [
        i
        for i in inside()
        if i.imported != "porter" and height[room(i.imported)] > height[room(i.importer)]
    ]


def fan() -> dict[str, tuple[int, int]]:
    """For each module how many import it, and how many it imports."""
    edges = {(i.importer, i.imported) for i in inside()}
    into, out = Counter(b for _, b in edges), Counter(a for a, _ in edges)
    return {name: (into[name], out[name]) for name in modules()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the drawing of the floors")
    parser.add_argument("--all", action="store_true", help="every module, not the busiest ones")
    options = parser.parse_args()
    if options.svg:
        # not imported by tests of the graph
        from tests.tools.floors_svg import drawing

        options.svg.write_text(drawing(), "utf-8")
        return 0
    for circle in module_circles():
        print(f"circle of {len(circle)}:", *sorted(circle))
    for i in upward():
        print("up:", i)
    kinds = Counter(i.when for i in inside())
    print(", ".join(f"{kinds[k]} {words}" for k, words in WORDS.items()))
    print(f"\n{'imported by':>11}  {'imports':>7}  module")
    busiest = sorted(fan().items(), key=lambda item: (-sum(item[1]), item[0]))
    for name, (into, out) in busiest if options.all else busiest[:25]:
        print(f"{into:11}  {out:7}  {name}")
    return 0


WORDS: dict[When, str] = {
    "module": "imports of modules",
    "function": "inside functions",
    "types": "for type checkers only",
}


if __name__ == "__main__":
    sys.exit(main())
