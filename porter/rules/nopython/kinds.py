"""The kind of thing that each name holds, followed through a function's branches and loops.

Numba gives a variable one type where control flow meets, and a function one return type.
A number, a text, a list, a dict, an array and tuples of different length have none in
common; None and any of them have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.numpy_functions import known
from porter.rules.model import Function, PyFile, bound, walk_own
from porter.rules.words import words

_NUMBERS = words("int float bool complex len abs round")
_OPAQUE = words("isinstance hasattr type literally literal_unroll")


@dataclass(frozen=True)
class Binding:
    """What a name is bound to, and where."""

    kind: str
    node: ast.AST


State = dict[str, frozenset[Binding]]


@dataclass(frozen=True)
class Conflict:
    """A name (empty for the result) that holds two kinds; `second` is lower in the source."""

    name: str
    first: Binding
    second: Binding


def conflict(name: str, bindings: frozenset[Binding]) -> Conflict | None:
    """The first two bindings of different kinds, in source order."""
    placed = sorted(bindings, key=_place)
    other = next((b for b in placed if b.kind != placed[0].kind), None)
    return Conflict(name, placed[0], other) if other is not None else None


def _place(b: Binding) -> tuple[int, int, str]:
    # a name that holds two kinds has both at one place
    return b.node.lineno, b.node.col_offset, b.kind  # type: ignore[attr-defined]


def _join(*states: State | None) -> State | None:
    """What may hold where states meet; a name that one of them does not know is unknown."""
    alive = [s for s in states if s is not None]
    if not alive:
        return None
    common = set.intersection(*(set(s) for s in alive))
    return {n: frozenset().union(*(s[n] for s in alive)) for n in common}


@dataclass
class Flow:
    """Walks a function once; `conflicts` are by name, `returns` what it gives back."""

    file: PyFile
    function: Function
    conflicts: dict[str, Conflict] = field(default_factory=dict)
    returns: set[Binding] = field(default_factory=set)
    _quiet: int = 0
    _pruned: int = 0
    _breaks: list[list[State]] = field(default_factory=list)
    _continues: list[list[State]] = field(default_factory=list)

    def run(self) -> None:
        """Follow the whole body."""
        self._block(self.function.node.body, {})

    def _block(self, body: list[ast.stmt], state: State | None) -> State | None:
        for statement in body:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State | None:
        if isinstance(node, ast.If):
            return self._if(node, state)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, state)
        if isinstance(node, (ast.Try, ast.With, ast.Match)):
            return _without(state, _assigned(node))
        self._loads(node, state)
        if isinstance(node, ast.Return):
            if node.value is not None and not self._pruned:
                self.returns |= self._kinds(node.value, state)
            return None
        if isinstance(node, ast.Raise):
            return None
        if isinstance(node, (ast.Break, ast.Continue)):
            (self._breaks if isinstance(node, ast.Break) else self._continues)[-1].append(state)
            return None
        return self._bind(node, state)

    def _bind(self, node: ast.stmt, state: State) -> State:
        state = _without(state, _assigned(node))
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kinds = frozenset(Binding(b.kind, node) for b in self._kinds(value, state))
            if len({b.kind for b in kinds}) == 1:
                state |= {t.id: kinds for t in targets if isinstance(t, ast.Name)}
        return state

    def _if(self, node: ast.If, state: State) -> State | None:
        self._loads(node.test, state)
        pruned = self._prunable(node.test)
        self._pruned += pruned
        after = _join(self._block(node.body, dict(state)), self._block(node.orelse, dict(state)))
        self._pruned -= pruned
        if pruned and after is not None:
            return _without(after, _assigned(node))
        return after

    def _loop(self, node: ast.For | ast.While, state: State) -> State | None:
        self._loads(node.iter if isinstance(node, ast.For) else node.test, state)
        targets = _assigned(node.target) if isinstance(node, ast.For) else set()
        self._quiet += 1
        around = self._body(node, _without(state, targets))[0]
        self._quiet -= 1
        start = _join(state, around) or state
        end, left = self._body(node, _without(start, targets))
        after = self._block(node.orelse, _join(start, end))
        return _join(after, *left)

    def _body(self, node: ast.For | ast.While, state: State) -> tuple[State | None, list[State]]:
        """What holds after one turn, and at each `break`."""
        self._breaks.append([])
        self._continues.append([])
        end = self._block(node.body, dict(state))
        return _join(end, *self._continues.pop()), self._breaks.pop()

    def _loads(self, node: ast.AST, state: State) -> None:
        """Report names that are read where they may hold two kinds."""
        if self._quiet:
            return
        for at in walk_own(node):
            if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Load):
                found = conflict(at.id, state.get(at.id, frozenset()))
                if found is not None:
                    self.conflicts.setdefault(at.id, found)

    def _kinds(self, node: ast.expr, state: State) -> frozenset[Binding]:
        if isinstance(node, ast.Name):
            found = state.get(node.id, frozenset())
            return frozenset(Binding(b.kind, node) for b in found)
        kind = self._kind(node)
        return frozenset({Binding(kind, node)} if kind else ())

    def _kind(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            number = isinstance(node.value, (int, float, complex))
            return "a number" if number else "a string" if isinstance(node.value, str) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return self._kind(node.operand)
        if isinstance(node, ast.Tuple):
            starred = any(isinstance(e, ast.Starred) for e in node.elts)
            return None if starred else f"a tuple of {len(node.elts)}"
        if isinstance(node, (ast.List, ast.ListComp)):
            return "a list"
        if isinstance(node, (ast.Dict, ast.DictComp)):
            return "a dict"
        return self._called(node) if isinstance(node, ast.Call) else None

    def _called(self, node: ast.Call) -> str | None:
        if isinstance(node.func, ast.Name) and node.func.id in _NUMBERS:
            name = node.func.id
            own = name in self.function.local_names or name in self.file.by_name
            # abs and round keep an array an array
            return None if own or name in ("abs", "round") else "a number"
        name = self.file.qualified(node.func, self.function) or ""
        return "an array" if known(name).creates else None

    def _prunable(self, test: ast.expr) -> bool:
        """Whether Numba may know the outcome when it compiles, and drop a branch: tests of
        None, of types, of globals, of arguments that were left out."""
        args = self.function.node.args
        plain = [*args.posonlyargs, *args.args]
        optional = {a.arg for a in plain[len(plain) - len(args.defaults) :]}
        optional |= {a.arg for a in args.kwonlyargs}
        known = set(self.function.local_names) - optional
        names = [n for n in ast.walk(test) if isinstance(n, ast.Name)]
        if not names or any(isinstance(n, (ast.Is, ast.IsNot)) for n in ast.walk(test)):
            return True
        called = {n.func for n in ast.walk(test) if isinstance(n, ast.Call)}
        builtin = {n for n in names if n in called and n.id not in _OPAQUE}
        return any(n.id not in known for n in names if n not in builtin)


def _assigned(node: ast.AST) -> set[str]:
    """The names that a statement binds, those of nested statements included."""
    return bound(walk_own(node))


def _without(state: State, names: set[str]) -> State:
    return {n: b for n, b in state.items() if n not in names}


def conflicts(file: PyFile, function: Function) -> Iterator[Conflict]:
    """Every name with two kinds where it is read, and the result if it has two."""
    if any(isinstance(n, ast.Name) and n.id in _OPAQUE for n in function.nodes):
        return
    flow = Flow(file, function)
    flow.run()
    yield from flow.conflicts.values()
    yields = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in function.nodes)
    found = conflict("", frozenset(flow.returns)) if flow.returns and not yields else None
    if found is not None:
        yield found
