"""Powers of Python integers, whose exponents are known when the function is called."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.ir.scalars import integer, poly_of
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import highest, lowest, never_negative
from porter.resolve.values import Array
from porter.sizes.polynomial import Data, Dim, Index, Poly, is_power, power

#: the largest integer that a kernel computes with
_LARGEST = 2**63 - 1
_UNKNOWN = "the exponent of this Python integer is not known at conversion"


def test_power(b: Builder, number: ir.Expr) -> None:
    """The host tests that the exponents in a number are not negative: Python makes a float then.

    A power with a loop's index in it must be one of a kernel's integers, too: the loop may become
    threads.  So the base is positive there, of which the last power is the largest.  Refuses an
    index of which no loop tells the range.
    """
    poly = poly_of(number) if number.dtype.weak and number.dtype.kind == "i" else None
    for a in filter(is_power, () if poly is None else poly.atoms()):
        base, exponent = a.args
        _at_least(b, 0, exponent, f"`{exponent}`, an exponent of integers, is negative")
        if Poly.atom(a).names() & b.sizes.scope.indices:
            _at_least(b, 1, base, f"`{base}`, of which a loop makes powers, is not positive")
            most = power(_known(b, highest(b.sizes, base)), _known(b, highest(b.sizes, exponent)))
            if most.dims():  # of more than 63 elements, the last power is too large
                raise b.refuse("PRT907", _UNKNOWN, "compute with floats: `2.0**k`")
            message = f"the power of `{base}` is too large for an integer of a kernel"
            _check(b, ir.Check("index", most, Poly.of(_LARGEST), message))


def shifted_size(b: Builder, operands: Sequence[Array | ir.Expr]) -> ir.Expr | None:
    """`n << k` of Python integers as the size n * 2**k; None where a kernel has to shift."""
    scalars = [o for o in operands if isinstance(o, ir.Expr) and o.dtype.weak]
    polys = [poly_of(o) if o.dtype.kind == "i" else None for o in scalars]
    number, count = polys if len(polys) == 2 else (None, None)
    if number is None or count is None or count.constant is not None:
        return None
    read = any(isinstance(a, Data) for p in (number, count) for a in p.atoms())
    many = any(isinstance(a, (Dim, Index)) for a in highest(b.sizes, count).atoms())
    if read or many or b.scope.speculative:
        return None
    result = integer(number * power(2, count))
    test_power(b, result)
    return result


def _at_least(b: Builder, bound: int, p: Poly, message: str) -> None:
    least = _known(b, lowest(b.sizes, p))
    # `2**-k` is meant to be a float
    if bound > 0 or any(c > 0 for _, c in least.terms):
        hopeless = least.constant is not None and least.constant < bound
    else:
        hopeless = least != Poly() and not never_negative(b.sizes, least)
    if hopeless:
        raise b.refuse("PRT907", message, "compute with floats: `2.0**k`")
    if not never_negative(b.sizes, least - bound):
        _check(b, ir.Check("index", Poly.of(bound), least, message))


def _check(b: Builder, check: ir.Check) -> None:
    """Have the host test it. Refuses where Python may not compute the power at all."""
    if b.scope.speculative and not (check.right - check.left).is_nonneg():
        raise b.refuse("PRT907", _UNKNOWN, "use an `if` statement")
    b.sizes.check(check)


def _known(b: Builder, p: Poly) -> Poly:
    """What is known before the loops around. Refuses what is not."""
    if any(isinstance(a, (Index, Data)) for a in p.atoms()):
        raise b.refuse("PRT907", _UNKNOWN)
    return p
