"""Leading axes: one axis of the kernels stands for any number of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from porter import ir
from porter.analyses.leading_axes import LeadingAxes
from porter.codegen.host.base import HostBase
from porter.ir.walk import data_of, walk
from porter.schedule.nodes import items_of
from porter.sizes.polynomial import Poly

#: what a number is computed by on the host
_OF_NUMBERS = (ir.Const, ir.Value, ir.Scalar, ir.Op, ir.Cast, ir.Select)


class Leading(HostBase):
    """Writes how arguments get one leading axis, and results theirs again."""

    def _any_rank(self, name: str) -> bool:
        """Whether an argument takes any number of leading axes."""
        return self.plan.leading is not None and name in self.plan.leading.arrays

    def _collapse(self, leading: LeadingAxes) -> None:
        """One axis in place of the leading ones of each array."""
        self._needs("_leading", "_on_device")
        for name in leading.arrays:
            if name in self.overlap.written or name in self._returned():
                self.emit(f"whole_{name} = {name}")
        cores = {n: len(self.plan.buffers[n].shape) - 1 for n in leading.arrays}
        given = ", ".join(f'"{n}": ({n}, {core})' for n, core in cores.items())
        options = f", least={leading.least}" if leading.least else ""
        fixed = ", ".join(f'"{n}"' for n in leading.fixed)
        fixed += "," if len(leading.fixed) == 1 else ""
        options += f", fixed=({fixed})" if fixed else ""
        self.emit(f"lead, {', '.join(cores)} = _leading({{{given}}}{options})")
        self.pending = [c for c in self.pending if not settled(c, leading)]

    @property
    def _returns(self) -> Sequence[ir.Return]:
        return [i for i in items_of(self.plan.items) if isinstance(i, ir.Return)]

    def _returned(self) -> Set[str]:
        """The arguments that are returned as the kernels have them, or that results may be."""
        values = [v for i in self._returns for k, v in enumerate(i.values)
                  if isinstance(v, str) and not self._given_by(i, k)]  # fmt: skip
        given = {v for v in values if self.plan_parameter(v)}
        return given.union(*(self.plan.aliases.arguments(v) for v in values))

    def _given_by(self, item: ir.Return, k: int) -> str:
        """The argument that a result is, whatever the kernels take of it; '' if it is none.

        What is stored into is an array that nothing was made of.
        """
        name = _argument(item.values[k]) if k in item.given else ""
        p = next((p for p in self.plan.parameters if p.name == name), None)
        left = p is None or p.fixed or p.attribute or p.conversion
        return "" if left or name in self.overlap.written else name

    def _numbers_of(self, value: str | ir.Expr | None) -> set[str]:
        """The arguments that a number is made of, if it is made of nothing else.

        As they were given, they are NumPy's numbers or Python's, and so is the result.
        """
        if value is None or isinstance(value, str) or not value.dtype.weak:
            return set()
        nodes = list(walk(value))
        if not all(isinstance(x, _OF_NUMBERS) for x in nodes):
            return set()
        names = {x.name for x in nodes if isinstance(x, ir.Scalar)}
        polys = [x.poly for x in nodes if isinstance(x, ir.Value)]
        names |= {n for p in polys for n in p.names()}
        own = {p.name for p in self.plan.parameters if p.ndim is None and not (
            p.fixed or p.items or p.attribute or p.conversion or p.updated)}  # fmt: skip
        return names if names <= own and not any([*data_of(p)] for p in polys) else set()

    def _given_back(self) -> Sequence[str]:
        """The arguments that are returned, or asked what they are, as they were given."""
        names = {self._given_by(i, k) for i in self._returns for k in i.given}
        names |= {n for i in self._returns for v in i.values for n in self._numbers_of(v)}
        names |= {n for r in self.plan.numbers.kept for asked in r.values() for n in asked}
        return [p.name for p in self.plan.parameters if p.name in names]

    def _whole(self, name: str) -> str:
        """An argument with all of its axes."""
        kept = self.elementwise or self._any_rank(name)
        return f"whole_{name}" if kept else name

    def _leading_shape(self, name: str, kept: str) -> str:
        """What `_result` is told of the shape of a result with leading axes."""
        leading = self.plan.leading
        position = None if leading is None else leading.position(name)
        if leading is None or position is None:
            return ""
        before = f"{name}.shape[:{position}] + " if position else ""
        behind = f" + {name}.shape[{position + 1}:]"
        if len(self.plan.buffers[name].shape) == position + 1:
            behind = ""
        keep = f", {kept or True}" if name in leading.kept else ""
        return f", {before}lead{behind}{keep}"


def _argument(value: str | ir.Expr | None) -> str:
    """The name of an argument that is returned."""
    match value:
        case str():
            return value
        case ir.Scalar(name=name):
            return name
        case ir.Value(poly=poly):
            return next(iter(poly.names()), "")
    return ""


def settled(c: ir.Check, leading: LeadingAxes) -> bool:
    """Whether a check is about the leading axes of two of the arrays."""
    return leading.concerns(c.left.dim) and leading.concerns(c.right.dim)


def settles(d: ir.Check, c: ir.Check) -> bool:
    """Whether two sizes have been compared by `d` wherever `c` would compare them."""
    return (
        "index" not in (d.kind, c.kind)
        and d.error == c.error
        and {d.left, d.right} == {c.left, c.right}
        and set(d.when) <= set(c.when)
        and set(d.conditions) <= set(c.conditions)
    )


def never_fails(c: ir.Check) -> bool:
    """Whether what a test waits for says that it passes: `x[1]` where `len(x) > 1` holds."""
    room = c.right - c.left
    said = [p for cond in c.conditions for p in _said(cond, holds=True)]
    return c.kind == "index" and any((room - p).is_nonneg() for p in said)


def _said(cond: ir.Expr, *, holds: bool) -> Iterator[Poly]:
    """What is >= 0 where a condition of sizes holds, or where it does not."""
    match cond:
        case ir.Op(op="not", args=(inner,)):
            yield from _said(inner, holds=not holds)
        case ir.Op(op=op, args=(a, b)) if op == ("and" if holds else "or"):
            yield from _said(a, holds=holds)
            yield from _said(b, holds=holds)
        case ir.Op(op=("lt" | "ge") as op, args=(ir.Value(poly=left), ir.Value(poly=right))):
            yield right - left - 1 if (op == "lt") == holds else left - right
        case ir.Op(
            op="ne", args=(ir.Value(poly=size), ir.Const(value=0) | ir.Value(poly=Poly(terms=())))
        ):
            if holds and size.is_nonneg():
                yield size - 1
        case ir.Op(op=("gt" | "le") as op, args=(ir.Value(poly=left), ir.Value(poly=right))):
            yield left - right - 1 if (op == "gt") == holds else right - left
