"""Which arguments the host may expand along an axis of length 1, as NumPy broadcasts them.

Two arguments whose axes meet in an expression are taken as equally long.  If one of them
turns out to have length 1, expanding it gives NumPy's result exactly if the axis is never
used without the other: wherever an index runs along one of them, it runs along all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter import ir
from porter.analyses.runtime_broadcast import changed
from porter.ir.walk import children, statements, walk
from porter.sizes.polynomial import Dim, Symbol


def expandable(program: ir.Program) -> tuple[tuple[Dim, ...], ...]:
    """Groups of (argument, axis) that the host may broadcast against each other."""
    if program.indexed or program.strict:
        return ()
    if any(
        isinstance(s, (ir.For, ir.While, ir.If, ir.Write, ir.Host))
        for s in statements(program.body)
    ):
        return ()
    groups = _groups(program.checks)
    fixed = {d for c in program.checks if c.kind != "broadcast"
             for p in (c.left, c.right) for d in p.dims()}  # fmt: skip
    # an argument that is returned is that argument
    kept = changed(program)
    return tuple(
        tuple(sorted(group))
        for group in groups
        if not group & fixed
        and not kept & {d.array for d in group}
        and all(_met(scope, group) for scope in _scopes(program))
    )


def _groups(checks: Sequence[ir.Check]) -> list[set[Dim]]:
    groups: list[set[Symbol]] = []
    for c in checks:
        left, right = c.left.symbol, c.right.symbol
        if c.kind != "broadcast" or left is None or right is None:
            continue
        joined = {left, right}
        for g in [g for g in groups if g & joined]:
            joined |= g
            groups.remove(g)
        groups.append(joined)
    dims = [{s for s in g if isinstance(s, Dim)} for g in groups]
    return [d for d, g in zip(dims, groups, strict=True) if d == g]


def _scopes(program: ir.Program) -> Iterator[tuple[ir.Axis, ir.Expr]]:
    """Every bound index with the expression that it runs through."""
    for s in statements(program.body):
        if isinstance(s, ir.Def):
            yield from ((a, s.body) for a in s.axes)
            for e in walk(s.body):
                if isinstance(e, ir.Reduce):
                    yield from ((a, e.body) for a in e.axes)


def _met(scope: tuple[ir.Axis, ir.Expr], group: set[Dim]) -> bool:
    """Whether the index runs along all members of the group or along none."""
    axis, body = scope
    if len({d.array for d in group}) != len(group):
        return False
    seen = {
        dim
        for e in _all(body)
        if isinstance(e, ir.Load)
        for d, p in enumerate(e.index)
        if (dim := Dim(e.buffer, d)) in group and axis.name in p.names()
    }
    return not seen or (seen == group and _plainly(body, group, axis.name))


def _plainly(body: ir.Expr, members: set[Dim], name: str) -> bool:
    """Each member is read at the index itself: a shifted slice has another length."""
    return all(
        e.index[d].name == name
        for e in _all(body)
        if isinstance(e, ir.Load)
        for d in range(len(e.index))
        if Dim(e.buffer, d) in members and name in e.index[d].names()
    )


def _all(body: ir.Expr) -> Iterator[ir.Expr]:
    yield body
    for c in children(body):
        yield from _all(c)


def fixed_shapes(program: ir.Program) -> bool:
    """Whether the arguments of an elementwise function must have one shape.

    The kernels see them broadcast to the common shape.  That is not the shape of what the
    function makes of some of them only, or of an array that is as large as one of them.  Where it
    stores into an argument, the common shape is that one's, and so is that of what it makes of it.
    """
    if program.per_element:
        return False
    made = any(isinstance(s, ir.Alloc) for s in statements(program.body))
    results = [_arguments(program, name) for name in _results(program)]
    if program.strict and (made or (program.stored and program.sized)):
        return True
    if program.stored:
        written = {s.buffer for s in statements(program.body) if isinstance(s, ir.Write)}
        return not all(of & written for of in results)
    arrays = {p.name for p in program.parameters if p.ndim is not None}
    return any(of != arrays for of in results)


def own_shapes(program: ir.Program) -> dict[str, tuple[str, ...]]:
    """The arguments that each result has the shape of, where it is just an expression of some.

    The kernels compute all results for the common shape; what a result has more than its own is
    repeated.  Empty where some result is no expression.
    """
    made = any(isinstance(s, (ir.Alloc, ir.Write)) for s in statements(program.body))
    if made or program.strict or program.per_element:
        return {}
    order = [p.name for p in program.parameters if p.ndim is not None]
    found = {name: _arguments(program, name) for name in _results(program)}
    if not all(found.values()) or all(of == set(order) for of in found.values()):
        return {}
    return {name: tuple(n for n in order if n in of) for name, of in found.items()}


def _results(program: ir.Program) -> list[str]:
    """The returned arrays that are not arguments."""
    return [
        v for s in statements(program.body) if isinstance(s, ir.Return) for v in s.values
        if isinstance(v, str) and not program.buffers[v].parameter
    ]  # fmt: skip


def _arguments(program: ir.Program, name: str) -> set[str]:
    """The arguments that a result is computed from; empty if it is not just an expression.

    What is computed in one of several ways must be of the same arguments in all of them; what a
    name is bound to later (`u = v`) may be of others.
    """
    bodies: dict[str, list[ir.Expr]] = {}
    bound: set[str] = set()
    for s in statements(program.body):
        if isinstance(s, ir.Def):
            bodies.setdefault(s.name, []).append(s.body)
        elif isinstance(s, ir.Bind):
            bound |= {*s.names}
    known: dict[str, frozenset[str]] = {}

    def of(at: str) -> frozenset[str]:
        if at in program.buffers and program.buffers[at].parameter:
            return frozenset({at})
        if at not in known:
            known[at] = frozenset()  # what is computed from itself is none
            each = {read(body) for body in bodies.get(at, ()) if at not in bound}
            known[at] = each.pop() if len(each) == 1 else frozenset()
        return known[at]

    def read(body: ir.Expr) -> frozenset[str]:
        parts = [of(e.buffer) for e in _all(body) if isinstance(e, ir.Load)]
        return frozenset().union(*parts) if all(parts) else frozenset()

    return set(of(name))
