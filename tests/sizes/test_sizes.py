"""Symbolic sizes against sympy, and against plain integers where sympy has no opinion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from porter import ir
from porter.sizes.polynomial import (
    Apply,
    Data,
    Dim,
    Index,
    Poly,
    Symbol,
    apply,
    maximum,
    minimum,
    slice_bound,
    sym,
)

#: `n` and `m` are sizes (never negative), `i` and `j` any integers
NONNEG = {"n": True, "m": True, "i": False, "j": False}
SYMBOLS = {name: sym(name, nonneg) for name, nonneg in NONNEG.items()}
ORACLE = {name: sympy.Symbol(name, integer=True) for name in NONNEG}

Pair = tuple[Poly, Any]
leaves: st.SearchStrategy[Pair] = st.one_of(
    st.integers(-4, 4).map(lambda k: (Poly.of(k), sympy.Integer(k))),
    st.sampled_from(sorted(NONNEG)).map(lambda name: (SYMBOLS[name], ORACLE[name])),
)


def _ring(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def combine(op: str, a: Pair, b: Pair) -> Pair:
        if op == "+":
            return a[0] + b[0], a[1] + b[1]
        return (a[0] - b[0], a[1] - b[1]) if op == "-" else (a[0] * b[0], a[1] * b[1])

    return st.builds(combine, st.sampled_from("+-*"), pairs, pairs)


def _any_operation(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def combine(op: str, a: Pair, b: Pair) -> Pair:
        assume(op not in ("//", "%") or b[0] != Poly())
        return apply(op, a[0], b[0]), _OPERATIONS[op](a[1], b[1])

    applied = st.builds(combine, st.sampled_from(["//", "%", "min", "max"]), pairs, pairs)
    return _ring(pairs) | applied


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "//": lambda a, b: sympy.Function("floordiv")(a, b),
    "%": lambda a, b: sympy.Function("modulo")(a, b),
    "min": lambda a, b: sympy.Function("smaller")(a, b),
    "max": lambda a, b: sympy.Function("larger")(a, b),
}
_VALUES = {
    "floordiv": lambda a, b: sympy.floor(sympy.Rational(a, b)),
    "modulo": lambda a, b: sympy.Mod(a, b),
    "smaller": lambda a, b: sympy.Min(a, b),
    "larger": lambda a, b: sympy.Max(a, b),
}
polynomials = st.recursive(leaves, _ring, max_leaves=8)
expressions = st.recursive(leaves, _any_operation, max_leaves=8)
points = st.fixed_dictionaries(
    {name: st.integers(0 if nonneg else -7, 7) for name, nonneg in NONNEG.items()}
)


def oracle(expression: Any, point: Mapping[str, int]) -> int:
    """What sympy makes of the unsimplified expression; skips a division by zero."""
    if not expression.args:
        return int(expression.subs({ORACLE[n]: k for n, k in point.items()}))
    args = [oracle(a, point) for a in expression.args]
    name = type(expression).__name__
    if name in _VALUES:
        assume(name not in ("floordiv", "modulo") or args[1] != 0)
        return int(_VALUES[name](*args))
    return int(expression.func(*args))


def value(poly: Poly, point: Mapping[str, int]) -> int:
    """A polynomial's value, from its terms."""
    total = 0
    for monomial, coefficient in poly.terms:
        for a in monomial:
            coefficient *= point[a.name] if isinstance(a, Symbol) else _applied(a, point)
        total += coefficient
    return total


def _applied(a: Any, point: Mapping[str, int]) -> int:
    assert isinstance(a, Apply)
    x, y = (value(p, point) for p in a.args)
    if a.op == "bound":
        return slice(x, None).indices(y)[0]
    if a.op in ("//", "%"):
        assume(y != 0)
        return x // y if a.op == "//" else x % y
    return min(x, y) if a.op == "min" else max(x, y)


@given(polynomials, polynomials)
def test_equal_polynomials_are_equal_objects(a: Pair, b: Pair) -> None:
    assert (a[0] == b[0]) == (sympy.expand(a[1] - b[1]) == 0)
    if a[0] == b[0]:
        assert hash(a[0]) == hash(b[0])


@given(polynomials)
def test_terms_are_those_of_the_expanded_polynomial(pair: Pair) -> None:
    poly, expression = pair
    wanted = sympy.Poly(expression, *(ORACLE[n] for n in sorted(NONNEG))).as_dict()
    found = {}
    for monomial, coefficient in poly.terms:
        names = [a.name for a in monomial if isinstance(a, Symbol)]
        found[tuple(names.count(n) for n in sorted(NONNEG))] = coefficient
    assert found == {k: int(v) for k, v in wanted.items() if v}


@given(polynomials)
def test_constant_and_offset(pair: Pair) -> None:
    poly, expression = pair
    expanded = sympy.expand(expression)
    assert poly.constant == (int(expanded) if expanded.is_Integer else None)
    assert poly.offset == int(expanded.subs(dict.fromkeys(ORACLE.values(), 0)))


@given(polynomials, st.sampled_from(sorted(NONNEG)))
def test_coefficient_is_the_derivative_of_an_affine_one(pair: Pair, name: str) -> None:
    poly, expression = pair
    slope = sympy.expand(sympy.diff(expression, ORACLE[name]))
    assert poly.coefficient(name) == (int(slope) if slope.is_Integer else None)


@given(expressions, points)
def test_every_operation_keeps_the_value(pair: Pair, point: dict[str, int]) -> None:
    assert value(pair[0], point) == oracle(pair[1], point)


@given(expressions, points)
def test_the_text_means_the_same(pair: Pair, point: dict[str, int]) -> None:
    expected = oracle(pair[1], point)
    assert eval(str(pair[0]), {"min": min, "max": max}, dict(point)) == expected


@given(expressions, points)
def test_what_is_called_nonnegative_is(pair: Pair, point: dict[str, int]) -> None:
    expected = oracle(pair[1], point)
    assert expected >= 0 or not pair[0].is_nonneg()
    assert expected > 0 or not pair[0].is_positive()


@given(expressions, expressions, points)
def test_minimum_and_maximum(a: Pair, b: Pair, point: dict[str, int]) -> None:
    x, y = oracle(a[1], point), oracle(b[1], point)
    assert value(minimum(a[0], b[0]), point) == min(x, y)
    assert value(maximum(a[0], b[0]), point) == max(x, y)


@given(expressions, st.integers(0, 9), points)
def test_slice_bounds_are_those_of_python(pair: Pair, size: int, point: dict[str, int]) -> None:
    expected = slice(oracle(pair[1], point), None).indices(size)[0]
    assert value(slice_bound(pair[0], Poly.of(size)), point) == expected


@given(expressions, expressions, st.sampled_from(sorted(NONNEG)), points)
def test_replacing_a_symbol(a: Pair, b: Pair, name: str, point: dict[str, int]) -> None:
    """The value of what is replaced decides; a size is only replaced by a size."""
    inner = oracle(b[1], point)
    assume(inner >= 0 or not NONNEG[name])
    expected = oracle(a[1], point | {name: inner})
    try:
        replaced = a[0].replace({name: b[0]})
    except ZeroDivisionError:
        assume(False)
    assert value(replaced, point) == expected


@given(expressions, points)
def test_names_are_the_symbols_that_matter(pair: Pair, point: dict[str, int]) -> None:
    known = {name: point[name] for name in pair[0].names()}
    assert value(pair[0], known) == oracle(pair[1], point)


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        sym("n") // 0


def test_a_multiple_divides_exactly() -> None:
    n = sym("n", True)
    assert (6 * n + 4) // 2 == 3 * n + 2
    assert (6 * n + 4) % 2 == Poly()
    assert str((n + 1) // 2) == "((n + 1) // (2))"


def test_a_symbol_is_recognised() -> None:
    assert sym("n").symbol == Index("n") and sym("n").name == "n"
    assert sym("n").dim is None and Poly.atom(Dim("x", 1)).dim == Dim("x", 1)
    assert (Poly.atom(Dim("x", 1)) * sym("n")).dims() == {Dim("x", 1)}
    assert (2 * sym("n")).symbol is None
    assert (sym("n") + 1).symbol is None


def test_an_integer_from_data_is_an_atom() -> None:
    from porter.dtypes.dtype import INT64

    one = Poly.atom(Data(ir.Load("idx", (sym("i"),), INT64)))
    assert str(one + 1) == "[idx[i]] + 1"
    assert one - one == Poly()
    assert not one.is_nonneg()
    assert one.names() == set()  # the index inside belongs to the expression
    assert Poly.atom(Data(ir.Value(sym("i"), INT64), nonneg=True)).is_nonneg()
