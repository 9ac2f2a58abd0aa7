"""What is known about sizes where a statement runs: the loops around it run, its checks passed.

A fact is a polynomial that is >= 0.  Inside `for i in range(n)` the size n is at least 1; after
the host has tested `m >= n` for the statements of those loops, m - n is not negative there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from porter import ir
from porter.lowering.state.sizes import KnownSizes
from porter.sizes.polynomial import Apply, Atom, Data, Poly, Symbol, apply, is_power


def extents(sizes: KnownSizes) -> tuple[Poly, ...]:
    """How often each loop around runs at most, and what is left of it where two indices differ:
    the statement runs if all are positive.

    A loop that data bounds may not run either; the host cannot tell, and tests what it needs.
    """
    counted = [
        r for r in sizes.scope.ranges if not any(isinstance(a, Data) for a in r.extent.atoms())
    ]
    counts = [*(r.extent for r in counted), *sizes.scope.apart]
    return tuple(_extreme(sizes, sizes.resolve(n), low=False, by_facts=False) for n in counts)


def facts(sizes: KnownSizes) -> Iterator[Poly]:
    """Polynomials that are certainly >= 0 where the current statement runs."""
    running = {sizes.resolve(r.extent) for r in sizes.scope.ranges} | set(extents(sizes))
    for extent in running:
        yield extent - 1
    for c in sizes.checks:
        if c.kind == "index" and _passed(sizes, c, running):
            yield sizes.resolve(c.right) - sizes.resolve(c.left)


def _passed(sizes: KnownSizes, c: ir.Check, running: set[Poly]) -> bool:
    """Whether the test was made: whatever it waits for holds here, too."""
    whens = (sizes.resolve(w) for w in c.when)
    return all(w in running or w.is_positive() for w in whens) and all(
        e in sizes.scope.conditions for e in c.conditions
    )


def never_negative(sizes: KnownSizes, poly: Poly) -> bool:
    """Whether `poly >= 0` follows from the facts, used one at a time."""
    p = sizes.resolve(poly)
    least = [_least(sizes, p, counts) for counts in (False, True)]
    least += [_without_powers(sizes, p), _with_ones(sizes, p)]
    lower_bounds = dict.fromkeys((p, _without_max(sizes, p), *least))
    return any(_follows(sizes, bound) for bound in lower_bounds)


def _follows(sizes: KnownSizes, p: Poly) -> bool:
    return p.is_nonneg() or any((p - f).is_nonneg() for f in facts(sizes))


def _least(sizes: KnownSizes, poly: Poly, counts: bool) -> Poly:
    """Something not greater: n for `n // s * s`, and with `counts` without products of counts.

    With s >= 1, n - (s - 1) <= n // s * s <= n.
    """
    total = Poly()
    for monomial, c in poly.terms:
        whole = _multiple(sizes, monomial)
        if whole is not None and c < 0:
            total += whole[0] * c
        elif not (counts and c > 0 and monomial and all(_is_count(sizes, a) for a in monomial)):
            total += (whole[0] - whole[1] + 1) * c if whole is not None else _product(monomial) * c
    return total


def _without_powers(sizes: KnownSizes, poly: Poly) -> Poly:
    """Something not greater: without `r**k - r**i` where r is at least 1 and k at least i."""
    for more, less in itertools.permutations(poly.terms, 2):
        if less[1] != -more[1] or more[1] < 0 or len(more[0]) != 1 or len(less[0]) != 1:
            continue
        one, other = more[0][0], less[0][0]
        if is_power(one) and is_power(other):
            (base, high), (same, low) = one.args, other.args
            if base == same and _follows(sizes, base - 1) and _follows(sizes, high - low):
                return poly - Poly((more,)) - Poly((less,))
    return poly


def _with_ones(sizes: KnownSizes, poly: Poly) -> Poly:
    """Something not greater: 1 for each `r**k` that is added, where r is at least 1."""
    for monomial, c in poly.terms:
        for atom in monomial if len(monomial) == 1 and c > 0 else ():
            if is_power(atom) and _follows(sizes, atom.args[0] - 1):
                poly += c - Poly(((monomial, c),))
    return poly


def _product(monomial: tuple[Atom, ...]) -> Poly:
    product = Poly.of(1)
    for atom in monomial:
        product *= Poly.atom(atom)
    return product


def _multiple(sizes: KnownSizes, monomial: tuple[Atom, ...]) -> tuple[Poly, Poly] | None:
    """(n, s) of `n // s * s` where s is at least 1."""
    for atom in monomial:
        if isinstance(atom, Apply) and atom.op == "//" and len(monomial) == 2:
            n, s = atom.args
            if _product(monomial) == Poly.atom(atom) * s and _follows(sizes, s - 1):
                return n, s
    return None


def _is_count(sizes: KnownSizes, atom: Atom) -> bool:
    """Whether an atom is not negative, as far as the facts tell."""
    if isinstance(atom, Apply) and atom.op in ("//", "%"):
        positive = _follows(sizes, atom.args[1] - 1)
        return positive and (atom.op == "%" or _follows(sizes, atom.args[0]))
    if is_power(atom):
        return _follows(sizes, atom.args[0])
    return _follows(sizes, Poly.atom(atom))


def _without_max(sizes: KnownSizes, poly: Poly) -> Poly:
    """With p for `max(p, 0)` where a loop around would not run at all if the maximum were 0."""
    running = [sizes.resolve(r.extent) for r in sizes.scope.ranges]
    for atom in {a for p in running for a in p.atoms() if isinstance(a, Apply) and a.op == "max"}:
        parts = [p for p in atom.args if p != Poly()]
        if len(parts) != 1:
            continue
        empty = [put(p, atom, Poly()).constant for p in running]
        if any(n is not None and n <= 0 for n in empty):
            poly = put(poly, atom, parts[0])
    return poly


def put(p: Poly, atom: Apply, value: Poly) -> Poly:
    """With `value` for an atom, wherever it is."""
    total = Poly()
    for monomial, c in p.terms:
        product = Poly.of(c)
        for a in monomial:
            if a == atom:
                product *= value
            elif isinstance(a, Apply):
                product *= apply(a.op, *(put(x, atom, value) for x in a.args))
            else:
                product *= Poly.atom(a)
        total += product
    return total


def never_zero(difference: Poly) -> bool:
    """Whether two sizes that differ by this are never equal, unless arrays are empty."""
    ones = {d.name: Poly.atom(d) + 1 for d in difference.dims()}
    shifted = difference.replace(ones)
    return bool(ones) and (shifted.is_positive() or (-shifted).is_positive())


def lowest(sizes: KnownSizes, poly: Poly) -> Poly:
    """The smallest value of an affine expression over the loops around it."""
    return _extreme(sizes, poly, low=True)


def highest(sizes: KnownSizes, poly: Poly) -> Poly:
    """The largest value of an affine expression over the loops around it."""
    return _extreme(sizes, poly, low=False)


def _running(sizes: KnownSizes) -> list[ir.Axis]:
    """The loops around, cut where an inner one would not run: `j` from i + 1 keeps i from n - 1."""
    axes = [ir.Axis(r.name, sizes.resolve(r.hi), sizes.resolve(r.lo)) for r in sizes.scope.ranges]
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


def _extreme(sizes: KnownSizes, poly: Poly, low: bool, by_facts: bool = True) -> Poly:
    for axis in reversed(_running(sizes)):
        sign = direction(sizes, factor_of(poly, axis.name), by_facts)
        sign = sign or _power_direction(sizes, poly, axis.name, by_facts)
        if sign:
            at_low = (sign > 0) == low
            poly = poly.replace({axis.name: sizes.resolve(axis.lo if at_low else axis.hi - 1)})
    return _without_remainders(sizes, poly, low)


def _without_remainders(sizes: KnownSizes, poly: Poly, low: bool) -> Poly:
    """With the least or largest value of `(i + j) % 2`, whose terms are loops around."""
    inner, total = sizes.scope.indices, Poly()
    for monomial, c in poly.terms:
        term = _product(monomial)
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Apply) and atom.op == "%" and term.names() & inner:
            last = atom.args[1] - 1
            if last.constant is not None and last.constant >= 0:
                term = Poly() if (c > 0) == low else last
        total += term * c
    return total


def factor_of(poly: Poly, name: str) -> Poly | None:
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


def _power_direction(sizes: KnownSizes, poly: Poly, name: str, by_facts: bool) -> int:
    """The direction of a number of which just one power, of a positive number, has the index."""
    for atom in filter(is_power, poly.atoms()):
        base, exponent = atom.args
        rest = poly - Poly.atom(atom)
        if name not in rest.names() | base.names() and never_negative(sizes, base - 1):
            return direction(sizes, factor_of(exponent, name), by_facts)
    return 0


def direction(sizes: KnownSizes, factor: Poly | None, by_facts: bool) -> int:
    """1 or -1 as the expression grows or falls with the index, 0 where that is not known."""
    if factor is None or factor == Poly() or factor.names() & sizes.scope.indices:
        return 0
    for sign in (1, -1):
        p = factor * sign
        if p.is_nonneg() or (by_facts and never_negative(sizes, p)):
            return sign
    return 0
