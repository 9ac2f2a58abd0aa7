"""The top level of a module: which of its statements give a name its value.

A constant can be read from its own assignment only where no other statement can touch it.  Else
its value takes a *slice*: the statements that bind it, store into it or hand it on, with what
those need, in the order of the file.  `TopLevel` finds both without running anything.
"""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from porter.numpy_functions import spec_of
from porter.resolve import calls
from porter.resolve.effects import (
    Patch,
    Region,
    Walker,
    function_region,
)
from porter.resolve.filenames import Names, assigned_values, defines, file_names, is_main
from porter.resolve.syntax import dotted, parameters
from porter.source import newer

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Plain:
    """A constant that its own assignment tells: the value stands at this line."""

    line: int


@dataclass(frozen=True)
class Executed:
    """A constant whose value statements compute: `lines` are where they start."""

    lines: tuple[int, ...]


@dataclass(frozen=True)
class Unknown:
    """A constant whose value cannot be known before the program runs."""

    line: int
    why: str


@dataclass(frozen=True)
class _Fact:
    """A change of what a name holds, by a region of code."""

    region: str
    line: int
    sure: bool


class TopLevel:
    """The names of one module, by what its statements do.  Raises what `newer.parse` raises."""

    def __init__(self, text: str) -> None:
        with warnings.catch_warnings():
            # invalid escapes are the business of other tools
            warnings.simplefilter("ignore")
            self.body = newer.parse(text).body
        self.names = file_names(self.body)
        self.main = {k for k, s in enumerate(self.body) if is_main(s)}
        self.regions: dict[str, Region] = {}
        self._definitions: dict[str, list[Definition]] = defaultdict(list)
        self._classes: dict[str, list[str]] = {}
        for k, statement in enumerate(self.body):
            region = Region(f"#{k}")
            self.regions[region.name] = region
            Walker(region, self.names).statement(statement)
            self._define(statement, "")

    def _define(self, statement: ast.stmt, prefix: str) -> None:
        """Read the bodies of the functions that a statement of the top level defines."""
        stack: list[tuple[ast.AST, str]] = [(statement, prefix)]
        while stack:
            node, owner = stack.pop()
            if isinstance(node, _FUNCTIONS):
                name = owner + node.name
                region = function_region(name, node, self.names)
                if name in self.regions:
                    _merge(self.regions[name], region)
                else:
                    self.regions[name] = region
                self._definitions[name].append(node)
                if owner:
                    self._classes.setdefault(owner[:-1], []).append(name)
            elif isinstance(node, ast.ClassDef):
                stack += [(s, f"{owner}{node.name}.") for s in node.body]
            elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
                stack += [(c, owner) for c in ast.iter_child_nodes(node)]

    # -- who runs --------------------------------------------------------------------------

    def _reached(self, start: Iterable[str]) -> set[str]:
        """The functions that code which needs these names may call."""
        found: set[str] = set()
        stack = list(start)
        while stack:
            name = stack.pop()
            for own in (name, *self._classes.get(name, ())):
                if own in self._definitions and own not in found:
                    found.add(own)
                    stack += self.regions[own].needs
        return found

    @cached_property
    def _runs(self) -> dict[int, set[str]]:
        """For each statement that runs on import, its region and the functions it may call."""
        return {
            k: {f"#{k}"} | self._reached(self.regions[f"#{k}"].needs)
            for k in range(len(self.body))
            if k not in self.main
        }

    @cached_property
    def _on_import(self) -> set[str]:
        return set().union(*self._runs.values())

    # -- what is changed ---------------------------------------------------------------------

    @cached_property
    def scalars(self) -> set[str]:
        """Names that only ever hold numbers, texts and the like, which nothing can change."""
        found: set[str] = set()
        held: dict[str, list[ast.expr | None]] = defaultdict(list)
        for statement in self.body:
            assigned_values(statement, held)
        names = [n for n in self._bindings if n in held]
        for _ in range(3):
            found |= {
                n for n in names
                if all(v is not None and self._is_scalar(v, found) for v in held[n])
                and len(held[n]) >= len(self._bindings[n])
            }  # fmt: skip
        return found

    def _is_scalar(self, node: ast.expr, known: set[str]) -> bool:
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.Name(id=name):
                return name in known or name in self.names.functions
            case ast.UnaryOp(operand=value):
                return self._is_scalar(value, known)
            case ast.BinOp():
                part: ast.expr = node
                while isinstance(part, ast.BinOp):
                    if not self._is_scalar(part.right, known):
                        return False
                    part = part.left
                return self._is_scalar(part, known)
            case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
                return all(self._is_scalar(p, known) for p in parts)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_scalar(body, known) and self._is_scalar(orelse, known)
            case ast.Attribute(value=ast.Call(func=func)):
                return self._library(func) in ("numpy.finfo", "numpy.iinfo")
            case ast.Attribute():
                return self._library(node).rpartition(".")[0] in ("numpy", "math", "cmath")
            case ast.Call(func=ast.Name(id=name)) if name in calls.PLAIN_BUILTINS:
                return name not in self._bindings
            case ast.Call(func=func, args=args, keywords=[]):
                plain = not any(isinstance(a, ast.Tuple) for a in args)
                return plain and self._makes_scalars(func) and all(
                    self._is_scalar(a, known) for a in args
                )  # fmt: skip
        return False

    def _makes_scalars(self, func: ast.expr) -> bool:
        root, _, last = self._library(func).rpartition(".")
        if root == "numpy":
            return last in calls.NUMPY_SCALARS or spec_of(last).inputs is not None
        if root in ("math", "cmath"):
            return True
        return isinstance(func, ast.Name) and func.id in calls.SCALAR_BUILTINS and (
            func.id not in self._bindings
        )  # fmt: skip

    def _library(self, node: ast.expr) -> str:
        """The dotted name of what a library has, '' for anything else."""
        root, _, rest = dotted(node).partition(".")
        path = self.names.libraries.get(root, "")
        return f"{path}.{rest}" if path and rest else path

    @cached_property
    def _groups(self) -> dict[str, set[str]]:
        """The names that may hold one object, for each name that shares its own."""
        groups: dict[str, set[str]] = {}
        for region in self.regions.values():
            for a, b in region.aliases:
                if {a, b} & self.scalars:
                    continue
                one, other = groups.get(a, {a}), groups.get(b, {b})
                if one is other:
                    continue
                if len(one) < len(other):
                    one, other = other, one
                one |= other
                groups.update(dict.fromkeys(other, one))
                groups.setdefault(a, one)
                groups.setdefault(b, one)
        return groups

    def group(self, name: str) -> set[str]:
        """The name, and those that may hold the same object."""
        return self._groups.get(name, {name})

    @cached_property
    def _facts(self) -> dict[str, set[_Fact]]:
        """Who changes what, also through the arguments of the file's own functions.

        The names that may hold one object share one set, and a call hands it on once.
        """
        leaders: dict[str, str] = {}
        for group in {id(group): group for group in self._groups.values()}.values():
            leaders |= dict.fromkeys(group, min(group))
        calls: dict[str, list[tuple[str, int, Names]]] = defaultdict(list)
        for name, found in self._handed().items():
            if name not in self.scalars:
                calls[leaders.get(name, name)] += found
        changes = [(r.name, c) for r in self.regions.values() for c in r.changes]
        pending = [(c.name, _Fact(region, c.line, c.sure)) for region, c in changes]
        facts: dict[str, set[_Fact]] = defaultdict(set)
        handed_on: set[tuple[str, bool]] = set()
        while pending:
            name, fact = pending.pop()
            if name in self.scalars:
                continue
            leader = leaders.get(name, name)
            facts[leader].add(fact)
            if (leader, fact.sure) not in handed_on:
                handed_on.add((leader, fact.sure))
                for region, line, given in calls[leader]:
                    pending += [(g, _Fact(region, line, fact.sure)) for g in given]
        return {n: found for leader, found in facts.items() for n in self.group(leader)}

    def _handed(self) -> dict[str, list[tuple[str, int, Names]]]:
        """For each parameter of the file's functions, what is given for it, where."""
        found: dict[str, list[tuple[str, int, Names]]] = defaultdict(list)
        for region in self.regions.values():
            for call in region.calls:
                for node in self._definitions.get(call.callee, ()):
                    spec = node.args
                    rest = f"{call.callee}:{spec.vararg.arg if spec.vararg else ''}"
                    order = [f"{call.callee}:{n}" for n in parameters(node)]
                    order += [rest] * len(call.positional)
                    pairs = list(zip(order, call.positional, strict=False))
                    extra = spec.kwarg.arg if spec.kwarg else ""
                    known = {*parameters(node), *(a.arg for a in spec.kwonlyargs)}
                    pairs += [
                        (f"{call.callee}:{n if n in known else extra}", given)
                        for n, given in call.keywords
                    ]
                    for name, given in pairs:
                        found[name].append((region.name, call.line, given))
        return found

    # -- names -----------------------------------------------------------------------------

    @cached_property
    def _bindings(self) -> dict[str, list[int]]:
        """The statements that bind each name on import, one entry for each binding."""
        found: dict[str, list[int]] = defaultdict(list)
        for k in range(len(self.body)):
            if k not in self.main:
                for name, _ in self.regions[f"#{k}"].binds:
                    found[name].append(k)
        return found

    @cached_property
    def constants(self) -> frozenset[str]:
        """The names that some assignment of the top level binds, and no definition after it."""
        found = set()
        for name, places in self._bindings.items():
            kinds = [defines(self.body[k], name) for k in places]
            if not all(kinds) and not (kinds[0] and len(set(places)) == 1):
                if not isinstance(self.body[places[-1]], _DEFINITIONS):
                    found.add(name)
        return frozenset(found)

    @property
    def defined(self) -> set[str]:
        """The functions and classes of the top level."""
        return {name.split(".")[0] for name in self._definitions} | self._classes.keys()

    def chosen_on_import(self, name: str) -> bool:
        """Whether one statement imports or defines a name, or else assigns it: `xp = None`."""
        places = self._bindings.get(name, [])
        if len(set(places)) != 1 or name in self.constants:
            return False
        held: dict[str, list[ast.expr | None]] = defaultdict(list)
        assigned_values(self.body[places[0]], held)
        return name in held

    def binds(self, name: str) -> bool:
        """Whether the top level gives a name a meaning."""
        return name in self._bindings

    def status(self, name: str) -> Plain | Executed | Unknown:
        """How the value of a constant is known."""
        unknown = self._unknown(name)
        if unknown is not None:
            return unknown
        plain = self._plain(name, frozenset())
        if plain is not None:
            return Plain(plain)
        chosen = self.slice([name])
        for needed in sorted(self._needed(chosen) | {name}):
            unknown = self._unknown(needed) if needed in self._bindings else None
            if unknown is not None:
                return unknown
        return Executed(self.lines(name))

    def lines(self, name: str) -> tuple[int, ...]:
        """Where the statements start that bind a name or may change it."""
        return tuple(self.body[k].lineno for k in sorted(self._touching(name)))

    def settled(self, name: str, line: int) -> bool:
        """Whether nothing touches a name after a line: it has its final value there."""
        return all(self.body[k].lineno < line for k in self._touching(name))

    def _unknown(self, name: str) -> Unknown | None:
        """What changes a name at a time that the file does not tell, if anything does."""
        for region in self.regions.values():
            if region.opaque:
                line, what = region.opaque[0]
                return Unknown(line, f"`{what}()` may change it")
            if name in region.rebinds:
                return Unknown(region.rebinds[name], f"`{region.name}` rebinds it")
        for k in sorted(self.main):
            for other, line in self.regions[f"#{k}"].binds:
                if other == name:
                    return Unknown(line, "the main block rebinds it")
        late = [f for f in self._facts.get(name, ()) if f.sure and f.region not in self._on_import]
        if late:
            first = min(late, key=lambda f: f.line)
            who = "the main block" if first.region.startswith("#") else f"`{first.region}`"
            return Unknown(first.line, f"{who} changes it")
        return None

    def _plain(self, name: str, outer: frozenset[str]) -> int | None:
        """The line of the assignment that tells a constant's value, None where it takes more."""
        places = self._bindings.get(name, [])
        if not places or name in outer:
            return None
        last = self.body[places[-1]]
        if not isinstance(last, (ast.Assign, ast.AnnAssign)) or len(set(places)) != len(places):
            return None
        single = last.targets if isinstance(last, ast.Assign) else [last.target]
        if len(single) != 1 or not isinstance(single[0], ast.Name) or last.value is None:
            return None
        if not all(isinstance(self.body[k], (ast.Assign, ast.AnnAssign)) for k in places):
            if not all(isinstance(self.body[k], _DEFINITIONS) for k in places[:-1]):
                return None
        if self._changed(name) or any(isinstance(n, ast.NamedExpr) for n in ast.walk(last)):
            return None
        if any(self.regions[f"#{k}"].star for k in range(places[-1], len(self.body))):
            return None
        region = self.regions[f"#{places[-1]}"]
        own = outer | {name}
        needed = set(region.needs)
        for function in self._reached(region.needs):
            needed |= self.regions[function].needs
        steady = all(self._steady(n, places[-1], own) for n in needed if n in self._bindings)
        return last.lineno if steady else None

    def _changed(self, name: str) -> bool:
        """Whether a statement that runs on import may change what a name holds."""
        return any(f.region in self._on_import for f in self._facts.get(name, ()))

    def _steady(self, name: str, before: int, outer: frozenset[str]) -> bool:
        """Whether a name that a constant is made of means the same there as at the end."""
        places = self._bindings[name]
        if name in outer or self._unknown(name) is not None:
            return False
        if all(isinstance(self.body[k], _DEFINITIONS) for k in places):
            return len(places) == 1
        if name not in self.constants:
            return len(set(places)) == 1  # an import under `try`
        return len(places) == 1 and places[0] < before and self._plain(name, outer) is not None

    # -- slices ----------------------------------------------------------------------------

    def _touching(self, name: str) -> set[int]:
        """The statements, of those that run on import, that bind a name or may change it."""
        regions = {f.region for f in self._facts.get(name, ())}
        regions |= {r.name for r in self.regions.values() if name in r.rebinds}
        found = set(self._bindings.get(name, ()))
        if regions:
            found |= {k for k, runs in self._runs.items() if runs & regions}
        if name not in self.scalars:
            for other in self.group(name) - {name}:
                found |= set(self._bindings.get(other, ()))
        return found

    def _needed(self, chosen: Iterable[int]) -> set[str]:
        """The names that statements need, and the functions that they may call."""
        found: set[str] = set()
        for k in chosen:
            region = self.regions[f"#{k}"]
            found |= region.needs | {n for n, _ in region.binds}
            for function in self._reached(region.needs):
                found |= self.regions[function].needs
        return {n for n in found if n in self._bindings}

    def slice(self, names: Iterable[str]) -> list[int]:
        """The statements, in order, that give these names their values; functions with theirs."""
        chosen: set[int] = {k for k in self._runs if self.regions[f"#{k}"].star} if names else set()
        pending = list(self._with_calls(names))
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for k in self._touching(name) - chosen:
                chosen.add(k)
                region = self.regions[f"#{k}"]
                # what a decorator is given may be called
                pending += self._with_calls(region.needs | {n for n, _ in region.binds})
        return sorted(chosen)

    def _with_calls(self, names: Iterable[str]) -> set[str]:
        """Names, and those that the functions among them need when they are called."""
        wanted = set(names)
        for function in self._reached(wanted):
            wanted |= self.regions[function].needs
        return {n for n in wanted if n in self._bindings}

    # -- attributes ------------------------------------------------------------------------

    @cached_property
    def _patches(self) -> list[Patch]:
        found = []
        for region in self.regions.values():
            for p in region.patches:
                root, _, rest = p.owner.partition(".")
                path = self.names.libraries.get(root)
                if path is not None or p.owner == "*":
                    owner = p.owner if path is None else f"{path}.{rest}" if rest else path
                    found.append(Patch(owner, p.attribute, p.line))
        return found

    @cached_property
    def patches_libraries(self) -> bool:
        """Whether the file sets anything of what it imports."""
        roots = {name.partition(".")[0] for name, found in self._facts.items() if found}
        return bool(self._patches or roots & self.names.modules)

    def patched(self, owner: str, attribute: str) -> int | None:
        """The line that sets an attribute of an imported module, by their dotted names."""
        for p in self._patches:
            if p.owner in (owner, "*") and p.attribute in (attribute, "*"):
                return p.line
        for root, path in self.names.libraries.items():
            if path == owner:
                facts = self._facts.get(f"{root}.{attribute}", ())
                if sure := [f.line for f in facts if f.sure]:
                    return min(sure)
        return None


@lru_cache(maxsize=8)
def top_level(text: str) -> TopLevel | None:
    """The names of a module's text; None where Python cannot read it."""
    try:
        return TopLevel(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _merge(one: Region, other: Region) -> None:
    """Two definitions of one name: either may be called."""
    one.needs |= other.needs
    one.rebinds.update(other.rebinds)
    for own, more in (
        (one.changes, other.changes), (one.aliases, other.aliases), (one.calls, other.calls),
        (one.patches, other.patches), (one.opaque, other.opaque),
    ):  # fmt: skip
        own.extend(more)  # type: ignore[arg-type]
