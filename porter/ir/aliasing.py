"""Which names of arrays may mean one array: the one answer for lowering, passes and launches.

Two things make names meet.  A caller may give one array for two arguments that are alike.  And a
statement may bind variables to arrays: `u, v = v, u` never makes two names meet; `u = new` does,
until `new` is allocated again.  What names mean at a launch is found by running through the
moves, loops until their state repeats; what they may mean at any time follows from the moves
alone, so that lowering can ask before the statements are complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations

from porter.ir.nodes import Alloc, Bind, Buffer, Def, For, Host, If, Stage, Stmt, While, Write
from porter.ir.walk import blocks, statements

Pair = frozenset[str]
MAX_ROUNDS = 24


@dataclass(frozen=True)
class Aliases:
    """`moves` are (variable, array that it is bound to), `pairs` names that meet at a launch."""

    buffers: Mapping[str, Buffer] = field(default_factory=dict)
    moves: Collection[tuple[str, str]] = ()
    pairs: AbstractSet[Pair] = frozenset()

    @staticmethod
    def of(body: Sequence[Stmt], buffers: Mapping[str, Buffer], branches: bool = True) -> Aliases:
        """The names in the statements.

        With `branches`, all that one branch binds counts as one array, whichever way it goes.
        """
        binds = [s for s in statements(tuple(body)) if isinstance(s, Bind)]
        moves = dict.fromkeys(m for s in binds for m in zip(s.names, s.buffers, strict=True))
        names = _Names()
        names.run(body)
        for s in statements(tuple(body)) if branches else ():
            if isinstance(s, If):
                bound = {n for x in statements((s,)) if isinstance(x, Bind)
                         for n in (*x.names, *x.buffers)}  # fmt: skip
                names.pairs |= set(map(frozenset, combinations(bound, 2)))
        return Aliases(buffers, tuple(moves), names.pairs)

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

    def with_others(self, names: Iterable[str], arguments: bool = False) -> set[str]:
        """The names and those that may mean the same arrays; with `arguments`, those the caller
        may give for them, too."""
        names = set(names)
        found = names.union(*(p for p in self.pairs if p & names))
        if arguments:
            found |= {b for a in names for b in self.buffers if self.given_twice(a, b)}
        return found


class _Names:
    """Which array each name means: arrays are numbered as they are made."""

    def __init__(self) -> None:
        self.meaning: dict[str, int] = {}
        self.pairs: set[Pair] = set()
        self.next = 0

    def of(self, name: str) -> int:
        """The array that a name means; one that nothing has made comes from outside."""
        if name not in self.meaning:
            self.make(name)
        return self.meaning[name]

    def make(self, name: str) -> None:
        """The name means a new array."""
        self.next += 1
        self.meaning[name] = self.next

    def launch(self) -> None:
        """Note the names that mean one array now."""
        if len(set(self.meaning.values())) == len(self.meaning):
            return
        meant: dict[int, list[str]] = {}
        for name, number in self.meaning.items():
            meant.setdefault(number, []).append(name)
        for names in meant.values():
            self.pairs |= set(map(frozenset, combinations(names, 2)))

    def state(self) -> tuple[tuple[str, int], ...]:
        """What the names mean, but for the numbers."""
        first: dict[int, int] = {}
        return tuple(
            (n, first.setdefault(self.meaning[n], len(first))) for n in sorted(self.meaning)
        )

    def run(self, body: Sequence[Stmt]) -> None:
        """Run through the moves of the statements."""
        for s in body:
            match s:
                case Alloc(buffer=Buffer(name=name)) | Def(name=name):
                    self.make(name)
                case Host(makes=makes):
                    for name in makes:
                        self.make(name)
                case Bind():
                    values = [self.of(b) for b in s.buffers]
                    self.meaning.update(zip(s.names, values, strict=True))
                case Write() | Stage():
                    for x in statements((s,)):
                        if isinstance(x, Write):
                            self.of(x.buffer)
                    self.launch()
                case For() | While():
                    seen = set()
                    for _ in range(MAX_ROUNDS):
                        self.run(s.body)
                        if self.state() in seen:
                            break
                        seen.add(self.state())
                case If():
                    for block in blocks(s):
                        self.run(block)
