"""Whether a system of affine equations and inequalities may have an integer solution.

Equations are eliminated exactly (Euclid's algorithm on their coefficients); inequalities by
Fourier and Motzkin's method with every bound rounded to an integer, as in the Omega test
(Pugh, 1991) without its dark shadow.  So "no" is certain and "yes" may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

#: a linear form: the coefficient of each variable, the constant term under ""
Row = dict[str, int]
#: more inequalities than this are not combined any further: the answer is "maybe"
MAX_ROWS = 300


def combine(a: Row, x: int, b: Row, y: int) -> Row:
    """`x * a + y * b`."""
    total = {v: x * c for v, c in a.items()}
    for v, c in b.items():
        total[v] = total.get(v, 0) + y * c
    return {v: c for v, c in total.items() if c}


@dataclass
class System:
    """Equations (`row == 0`) and inequalities (`row >= 0`) over integers."""

    equations: list[Row] = field(default_factory=list)
    inequalities: list[Row] = field(default_factory=list)
    _fresh: int = 0

    def copy(self) -> System:
        """The same rows, to be added to."""
        return System(list(self.equations), list(self.inequalities), self._fresh)

    def equal(self, a: Row, b: Row) -> None:
        """`a == b`."""
        self.equations.append(combine(a, 1, b, -1))

    def at_least(self, a: Row, b: Row) -> None:
        """`a >= b`."""
        self.inequalities.append(combine(a, 1, b, -1))

    def fresh(self) -> str:
        """A variable that occurs nowhere else."""
        self._fresh += 1
        return f"?{self._fresh}"

    def feasible(self) -> bool:
        """False only if no integers satisfy the system."""
        equations, rows = list(self.equations), list(self.inequalities)
        while equations:
            equation = _reduced(equations.pop())
            if equation is None:
                return False
            variables = [v for v in equation if v]
            if not variables:
                if equation:
                    return False
                continue
            name, value, rest = self._solved(equation, variables)
            equations = [_with(e, name, value) for e in equations]
            rows = [_with(r, name, value) for r in rows]
            equations += [rest] if rest else []
        return _may_hold(rows)

    def _solved(self, equation: Row, variables: list[str]) -> tuple[str, Row, Row]:
        """A variable, its value, and what is left of the equation: one step of Euclid."""
        name = min(variables, key=lambda v: abs(equation[v]))
        a = equation[name]
        others = {v: c for v, c in equation.items() if v != name}
        if abs(a) == 1:
            return name, {v: -a * c for v, c in others.items()}, {}
        new = self.fresh()
        value = {v: -(c // a) for v, c in others.items() if c // a}
        rest = {v: c % a for v, c in others.items() if c % a}
        return name, {**value, new: 1}, {**rest, new: a}


def _with(row: Row, name: str, value: Row) -> Row:
    factor = row.get(name, 0)
    if not factor:
        return row
    return combine({v: c for v, c in row.items() if v != name}, 1, value, factor)


def _reduced(equation: Row) -> Row | None:
    """Divided by the common factor of its coefficients; None if the constant is no multiple."""
    factor = gcd(*(c for v, c in equation.items() if v))
    if factor in (0, 1):
        return equation
    if equation.get("", 0) % factor:
        return None
    return {v: c // factor for v, c in equation.items()}


def _tightest(rows: Iterable[Row]) -> dict[tuple[tuple[str, int], ...], int] | None:
    """The rows by their coefficients, rounded, the strongest of each; None if one is false."""
    kept: dict[tuple[tuple[str, int], ...], int] = {}
    for row in rows:
        coefficients = sorted((v, c) for v, c in row.items() if v)
        constant = row.get("", 0)
        if not coefficients:
            if constant < 0:
                return None
            continue
        factor = gcd(*(c for _, c in coefficients))
        key = tuple((v, c // factor) for v, c in coefficients)
        kept[key] = min(kept.get(key, constant // factor), constant // factor)
    for key, constant in kept.items():
        opposite = kept.get(tuple((v, -c) for v, c in key))
        if opposite is not None and constant + opposite < 0:
            return None
    return kept


def _may_hold(rows: list[Row]) -> bool:
    while True:
        kept = _tightest(rows)
        if kept is None:
            return False
        rows = [dict(key) | ({"": c} if c else {}) for key, c in kept.items()]
        if not rows or len(rows) > MAX_ROWS:
            return True
        name = min({v for r in rows for v in r if v}, key=lambda v: (_products(rows, v), v))
        lower = [r for r in rows if r.get(name, 0) > 0]
        upper = [r for r in rows if r.get(name, 0) < 0]
        rest = [r for r in rows if name not in r]
        rows = rest + [combine(a, -b[name], b, a[name]) for a in lower for b in upper]


def _products(rows: list[Row], name: str) -> int:
    lower = sum(r.get(name, 0) > 0 for r in rows)
    return lower * sum(r.get(name, 0) < 0 for r in rows)


__all__ = ["Row", "System", "combine"]
