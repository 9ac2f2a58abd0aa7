"""What an evaluation finds out too late: it ends there, and the next one starts with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter import ir
from porter.diagnostics import Diagnostic, Refusal
from porter.dtypes.dtype import DType
from porter.ir.walk import walk
from porter.lowering.state.part import Part
from porter.lowering.state.scope import Way
from porter.sizes.polynomial import Poly


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
class Restarts(Part):
    """Arguments that are fixed at their defaults, and numbers that become arrays."""

    may_grow: bool = True
    way: Way = field(default_factory=Way)
    fixed: set[str] = field(default_factory=set)
    grown: dict[str, Grown] = field(default_factory=dict)
    own_products: bool = False  # nothing but the product of a library would be left
    reads_literals: bool = True  # elements of arrays of literals are numbers
    literals: set[str] = field(default_factory=set)  # the arrays of which some were
    fixable: set[str] = field(default_factory=set)
    literal_starts: set[str] = field(default_factory=set)  # literals before the loop that has them
    deciding: dict[str, str] = field(
        default_factory=dict
    )  # the argument that a local's dtype depends on

    def must_be_known(self, value: object) -> None:
        """Raise Unspecialised where the value is an argument that its default can fix."""
        name = value.poly.name if isinstance(value, ir.Value) else getattr(value, "name", None)
        if name in self.fixable:
            raise Unspecialised(name)

    def flag_of(self, cond: ir.Expr) -> str | None:
        """The argument that a condition is, or its `not`, if its default can fix it."""
        match cond:
            case ir.Op("not", (ir.Scalar(name=name),)) | ir.Scalar(name=name):
                return name if name in self.fixable and cond.dtype.kind == "b" else None
        return None

    def must_have_one_dtype(self, e: ir.Expr) -> None:
        """Raise Unspecialised where an argument decides the dtype of a result."""
        for x in walk(e):
            if isinstance(x, ir.Local) and self.deciding.get(x.name) in self.fixable:
                raise Unspecialised(self.deciding[x.name])
