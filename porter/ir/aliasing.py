"""Which names of arrays may mean one array: the one answer for lowering, passes and launches.

Two things make names meet.  A caller may give one array for two arguments that are alike.  And a
statement may bind variables to arrays: `u, v = v, u` never makes two names meet; `u = new` does,
until `new` is allocated again.  What names mean at a launch is found by running through the
moves along every path, loops until nothing new comes of it; a name that each iteration makes
before it uses it means nothing until then.  What names may mean at any time follows from the
moves alone, so that lowering can ask before the statements are complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from porter.ir.effects import exposed_arrays, makes, uses, uses_in
from porter.ir.nodes import Bind, Buffer, For, If, Jump, Stage, Stmt, While, Write
from porter.ir.walk import statements

Pair = frozenset[str]
#: the names that mean one array, group by group; all others mean arrays of their own
State = frozenset[frozenset[str]]
#: with more of them at the start of a loop, they are joined
MOST_STATES = 64


@dataclass(frozen=True)
class Aliases:
    """`moves` are (variable, array that it is bound to), `pairs` names that meet at a launch,
    `certain` those of them that meet there whatever path leads to it.

    `stores` are all launches, each with the names that meet at it."""

    buffers: Mapping[str, Buffer] = field(default_factory=dict)
    moves: Collection[tuple[str, str]] = ()
    pairs: AbstractSet[Pair] = frozenset()
    certain: AbstractSet[Pair] = frozenset()
    stores: Sequence[tuple[Write | Stage, AbstractSet[Pair]]] = ()

    @staticmethod
    def of(body: Sequence[Stmt], buffers: Mapping[str, Buffer]) -> Aliases:
        """The names in the statements."""
        binds = [s for s in statements(tuple(body)) if isinstance(s, Bind)]
        moves = dict.fromkeys(m for s in binds for m in zip(s.names, s.buffers, strict=True))
        walk = _Walk()
        walk.run(body, {frozenset()})
        return Aliases(buffers, tuple(moves), walk.pairs, walk.certain, tuple(walk.met.values()))

    # -- at any time -------------------------------------------------------------------

    def same(self, name: str) -> set[str]:
        """The name, and all that variables may make one array with it."""
        found = {name}
        while more := {n for pair in self.moves if found.intersection(pair) for n in pair} - found:
            found |= more
        return found

    def arguments(self, name: str) -> set[str]:
        """The arguments that a name may mean: itself, or what it was bound to."""
        found = {name}
        while more := {array for variable, array in self.moves if variable in found} - found:
            found |= more
        return {n for n in found if n in self.buffers and self.buffers[n].parameter}

    def alike(self, a: str, b: str) -> bool:
        """Whether the caller may give one array for both."""
        return self.buffers[a].is_like(self.buffers[b])

    def given_twice(self, a: str, b: str) -> bool:
        """Whether these are two arguments that may be one array."""
        one, other = self.buffers[a], self.buffers[b]
        return a != b and one.parameter and other.parameter and one.is_like(other)

    # -- at a launch -------------------------------------------------------------------

    def meet(self, a: str, b: str) -> bool:
        """Whether variables make one array of both at some launch."""
        return frozenset((a, b)) in self.pairs

    @cached_property
    def _at(self) -> dict[int, AbstractSet[Pair]]:
        """Of each store; statements that are equal may stand at two places."""
        return {id(s): pairs for s, pairs in self.stores}

    def meet_at(self, s: Write | Stage, a: str, b: str) -> bool:
        """Whether variables make one array of both when this store runs."""
        return frozenset((a, b)) in self._at.get(id(s), self.pairs)

    def with_others(self, names: Iterable[str], arguments: bool = False) -> set[str]:
        """The names and those that may mean the same arrays; with `arguments`, those the caller
        may give for them, too."""
        names = set(names)
        found = names.union(*(p for p in self.pairs if p & names))
        if arguments:
            found |= {b for a in names for b in self.buffers if self.given_twice(a, b)}
        return found


class _Walk:
    """Runs through the moves of statements, along every path that they may take."""

    def __init__(self) -> None:
        self.pairs: set[Pair] = set()
        self.certain: set[Pair] = set()
        self.met: dict[int, tuple[Write | Stage, set[Pair]]] = {}
        self.left: set[State] = set()  # at `break` and `continue` of the innermost loop

    def run(
        self, body: Sequence[Stmt], states: set[State], later: AbstractSet[str] = frozenset()
    ) -> set[State]:
        """The states after the statements, from those before them; `later` are names that are
        used after them or in another iteration."""
        for s in body:
            made = makes(s)
            states = {_moved(state, dict.fromkeys(made)) for state in states} if made else states
            match s:
                case Bind():
                    moves: dict[str, str | None] = dict(zip(s.names, s.buffers, strict=True))
                    states = {_moved(state, moves) for state in states}
                case Write() | Stage():
                    met = [_pairs(state) for state in states]
                    self.pairs.update(*met)
                    self.met.setdefault(id(s), (s, set()))[1].update(*met)
                    self.certain |= set.intersection(*met) if met else set()
                case Jump():
                    self.left |= states
                case For() | While():
                    others = later | uses_in([x for x in body if x is not s]).arrays
                    states = self.loop(s.body, states, others | uses(s).arrays)
                case If():
                    others = later | uses_in([x for x in body if x is not s]).arrays
                    branches = (s.body, s.orelse)
                    states = set().union(*(self.run(b, states, others) for b in branches))
        return states

    def loop(self, body: Sequence[Stmt], states: set[State], later: AbstractSet[str]) -> set[State]:
        """The states at the start of any iteration, which are those after the loop, too."""
        outer, self.left = self.left, set()
        made = {n for s in statements(tuple(body)) for n in makes(s)}
        unused = dict.fromkeys(made - exposed_arrays(body) - later)
        new = states
        while new:
            known = states
            begun = {_moved(state, unused) for state in new}
            states = states | self.run(body, begun, later) | self.left
            if len(states) > MOST_STATES:
                states = {_joined(states)}
            new = states - known
        self.left = outer
        return states


def _pairs(state: State) -> set[Pair]:
    return {frozenset(pair) for group in state for pair in combinations(group, 2)}


def _moved(state: State, moves: Mapping[str, str | None]) -> State:
    """The state once names mean other arrays, all at once; None is a new array."""
    group_of = {n: group for group in state for n in group}
    meaning: dict[str, object] = {n: group_of.get(n, n) for n in {*group_of, *moves.values()} if n}
    meaning |= {n: object() if array is None else meaning[array] for n, array in moves.items()}
    groups: dict[object, set[str]] = {}
    for name, array in meaning.items():
        groups.setdefault(array, set()).add(name)
    return frozenset(frozenset(g) for g in groups.values() if len(g) > 1)


def _joined(states: Iterable[State]) -> State:
    """One state for many: what is one array in any of them is one array."""
    groups: list[frozenset[str]] = []
    for group in {g for state in states for g in state}:
        meeting = [g for g in groups if g & group]
        groups = [g for g in groups if not g & group] + [group.union(*meeting)]
    return frozenset(groups)
