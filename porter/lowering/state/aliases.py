"""Which names may mean one array, and which stores that rules out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.aliasing import Aliases
from porter.ir.walk import statements
from porter.lowering.state.emitter import Emitter
from porter.lowering.state.part import Part
from porter.lowering.state.scope import LoopScope


@dataclass
class AliasState(Part):
    """What is known about arrays that share memory."""

    out: Emitter
    scope: LoopScope
    moves: list[tuple[str, str]] = field(default_factory=list)  # (variable, an array that it means)
    readonly: dict[str, str] = field(default_factory=dict)  # variables that may not be stored into
    flattened: set[str] = field(default_factory=set)  # arrays that a name shows as `x.ravel()` does
    frozen: set[str] = field(default_factory=set)  # arrays that objects of the host may hold
    snapshots: dict[str, str] = field(default_factory=dict)
    # (written, kept) arguments that must not be one array
    no_alias: set[tuple[str, str]] = field(default_factory=set)

    def bound(self, moves: Sequence[tuple[str, str]]) -> ir.Bind:
        """The statement after which variables mean other arrays."""
        self.moves += moves
        origin = self.out.place.origin
        return ir.Bind(tuple(v for v, _ in moves), tuple(s for _, s in moves), origin)

    @property
    def known(self) -> Aliases:
        """What the moves so far say."""
        return Aliases(self.out.buffers, self.moves)

    def may_be(self, buffer: str) -> set[str]:
        """The buffer, and all that variables may make one array with it."""
        return self.known.same(buffer)

    def snapshot(self, buffer: str, name: str) -> None:
        """`name` holds elements of the buffer as they are now, where NumPy may have a view.

        Refuses if a loop around this stores into the buffer, in the next iteration that is.
        """
        self.snapshots[buffer] = name
        for written in self._stored_in_loops():
            self.keep_apart(written, [buffer])
        if self.stored_in_loop(buffer):
            raise self.may_share(buffer)

    def stored_in_loop(self, buffer: str) -> bool:
        """Whether a loop around this has stored into an array, and will again."""
        return not self.may_be(buffer).isdisjoint(self._stored_in_loops())

    def _stored_in_loops(self) -> set[str]:
        blocks = self.out.blocks[1:] if self.scope.loops else []
        found = (s for block in blocks for s in statements(tuple(block)))
        return {s.buffer for s in found if isinstance(s, ir.Write)}

    def keep_apart(self, written: str, kept: Iterable[str]) -> None:
        """A store into one argument must not be seen in what is kept of another: at the call
        they may turn out to be one array."""
        for w in sorted(self.may_be(written)):
            for r in sorted({n for k in kept for n in self.may_be(k)} - {w}):
                if self.known.given_twice(w, r):
                    self.no_alias.add((w, r))

    def may_share(self, buffer: str) -> Refusal:
        """The refusal of a store that a view made of the buffer would see."""
        name = min(self.snapshots[n] for n in self.may_be(buffer) if n in self.snapshots)
        return self.out.place.refuse(
            "PRT905", f"`{name}` may share memory with the array that is stored into",
            f"make `{name}` a copy: `.copy()`",
        )  # fmt: skip
