"""What the front end builds up: statements, names, buffers, equal dimensions, checks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Diagnostic, Note, Refusal, Severity, Span
from porter.dtypes.dtype import WEAK_INT, DType, promote, strengthen
from porter.ir.scalars import cast
from porter.ir.walk import statements
from porter.lowering.state import mixed
from porter.lowering.state.facts import both_whole, extents, never_zero, unclamp
from porter.resolve.values import Array, Value, View
from porter.sizes.polynomial import Apply, Atom, Data, Dim, Poly, sym
from porter.source.module import SourceModule
from porter.support.reserved import given, is_reserved, marked

NAMES = {
    "PRT901": "unsupported-call",
    "PRT902": "unsupported-syntax",
    "PRT903": "unknown-type",
    "PRT904": "loop-carried-dependence",
    "PRT905": "unsupported-indexing",
    "PRT906": "data-dependent-shape",
    "PRT907": "unsupported-dtype",
    "PRT908": "changes-type",
    "PRT909": "nothing-to-convert",
    "PRT914": "unknown-constant",
}

#: what helps in general, where a refusal has nothing better to say
CURES = {
    "PRT901": "compute it outside this function and pass the result as an argument",
    "PRT902": "use numbers, arrays, tuples, `for`, `while` and `if`; do the rest in the caller",
    "PRT903": "pass values whose number of dimensions and sizes fit this operation",
    "PRT905": "index with integers, slices, integer arrays or a boolean mask",
    "PRT906": "keep the shape with `np.where`, or select the elements outside this function",
    "PRT907": "convert it first, for example with `x.astype(np.float64)`",
    "PRT908": "use a separate variable for each type",
}


def refusal(
    code: str, message: str, span: Span, help: str = "", notes: tuple[Note, ...] = ()
) -> Refusal:
    """A diagnostic of the converter, ready to raise."""
    message, help = _shown(message), _shown(help or CURES.get(code, ""))
    notes = tuple(replace(n, text=given(n.text)) for n in notes)
    return Refusal(Diagnostic(code, NAMES[code], message, span, help=help, notes=notes))


def _shown(text: str) -> str:
    """A text with the names that users write."""
    return given(text).replace("`numpy.", "`np.").replace("`builtins.", "`")


class Contradiction(Refusal):
    """Sizes that differ whatever they are: one of the axes that met others has length 1."""

    def __init__(self, diagnostic: Diagnostic, axes: tuple[str, ...]) -> None:
        super().__init__(diagnostic)
        self.axes = axes


class Unspecialised(Exception):
    """An argument with a default must be known at conversion: evaluate again with it fixed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Grown(Exception):
    """A number that a loop adds arrays to: evaluate again with an array from the loop on."""

    def __init__(self, name: str, shape: tuple[Poly, ...], dtype: DType) -> None:
        super().__init__(name)
        self.name, self.shape, self.dtype = name, shape, dtype


@dataclass
class Builder:
    """The state of one symbolic evaluation of one function."""

    module: SourceModule
    fixable: set[str] = field(default_factory=set)
    buffers: dict[str, ir.Buffer] = field(default_factory=dict)
    checks: list[ir.Check] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    shown: dict[str, str] = field(default_factory=dict)  # the user's name of one of ours
    local_types: dict[str, DType] = field(default_factory=dict)
    local_arms: dict[str, frozenset[ir.Expr]] = field(default_factory=dict)  # see `mixed`
    arms: dict[ir.Expr, frozenset[ir.Expr]] = field(default_factory=dict)
    retype: bool = False
    may_grow: bool = True
    grown: dict[str, Grown] = field(default_factory=dict)
    literal_starts: set[str] = field(default_factory=set)  # literals before the loop that has them
    reads_shape: bool = False
    sized: set[str] = field(default_factory=set)
    strict_shapes: bool = False
    flattened: set[str] = field(default_factory=set)  # arrays that a name shows as `x.ravel()` does
    readonly: dict[str, str] = field(default_factory=dict)  # variables that may not be stored into
    literals: list[tuple[int, DType]] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)
    ones: frozenset[str] = frozenset()
    equal: dict[str, Poly] = field(default_factory=dict)
    dtype_groups: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    origin: ir.Origin = field(default_factory=ir.Origin)
    node: cst.CSTNode | None = None
    depth: int = 0
    conditional: bool = False
    in_while: bool = False
    conditions: list[ir.Expr] = field(default_factory=list)
    loops: int = 0
    active: list[str] = field(default_factory=list)
    ranges: list[ir.Axis] = field(default_factory=list)
    temporaries: set[str] = field(default_factory=set)
    call_here: Span | None = None  # in the user's file, of a helper of another file
    partial: bool = False  # what cannot be converted may stay on the host
    attributes: dict[str, Value] = field(default_factory=dict)  # of `self`, by their names
    local_imports: dict[str, set[str]] = field(default_factory=dict)
    data_branches: int = 0  # branches around that data decides
    speculative: int = 0  # inside code that Python may not run: nothing of it may have an effect
    imports: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)  # arrays that objects of the host may hold
    kept: list[Diagnostic] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)  # values of constants that were computed
    arguments: dict[str, Value] = field(default_factory=dict)  # of the function, as they came
    snapshots: dict[str, str] = field(default_factory=dict)
    # (written, kept) arguments that must not be one array
    apart: set[tuple[str, str]] = field(default_factory=set)
    moves: list[tuple[str, str]] = field(default_factory=list)  # (variable, an array that it means)
    #: sizes that the host reads back, positions by mask, selections made whole
    fetched: set[str] = field(default_factory=set)
    selections: list[Any] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)
    compacted: list[tuple[Array, Array]] = field(default_factory=list)
    _blocks: list[list[ir.Stmt]] = field(default_factory=lambda: [[]])

    # -- diagnostics ---------------------------------------------------------------

    def refuse(self, code: str, message: str, help: str = "") -> Refusal:
        """A refusal at the node being evaluated."""
        span = self.origin.span
        if self.node is not None:
            # a node of another file has no place in this one
            with suppress(IndexError):
                span = self.module.span(self.node)
        if self.call_here is not None:
            shown = Path(self.module.path).name
            message, span = f"{message} ({shown}, line {span.line})", self.call_here
        return refusal(code, message, span, help)

    def must_be_known(self, value: object) -> None:
        """Raise Unspecialised where the value is an argument that its default can fix."""
        name = value.poly.name if isinstance(value, ir.Value) else getattr(value, "name", None)
        if name in self.fixable:
            raise Unspecialised(name)

    def assume(self, fact: str) -> None:
        """Something that the module relies on and its header states."""
        if fact not in self.assumed:
            self.assumed.append(fact)

    def note_kept(self, why: str) -> None:
        """Say that the current statement stays on the host, and why."""
        text = " ".join(self.origin.text.split())
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        message = f"`{shown}` stays on the host"
        if any(d.span == self.origin.span for d in self.kept):
            return
        self.kept.append(Diagnostic("PRT912", "stays-on-host", message, self.origin.span,
                                    severity=Severity.ADVICE, help=why))  # fmt: skip

    @contextmanager
    def elsewhere(self, module: SourceModule) -> Iterator[None]:
        """Evaluate code of another file: what is said of it stands at the call."""
        outer, here = self.module, self.call_here
        if here is None and self.node is not None:
            self.call_here = outer.span(self.node)
        self.module = module
        try:
            yield
        finally:
            self.module, self.call_here = outer, here

    # -- attempts ------------------------------------------------------------------

    def saved(self) -> dict[str, object]:
        """The state, to go back to where an attempt is refused."""
        state: dict[str, object] = {n: copy(v) for n, v in vars(self).items() if n != "module"}
        return state | {"_blocks": [list(block) for block in self._blocks]}

    def restore(self, state: dict[str, object]) -> None:
        """Go back; the lists of statements that are being collected stay the same lists."""
        vars(self).update({n: v for n, v in state.items() if n != "_blocks"})
        blocks = state["_blocks"]
        assert isinstance(blocks, list)
        for own, old in zip(self._blocks, blocks, strict=True):
            own[:] = old

    # -- statements ----------------------------------------------------------------

    def emit(self, stmt: ir.Stmt) -> None:
        """Append a statement to the block being built."""
        self._blocks[-1].append(stmt)

    @contextmanager
    def block(self) -> Iterator[list[ir.Stmt]]:
        """Collect the statements emitted inside into a list of their own."""
        self._blocks.append([])
        self.depth += 1
        try:
            yield self._blocks[-1]
        finally:
            self.depth -= 1
            self._blocks.pop()

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """Evaluate what Python may not run: values are chosen among afterwards."""
        outer, self.conditional = self.conditional, True
        self.speculative += 1
        try:
            yield
        finally:
            self.conditional = outer
            self.speculative -= 1

    def demand(self, text: str) -> None:
        """A check of the arguments that the host makes before anything else."""
        if not any(isinstance(s, ir.Host) and s.text == text for s in self._blocks[0]):
            self._blocks[0].insert(0, ir.Host(text, self.origin, ir.HostKind.CHECK))

    @property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """What has been emitted at the top level."""
        return tuple(self._blocks[0])

    def emitted_here(self, buffer: str) -> bool:
        """Whether a buffer was defined in the very block being built."""
        return any(
            (isinstance(s, ir.Def) and s.name == buffer)
            or (isinstance(s, ir.Alloc) and s.buffer.name == buffer)
            or (isinstance(s, ir.Host) and buffer in s.makes)
            for s in self._blocks[-1]
        )

    def definition(self, buffer: str) -> ir.Def | None:
        """How an array was defined, if nothing has been stored into it so far."""
        emitted = list(statements(tuple(s for block in self._blocks for s in block)))
        if any(isinstance(s, ir.Write) and s.buffer == buffer for s in emitted):
            return None
        return next((s for s in emitted if isinstance(s, ir.Def) and s.name == buffer), None)

    # -- names ---------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        """A name not used so far: the wanted one, or with a number behind it."""
        name = marked(name) if is_reserved(name) else name
        candidate, k = name, 2
        while candidate in self.taken:
            candidate, k = f"{name}{k}", k + 1
        self.taken.add(candidate)
        if candidate != name:
            self.shown[candidate] = name
        return candidate

    def axes(self, shape: Sequence[Poly]) -> tuple[ir.Axis, ...]:
        """Fresh bound indices over a shape."""
        letters = "ijklmno"
        start = len(self.ranges)
        return tuple(
            ir.Axis(self.fresh(letters[(start + d) % 7] + "_"), self.resolve(n))
            for d, n in enumerate(shape)
        )

    # -- arrays --------------------------------------------------------------------

    def define(self, name: str, array: Array) -> Array:
        """Name a delayed array; reads of it become loads from that name."""
        if array.mask is not None:
            raise self.refuse("PRT906", "a selection by a mask cannot be used in this place",
                              "assign the selection to a variable first")  # fmt: skip
        buffer = ir.Buffer(self.fresh(name), tuple(map(self.resolve, array.shape)), array.dtype)
        self.buffers[buffer.name] = buffer
        axes = self.axes(array.shape)
        body = cast(array.at([sym(a.name, True) for a in axes]), array.dtype)
        self.emit(ir.Def(buffer.name, axes, array.dtype, body, self.origin))
        return self.stored(buffer)

    def temporary(self, name: str, array: Array) -> Array:
        """As `define`, for a value that the user may give a name of its own at once."""
        stored = self.define(name, array)
        assert stored.view is not None
        self.temporaries.add(stored.view.buffer)
        return stored

    def named(self, name: str, array: Array) -> Array:
        """The array; a temporary that was just made takes the name."""
        last = self._blocks[-1][-1] if self._blocks[-1] else None
        if not isinstance(last, ir.Def) or last.name not in self.temporaries:
            return array
        if array.view is None or array.view.buffer != last.name or not whole_view(array):
            return array
        self.temporaries.remove(last.name)
        self.taken.remove(last.name)
        buffer = replace(self.buffers.pop(last.name), name=self.fresh(name))
        self.buffers[buffer.name] = buffer
        self._blocks[-1][-1] = replace(last, name=buffer.name)
        return self.stored(buffer)

    def allocate(self, name: str, array: Array) -> Array:
        """Name an array whose content is not defined."""
        buffer = ir.Buffer(self.fresh(name), tuple(map(self.resolve, array.shape)), array.dtype)
        self.buffers[buffer.name] = buffer
        self.emit(ir.Alloc(buffer, self.origin))
        return self.stored(buffer)

    def variable(self, name: str, like: ir.Buffer) -> ir.Buffer:
        """A host name that will mean one array after the other."""
        buffer = ir.Buffer(self.fresh(name), like.shape, like.dtype)
        self.buffers[buffer.name] = buffer
        return buffer

    def bound(self, moves: Sequence[tuple[str, str]]) -> ir.Bind:
        """The statement after which variables mean other arrays."""
        self.moves += moves
        return ir.Bind(tuple(v for v, _ in moves), tuple(s for _, s in moves), self.origin)

    def may_be(self, buffer: str) -> set[str]:
        """The buffer, and all that variables may make one array with it."""
        same = {buffer}
        while more := {n for pair in self.moves if same.intersection(pair) for n in pair} - same:
            same |= more
        return same

    def is_parameter(self, name: str) -> bool:
        """Whether a buffer is an argument (or may be: a variable that was bound to one)."""
        return self.buffers[name].parameter

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
        blocks = self._blocks[1:] if self.loops else []
        found = (s for block in blocks for s in statements(tuple(block)))
        return {s.buffer for s in found if isinstance(s, ir.Write)}

    def keep_apart(self, written: str, kept: Iterable[str]) -> None:
        """A store into one argument must not be seen in what is kept of another: at the call
        they may turn out to be one array."""
        for w in sorted(self.may_be(written)):
            for r in sorted({n for k in kept for n in self.may_be(k)} - {w}):
                one, other = self.buffers[w], self.buffers[r]
                if one.parameter and other.parameter and one.is_like(other):
                    self.apart.add((w, r))

    def may_share(self, buffer: str) -> Refusal:
        """The refusal of a store that a view made of the buffer would see."""
        name = min(self.snapshots[n] for n in self.may_be(buffer) if n in self.snapshots)
        return self.refuse(
            "PRT905", f"`{name}` may share memory with the array that is stored into",
            f"make `{name}` a copy: `.copy()`",
        )  # fmt: skip

    def stored(self, buffer: ir.Buffer) -> Array:
        """A buffer as an array that reads and writes through."""
        name, dtype = buffer.name, buffer.dtype

        def at(idx: Sequence[Poly]) -> ir.Expr:
            return ir.Load(name, tuple(idx), dtype)

        return Array(buffer.shape, dtype, at, View(name, tuple))

    # -- scalars -------------------------------------------------------------------

    def let(self, name: str, value: ir.Expr) -> ir.Local:
        """Assign a scalar variable; its dtype joins those of all assignments."""
        known = self.local_types.get(name)
        joined = value.dtype if known is None else promote(known, value.dtype)
        if joined != known:
            self.local_types[name] = joined
            self.retype = self.retype or known is not None
        mixed.assigned(self, name, value)
        self.taken.add(name)
        variable = ir.Local(name, joined)
        if value != variable:
            self.emit(ir.Let(name, cast(value, joined), self.origin))
        return variable

    # -- dimensions and dtypes -----------------------------------------------------

    def resolve(self, poly: Poly) -> Poly:
        """With dimensions known to be equal written as one. Refuses a division by a size of 0."""
        for _ in range(8):
            if not self.equal or not (poly.names() & self.equal.keys()):
                return poly
            try:
                poly = poly.replace(self.equal)
            except ZeroDivisionError:
                raise self.refuse("PRT903", "an array size is divided by zero") from None
        return poly

    def unify(
        self, a: Poly, b: Poly, what: str, broadcast: bool | str = False, error: str = "ValueError"
    ) -> Poly:
        """Take two sizes as equal, from here on and at run time. Refuses if they cannot be.

        `broadcast` says that NumPy also takes 1 for one of them, "store" that it does so for b.
        """
        a, b = self.resolve(a), self.resolve(b)
        if a == b:
            return a
        difference = a - b
        known = difference.constant
        if known is not None:
            raise self.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
        if never_zero(difference):
            refused = self.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
            raise Contradiction(refused.diagnostic, self._broadcast_axes())
        common = both_whole(self, a, b)
        if common is not None:
            return common
        late = difference.names() & self.fetched
        for atom in () if late else self._replaced_first(a, b, broadcast):
            if isinstance(atom, Dim):
                factor = difference.coefficient(atom.name)
                if factor in (1, -1):
                    other = Poly.atom(atom) - difference * factor
                    if other.names() & {r.name for r in self.ranges}:
                        continue  # the size would differ from one iteration to the next
                    plain = (b.name, a.name if broadcast is True else None)
                    self._equate(atom, other, what, atom.name in plain and broadcast, error)
                    return self.resolve(a)
        if any(isinstance(atom, Data) for atom in difference.atoms()):
            return self._unify_bounds(a, b, what)
        if difference.names() & {r.name for r in self.ranges}:
            whole = unclamp(self, a, b)
            if whole is not None:
                return self.unify(*whole, what, broadcast, error)
            raise self.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
        if (a.names() | b.names()) & {r.name for r in self.ranges}:
            # the loops' indices cancel out: what is left can be tested before the loops
            left, right = (_positive(difference), _positive(-difference))
            self.check(ir.Check("equal", left, right, what, error))
            return a
        if late:
            self.check(
                ir.Check("equal", a, b, what, error)
            )  # the host learns these sizes on the way
        else:
            self.checks.append(ir.Check("equal", a, b, what, error))
        return a

    def same_size(self, a: Poly, b: Poly) -> None:
        """Two sizes are equal from here on: the user's own check has found them so."""
        checks = list(self.checks)
        with suppress(Refusal):
            self.unify(a, b, "the sizes")
        self.checks[:] = checks

    def _broadcast_axes(self) -> tuple[str, ...]:
        """Axes of arguments that were taken as long as others, where NumPy also takes 1."""
        sides = [p.name for c in self.checks if c.kind == "broadcast" for p in (c.left, c.right)]
        return tuple(dict.fromkeys(s for s in sides if s))

    def _unify_bounds(self, a: Poly, b: Poly, what: str) -> Poly:
        """Slices `x[p:q]` and `y[p:q]` with bounds from data match if x and y are as long."""
        # an unsigned bound is never counted from the end: then it is just cut off
        bounds = [
            [t for t in p.atoms() if isinstance(t, Apply) and t.op in ("bound", "min")]
            for p in (a, b)
        ]
        for s, t in itertools.product(*bounds):
            rest = [[x for x in own.args if x not in other.args] for own, other in ((s, t), (t, s))]
            if s.op == t.op and len(rest[0]) == len(rest[1]) == 1:
                self.unify(rest[0][0], rest[1][0], what)
        if self.resolve(a) != self.resolve(b):
            raise self.refuse("PRT903", f"{what}: sizes computed from array elements may differ")
        return self.resolve(a)

    def check(self, check: ir.Check) -> None:
        """Add a test of the arguments, made only where the statement would run."""
        if (self.in_while or self.data_branches) and not self.ranges:
            left, right = names = ("host_value_0_", "host_value_1_")
            test = f"{right} < {left}"
            if check.kind != "index":
                test = f"{_length(check.left, left)} != {_length(check.right, right)}"
            text = f'if {test}:\n    raise {check.error}("{check.message}")'
            sizes = (ir.Value(check.left, WEAK_INT), ir.Value(check.right, WEAK_INT))
            values = tuple(zip(names, sizes, strict=True))
            self.emit(ir.Host(text, self.origin, ir.HostKind.CHECK, values))
            return
        when = check.when or extents(self)
        self.checks.append(replace(check, when=when, conditions=tuple(self.conditions)))

    def _replaced_first(self, a: Poly, b: Poly, broadcast: bool | str) -> list[Atom]:
        """The sizes that may be expressed by others: among broadcast arrays the smaller one's."""
        ranks = {n: len(self.buffers[n].shape) for n in self.buffers}
        atoms = [*b.atoms(), *a.atoms()]
        if broadcast is True and a.symbol and b.symbol:
            atoms.sort(key=lambda s: ranks.get(s.array, 0) if isinstance(s, Dim) else 0)
        return atoms

    def _equate(self, dim: Dim, other: Poly, what: str, broadcast: bool | str, error: str) -> None:
        kind = "equal"
        if broadcast:
            kind = "broadcast" if broadcast is True and other.symbol else "store"
        self.checks.append(ir.Check(kind, Poly.atom(dim), other, what, error))
        self.equal[dim.name] = other

    def same_dtype(self, *dtypes: DType) -> None:
        """Parameters of one dtype that meet stay of one dtype; those of two serve only these.

        Kinds are apart: a float array and the integers that scale it need not be as wide.
        """
        for kind in "iuf":
            variable = [d for d in dtypes if d.var and d.kind == kind]
            if len({d.name for d in variable}) > 1:
                self.pin(*variable)
                continue
            roots = [self.dtype_root(d.var) for d in variable if d.var]
            for root in roots[1:]:
                if root != roots[0]:
                    self.dtype_groups[root] = roots[0]

    def literal(self, value: int, dtype: DType) -> None:
        """A Python int meets an integer array: NumPy raises if it does not fit the dtype."""
        if dtype.var and dtype.kind in "iu":
            self.literals.append((value, dtype))

    def pin(self, *dtypes: DType) -> None:
        """Give up serving other dtypes for these parameters; the evaluation starts again."""
        roots = {self.dtype_root(d.var) for d in dtypes if d.var}
        group = {v for v in (*self.dtype_groups, *roots) if self.dtype_root(v) in roots}
        if group - self.pinned:
            self.pinned |= group
            self.retype = True

    def dtype_root(self, var: str) -> str:
        """The parameter that stands for a group of parameters of one dtype."""
        while var in self.dtype_groups:
            var = self.dtype_groups[var]
        return var


def whole_view(array: Array) -> bool:
    """Whether an array is exactly one stored buffer."""
    return array.view is not None and array.view.index is tuple


def strong(array_dtype: DType) -> DType:
    """Arrays never have weak dtypes."""
    return strengthen(array_dtype)


def _length(size: Poly, text: str) -> str:
    """A size as the host tests it: what a slice leaves of an array is never less than 0."""
    return text if size.is_nonneg() else f"max({text}, 0)"


def _positive(poly: Poly) -> Poly:
    """The terms with positive coefficients."""
    return Poly(tuple((m, c) for m, c in poly.terms if c > 0))
