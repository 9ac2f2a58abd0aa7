"""Reads what Numba and numba-cuda support, one JSON file per target and version, written by
`python -m tests.tools.make_support` from the registries and compilers of the installed ones."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Table:
    """What one target supports, by group: numpy, math, builtins, methods, attributes.

    `supported` maps a name to its parameter lists, an empty one where Numba does not say;
    `unsupported` are names that NumPy or Python have and the target lacks; `arrays_only` are
    functions that the target takes with arrays and not with scalars.
    """

    supported: dict[str, dict[str, list[str]]]
    unsupported: dict[str, frozenset[str]]
    arrays_only: dict[str, frozenset[str]]

    def lacks(self, group: str, name: str) -> bool:
        """Whether the target certainly does not have a name."""
        return name in self.unsupported.get(group, ())

    def misfit(self, group: str, name: str, call: ast.Call) -> str | None:
        """What of a call no version of the function takes: "parameter `axis`" or "2 positional
        arguments"; None when the call fits, or may fit."""
        specs = self.supported.get(group, {}).get(name, [])
        if not specs or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        given = [k.arg for k in call.keywords]
        if None in given:
            return None
        known = {w for s in specs for w in _keywords(s)}
        strange = [k for k in given if k is not None and k not in known]
        if strange:
            return f"parameter `{strange[0]}`"
        if len(call.args) > max(_places(s) for s in specs):
            return f"{len(call.args)} positional arguments"
        return None


def _keywords(spec: str) -> list[str]:
    """The parameters that can be given by name; a positional-only one ends with a slash."""
    return [w.rstrip("?") for w in spec.split() if "/" not in w and not w.startswith("*")]


def _places(spec: str) -> int:
    words = spec.split()
    return 255 if any(w.startswith("*") for w in words) else len(words)


@cache
def table(target: str) -> Table:
    """The newest table of `cpu` or `cuda`.

    There are two CUDA targets, numba-cuda and the one inside Numba; what either of them has
    counts as supported, for the source does not say which will be installed.
    """
    names = ("cuda", "builtin") if target == "cuda" else (target,)
    return _merged([_read(name) for name in names])


def _read(target: str) -> Table:
    path = max(FOLDER.glob(f"{target}-*.json"), key=_version)
    data = json.loads(path.read_text("utf-8"))
    return Table(
        data["supported"],
        {k: frozenset(v) for k, v in data["unsupported"].items()},
        {k: frozenset(v) for k, v in data.get("arrays_only", {}).items()},
    )


def _version(path: Path) -> list[int]:
    return [int(part) for part in path.stem.split("-")[-1].split(".") if part.isdigit()]


def _merged(tables: list[Table]) -> Table:
    groups = tables[0].supported
    return Table(
        {g: {n: s for t in reversed(tables) for n, s in t.supported[g].items()} for g in groups},
        {g: frozenset.intersection(*(t.unsupported[g] for t in tables)) for g in groups},
        {
            g: frozenset().union(*(t.arrays_only.get(g, ()) for t in tables))
            - {n for t in tables for n in t.supported[g].keys() - t.arrays_only.get(g, ())}
            for g in groups
        },
    )
