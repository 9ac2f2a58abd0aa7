"""Symbolic integers: sizes, bounds and subscripts in one canonical form.

A `Poly` is a polynomial with integer coefficients over atoms.  An atom is a symbol (`Dim`,
`Index`, `Integer`; no two of a program have one name), an application of `//`, `%`, `**`, `min`,
`max`, `bound` or `wrap` that did not simplify, or an integer read from data (a gather).  Two
equal polynomials are equal objects, so `==` decides whether two shapes are the same.

The exponent of a power is never negative: whoever makes one has the host test it.

An extent is taken as `max(0, extent)`: a slice `x[1:-1]` has the extent `n - 2`, and
both Python's `range` and a grid treat a negative one as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeGuard, Union

from porter.sizes.hashed import hashed_once

IntLike = Union["Poly", int]


@dataclass(frozen=True, order=True)
class Dim:
    """How long an array is along an axis."""

    array: str
    axis: int
    nonneg: ClassVar[bool] = True

    @cached_property
    def name(self) -> str:
        """The text of it, which names it among the symbols."""
        return f"{self.array}.shape[{self.axis}]"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Index:
    """The index of a loop, of a domain's axis or of a fold."""

    name: str
    nonneg: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Integer:
    """An integer that the host knows by a name: an argument, or what it computed or read back."""

    name: str
    nonneg: bool = False

    def __str__(self) -> str:
        return self.name


def _mirrored(k: int, period: int, shift: int) -> int:
    turn = k % period
    return min(turn, period - shift - turn)


#: which of n elements stands at a position beyond the ends, by the modes of `np.pad`
BORDERS: dict[str, Callable[[int, int], int]] = {
    "edge": lambda k, n: max(min(k, n - 1), 0),
    "reflect": lambda k, n: _mirrored(k, max(2 * n - 2, 1), 0),
    "symmetric": lambda k, n: _mirrored(k, 2 * n, 1),
}


@hashed_once
@dataclass(frozen=True)
class Apply:
    """`//`, `%`, `**`, `min`, `max`, `bound`, `wrap` or a border that has no simpler form."""

    op: str
    args: tuple[Poly, ...]

    @property
    def nonneg(self) -> bool:
        """Whether the value is known not to be negative."""
        a, b = self.args
        if self.op == "max":
            return a.is_nonneg() or b.is_nonneg()
        if self.op in ("bound", "wrap") or self.op in BORDERS:
            return True
        if self.op == "%":
            return b.is_positive()
        if self.op == "**":
            return a.is_nonneg()
        return a.is_nonneg() and (b.is_nonneg() if self.op == "min" else b.is_positive())

    def __str__(self) -> str:
        a, b = self.args
        if self.op not in ("//", "%", "**"):
            return f"{self.op}({a}, {b})"
        return f"({a}) {self.op} ({b})"


@hashed_once
@dataclass(frozen=True)
class Data:
    """An integer that is read from data: `expr` is a scalar expression of the IR.

    One that is `inside` was computed to be in bounds (a binary search) and needs no check.  For a
    `proved` one the host tests that it is, as long as nothing is stored into what it is read
    from: the check goes away once the array does.
    """

    expr: Any
    nonneg: bool = False
    inside: bool = False
    proved: bool = False

    def __str__(self) -> str:
        return f"[{self.expr}]"


Symbol = Dim | Index | Integer
Atom = Symbol | Apply | Data
Monomial = tuple[Atom, ...]


def _order(monomial: Monomial) -> tuple[int, str]:
    return (-len(monomial), "*".join(map(str, monomial)))


@hashed_once
@dataclass(frozen=True)
class Poly:
    """A polynomial in canonical form: sorted monomials with their nonzero coefficients."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(value: IntLike) -> Poly:
        """An integer as a polynomial."""
        if isinstance(value, Poly):
            return value
        return Poly((((), int(value)),)) if value else Poly()

    @staticmethod
    def atom(atom: Atom) -> Poly:
        """A single atom as a polynomial."""
        return Poly((((atom,), 1),))

    @property
    def constant(self) -> int | None:
        """The integer that this is, or None."""
        if not self.terms:
            return 0
        ((monomial, coefficient), *rest) = self.terms
        return coefficient if not rest and not monomial else None

    @property
    def offset(self) -> int:
        """The constant term."""
        return next((c for m, c in self.terms if not m), 0)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol, if this is just one."""
        if len(self.terms) == 1:
            ((monomial, c),) = self.terms
            if c == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
                return monomial[0]
        return None

    @property
    def name(self) -> str | None:
        """The name of the symbol, if this is just one."""
        return None if self.symbol is None else self.symbol.name

    @property
    def dim(self) -> Dim | None:
        """The dimension, if this is just one."""
        return self.symbol if isinstance(self.symbol, Dim) else None

    def __add__(self, other: IntLike) -> Poly:
        return _collect([*self.terms, *Poly.of(other).terms])

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: IntLike) -> Poly:
        return self + -Poly.of(other)

    def __rsub__(self, other: IntLike) -> Poly:
        return Poly.of(other) - self

    def __mul__(self, other: IntLike) -> Poly:
        products = [
            (tuple(sorted(m1 + m2, key=str)), c1 * c2)
            for m1, c1 in self.terms
            for m2, c2 in Poly.of(other).terms
        ]
        return _collect(products)

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> Poly:
        return _divide(self, Poly.of(other))

    def __mod__(self, other: IntLike) -> Poly:
        return (
            self - (self // other) * other if _divides(Poly.of(other), self) else _mod(self, other)
        )

    def __rfloordiv__(self, other: IntLike) -> Poly:
        return Poly.of(other) // self

    def __rmod__(self, other: IntLike) -> Poly:
        return Poly.of(other) % self

    def atoms(self) -> Iterator[Atom]:
        """Every atom, those inside `//`, `%`, `min`, `max` included."""
        for monomial, _ in self.terms:
            for atom in monomial:
                yield atom
                if isinstance(atom, Apply):
                    for arg in atom.args:
                        yield from arg.atoms()

    def names(self) -> frozenset[str]:
        """The names of all symbols in it."""
        return self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(a.name for a in self.atoms() if isinstance(a, Symbol))

    def dims(self) -> set[Dim]:
        """The dimensions of arrays that it depends on."""
        return {a for a in self.atoms() if isinstance(a, Dim)}

    def coefficient(self, name: str) -> int | None:
        """The integer factor of a symbol, 0 if absent, None if it is not affine in it."""
        factor = 0
        for monomial, c in self.terms:
            if monomial == () or all(name not in Poly.atom(a).names() for a in monomial):
                continue
            if len(monomial) != 1 or not isinstance(monomial[0], Symbol):
                return None
            factor = c
        return factor

    def replace(self, values: Mapping[str, Poly]) -> Poly:
        """With symbols replaced, by name."""
        return self.map_atoms(
            lambda a: values.get(a.name, Poly.atom(a)) if isinstance(a, Symbol) else Poly.atom(a)
        )

    def map_atoms(
        self,
        change: Callable[[Atom], Poly],
        applied: Callable[[str, Poly, Poly], Poly] | None = None,
    ) -> Poly:
        """With every atom replaced; the arguments of `//`, `%`, `min`, `max` first.

        `applied` makes these of their new arguments.
        """
        total = Poly()
        for monomial, c in self.terms:
            product = Poly.of(c)
            for atom in monomial:
                if isinstance(atom, Apply):
                    one, other = (a.map_atoms(change, applied) for a in atom.args)
                    product *= (applied or apply)(atom.op, one, other)
                else:
                    product *= change(atom)
            total += product
        return total

    def is_nonneg(self) -> bool:
        """Whether it is certainly >= 0."""
        if all(c >= 0 and all(a.nonneg for a in m) for m, c in self.terms):
            return True
        least = self._with_least_powers()
        if least != self and least.is_nonneg():
            return True
        return any(self._without_floor(m, c) for m, c in self.terms if c < 0)

    def _with_least_powers(self) -> Poly:
        """With 1 for powers of positive numbers that are added, where no factor is negative."""
        return _collect([
            (tuple(a for a in m if a not in _powers(m) or not a.args[0].is_positive()), c)
            if c > 0 and _powers(m) and all(a.nonneg for a in m) else (m, c) for m, c in self.terms
        ])  # fmt: skip

    def _without_floor(self, monomial: Monomial, c: int) -> bool:
        """Use `p // k <= p / k` for a term that is subtracted."""
        if len(monomial) != 1 or not isinstance(monomial[0], Apply) or monomial[0].op != "//":
            return False
        p, divisor = monomial[0].args
        k = divisor.constant
        if k is None or k < 1:
            return False
        rest = self - Poly(((monomial, c),))
        return (rest * k + p * c).is_nonneg()

    def is_positive(self) -> bool:
        """Whether it is certainly > 0."""
        return (self - 1).is_nonneg()

    def __str__(self) -> str:
        text = ""
        for monomial, c in self.terms:
            body = " * ".join(map(_factor, monomial))
            size = body if abs(c) == 1 and body else f"{abs(c)} * {body}" if body else str(abs(c))
            text += (" - " if c < 0 else " + ") + size if text else ("-" if c < 0 else "") + size
        return text or "0"


def _factor(atom: Atom) -> str:
    text = str(atom)
    return f"({text})" if isinstance(atom, Apply) and atom.op in ("//", "%", "**") else text


def _collect(terms: list[tuple[Monomial, int]]) -> Poly:
    total: dict[Monomial, int] = {}
    for monomial, c in terms:
        total[monomial] = total.get(monomial, 0) + c
    kept = [(m, c) for m, c in total.items() if c]
    if any(map(_powers, total)):
        joined = [term for m, c in kept for term in _joined(m, c)]
        if joined != kept:
            return _collect(joined)
    return Poly(tuple(sorted(kept, key=lambda t: _order(t[0]))))


def is_power(atom: Atom) -> TypeGuard[Apply]:
    """Whether it is an application of `**`."""
    return isinstance(atom, Apply) and atom.op == "**"


def _powers(monomial: Monomial) -> list[Apply]:
    return [a for a in monomial if is_power(a)]


def _joined(monomial: Monomial, c: int) -> Iterable[tuple[Monomial, int]]:
    """The terms of a product with one power of each base: `n * n**i * n**(k - i - 1)` is `n**k`."""
    for base in dict.fromkeys(a.args[0] for a in _powers(monomial)):
        exponents = {a: Poly.of(1) for a in monomial if Poly.atom(a) == base}
        exponents |= {a: a.args[1] for a in _powers(monomial) if a.args[0] == base}
        own = [a for a in monomial if a in exponents]
        exponent = sum((exponents[a] for a in own), Poly())
        factor, rest = base.constant or 0, c
        while factor > 1 and rest % factor == 0:
            rest, exponent = rest // factor, exponent + 1
        if len(own) > 1 or rest != c:
            others = tuple(a for a in monomial if a not in exponents)
            return (Poly(((others, rest),)) * power(base, exponent)).terms
    return [(monomial, c)]


def _divides(divisor: Poly, value: Poly) -> bool:
    c = divisor.constant
    return c is not None and c != 0 and all(k % c == 0 for _, k in value.terms)


def _divide(value: Poly, divisor: Poly) -> Poly:
    c = divisor.constant
    if c == 0:
        raise ZeroDivisionError("integer division by zero in a size")
    if value.constant is not None and c is not None:
        return Poly.of(value.constant // c)
    if _divides(divisor, value):
        assert c is not None
        return Poly(tuple((m, k // c) for m, k in value.terms))
    if divisor == value and value.is_positive():
        return Poly.of(1)
    quotient, rest = multiples(value, divisor)
    if quotient.terms and rest.terms:
        return quotient + rest // divisor
    return Poly.atom(Apply("//", (value, divisor)))


def multiples(value: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """`value` as `quotient * divisor + rest`, the divisor being one term."""
    if len(divisor.terms) != 1:
        return Poly(), value
    ((factor, k),) = divisor.terms
    parts: dict[bool, list[tuple[Monomial, int]]] = {True: [], False: []}
    for monomial, c in value.terms:
        left = list(monomial)
        whole = c % k == 0 and all(_divided(left, atom) for atom in factor)
        parts[whole].append((tuple(left), c // k) if whole else (monomial, c))
    return _collect(parts[True]), Poly(tuple(parts[False]))


def _divided(factors: list[Atom], divisor: Atom) -> bool:
    """Take a factor out of others, or lower their power of the same base; False if none has it."""
    if divisor in factors:
        factors.remove(divisor)
        return True
    for n, atom in enumerate(factors):
        if is_power(divisor) and is_power(atom) and atom.args[0] == divisor.args[0]:
            exponent = atom.args[1] - divisor.args[1]
            match power(atom.args[0], exponent).terms:
                case ((kept, 1),) if exponent.is_nonneg():
                    factors[n : n + 1] = kept
                    return True
    return False


def _mod(value: Poly, divisor: IntLike) -> Poly:
    d = Poly.of(divisor)
    if value.constant is not None and d.constant is not None:
        return Poly.of(value.constant % d.constant)
    if value.is_nonneg() and (d - value).is_positive():
        return value
    quotient, rest = multiples(value, d)
    if quotient.terms and rest.terms:
        return rest % d
    return Poly.atom(Apply("%", (value, d)))


def power(base: IntLike, exponent: IntLike) -> Poly:
    """`base ** exponent`, for an exponent that is not negative."""
    base, exponent = Poly.of(base), Poly.of(exponent)
    known = exponent.constant
    if known is not None and 0 <= known <= (8 if base.constant is None else 63):
        total = Poly.of(1)
        for _ in range(known):
            total *= base
        return total
    inner = _powers(base.terms[0][0]) if len(base.terms) == 1 else []
    if inner and base == Poly.atom(inner[0]):
        return power(inner[0].args[0], inner[0].args[1] * exponent)
    if base.constant in (1, -1):
        return 1 - (1 - base) * (exponent % 2)
    return Poly.atom(Apply("**", (base, exponent)))


def minimum(a: IntLike, b: IntLike) -> Poly:
    """The smaller of two, simplified where their difference has a known sign."""
    a, b = Poly.of(a), Poly.of(b)
    for one, other in ((a, b), (b, a)):
        match other.terms:
            case (((Apply(op="max", args=largest),), 1),) if one in largest:
                return one
        if (other - one).is_nonneg():
            return one
    return Poly.atom(Apply("min", (a, b)))


def maximum(a: IntLike, b: IntLike) -> Poly:
    """The larger of two, simplified where their difference has a known sign."""
    a, b = Poly.of(a), Poly.of(b)
    if (a - b).is_nonneg():
        return a
    return b if (b - a).is_nonneg() else Poly.atom(Apply("max", (a, b)))


def slice_bound(bound: Poly, size: Poly) -> Poly:
    """A slice bound of unknown sign as a position: negative counts from the end, clamped."""
    if bound.is_nonneg():
        return minimum(bound, size)
    return Poly.atom(Apply("bound", (bound, size)))


def wrapped(index: Poly, size: Poly) -> Poly:
    """An index from data as a position: negative counts from the end, others must be below."""
    return Poly.atom(Apply("wrap", (index, size))) if unchecked(index) else index


def unchecked(index: Poly) -> bool:
    """Whether a subscript has data outside of clamped bounds, which nothing has checked yet."""
    return any(isinstance(a, Data) and not a.inside for m, _ in index.terms for a in m)


def bordered(op: str, k: Poly, n: Poly) -> Poly:
    """The position among n elements that stands at k, which may lie beyond the ends."""
    if k.is_nonneg() and (n - k).is_positive():
        return k
    return Poly.atom(Apply(op, (k, n)))


def apply(op: str, a: Poly, b: Poly) -> Poly:
    """`a op b` for every operation that an atom may be an application of."""
    if op in BORDERS:
        return bordered(op, a, b)
    if op in ("//", "%"):
        return a // b if op == "//" else a % b
    named = {"bound": slice_bound, "wrap": wrapped, "**": power, "min": minimum, "max": maximum}
    return named[op](a, b)


def sym(name: str, nonneg: bool = False) -> Poly:
    """An index as a polynomial."""
    return Poly.atom(Index(name, nonneg))
