"""The dtypes of variables, and which parameters share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.dtypes.dtype import DType
from porter.ir.scalars import poly_of
from porter.ir.walk import walk
from porter.lowering.state.part import Part
from porter.lowering.state.place import Place


@dataclass
class DTypeState(Part):
    """What is known about dtypes; with `retype` the evaluation starts again with it."""

    place: Place
    retype: bool = False
    local_types: dict[str, DType] = field(default_factory=dict)
    #: of variables and of expressions whose dtype the data decides: see `ambiguous`
    local_candidates: dict[str, frozenset[ir.Expr]] = field(default_factory=dict)
    candidates: dict[ir.Expr, frozenset[ir.Expr]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)  # of parameters of one dtype
    pinned: set[str] = field(default_factory=set)  # parameters that serve only one dtype
    literals: list[tuple[int, DType]] = field(default_factory=list)
    beside_bools: set[str] = field(default_factory=set)  # integers that decide a dtype
    pythons: set[str] = field(default_factory=set)  # numbers of which `int` or `float` makes one

    def same_dtype(self, *dtypes: DType) -> None:
        """Parameters of one dtype that meet stay of one dtype; those of two serve only these.

        Kinds are apart: a float array and the integers that scale it need not be as wide.
        """
        for kind in "iuf":
            variable = [d for d in dtypes if d.var and d.kind == kind]
            if len({d.name for d in variable}) > 1:
                self.pin(*variable)
                continue
            roots = [self.root(d.var) for d in variable if d.var]
            for root in roots[1:]:
                if root != roots[0]:
                    self.groups[root] = roots[0]

    def literal(self, value: int, dtype: DType) -> None:
        """A Python int meets an integer array: NumPy raises if it does not fit the dtype."""
        if dtype.var and dtype.kind in "iu":
            self.literals.append((value, dtype))

    def met_bools(self, args: Sequence[ir.Expr], result: ir.Expr) -> None:
        """Bools have no width: beside them an integer argument decides the dtype of the result."""
        values = args[-2:] if isinstance(result, ir.Select) else args
        if result.dtype.kind != "i" or not any(a.dtype.kind == "b" for a in values):
            return
        polys = (poly_of(a) for a in values if a.dtype.weak)
        self.beside_bools |= {n for p in polys if p is not None for n in p.names()}

    def made_pythons(self, number: ir.Expr) -> None:
        """`int(k)` is Python's number, whatever `k` is."""
        for e in walk(number):
            poly = poly_of(e)
            self.pythons |= {e.name} if isinstance(e, ir.Scalar) else set()
            self.pythons |= poly.names() if poly is not None else set()

    def pin(self, *dtypes: DType) -> None:
        """Give up serving other dtypes for these parameters; the evaluation starts again."""
        roots = {self.root(d.var) for d in dtypes if d.var}
        group = {v for v in (*self.groups, *roots) if self.root(v) in roots}
        if group - self.pinned:
            self.pinned |= group
            self.retype = True

    def settled_types(self) -> dict[str, DType]:
        """The dtypes of the variables; those of pinned parameters follow no parameter any more."""
        return {
            name: replace(d, var=None) if d.var in self.pinned else d
            for name, d in self.local_types.items()
        }

    def root(self, var: str) -> str:
        """The parameter that stands for a group of parameters of one dtype."""
        while var in self.groups:
            var = self.groups[var]
        return var
