"""Stores: into elements, slices and masked selections of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import RANK, strengthen
from porter.ir.scalars import cast, constant_of
from porter.ir.walk import substitute, walk
from porter.lowering.arrays.calculus import ONE, Operand, aligned, as_array, at_most_one
from porter.lowering.arrays.compaction import same_selection, spread, whole
from porter.lowering.state import ambiguous
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Relative, Value, View
from porter.sizes.polynomial import Atom, Data, Poly, sym


def no_target(b: Builder, owner: Value) -> Refusal:
    """What is said of a store into an element of anything but an array."""
    if isinstance(owner, Relative):
        return b.refuse("PRT902", "a stencil reads its arguments only",
                        "return the result of the element")  # fmt: skip
    code = "PRT902" if isinstance(owner, (ir.Object, tuple)) else "PRT905"
    return b.refuse(code, "the target of the store is not an array")


def store(
    b: Builder, target: Array, value: Operand, what: str = "the store", combine: str | None = None
) -> None:
    """`target[...] = value`, with broadcasting and the cast to the target's dtype."""
    view = _writable(b, target)
    made = b.out.definition(view.buffer)
    if made is not None and isinstance(made.body, ir.Op) and _loads(made.body):
        b.out.shared_updates = True  # of numbers NumPy computes a number, no array
    source = _placed(b, target, as_array(value))
    _check_kind(b, target, value)
    source = _with_thin_axes(b, target, source, what)
    thin = _meet(b, target, source, what)
    axes = b.axes([n for n in target.shape if n != ONE])
    running = iter(axes)
    idx = [Poly() if n == ONE else sym(next(running).name, True) for n in target.shape]
    inner = idx[-source.ndim :] if source.ndim <= len(idx) else idx
    at = (
        aligned(source.shape, [*[Poly()] * max(source.ndim - target.ndim, 0), *inner])
        if source.ndim
        else []
    )
    steps = {d: b.strides.step(b.sizes.resolve(source.shape[d])) for d in thin}
    element = source.at([i * steps[d] if d in steps else i for d, i in enumerate(at)])
    ambiguous.exact(
        b.dtypes, ambiguous.candidates_of(b.dtypes, element), element.dtype, target.dtype
    )
    literal = constant_of(element) if element.dtype.weak and element.dtype.kind == "i" else None
    if isinstance(literal, int) and combine is None:
        b.dtypes.literal(literal, target.dtype)
    body = cast(element, target.dtype)
    index = _apart(b, view.buffer, view.index(idx), axes)
    mask = target.mask(idx) if target.mask is not None else None
    if isinstance(mask, ir.Load) and mask.buffer == view.buffer and mask.index != index:
        raise b.refuse("PRT905", "the mask is a view of the array that is stored into",
                       "copy the mask first")  # fmt: skip
    checked = any(isinstance(a, Data) for p in index for a in p.atoms())
    b.out.emit(ir.Write(view.buffer, axes, index, body, b.place.origin, mask, checked, combine))


def _loads(e: ir.Expr) -> bool:
    """Whether an expression is computed of an array."""
    return any(isinstance(x, ir.Load) for x in walk(e))


def _writable(b: Builder, target: Array) -> View:
    """The place that a store goes to; refuses what NumPy would not store into alike."""
    if target.view is None and target.shown_of:
        raise b.refuse(
            "PRT905",
            f"the target may share memory with `{target.shown_of}`",
            "copy it before the store: `.copy()`",
        )
    if target.view is None:
        raise b.refuse("PRT905", "the store goes into a temporary copy and is lost",
                       "store into the original array")  # fmt: skip
    view = target.view
    readonly = view.readonly or b.aliases.readonly.get(view.buffer, "")
    if readonly:
        raise b.refuse("PRT905", readonly, "store into the original array")
    if view.only is not None:
        b.dtypes.pin(view.only)
    same = b.aliases.may_be(view.buffer)
    if view.contiguous or same & b.aliases.flattened:
        _demand_contiguous(b, view.buffer)
    if same & b.aliases.frozen:
        raise b.refuse("PRT905", f"a host object still refers to `{view.buffer}`",
                       "give the host object a copy: `.copy()`")  # fmt: skip
    b.sizes.strict.add("stored")
    if same & b.aliases.snapshots.keys():
        raise b.aliases.may_share(view.buffer)
    b.aliases.keep_apart(
        view.buffer, [*b.aliases.snapshots, *b.aliases.frozen, *b.aliases.flattened]
    )
    return view


def _with_thin_axes(b: Builder, target: Array, source: Array, what: str) -> Array:
    """A value as `x[1:2]` has it is repeated like one of length 1: it must not be empty then."""
    shape = list(source.shape)
    for d in range(1, min(source.ndim, target.ndim) + 1):
        have, want = b.sizes.resolve(source.shape[-d]), b.sizes.resolve(target.shape[-d])
        alike = have == ONE or at_most_one(want) or not at_most_one(have)
        if not alike and not (have.names() | want.names()) & b.scope.indices:
            message = f"{what}: could not broadcast the value into the target"
            b.sizes.check(ir.Check("index", ONE, have, message, when=(want,)))
            shape[-d] = ONE
    return source if tuple(shape) == source.shape else replace(source, shape=tuple(shape))


def _meet(b: Builder, target: Array, source: Array, what: str) -> set[int]:
    """The value is as long as the target along each axis, or repeated there.

    Returns the axes of the value that have a stride.
    """
    thin: set[int] = set()
    extra = source.ndim - target.ndim
    if extra > 0:
        if any(n != ONE for n in source.shape[:extra]):
            raise b.refuse("PRT903", "the value has more dimensions than the target")
    pairs = zip(reversed(source.shape), reversed(target.shape), strict=False)
    for k, (have, want) in enumerate(pairs):
        if have != ONE:
            unequal = f"{what}: could not broadcast the value into the target"
            if b.strides.fits(have, want, unequal):
                thin.add(source.ndim - 1 - k)
                continue
            met = want != have and b.sizes.resolve(want) == b.sizes.resolve(have)
            b.sizes.unify(want, have, unequal, "store")
            if met and want.symbol and have.symbol:
                # lengths that met in an expression before: the target's cannot be repeated
                b.sizes.check(ir.Check("equal", want, have, unequal))
    return thin


def _apart(
    b: Builder, buffer: str, index: tuple[Poly, ...], axes: Sequence[ir.Axis]
) -> tuple[Poly, ...]:
    """Subscripts that are read from the target itself (`x[x] = 0`) are copied first."""

    shape = tuple(axis.extent for axis in axes)

    def atom(a: Atom) -> Poly:
        if not isinstance(a, Data) or not reads(a.expr, buffer):
            return Poly.atom(a)
        expr: ir.Expr = a.expr

        def at(idx: Sequence[Poly]) -> ir.Expr:
            names = {axis.name: i for axis, i in zip(axes, idx, strict=True)}
            return substitute(expr, names)

        copy = b.define("positions", Array(shape, strengthen(expr.dtype), at))
        return Poly.atom(replace(a, expr=copy.at([sym(axis.name, True) for axis in axes])))

    return tuple(p.map_atoms(atom) for p in index)


def reads(expr: ir.Expr, buffer: str) -> bool:
    """Whether an expression reads an array."""
    return any(isinstance(e, ir.Load) and e.buffer == buffer for e in walk(expr))


def shows(b: Builder, buffer: str) -> None:
    """A name for `x.ravel()`: of an argument with gaps it is a copy, which no store reaches."""
    b.aliases.flattened.add(buffer)
    if b.aliases.stored_in_loop(buffer):
        _demand_contiguous(b, buffer)


def _demand_contiguous(b: Builder, buffer: str) -> None:
    """A store through `x.ravel()`: of an argument with gaps NumPy would have made a copy."""
    variables = {name for name, _ in b.aliases.moves}
    made = sorted(b.aliases.may_be(buffer) - variables)
    names = [n for n in made if b.out.is_parameter(n)]
    if not all(n in names or any(_is_in_order(s, n) for s in b.out.statements) for n in made):
        names = [
            n for n, known in b.out.buffers.items() if known.parameter and len(known.shape) > 1
        ]
    for name in names:
        message = f"{name} must be contiguous: the store would go to a reshaped copy"
        test = f'if not {name}.flags["C_CONTIGUOUS"]:\n    raise ValueError("{message}")'
        b.out.demand(test, name)


def _is_in_order(s: ir.Stmt, buffer: str) -> bool:
    """Whether a statement makes the array in C order; `x * 2` may keep the order of `x`."""
    if isinstance(s, ir.Def):
        return s.name == buffer and not any(isinstance(e, ir.Load) for e in walk(s.body))
    return isinstance(s, ir.Alloc) and s.buffer.name == buffer


def _placed(b: Builder, target: Array, source: Array) -> Array:
    """The value along the axes of the target, if one of them is a selection by a mask."""
    if source.lead and target.lead and same_selection([target, source]):
        return source
    source = whole(b, source)
    behind = target.ndim - target.lead
    if not target.lead or source.ndim <= behind:
        return source
    if source.ndim > behind + 1:
        raise b.refuse(
            "PRT903", "the value has more dimensions than the selection that it is stored into"
        )
    return source if source.shape[0] == ONE else spread(b, target, source)


def _check_kind(b: Builder, target: Array, value: Operand) -> None:
    """NumPy stores floats into integers by truncation; complex into real it warns about."""
    if value.dtype.kind == "c" and target.dtype.kind != "c":
        raise b.refuse(
            "PRT907",
            "a complex value is stored into a real array",
            "make the target complex, or store `value.real`",
        )


def same_kind(target: Array, value: Operand) -> bool:
    """Whether an in-place operation may cast its result back (`casting="same_kind"`)."""
    ranks = RANK | {"u": 1, "i": 1}
    return ranks[value.dtype.kind] <= ranks[target.dtype.kind] and not (
        target.dtype.kind == "u" and value.dtype.kind == "i" and not value.dtype.weak
    )
