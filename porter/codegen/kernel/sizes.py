"""Sizes, subscripts and dtypes of a kernel as Python text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.kernel.errors import OUT_OF_BOUNDS
from porter.codegen.kernel.state import Computed, GivenAxes, Head, Naming, Needs, Text
from porter.codegen.polys import poly_text
from porter.codegen.spell import ATOM, COMPARE, POWER, PRODUCT, SUM
from porter.dtypes.dtype import INT64, DType
from porter.ir.effects import defs_in
from porter.ir.nodes import STATES
from porter.sizes.polynomial import BORDERS, Apply, Atom, Data, Dim, Integer, Poly, Symbol
from porter.support.names import NameSupply
from porter.target.base import Target


class SizeWriter:
    """Names what a kernel uses, and writes sizes; the arguments are collected on the way."""

    def __init__(
        self,
        name: str,
        buffers: dict[str, ir.Buffer],
        order: Sequence[str],
        constants: Iterable[str],
        needs: Needs,
        target: Target,
    ) -> None:
        self.head = Head(name, buffers, order)
        known = set(constants)
        self.naming = Naming(known, NameSupply((), buffers, known))
        self.needs = needs
        self.target = target
        self.out = Text()
        self.computed = Computed()
        self.private: dict[str, str] = {}
        self.shared: set[str] = set()  # arrays in shared memory, and partial results: no arguments
        self.draws: dict[ir.Expr, str] = {}  # random numbers that variables of a thread hold
        self.axes = GivenAxes()

    @property
    def names(self) -> dict[str, str]:
        """An index or a size of the plan -> what the kernel calls it."""
        return self.naming.names

    @abstractmethod
    def expr(self, e: ir.Expr, outer: int = 0) -> str:
        """An expression; reductions in it become loops before the current line."""

    def emit(self, line: str) -> None:
        """One line at the current indentation."""
        self.out.emit(line)

    # -- names -----------------------------------------------------------------------

    def reserve(self, body: Sequence[ir.Stmt]) -> None:
        """Take the names of arrays and variables before indices are named."""
        self.naming.own |= defs_in(body).scalars
        self.naming.taken |= defs_in(body).scalars

    def fresh(self, name: str) -> str:
        """A name that nothing else in the kernel has."""
        return self.naming.taken.fresh(name)

    def variable(self, name: str) -> str:
        """Such a name, of a variable that the template sets and expressions read."""
        made = self.fresh(name)
        self.naming.own.add(made)
        return made

    def index(self, name: str) -> str:
        """The kernel's name of an index: i, j, k, ... or the user's."""
        return self.naming.index(name)

    def array(self, name: str) -> str:
        """An array used by the kernel; for random numbers, the states of the generators."""
        if name in self.head.buffers and self.head.buffers[name].draws:
            name = next(n for n, b in self.head.buffers.items() if b.draws == STATES)
        if name not in self.shared:
            self.head.arrays.setdefault(name, False)
        return name

    def keep_axes(self, axes: Mapping[str, Sequence[int]], out: str, renewed: bool) -> None:
        """The kernel is called for each index of all other axes: its arguments lack those.

        What it stores is an element of `out`, which may be `renewed` from the one before; without
        `out`, it stores into what it is given.
        """
        self.axes = replace(self.axes, kept=axes)
        if not out:
            return
        self.naming.own.add(out)
        self.head.arrays[out] = renewed
        for name in self.head.written - {out}:
            self.head.arrays.pop(name, None)
        self.head.written &= {out}

    def move_axes(self, orders: Mapping[str, tuple[int, ...]]) -> None:
        """The host gives these arrays with their axes in another order."""
        self.axes = replace(self.axes, moved=orders)

    def give_again(self, names: Mapping[str, str]) -> None:
        """These results get the memory of arguments."""
        self.axes = replace(self.axes, again=names)

    def is_element(self, name: str) -> bool:
        """Whether an argument is a number in place of an array."""
        return name in self.axes.kept and not self.axes.kept[name] and not self.head.makes(name)

    def kept(self, name: str, count: int) -> Sequence[int]:
        """The axes of an array that has so many, as far as the kernel sees them."""
        return self.axes.kept.get(name, range(count))

    def type_of(self, dtype: DType) -> str:
        """How a kernel names a dtype: `T` where it is an argument's."""
        if dtype.var is not None:
            root = dtype.var
            if root not in self.head.types:
                source = self._carrier(dtype)
                if source is None:
                    return self._concrete(dtype)
                letter = "T" if dtype.kind == "f" or root in self.needs.like_floats else "I"
                self.head.types[root] = self.fresh(letter)
            return self.head.types[root]
        return self._concrete(dtype)

    def _carrier(self, dtype: DType) -> str | None:
        candidates = [n for n in self.head.order if n in self.head.arrays] + list(self.head.arrays)
        if self.axes.kept:
            candidates = [n for n in candidates if not self.head.makes(n)]
        return next((n for n in candidates if self.head.buffers[n].dtype.var == dtype.var), None)

    def _concrete(self, dtype: DType) -> str:
        self.needs.numpy = True
        return f"np.{'bool_' if dtype.name == 'bool' else dtype.name}"

    def shared_type(self, dtype: DType) -> str:
        """A dtype as the argument of `cuda.shared.array`."""
        if dtype.var is not None:
            carrier = self._carrier(dtype)
            if carrier is not None:
                return f"{carrier}.dtype"
        name = "int32" if dtype.name == "bool" else dtype.name
        self.needs.numba_types.add(name)
        return name

    # -- sizes -----------------------------------------------------------------------

    def poly(self, poly: Poly, outer: int = 0) -> str:
        """A size or subscript."""
        atoms = list(poly.atoms())
        if len(atoms) == 1 and poly == Poly.atom(*atoms):
            return poly_text(poly, self._alone, outer)
        return poly_text(poly, self._atom, outer)

    def operand(self, poly: Poly) -> str:
        """A size or subscript as one operand."""
        return self.poly(poly, ATOM)

    def _atom(self, a: Atom) -> tuple[str, int]:
        if isinstance(a, Data) and a.expr.dtype.kind == "u":
            # a difference of numbers without a sign is never negative, and uint64 beside int64
            # becomes float64
            return f"np.int64({self.expr(a.expr)})", ATOM
        return self._alone(a)

    def _alone(self, a: Atom) -> tuple[str, int]:
        """An atom that nothing is added to."""
        if isinstance(a, Symbol):
            return self._symbol(a), ATOM
        if isinstance(a, Data):
            return self.expr(a.expr, SUM), SUM
        return self._applied(a)

    def _symbol(self, s: Symbol) -> str:
        if s.name in self.naming.names:
            return self.naming.names[s.name]
        if isinstance(s, Integer) and s.name in self.target.sizes:
            return s.name
        if not isinstance(s, Dim):
            return self._size_argument(s.name, s.name) if s.name not in self.naming.own else s.name
        for other in (
            (s.array, *self.head.arrays) if s.array in self.head.arrays else (self.head.arrays)
        ):
            for d, n in enumerate(self.head.buffers[other].shape):
                if n.dim == s or (other, d) == (s.array, s.axis):
                    kept = self.axes.kept.get(other)
                    if kept is None:
                        return Dim(other, d).name
                    if d in kept:
                        return Dim(other, [*kept].index(d)).name
        return self._size_argument(s.name, f"{s.array}_size{s.axis}")

    def _size_argument(self, name: str, wanted: str) -> str:
        if name not in self.head.sizes:
            self.head.sizes[name] = self.fresh(wanted)
        return self.head.sizes[name]

    def _applied(self, a: Apply) -> tuple[str, int]:
        x, y = a.args
        if a.op == "wrap":
            self.needs.helpers.add("position")
            self.head.errors.add(OUT_OF_BOUNDS)
            return f"position({self.poly(x)}, {self.poly(y)}, {self.naming.error})", ATOM
        if a.op == "**":
            return self._host_power(a)
        if a.op in BORDERS:
            self.needs.helpers.add(f"{a.op}_position")
            return f"{a.op}_position({self.poly(x)}, {self.poly(y)})", ATOM
        if a.op == "bound":
            if a not in self.computed.bounds:
                self.needs.helpers.add("slice_bound")
                text = f"slice_bound({self.poly(x)}, {self.poly(y)})"
                name = self.fresh(_bound_name(x))
                self.emit(f"{name} = {text}")
                self.computed.bounds[a] = name
            return self.computed.bounds[a], ATOM
        if a.op in ("min", "max"):
            sign = "<" if a.op == "min" else ">"
            left, right = (poly_text(p, self._atom, COMPARE + 1) for p in (x, y))
            one, other = poly_text(x, self._atom, 1), poly_text(y, self._atom)
            return f"({one} if {left} {sign} {right} else {other})", ATOM
        return f"{self.poly(x, PRODUCT)} {a.op} {self.poly(y, PRODUCT + 1)}", PRODUCT

    def _host_power(self, a: Apply) -> tuple[str, int]:
        """A power of integers: the host computes it, unless an index of the kernel is in it."""
        number = Poly.atom(a)
        if number.names() & (self.naming.names.keys() | self.naming.own):
            base, exponent = a.args
            return f"{self.poly(base, POWER + 1)}**{self.poly(exponent, POWER)}", POWER
        key = (ir.Value(number, INT64), INT64)
        if key not in self.head.scalars:
            self.head.scalars[key] = self.fresh("power")
        return self.head.scalars[key], ATOM


def _bound_name(p: Poly) -> str:
    """`start_at` for the clamped bound that the variable `start` gives."""
    data = next((a for a in p.atoms() if isinstance(a, Data)), None)
    known = data is not None and isinstance(data.expr, ir.Local)
    return f"{data.expr.name}_at" if known and data is not None else "bound"
