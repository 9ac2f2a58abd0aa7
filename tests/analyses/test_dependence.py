"""Dependence tests held against isl, the integer set library, on random loop nests."""

from __future__ import annotations

import random
from dataclasses import dataclass

import islpy as isl
import pytest

from porter import ir
from porter.analyses.dependence import Nest, carried, sites
from porter.dtypes.dtype import BOOL, FLOAT64, INT64
from porter.ir.axes import Range
from porter.sizes.affine import System
from porter.sizes.polynomial import Data, Poly, apply, sym

HERE = ir.Origin()
#: nests per seed, and how many in a hundred answers may be more careful than isl
NESTS, CAREFUL = 150, 2


@dataclass
class Random:
    """Random affine pieces, as porter's polynomials and as isl's text."""

    draw: random.Random

    def affine(self, names: list[str], most: int = 2) -> tuple[Poly, str]:
        """A sum of some of the names with small factors, and a constant."""
        total, text = Poly(), "0"
        for name in names:
            factor = self.draw.choice([0, 0, 1, 1, 1, -1, most, -most])
            if factor:
                total += sym(name, name == "n") * factor
                text += f" + {factor}*{name}"
        offset = self.draw.randint(-3, 3)
        return total + offset, f"{text} + {offset}"

    def subscript(self, names: list[str]) -> tuple[Poly, str]:
        """An affine subscript, sometimes halved or taken modulo 3."""
        poly, text = self.affine(names)
        kind = self.draw.random()
        if kind < 0.1:
            return apply("//", poly, Poly.of(2)), f"floor(({text})/2)"
        if kind < 0.2:
            return apply("%", poly, Poly.of(3)), f"(({text}) mod 3)"
        return poly, text

    def loop(self, k: int, outer: list[str]) -> tuple[Range, str]:
        """A loop whose bounds may use the indices outside of it, and its set."""
        name = "ijk"[k]
        lo, lo_text = self.affine(outer, 1) if self.draw.random() < 0.4 else (Poly(), "0")
        hi, hi_text = self.affine(["n", *outer], 1)
        step = self.draw.choice([1, 1, 1, 2, -1])
        if step == -1:
            return Range(name, hi, lo, -1), f"{lo_text} < {name} <= {hi_text}"
        text = f"{lo_text} <= {name} < {hi_text}"
        if step == 2:
            text += f" and ({name} - ({lo_text})) mod 2 = 0"
        return Range(name, lo, hi, step), text


def primed(text: str, names: list[str]) -> str:
    """The text about the second iteration."""
    for name in names:
        text = text.replace(name, f"{name}p") if name != "n" else text
    return text


def question(seed: int) -> tuple[bool, bool, str]:
    """porter's answer and isl's to one random question, and the question."""
    r = Random(random.Random(seed))
    depth = r.draw.choice([1, 1, 2, 2, 3])
    names: list[str] = []
    ranges: list[Range] = []
    bounds: list[str] = []
    for k in range(depth):
        loop, text = r.loop(k, names)
        names.append(loop.index)
        ranges.append(loop)
        bounds.append(text)
    ndim = r.draw.choice([1, 1, 2])
    places = [[r.subscript([*names, "n"] if r.draw.random() < 0.3 else names)
               for _ in range(ndim)] for _ in range(2)]  # fmt: skip
    guard, guard_text = r.affine(names, 1)
    op = r.draw.choice(["", "", "ge", "ne", "eq"])
    stores = [ir.Write("x", (), tuple(p for p, _ in place), ir.Const(1.0, FLOAT64), HERE)
              for place in places]  # fmt: skip
    body: list[ir.Stmt] = list(stores)
    if op:
        test = ir.Op(op, (ir.Value(guard, INT64), ir.Value(Poly(), INT64)), BOOL)
        body[0] = ir.If(test, (stores[0],), (), HERE)
    first, second = sites(body)
    level = r.draw.randrange(depth)
    nest = Nest(tuple(ranges), (), {})
    found = nest.meet(first, second, level)
    signs = {"ge": ">=", "ne": "!=", "eq": "="}
    parts = [*bounds, *(primed(b, names) for b in bounds), "n >= 0"]
    parts += [f"{n} = {n}p" for n in names[:level]]
    order = "<" if ranges[level].step > 0 else ">"
    parts.append(f"{names[level]} {order} {names[level]}p")
    for (_, a), (_, b) in zip(*places, strict=True):
        parts.append(f"({a}) = ({primed(b, names)})")
    if op:
        parts.append(f"({guard_text}) {signs[op]} 0")
    variables = ", ".join([*names, *(f"{n}p" for n in names)])
    text = f"[n] -> {{ [{variables}] : {' and '.join(parts)} }}"
    return found, not isl.Set(text).is_empty(), text


@pytest.mark.parametrize("seed", range(8))
def test_no_dependence_that_isl_finds_is_missed(seed: int) -> None:
    """And porter is hardly ever more careful than isl."""
    careful = 0
    for k in range(NESTS):
        ours, theirs, text = question(seed * NESTS + k)
        assert ours or not theirs, text
        careful += ours and not theirs
    assert careful * 100 <= CAREFUL * NESTS


def test_equations_are_solved_over_integers() -> None:
    """`6x + 10y == 1` has rational solutions only; `6x + 10y == 2` has integer ones."""
    for constant, possible in ((1, False), (2, True)):
        system = System([{"x": 6, "y": 10, "": -constant}])
        assert system.feasible() is possible


def test_bounds_are_rounded() -> None:
    """No integer lies between 1/3 and 2/3."""
    assert not System([], [{"x": 3, "": -1}, {"x": -3, "": 2}]).feasible()


def loop(lo: Poly, hi: Poly, *body: ir.Stmt, step: int = 1) -> ir.For:
    return ir.For("i", lo, hi, step, body, HERE)


def store(index: Poly) -> ir.Write:
    return ir.Write("x", (), (index,), ir.Const(1.0, FLOAT64), HERE)


def test_a_subscript_that_may_be_negative_counts_from_the_end() -> None:
    """`x[i]` for i from -n to n writes every element twice, if nothing shows i >= 0."""
    i, n = sym("i"), sym("n", True)
    marked = Poly.atom(Data(ir.Value(i, INT64)))
    buffers = {"x": ir.Buffer("x", (n,), FLOAT64)}
    assert carried(loop(-n, n, store(marked)), buffers) is not None
    assert carried(loop(Poly(), n, store(marked)), buffers) is None


def test_multiples_of_a_size_do_not_meet() -> None:
    """`x[k * m]` for all k: apart if m is not 0."""
    index = sym("i") * sym("m", True)
    around = (Range("m", Poly.of(2), sym("n", True)),)
    assert carried(loop(Poly(), sym("n", True), store(index)), {}, around) is None
    assert carried(loop(Poly(), sym("n", True), store(index)), {}) is not None


def test_what_axes_may_be_is_not_tried_in_all_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    """`x[i, a, b, c]`, all of which may count from the end for all that is known of the shape."""
    names = [*"iabc"]
    marked = tuple(Poly.atom(Data(ir.Value(sym(n), INT64))) for n in names)
    buffers = {"x": ir.Buffer("x", tuple(sym(n.upper(), True) for n in names), FLOAT64)}
    around = tuple(Range(n, Poly(), sym("n", True)) for n in "abc")
    asked: list[System] = []
    plain = System.feasible

    def counted(system: System) -> bool:
        asked.append(system)
        return plain(system)

    monkeypatch.setattr(System, "feasible", counted)
    write = ir.Write("x", (), marked, ir.Const(1.0, FLOAT64), HERE)
    assert carried(loop(Poly(), sym("n", True), write), buffers, around) is None
    assert len(asked) < 40  # of 4 ** 4
