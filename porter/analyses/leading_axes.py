"""The form that a program has if its leading axis stands for none, one or several axes.

Two programs are lowered from one function for other numbers of dimensions.  The function is
generic over its leading axes if the forms of both are equal: each index that runs along the
leading axis has become so many indices, at the same places, and nothing else has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.ir.scalars import cast
from porter.ir.walk import statements
from porter.sizes.polynomial import Atom, Data, Dim, Index, Poly
from porter.sizes.shapes import product

ONE = Poly.of(1)


@dataclass(frozen=True)
class LeadingAxes:
    """Arguments whose first axis stands for any number of axes, at least so many.

    They broadcast against each other, up to the axes of those that are `fixed`.  The results have
    these axes at a position of theirs; those that are `kept` are 0-d arrays where nothing is left.
    """

    arrays: tuple[str, ...]
    results: tuple[tuple[str, int], ...]
    least: int = 0
    fixed: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()

    def position(self, result: str) -> int | None:
        """Which axis of a result they are; None if it has none."""
        return dict(self.results).get(result)

    def broadcasts(self, check: ir.Check) -> bool:
        """Whether a check is about a leading axis that may be 1 beside the others."""
        sides = (check.left,) if check.kind == "store" else (check.left, check.right)
        fixed = {p.dim for p in sides if p.dim is not None and p.dim.array in self.fixed}
        return self.concerns(check.left.dim) and not fixed

    def concerns(self, dim: Dim | None) -> bool:
        """Whether a size is that of a leading axis."""
        return dim is not None and dim.axis == 0 and dim.array in self.arrays


class NotGeneric(Exception):
    """The leading axis is used in another way than index by index."""


@dataclass(frozen=True)
class Form:
    """What must be equal; two programs that differ only in bound names have one form."""

    body: tuple[ir.Stmt, ...]
    checks: frozenset[ir.Check]
    shapes: tuple[tuple[str, tuple[Poly, ...]], ...]


#: the canonical indices that stand for one of the program's
Parts = tuple[Poly, ...]


@dataclass(frozen=True)
class _Scope:
    """The indices that are bound, and how many canonical ones they are."""

    parts: Mapping[str, Parts] = field(default_factory=dict)
    leading: frozenset[str] = frozenset()
    depth: int = 0


def lifted(
    program: ir.Program, arrays: Sequence[str], count: int = 1, thin: Sequence[str] = ()
) -> Form:
    """The form with `count` axes for the leading one of these arrays; it is 1 long in `thin` ones.

    Raises NotGeneric where the leading axis is anything but an index of each array.
    """
    return _Former(program, arrays, count, thin, True).form()


def plain(
    program: ir.Program, arrays: Sequence[str], count: int = 1, thin: Sequence[str] = ()
) -> Form:
    """The form of a program that was lowered for so many leading axes of these arrays."""
    return _Former(program, arrays, count, thin, False).form()


def carriers(program: ir.Program) -> Iterator[tuple[str, ...]]:
    """Groups of arguments that one leading size belongs to, read at its index alone."""
    groups: dict[Dim, list[str]] = {}
    for p in program.parameters:
        if p.ndim:
            dim = program.buffers[p.name].shape[0].dim
            if dim is not None:
                groups.setdefault(dim, []).append(p.name)
    for dim, names in sorted(groups.items(), key=lambda g: -len(g[1])):
        if dim.axis == 0 and dim.array in names:
            yield tuple(names)


def leading_results(program: ir.Program, lead: Poly) -> tuple[tuple[str, int], ...] | None:
    """The results with the leading axis, once, and where; None where one has it twice."""
    found: dict[str, int] = {}
    for s in statements(program.body):
        for v in s.values if isinstance(s, ir.Return) else ():
            if isinstance(v, str):
                places = [d for d, n in enumerate(program.buffers[v].shape) if n == lead]
                if len(places) > 1:
                    return None
                if places:
                    found[v] = places[0]
    return tuple(found.items())


class _Former:
    """Makes the form of one program."""

    def __init__(
        self, program: ir.Program, arrays: Sequence[str], count: int, thin: Sequence[str],
        lifts: bool,
    ) -> None:  # fmt: skip
        self.program = program
        self.arrays = frozenset(arrays)
        self.thin = frozenset(thin)
        self.count = count
        self.lead = program.buffers[arrays[0]].shape[0] if lifts else None
        self.lifted = self.arrays if lifts else frozenset[str]()
        long = next(n for n in arrays if n not in thin)
        self.sizes = tuple(Poly.atom(Dim(long, d)) for d in range(count))
        # numbers without a name, where there is no axis, and arrays of no dimensions are one thing
        writes = any(isinstance(s, ir.Write) for s in statements(program.body))
        self.inlines = count == 0 and not writes
        self.inlined: dict[str, ir.Def] = {}

    def form(self) -> Form:
        """Everything of the program that matters."""
        scope = _Scope()
        if any(isinstance(s, (ir.Host, ir.Fetch)) for s in statements(self.program.body)):
            raise NotGeneric
        body = self.block(self.program.body, scope)
        checks = frozenset(c for own in self.program.checks for c in self.check(own))
        shapes = tuple(
            sorted((n, self.shape(b.shape)) for n, b in self.program.buffers.items()
                   if not b.parameter and n not in self.inlined)
        )  # fmt: skip
        return Form(body, checks, shapes)

    # -- sizes -----------------------------------------------------------------------------

    def poly(self, p: Poly, scope: _Scope) -> Poly:
        """A size, a position or a number: the leading index counts through all of its axes."""

        def atom(a: Atom) -> Poly:
            if isinstance(a, Data):
                return Poly.atom(replace(a, expr=self.expr(a.expr, scope)))
            if isinstance(a, Dim) and a.array in self.lifted:
                if a.axis:
                    return Poly.atom(Dim(a.array, a.axis - 1 + self.count))
                return product(self.sizes)
            if isinstance(a, Index) and a.name in scope.parts:
                total = Poly()
                for part, size in zip(scope.parts[a.name], self._own(a.name, scope), strict=True):
                    total = total * size + part
                return total
            return Poly.atom(a)

        return p.map_atoms(atom)

    def _own(self, name: str, scope: _Scope) -> tuple[Poly, ...]:
        return self.sizes if name in scope.leading else (ONE,)

    def shape(self, shape: Sequence[Poly]) -> tuple[Poly, ...]:
        """A shape with the leading axes in it."""
        found: list[Poly] = []
        for n in shape:
            found += self.sizes if n == self.lead else (self.poly(n, _Scope()),)
        return tuple(found)

    def axes(self, axes: Sequence[ir.Axis], scope: _Scope) -> tuple[tuple[ir.Axis, ...], _Scope]:
        """Bound indices by the depth at which they are bound."""
        new: list[ir.Axis] = []
        for a in axes:
            leads = a.hi == self.lead and not a.lo.terms
            ends = [(n, Poly()) for n in self.sizes] if leads else [
                (self.poly(a.hi, scope), self.poly(a.lo, scope))
            ]  # fmt: skip
            names = [f"#{scope.depth + k}" for k in range(len(ends))]
            new += [ir.Axis(n, hi, lo) for n, (hi, lo) in zip(names, ends, strict=True)]
            scope = self.bound(a.name, names, scope, leads)
        return tuple(new), scope

    def bound(self, name: str, names: Sequence[str], scope: _Scope, leads: bool) -> _Scope:
        """The scope inside of an index."""
        parts = tuple(Poly.atom(Index(n, True)) for n in names)
        leading = scope.leading | {name} if leads else scope.leading - {name}
        return _Scope({**scope.parts, name: parts}, leading, scope.depth + len(names))

    def index(self, buffer: str, index: Sequence[Poly], scope: _Scope) -> tuple[Poly, ...]:
        """The subscripts of an array: the leading index alone along the leading axis."""
        shape = self.program.buffers[buffer].shape
        found: list[Poly] = []
        for d, p in enumerate(index):
            leads = d == 0 if buffer in self.lifted else shape[d] == self.lead
            if not leads:
                found.append(self.poly(p, scope))
            elif p.name not in scope.leading:
                raise NotGeneric
            elif buffer in self.thin:
                found.append(Poly())
            else:
                found += scope.parts[p.name]
        return tuple(found)

    # -- expressions and statements --------------------------------------------------------

    def expr(self, e: ir.Expr, scope: _Scope) -> ir.Expr:
        """An expression."""
        match e:
            case ir.Value(p, dtype):
                value = self.poly(p, scope)
                constant = value.constant
                return ir.Value(value, dtype) if constant is None else ir.Const(constant, dtype)
            case ir.Load(buffer, index) if buffer in self.inlined:
                made = self.inlined[buffer]
                parts = dict.fromkeys((a.name for a in made.axes), ())
                names = scope.leading | parts.keys()
                return self.expr(made.body, _Scope({**scope.parts, **parts}, names, scope.depth))
            case ir.Load(buffer, index):
                return replace(e, index=self.index(buffer, index, scope))
            case ir.Op(args=args):
                return replace(e, args=tuple(self.expr(a, scope) for a in args))
            case ir.Cast(arg=arg):
                new = self.expr(arg, scope)
                return cast(new, e.dtype) if isinstance(new, ir.Const) else replace(e, arg=new)
            case ir.Select(cond, then, other):
                test, yes, no = (self.expr(x, scope) for x in (cond, then, other))
                return ir.Select(test, yes, no, e.dtype)
            case ir.Reduce(axes=axes, body=body):
                bounds, inner = self.axes(axes, scope)
                whole = self.expr(body, inner)
                if not bounds:
                    return whole if whole.dtype == e.dtype else ir.Cast(whole, e.dtype)
                return replace(e, axes=bounds, body=whole)
        return e

    def block(self, body: Sequence[ir.Stmt], scope: _Scope) -> tuple[ir.Stmt, ...]:
        """Statements; numbers without an axis go where they are read."""
        found: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.Def) and self.inlines and not self.axes(s.axes, scope)[0]:
                self.inlined[s.name] = s
            elif isinstance(s, ir.For) and s.hi == self.lead and s.step == 1 and not s.lo.terms:
                found += self.nest(s, scope)
            else:
                found.append(self.statement(s, scope))
        return tuple(found)

    def nest(self, s: ir.For, scope: _Scope) -> tuple[ir.Stmt, ...]:
        """A loop over the leading axis: one for each axis that stands there."""
        (*axes,), inner = self.axes((ir.Axis(s.index, s.hi, s.lo),), scope)
        body = self.block(s.body, inner)
        for a in reversed(axes):
            body = (replace(s, index=a.name, lo=a.lo, hi=a.hi, body=body),)
        return body

    def statement(self, s: ir.Stmt, scope: _Scope) -> ir.Stmt:
        """A statement; the fresh names of indices go, those of arrays and variables stay."""
        match s:
            case ir.Def(axes=axes, body=body):
                new, inner = self.axes(axes, scope)
                return replace(s, axes=new, body=self.expr(body, inner))
            case ir.Alloc(buffer):
                return replace(s, buffer=replace(buffer, shape=self.shape(buffer.shape)))
            case ir.Write(buffer, axes, index, body, _, mask):
                if buffer in self.arrays:
                    raise NotGeneric  # the caller's array would be stored into through a copy
                new, inner = self.axes(axes, scope)
                return replace(
                    s, axes=new, index=self.index(buffer, index, inner),
                    body=self.expr(body, inner),
                    mask=None if mask is None else self.expr(mask, inner),
                )  # fmt: skip
            case ir.Let(value=value):
                return replace(s, value=self.expr(value, scope))
            case ir.For(index, lo, hi):
                inner = self.bound(index, [f"#{scope.depth}"], scope, False)
                return replace(
                    s, index=f"#{scope.depth}", lo=self.poly(lo, scope), hi=self.poly(hi, scope),
                    body=self.block(s.body, inner),
                )  # fmt: skip
            case ir.While(cond, body):
                return replace(s, cond=self.expr(cond, scope), body=self.block(body, scope))
            case ir.If(cond, body, orelse):
                return replace(
                    s, cond=self.expr(cond, scope),
                    body=self.block(body, scope),
                    orelse=self.block(orelse, scope),
                )  # fmt: skip
            case ir.Return(values=values):
                return replace(s, values=tuple(self.result(v, scope) for v in values))
        return s

    def result(self, v: str | ir.Expr | None, scope: _Scope) -> str | ir.Expr | None:
        """A result: a 0-d array and its element are told apart by `kept`."""
        if isinstance(v, str):
            buffer = self.program.buffers[v]
            if not self.shape(buffer.shape) and v not in self.arrays:
                return self.expr(ir.Load(v, (), buffer.dtype), scope)
            return v
        return v if v is None else self.expr(v, scope)

    # -- checks ----------------------------------------------------------------------------

    def check(self, c: ir.Check) -> Iterator[ir.Check]:
        """A check, once for each leading axis; that leading axes fit is the host's to see."""
        dims = [p.dim for p in (c.left, c.right)]
        if self._is_theirs(*dims) or (self._is_thin(dims[0]) and c.right == ONE):
            return
        leads = [d is not None and d.axis == 0 and d.array in self.lifted for d in dims]
        scope = _Scope()
        conditions = tuple(self.expr(e, scope) for e in c.conditions)
        when: list[Poly] = []
        for p in c.when:
            when += self.sizes if p == self.lead else (self.poly(p, scope),)
        rest = c.right if leads[0] else c.left
        sides = [tuple(self.poly(p, scope) for p in (c.left, c.right))]
        if any(leads) and rest.constant is not None:
            sides = [tuple(n if lead else rest for lead in leads) for n in self.sizes]
        for left, right in sides:
            yield replace(c, left=left, right=right, when=tuple(when), conditions=conditions)

    def _is_theirs(self, left: Dim | None, right: Dim | None) -> bool:
        """Whether leading axes of two of the arrays meet."""
        if left is None or right is None or left.axis != right.axis:
            return False
        count = 1 if self.lifted else self.count
        return left.axis < count and {left.array, right.array} <= self.arrays

    def _is_thin(self, dim: Dim | None) -> bool:
        return dim is not None and dim.axis == 0 and dim.array in self.thin
