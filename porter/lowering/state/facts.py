"""What is known about sizes where a statement runs: the loops around it run, its checks passed.

A fact is a polynomial that is >= 0.  Inside `for i in range(n)` the size n is at least 1; after
the host has tested `m >= n` for the statements of those loops, m - n is not negative there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from porter import ir
from porter.sizes.polynomial import Apply, Atom, Data, Poly, Symbol, apply

if TYPE_CHECKING:
    from porter.lowering.state.builder import Builder


def extents(b: Builder) -> tuple[Poly, ...]:
    """How often each loop around runs at most: the statement runs if all are positive.

    A loop that data bounds may not run either; the host cannot tell, and tests what it needs.
    """
    counted = [r for r in b.ranges if not any(isinstance(a, Data) for a in r.extent.atoms())]
    return tuple(_extreme(b, b.resolve(r.extent), low=False, by_facts=False) for r in counted)


def facts(b: Builder) -> Iterator[Poly]:
    """Polynomials that are certainly >= 0 where the current statement runs."""
    running = {b.resolve(r.extent) for r in b.ranges} | set(extents(b))
    for extent in running:
        yield extent - 1
    for c in b.checks:
        if c.kind == "index" and _passed(b, c, running):
            yield b.resolve(c.right) - b.resolve(c.left)


def _passed(b: Builder, c: ir.Check, running: set[Poly]) -> bool:
    """Whether the test was made: whatever it waits for holds here, too."""
    whens = (b.resolve(w) for w in c.when)
    return all(w in running or w.is_positive() for w in whens) and all(
        e in b.conditions for e in c.conditions
    )


def never_negative(b: Builder, poly: Poly) -> bool:
    """Whether `poly >= 0` follows from the facts, used one at a time."""
    p = b.resolve(poly)
    least = [_least(b, p, counts) for counts in (False, True)]
    lower_bounds = dict.fromkeys((p, _without_max(b, p), *least))
    return any(_follows(b, bound) for bound in lower_bounds)


def _follows(b: Builder, p: Poly) -> bool:
    return p.is_nonneg() or any((p - f).is_nonneg() for f in facts(b))


def _least(b: Builder, poly: Poly, counts: bool) -> Poly:
    """Something not greater: n for `n // s * s`, and with `counts` without products of counts.

    With s >= 1, n - (s - 1) <= n // s * s <= n.
    """
    total = Poly()
    for monomial, c in poly.terms:
        whole = _multiple(b, monomial)
        if whole is not None and c < 0:
            total += whole[0] * c
        elif not (counts and c > 0 and monomial and all(_is_count(b, a) for a in monomial)):
            total += (whole[0] - whole[1] + 1) * c if whole is not None else _product(monomial) * c
    return total


def _product(monomial: tuple[Atom, ...]) -> Poly:
    product = Poly.of(1)
    for atom in monomial:
        product *= Poly.atom(atom)
    return product


def _multiple(b: Builder, monomial: tuple[Atom, ...]) -> tuple[Poly, Poly] | None:
    """(n, s) of `n // s * s` where s is at least 1."""
    for atom in monomial:
        if isinstance(atom, Apply) and atom.op == "//" and len(monomial) == 2:
            n, s = atom.args
            if _product(monomial) == Poly.atom(atom) * s and _follows(b, s - 1):
                return n, s
    return None


def _is_count(b: Builder, atom: Atom) -> bool:
    """Whether an atom is not negative, as far as the facts tell."""
    if isinstance(atom, Apply) and atom.op in ("//", "%"):
        positive = _follows(b, atom.args[1] - 1)
        return positive and (atom.op == "%" or _follows(b, atom.args[0]))
    return _follows(b, Poly.atom(atom))


def _without_max(b: Builder, poly: Poly) -> Poly:
    """With p for `max(p, 0)` where a loop around would not run at all if the maximum were 0."""
    running = [b.resolve(r.extent) for r in b.ranges]
    for atom in {a for p in running for a in p.atoms() if isinstance(a, Apply) and a.op == "max"}:
        parts = [p for p in atom.args if p != Poly()]
        if len(parts) != 1:
            continue
        empty = [_put(p, atom, Poly()).constant for p in running]
        if any(n is not None and n <= 0 for n in empty):
            poly = _put(poly, atom, parts[0])
    return poly


def _put(p: Poly, atom: Apply, value: Poly) -> Poly:
    """With `value` for an atom, wherever it is."""
    total = Poly()
    for monomial, c in p.terms:
        product = Poly.of(c)
        for a in monomial:
            if a == atom:
                product *= value
            elif isinstance(a, Apply):
                product *= apply(a.op, *(_put(x, atom, value) for x in a.args))
            else:
                product *= Poly.atom(a)
        total += product
    return total


def never_zero(difference: Poly) -> bool:
    """Whether two sizes that differ by this are never equal, unless arrays are empty."""
    ones = {d.name: Poly.atom(d) + 1 for d in difference.dims()}
    shifted = difference.replace(ones)
    return bool(ones) and (shifted.is_positive() or (-shifted).is_positive())


def lowest(b: Builder, poly: Poly) -> Poly:
    """The smallest value of an affine expression over the loops around it."""
    return _extreme(b, poly, low=True)


def highest(b: Builder, poly: Poly) -> Poly:
    """The largest value of an affine expression over the loops around it."""
    return _extreme(b, poly, low=False)


def _running(b: Builder) -> list[ir.Axis]:
    """The loops around, cut where an inner one would not run: `j` from i + 1 keeps i from n - 1."""
    axes = [ir.Axis(r.name, b.resolve(r.hi), b.resolve(r.lo)) for r in b.ranges]
    for inner in reversed(range(1, len(axes))):
        for k, axis in enumerate(axes[:inner]):
            last = axes[inner].extent - 1  # not negative here
            factor = last.coefficient(axis.name)
            if factor not in (1, -1):
                continue
            rest = last.replace({axis.name: Poly()})
            if rest.names() & {a.name for a in axes[k:]}:
                continue
            if factor == -1 and (axis.hi - rest - 1).is_nonneg():
                axes[k] = ir.Axis(axis.name, rest + 1, axis.lo)
            elif factor == 1 and (-rest - axis.lo).is_nonneg():
                axes[k] = ir.Axis(axis.name, axis.hi, -rest)
    return axes


def _extreme(b: Builder, poly: Poly, low: bool, by_facts: bool = True) -> Poly:
    for axis in reversed(_running(b)):
        sign = _direction(b, _factor(poly, axis.name), by_facts)
        if sign:
            at_low = (sign > 0) == low
            poly = poly.replace({axis.name: b.resolve(axis.lo if at_low else axis.hi - 1)})
    return _without_remainders(b, poly, low)


def _without_remainders(b: Builder, poly: Poly, low: bool) -> Poly:
    """With the least or largest value of `(i + j) % 2`, whose terms are loops around."""
    inner, total = {r.name for r in b.ranges}, Poly()
    for monomial, c in poly.terms:
        term = _product(monomial)
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Apply) and atom.op == "%" and term.names() & inner:
            last = atom.args[1] - 1
            if last.constant is not None and last.constant >= 0:
                term = Poly() if (c > 0) == low else last
        total += term * c
    return total


def _factor(poly: Poly, name: str) -> Poly | None:
    """What a loop's index is multiplied by, 0 if it is absent, None if it is not linear in it."""
    total = Poly()
    for monomial, c in poly.terms:
        own = [a for a in monomial if name in Poly.atom(a).names()]
        if not own:
            continue
        if len(own) > 1 or not isinstance(own[0], Symbol):
            return None
        product = Poly.of(c)
        for atom in monomial:
            product *= Poly.of(1) if atom == own[0] else Poly.atom(atom)
        total += product
    return total


def _direction(b: Builder, factor: Poly | None, by_facts: bool) -> int:
    """1 or -1 as the expression grows or falls with the index, 0 where that is not known."""
    if factor is None or factor == Poly() or factor.names() & {r.name for r in b.ranges}:
        return 0
    for sign in (1, -1):
        p = factor * sign
        if p.is_nonneg() or (by_facts and never_negative(b, p)):
            return sign
    return 0


def _check_steps(b: Builder, bound: Poly) -> None:
    """The host tests that a stride which an index is multiplied by is not negative."""
    for r in b.ranges:
        factor = _factor(bound, r.name)
        step = None if factor is None else factor.symbol
        if factor is not None and step and not _direction(b, factor, True):
            b.check(ir.Check("index", Poly(), factor, f"{step} must not be negative"))


def unclamp(b: Builder, a: Poly, other: Poly) -> tuple[Poly, Poly] | None:
    """Two sizes of which one is a clamped bound p: with p in its place, after the host tested it.

    `L[i, :i] @ x[:i]` needs both slices to be i long: a shorter row raises in NumPy.  Returns
    None where the smallest or the largest p is not known.
    """
    clamped = _clamped(a) or _clamped(other)
    if clamped is None or not _same_bound(a, other):
        return None
    bound, size = clamped.args
    _check_steps(b, bound)
    low, top = lowest(b, bound), highest(b, bound)
    if (low.names() | top.names() | size.names()) & {r.name for r in b.ranges}:
        return None
    if clamped.op == "bound" and not never_negative(b, low):
        b.check(ir.Check("index", Poly(), low, "slices of different lengths meet"))
    if not never_negative(b, size - top):
        b.check(ir.Check("index", top, size, "slices of different lengths meet"))
    sides = (_put(b.resolve(p), clamped, bound) for p in (a, other))
    first, second = (_without_zero(b, p) for p in sides)
    return first, second


def _without_zero(b: Builder, p: Poly) -> Poly:
    """With q for `max(q, 0)` where q is not negative."""
    for atom in [a for a in p.atoms() if isinstance(a, Apply) and a.op == "max"]:
        inner = [q for q in atom.args if q != Poly()]
        if len(inner) == 1 and never_negative(b, lowest(b, inner[0])):
            p = _put(p, atom, inner[0])
    return p


def both_whole(b: Builder, a: Poly, other: Poly) -> Poly | None:
    """The common length of slices that differ by more than their cut at the array's end.

    `x[1 : n + 3]` and `x[2 : n + 4]` are equally long just if x has n + 4 elements, which
    the host then tests.  None where this does not follow.
    """
    cut, second = _clamped(a), _clamped(other)
    if cut is None or cut.op != "min" or (second and second.args[1:] != cut.args[1:]):
        return None
    bounds = [c.args[0] for c in (cut, second) if c is not None]
    whole = _put(a, cut, cut.args[0])
    rest = other if second is None else _put(other, second, second.args[0])
    if b.resolve(whole) != b.resolve(rest):
        return None
    top = bounds[0] if (bounds[0] - bounds[-1]).is_nonneg() else bounds[-1]
    highs = [highest(b, top), cut.args[1]]
    inside = {n for p in highs for n in p.names()} & {r.name for r in b.ranges}
    if inside or not all((top - p).is_nonneg() for p in bounds):
        return None
    b.check(ir.Check("index", highs[0], highs[1], "slices of different lengths meet", "ValueError"))
    return whole


def _clamped(p: Poly) -> Apply | None:
    for atom in p.atoms():
        if isinstance(atom, Apply) and atom.op in ("min", "bound"):
            if not any(isinstance(x, Data) for x in atom.args[0].atoms()):
                return atom
    return None


def _same_bound(a: Poly, other: Poly) -> bool:
    left, right = _clamped(a), _clamped(other)
    return left is None or right is None or left.args[0] == right.args[0]
