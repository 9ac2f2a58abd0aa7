"""The names of a finished module: the user's lose their marks, what would collide gets a number.

Until here the user's names and ours cannot be confused (`support/reserved.py`).  Now each scope
is given its names: what must be as it is (the functions and their parameters), then ours, then
the user's variables.  So a number appears only where two names meet in one scope.
"""

from __future__ import annotations

import builtins
import keyword
import re
import symtable
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

import libcst as cst

from porter.support.reserved import MARK, OWN_KEYWORDS, given

_BUILTINS = frozenset(dir(builtins))
#: an import by the same name, which a mark had told apart
_SAME = re.compile(r"^((?:from \S+ )?import )(\w+) as \2$", re.MULTILINE)
#: characters that Python reads as the ASCII letters that they stand for
_BOLD = {c: chr(0x1D41A + k) for k, c in enumerate("abcdefghijklmnopqrstuvwxyz")}


@dataclass
class Named:
    """The text of a module with its final names."""

    text: str
    globals: Mapping[str, str] = field(default_factory=dict)
    streams: Mapping[str, str] = field(default_factory=dict)  # where it is not called `stream`
    builtins: frozenset[str] = frozenset()  # other names of those that the user's hide


@dataclass
class _Part:
    """A function of the module: the names that it binds, and those that it takes from around."""

    name: str
    bound: set[str]
    free: set[str]
    exact: frozenset[str] = frozenset()
    finals: dict[str, str] = field(default_factory=dict)


def spelled(name: str) -> str:
    """A name as it may stand in a program: a keyword is spelled so that it is none."""
    name = given(name)
    return _BOLD[name[0]] + name[1:] if keyword.iskeyword(name) else name


def free_names(text: str) -> set[str]:
    """The names that the functions and statements of a module take from its top or builtins."""
    table = symtable.symtable(text, "module", "exec")
    found = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    for child in table.get_children():
        found |= _part(child, {}).free
    return found


def settle(text: str, exact: Mapping[str, Iterable[str]], same: Mapping[str, str]) -> Named:
    """The module with its final names.

    `exact` are the host functions and their parameters, which keep their names; `same` are names
    of the module level that are another one.
    """
    table = symtable.symtable(text, "module", "exec")
    parts = [_part(child, exact) for child in table.get_children()]
    for part in parts:
        part.free |= {same[n] for n in part.free & same.keys()}
    top = {s.get_name() for s in table.get_symbols()}
    every = {given(n) for p in parts for n in (*p.bound, *p.free)} | {given(n) for n in top}
    finals = _globals(parts, top, exact, every)
    finals |= {n: finals.get(m, m) for n, m in same.items() if n in finals}
    own: dict[str, str] = {}
    for p in parts:
        _locals(p, finals, every, own)
    streams = {given(p.name): p.finals["stream"] for p in parts if "stream" in p.finals}
    streams = {f: s for f, s in streams.items() if s != "stream" and f in map(given, exact)}
    maps = [finals, *(p.finals for p in parts)]
    if all(v == given(k) for names in maps for k, v in names.items()):
        return Named(_without_marks(text), finals)
    changed = cst.parse_module(text).visit(_Rename(finals, {p.name: p.finals for p in parts}))
    bound = {s.get_name() for s in table.get_symbols() if _is_bound(s)}
    hidden = {n: f for n, f in finals.items() if n != f and n not in bound and n in _BUILTINS}
    text = _without_marks(_with_builtins(changed.code, hidden))
    return Named(text, finals, streams, frozenset(hidden.values()))


def _is_bound(s: symtable.Symbol) -> bool:
    return s.is_assigned() or s.is_imported() or s.is_namespace()


def _without_marks(text: str) -> str:
    # `import a as b` with a mark is no other name any more
    return _SAME.sub(r"\1\2", given(text)) if MARK in text else text


def _part(table: symtable.SymbolTable, exact: Mapping[str, Iterable[str]]) -> _Part:
    """A function, what is inside of it counted with it."""
    bound: set[str] = set()
    free: set[str] = set()
    stack = [table]
    while stack:
        inner = stack.pop()
        for s in inner.get_symbols():
            (free if s.is_global() else bound).add(s.get_name())
        stack += inner.get_children()
    # the name of a comprehension's iterable is none that text can have
    bound = {n for n in bound if not n.startswith(".")}
    return _Part(table.get_name(), bound, free, frozenset(exact.get(table.get_name(), ())))


def _globals(
    parts: list[_Part], top: Set[str], exact: Mapping[str, Iterable[str]], every: set[str]
) -> dict[str, str]:
    """The names of the module level and the builtins that are used, ours before the user's."""
    finals = {name: spelled(name) for name in exact}
    used = {n for p in parts for n in p.free} | top
    for name in sorted(used - finals.keys(), key=lambda n: (MARK in n, n)):
        hidden = {given(x) for p in parts if name in p.free for x in p.exact}
        finals[name] = _unused(name, {*finals.values(), *hidden}, every)
    return finals


def _locals(p: _Part, finals: Mapping[str, str], every: set[str], own: dict[str, str]) -> None:
    """The names in a function; `own` are those of our keywords, the same in all functions."""
    around = {finals.get(n, n) for n in p.free}
    p.finals = {n: spelled(n) for n in p.exact}
    for name in sorted(p.bound - p.exact, key=lambda n: (MARK in n, n)):
        taken = {*p.finals.values(), *around}
        again = own.get(name, "") if name in taken else ""
        p.finals[name] = again if again and again not in taken else _unused(name, taken, every)
        if name in OWN_KEYWORDS and p.finals[name] != name:
            own[name] = p.finals[name]


def _unused(name: str, taken: Set[str], every: set[str]) -> str:
    wanted = given(name)
    if wanted not in taken and not keyword.iskeyword(wanted):
        return wanted
    k = 2
    while f"{wanted}{k}" in taken or f"{wanted}{k}" in every:
        k += 1
    every.add(f"{wanted}{k}")
    return f"{wanted}{k}"


class _Rename(cst.CSTTransformer):
    """Puts the final names into the tree of a module."""

    def __init__(self, top: Mapping[str, str], parts: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__()
        self.top, self.parts = top, parts
        self.inside: Mapping[str, str] = {}
        self.depth = 0
        self.kept: set[cst.CSTNode] = set()

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.kept.add(node.attr)

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self.kept.add(node.keyword)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """A keyword is what the parameter of the function is called that it is passed to."""
        called = original_node.func
        names = self.parts.get(called.value, {}) if isinstance(called, cst.Name) else {}
        args = [
            a if a.keyword is None else a.with_changes(
                keyword=cst.Name(names.get(a.keyword.value, a.keyword.value))
            )
            for a in updated_node.args
        ]  # fmt: skip
        return updated_node.with_changes(args=args)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        # decorators and defaults are evaluated outside
        if self.depth == 0:
            self.inside = self.parts[node.name.value]
        self.depth += 1
        return True

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.depth -= 1
        if self.depth:
            return updated_node
        self.inside = {}
        outside = _Rename(self.top, {})
        name = original_node.name.visit(outside)
        decorators = [d.visit(outside) for d in original_node.decorators]
        params = updated_node.params.with_changes(
            **{
                group: [
                    new.with_changes(default=old.default.visit(outside) if old.default else None)
                    for old, new in zip(
                        getattr(original_node.params, group),
                        getattr(updated_node.params, group),
                        strict=True,
                    )
                ]
                for group in ("params", "kwonly_params", "posonly_params")
            }
        )
        return updated_node.with_changes(name=name, decorators=decorators, params=params)

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        return updated_node.with_changes(names=[self._alias(a) for a in original_node.names])

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom:
        if isinstance(original_node.names, cst.ImportStar):
            return updated_node
        return updated_node.with_changes(names=[self._alias(a) for a in original_node.names])

    def _alias(self, alias: cst.ImportAlias) -> cst.ImportAlias:
        whole = alias.evaluated_name
        bound = alias.evaluated_alias or whole
        new = self.inside.get(bound) or self.top.get(bound, bound)
        if new == bound:
            return alias
        if new == whole:
            return alias.with_changes(asname=None)
        return alias.with_changes(asname=cst.AsName(name=cst.Name(new)))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        if original_node in self.kept:
            return updated_node
        name = updated_node.value
        return updated_node.with_changes(value=self.inside.get(name) or self.top.get(name, name))


def _with_builtins(text: str, hidden: Mapping[str, str]) -> str:
    """Builtins that a name of the user hides are imported by another one."""
    if not hidden:
        return text
    names = ", ".join(f"{n} as {f}" for n, f in sorted(hidden.items()))
    lines, new = text.split("\n"), [f"from builtins import {names}"]
    at = next(k for k, line in enumerate(lines) if line.startswith(("import ", "from ")))
    first = lines[at : lines.index("", at)]
    if any(line.startswith(("import numpy", "from numba")) for line in first):
        return "\n".join([*lines[:at], *new, "", *lines[at:]])
    place = at + sum(line.startswith("import ") for line in first)
    return "\n".join([*lines[:place], *new, *lines[place:]])
