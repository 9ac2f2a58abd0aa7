"""Sums of products that threads compute for themselves become one matrix product before them.

`if j < n - i: c[i, i + j] = sum[k](x[k, i] * x[k, i + j])` needs the elements p, q of
`x.T @ x` with p = i and q = i + j.  Where a library multiplies matrices faster than any loop
does, all of them are computed at once, if there are no more of them than the stage has iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from porter import ir
from porter.dtypes.dtype import WEAK_INT, DType
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, expressions
from porter.ir.rebuild import map_exprs
from porter.ir.walk import statements, walk
from porter.sizes.polynomial import Apply, Data, Poly, maximum, minimum, sym
from porter.sizes.shapes import product

#: what BLAS multiplies
BLAS = frozenset({"float32", "float64", "complex64", "complex128"})


@dataclass(frozen=True)
class _Factor:
    """One operand: a matrix, the dimension that the sum runs over, the index in the other one, and
    the values that this index has."""

    load: ir.Load
    summed: int
    index: Poly
    first: Poly
    end: Poly

    @property
    def extent(self) -> Poly:
        """How many rows or columns are read."""
        return self.end - self.first


def hoist_products(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass, over the stages that no loop of the host repeats."""
    if not context.program.host_products:
        return body
    aliases = Aliases.of(body, context.buffers)
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Stage):
            written = aliases.with_others(defs_in((s,)).arrays, arguments=True)
            s = replace(s, body=_Products(s, written, result, context).block(s.body, ()))
        result.append(s)
    return tuple(result)


class _Products:
    """Replaces the sums of one stage."""

    def __init__(
        self, stage: ir.Stage, written: Set[str], before: list[ir.Stmt], context: Context
    ) -> None:
        self.stage, self.written, self.before, self.context = stage, written, before, context
        #: the indices of sums, which the host does not know
        self.summed = {
            a.name
            for s in statements(stage.body)
            for e in expressions(s)
            for r in walk(e)
            if isinstance(r, ir.Reduce)
            for a in r.axes
        }

    def block(self, body: Sequence[ir.Stmt], guards: tuple[ir.Expr, ...]) -> tuple[ir.Stmt, ...]:
        """The statements where these conditions hold."""
        return tuple(self.statement(s, guards) for s in body)

    def statement(self, s: ir.Stmt, guards: tuple[ir.Expr, ...]) -> ir.Stmt:
        """A statement with elements of products in place of sums."""
        if isinstance(s, ir.If):
            # where data decides, few elements may be needed
            if s.orelse or any(isinstance(x, (ir.Load, ir.Local)) for x in walk(s.cond)):
                return s
            return replace(s, body=self.block(s.body, (*guards, s.cond)))
        if isinstance(s, (ir.Let, ir.Write)):
            return map_exprs(s, lambda e: self.element(e, guards, s.origin))
        return s

    def element(self, e: ir.Expr, guards: tuple[ir.Expr, ...], origin: ir.Origin) -> ir.Expr | None:
        """The element of a product that a sum is; None if it is none."""
        if not isinstance(e, ir.Reduce) or isinstance(e, ir.Scan) or e.op != "sum":
            return None
        match e.axes, e.body:
            case (k,), ir.Op("mul", (ir.Load() as x, ir.Load() as y)):
                left, right = self.factor(x, k, guards), self.factor(y, k, guards)
                if left is None or right is None or not self.is_worth_it(left, right):
                    return None
                return self.made(left, right, e.dtype, origin)
        return None

    def factor(self, load: ir.Load, k: ir.Axis, guards: tuple[ir.Expr, ...]) -> _Factor | None:
        """A matrix that is not stored into, all of one dimension of which is summed up."""
        along = [d for d, p in enumerate(load.index) if p == sym(k.name, True)]
        if len(load.index) != 2 or len(along) != 1 or load.buffer in self.written:
            return None
        # a sum over a part might reach beyond the axis where no iteration runs
        if k.lo != Poly() or k.hi != self.context.buffers[load.buffer].shape[along[0]]:
            return None
        index = load.index[1 - along[0]]
        rows = None if self.summed & index.names() else self.range_of(index, guards)
        return None if rows is None else _Factor(load, along[0], index, *rows)

    def range_of(self, index: Poly, guards: tuple[ir.Expr, ...]) -> tuple[Poly, Poly] | None:
        """The first row or column that the iterations read, and the end; None if not known."""
        names = {a.name for a in self.stage.axes}
        used = [a for a in self.stage.axes if a.name in index.names()]
        if any(isinstance(a, (Data, Apply)) for a in index.atoms()):
            return None
        if not used or any(index.coefficient(a.name) != 1 for a in used):
            return None
        first = index.replace({a.name: a.lo for a in used})
        ends = [index - one + other for one, other in _below(guards)]
        ends.append(index.replace({a.name: a.hi - 1 for a in used}) + 1)
        end = next((p for p in ends if not p.names() & names), None)
        return (
            None if end is None or first.names() & names or not first.is_nonneg() else (first, end)
        )

    def is_worth_it(self, left: _Factor, right: _Factor) -> bool:
        """Whether the product is one that a library makes, of no more elements than iterations."""
        names = left.index.names() | right.index.names()
        used = [a for a in self.stage.axes if a.name in names]
        dtypes = {left.load.dtype.name, right.load.dtype.name}
        if len(used) != 2 or len(dtypes) != 1 or not dtypes <= BLAS:
            return False
        return (product(a.extent for a in used) - left.extent * right.extent).is_nonneg()

    def made(self, left: _Factor, right: _Factor, dtype: DType, origin: ir.Origin) -> ir.Expr:
        """An element of the product, which the host makes before the stage."""
        values: list[tuple[str, ir.Expr]] = []
        texts = [self.operand(n, f, 1 - n, values) for n, f in enumerate((left, right))]
        shape = (
            ir.Axis("", self.end(left) - left.first),
            ir.Axis("", self.end(right) - right.first),
        )
        result = self.context.buffer("product", shape, dtype)
        arrays = tuple((f"host_array_{n}_", f.load.buffer) for n, f in enumerate((left, right)))
        self.before.append(
            ir.Host(f"np.matmul({', '.join(texts)})", origin, values=tuple(values),
                    arrays=arrays, makes=(result.name,))
        )  # fmt: skip
        index = (left.index - left.first, right.index - right.first)
        return ir.Load(result.name, index, dtype)

    def end(self, factor: _Factor) -> Poly:
        """Where the rows or columns end that exist: an index beyond them is never read."""
        size = self.context.buffers[factor.load.buffer].shape[1 - factor.summed]
        return maximum(minimum(factor.end, size), factor.first)

    def operand(
        self, n: int, factor: _Factor, summed: int, values: list[tuple[str, ir.Expr]]
    ) -> str:
        """The text of one operand with the sum along dimension `summed`."""
        size = self.context.buffers[factor.load.buffer].shape[1 - factor.summed]
        rows = self.part(factor.first, maximum(factor.end, factor.first), size, values)
        slices = (":", rows) if factor.summed == 0 else (rows,)
        text = f"host_array_{n}_" + ("" if rows == ":" else f"[{', '.join(slices)}]")
        return text if factor.summed == summed else f"{text}.T"

    def part(self, first: Poly, end: Poly, size: Poly, values: list[tuple[str, ir.Expr]]) -> str:
        """A slice of these bounds, without those that an axis has by itself."""

        def bound(p: Poly) -> str:
            if p.constant is not None:
                return str(p.constant)
            values.append((f"host_value_{len(values)}_", ir.Value(p, WEAK_INT)))
            return values[-1][0]

        low = "" if first == Poly() else bound(first)
        return f"{low}:{'' if end == size else bound(end)}"


def _below(guards: Sequence[ir.Expr]) -> Iterator[tuple[Poly, Poly]]:
    """The pairs of positions of which conditions say that the first is below the second."""
    for e in guards:
        match e:
            case ir.Op("and", args):
                yield from _below(args)
            case ir.Op("lt", (ir.Value(poly=one), ir.Value(poly=other))):
                yield one, other
            case ir.Op("le", (ir.Value(poly=one), ir.Value(poly=other))):
                yield one, other + 1
            case ir.Op("gt", (ir.Value(poly=other), ir.Value(poly=one))):
                yield one, other
            case ir.Op("ge", (ir.Value(poly=other), ir.Value(poly=one))):
                yield one, other + 1
