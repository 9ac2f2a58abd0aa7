"""Which statements of the module level bind a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from porter.source.module import SourceModule
from porter.source.walk import walk

#: libraries of which an import certainly succeeds
_ALWAYS_THERE = ("numpy", "math", "cmath", "numba", "builtins")


@dataclass(frozen=True)
class Binding:
    """A statement of the module level that gives a name a meaning."""

    node: cst.CSTNode
    kind: str  # "def", "import", "assign", or what a "global" declaration allows
    meaning: str  # equal for imports of the same thing
    sure: bool  # whether it certainly runs
    spare: bool  # whether it runs only where an import of a `try` fails


def bindings(module: SourceModule) -> dict[str, list[Binding]]:
    """All bindings of each name of the module level, in order."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _statements(module.tree.body, True, False):
        found.setdefault(name, []).append(binding)
    for node in (n for f in module.functions for n in walk(f.node)):
        for item in node.names if isinstance(node, cst.Global) else ():
            found.setdefault(item.name.value, []).append(
                Binding(node, "global", str(id(node)), False, False)
            )
    return {n: _without_spares(own) for n, own in found.items()}


def _without_spares(own: list[Binding]) -> list[Binding]:
    """Without what stands in for a library that is certainly there."""
    there = any(
        b.kind == "import" and b.meaning.split(".")[0] in _ALWAYS_THERE and not b.spare for b in own
    )
    return [b for b in own if not (there and b.spare)]


def _statements(body: object, sure: bool, spare: bool) -> Iterator[tuple[str, Binding]]:
    for node in body if isinstance(body, (list, tuple)) else ():
        match node:
            case cst.SimpleStatementLine(body=parts):
                for part in parts:
                    yield from _small(part, sure, spare)
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                yield name.value, Binding(node, "def", str(id(node)), sure, spare)
            case cst.If() | cst.For() | cst.While() | cst.Else() | cst.Finally():
                yield from _parts(node, False, spare)
            case cst.Try() | cst.TryStar():
                yield from _statements(node.body.body, sure and not node.handlers, spare)
                for handler in node.handlers:
                    yield from _statements(handler.body.body, False, True)
                yield from _parts(node, False, spare, ("orelse", "finalbody"))
            case cst.With():
                yield from _parts(node, sure, spare)


def _parts(
    node: cst.CSTNode, sure: bool, spare: bool, names: tuple[str, ...] = ("body", "orelse")
) -> Iterator[tuple[str, Binding]]:
    for name in names:
        inner = getattr(node, name, None)
        if isinstance(inner, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            block = inner.body
            if isinstance(inner, cst.SimpleStatementSuite):
                for part in inner.body:
                    yield from _small(part, sure, spare)
            else:
                yield from _statements(block, sure, spare)
        elif inner is not None:
            yield from _statements([inner], sure, spare)


def _small(node: cst.CSTNode, sure: bool, spare: bool) -> Iterator[tuple[str, Binding]]:
    match node:
        case cst.Import() | cst.ImportFrom() if not isinstance(node.names, cst.ImportStar):
            base = ""
            if isinstance(node, cst.ImportFrom):
                base = "." * len(node.relative) + dotted(node.module) + "."
            for alias in node.names:
                whole = alias.evaluated_name
                bound = alias.evaluated_alias or (whole if base else whole.partition(".")[0])
                meaning = base + whole if base or alias.asname else bound
                yield bound, Binding(node, "import", meaning, sure, spare)
        case cst.Assign(targets=targets):
            for name in (n for t in targets for n in _targets(t.target)):
                yield name, Binding(node, "assign", str(id(node)), sure, spare)
        case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
            yield name, Binding(node, "assign", str(id(node)), sure, spare)
        case cst.Del(target=target):
            for name in _targets(target):
                yield name, Binding(node, "del", str(id(node)), sure, spare)


def _targets(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for e in elements:
                yield from _targets(e.value)
        case cst.StarredElement(value=value):
            yield from _targets(value)


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` of names and attributes, empty for anything else."""
    if isinstance(node, cst.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr.value}" if owner else ""
    return node.value if isinstance(node, cst.Name) else ""
