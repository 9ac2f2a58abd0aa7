"""The state of an evaluation, in parts, and what concerns several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import promote
from porter.ir.scalars import cast
from porter.lowering.observer import Observer
from porter.lowering.state import ambiguous
from porter.lowering.state.aliases import AliasState
from porter.lowering.state.dtypes import DTypeState
from porter.lowering.state.emitter import Emitter
from porter.lowering.state.host import HostState
from porter.lowering.state.part import Part, refill
from porter.lowering.state.place import Place
from porter.lowering.state.restarts import Restarts
from porter.lowering.state.scope import LoopScope, Way
from porter.lowering.state.selections import Selections
from porter.lowering.state.strides import Strides
from porter.lowering.state.unify import SizeFacts
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly, sym
from porter.source.module import SourceModule


class Builder:
    """The state of one symbolic evaluation of one function."""

    def __init__(
        self, module: SourceModule, partial: bool = False, ones: frozenset[str] = frozenset(),
        may_grow: bool = True, loose: frozenset[str] = frozenset(),
        observer: Observer | None = None, way: tuple[bool, ...] | None = None,
    ) -> None:  # fmt: skip
        self.place = Place(module, observer)
        self.out = Emitter(self.place)
        self.scope = LoopScope()
        self.sizes = SizeFacts(self.place, self.out, self.scope, ones)
        self.strides = Strides(self.place, self.out, self.sizes, loose)
        self.dtypes = DTypeState(self.place)
        self.aliases = AliasState(self.out, self.scope)
        self.host = HostState(self.place, partial)
        self.selections = Selections()
        self.restarts = Restarts(may_grow, Way(way))

    def again(self) -> Builder:
        """The state to start again with: what this evaluation has found out of its variables."""
        new = Builder(
            self.place.module, self.host.partial, self.sizes.ones, self.restarts.may_grow,
            self.strides.loose, self.place.observer, self.restarts.way.wanted,
        )  # fmt: skip
        if self.place.observer is not None:
            self.place.observer.clear()
        new.dtypes.local_types = self.dtypes.settled_types()
        new.dtypes.local_candidates = self.dtypes.local_candidates
        new.dtypes.pinned = self.dtypes.pinned
        new.restarts.fixed, new.restarts.grown = self.restarts.fixed, self.restarts.grown
        new.restarts.own_products = self.restarts.own_products
        new.restarts.reads_literals = self.restarts.reads_literals
        return new

    def begins(self, node: cst.BaseStatement, names: Mapping[str, Value]) -> None:
        """A statement is about to be evaluated, where names mean this."""
        self.place.node = node
        if self.place.observer is not None:
            self.place.observer.at(node, names)

    def seen(self, node: cst.BaseExpression, value: Value) -> Value:
        """The value of an expression, once whoever wants to know has been told."""
        if self.place.observer is not None:
            self.place.observer.saw(node, value)
        return value

    def refuse(self, code: str, message: str, help: str = "") -> Refusal:
        """A refusal at the node being evaluated."""
        return self.place.refuse(code, message, help)

    # -- arrays --------------------------------------------------------------------

    def axes(self, shape: Sequence[Poly]) -> tuple[ir.Axis, ...]:
        """Fresh bound indices over a shape."""
        letters = "ijklmno"
        start = len(self.scope.ranges)
        return tuple(
            ir.Axis(self.out.fresh(letters[(start + d) % 7] + "_"), self.sizes.resolve(n))
            for d, n in enumerate(shape)
        )

    def define(self, name: str, array: Array) -> Array:
        """Name a delayed array; reads of it become loads from that name."""
        if array.mask is not None:
            raise self.refuse("PRT906", "a selection by a mask cannot be used in this place",
                              "assign the selection to a variable first")  # fmt: skip
        buffer = self._buffer(name, array)
        axes = self.axes(array.shape)
        body = cast(array.at([sym(a.name, True) for a in axes]), array.dtype)
        self.out.emit(ir.Def(buffer.name, axes, array.dtype, body, self.place.origin))
        return Array.of(buffer)

    def temporary(self, name: str, array: Array) -> Array:
        """As `define`, for a value that the user may give a name of its own at once."""
        stored = self.define(name, array)
        assert stored.view is not None
        self.out.temporaries.add(stored.view.buffer)
        return stored

    def allocate(self, name: str, array: Array) -> Array:
        """Name an array whose content is not defined."""
        buffer = self._buffer(name, array)
        self.out.emit(ir.Alloc(buffer, self.place.origin))
        return Array.of(buffer)

    def _buffer(self, name: str, array: Array) -> ir.Buffer:
        shape = tuple(map(self.sizes.resolve, array.shape))
        return self.out.add(ir.Buffer(self.out.fresh(name), shape, array.dtype))

    # -- scalars -------------------------------------------------------------------

    def let(self, name: str, value: ir.Expr) -> ir.Local:
        """Assign a scalar variable; its dtype joins those of all assignments."""
        known = self.dtypes.local_types.get(name)
        joined = value.dtype if known is None else promote(known, value.dtype)
        if joined != known:
            self.dtypes.local_types[name] = joined
            self.dtypes.retype = self.dtypes.retype or known is not None
        ambiguous.assigned(self.dtypes, name, value)
        self.out.taken.add(name)
        variable = ir.Local(name, joined)
        if value != variable:
            self.out.emit(ir.Let(name, cast(value, joined), self.place.origin))
        return variable

    # -- attempts ------------------------------------------------------------------

    @contextmanager
    def attempt(
        self, *others: Any, on: tuple[type[Exception], ...] = (Refusal,)
    ) -> Iterator[Callable[[], None]]:
        """Undo what is done inside where it ends in a refusal; yields what undoes it anyhow.

        `others` are lists, dictionaries and sets beside the state that are put back with it.
        """
        parts = [part for part in vars(self).values() if isinstance(part, Part)]
        snapshots = [part.save() for part in parts]
        contents = [copy(container) for container in others]

        def undo() -> None:
            for part, snapshot in zip(parts, snapshots, strict=True):
                part.restore(snapshot)
            for container, content in zip(others, contents, strict=True):
                refill(container, content)

        try:
            yield undo
        except on:
            undo()
            raise
