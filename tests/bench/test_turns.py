"""Loops of which some turns stand for all: their counts beside those of every turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.bench.child import sampling
from porter.bench.child.sampling import Tally, sample
from porter.bench.child.virtual import zeros
from porter.ptx.machine.task import Code
from tests.support.ptx import code

#: the sum of x[0:n], n of x[1], by every thread of a block
ALIKE = """
mov.u64 %d0, 0;
mov.f64 %g0, 0d0000000000000000;
again:
shl.b64 %d1, %d0, 3;
add.u64 %d1, %a0, %d1;
ld.global.f64 %g1, [%d1];
add.f64 %g0, %g0, %g1;
add.u64 %d0, %d0, 1;
setp.lt.s64 %p0, %d0, {n};
@%p0 bra again;
mul.wide.u32 %d1, %i, 8;
add.u64 %d1, %a1, %d1;
st.global.f64 [%d1], %g0;
"""
#: a triangle: the turn j of the outer loop has j turns of the inner one, and a barrier
TRIANGLE = """
mov.u64 %d0, 1;
outer:
mov.u64 %d2, 0;
inner:
shl.b64 %d1, %d2, 3;
add.u64 %d1, %a0, %d1;
ld.global.f64 %g1, [%d1];
st.global.f64 [%d1], %g1;
add.u64 %d2, %d2, 1;
setp.ne.u64 %p0, %d2, %d0;
@%p0 bra inner;
bar.sync 0;
add.u64 %d0, %d0, 1;
setp.gt.s64 %p1, %d0, {n};
@!%p1 bra outer;
"""
#: thread i has {n} - i turns
APART = """
mov.u32 %r0, {n};
sub.s32 %r0, %r0, %i;
again:
mul.wide.u32 %d1, %i, 8;
add.u64 %d1, %a0, %d1;
ld.global.f64 %g1, [%d1];
st.global.f64 [%d1], %g1;
sub.s32 %r0, %r0, 1;
setp.ge.s32 %p0, %r0, 1;
@%p0 bra again;
"""
#: what is compared is doubled in each turn
DOUBLED = """
mov.u64 %d0, 1;
again:
add.u64 %d0, %d0, %d0;
setp.lt.u64 %p0, %d0, {n};
@%p0 bra again;
st.global.u64 [%a0], %d0;
"""
#: a number grows by 1 in each turn until {n} / 2, then by 2
BENT = """
mov.u64 %d0, 0;
mov.u64 %d2, 0;
again:
add.u64 %d0, %d0, 1;
setp.gt.s64 %p0, %d0, {n} / 2;
selp.b64 %d3, 2, 1, %p0;
add.u64 %d2, %d2, %d3;
setp.lt.s64 %p1, %d0, {n};
@%p1 bra again;
st.global.u64 [%a0], %d2;
"""
#: the loop ends where x is not 0
FOUND = """
mov.u64 %d0, 0;
again:
shl.b64 %d1, %d0, 3;
add.u64 %d1, %a0, %d1;
ld.global.f64 %g1, [%d1];
add.u64 %d0, %d0, 1;
setp.eq.f64 %p0, %g1, 0d0000000000000000;
@%p0 bra again;
st.global.u64 [%a1], %d0;
"""


def counted(made: Code, arrays: list[Any], exact: int, monkeypatch: pytest.MonkeyPatch) -> Tally:
    """A launch of one block of 128 threads, exact for so many instructions."""
    monkeypatch.setattr(sampling, "EXACT", exact)
    names = tuple(f"x{k}" for k in range(len(arrays)))
    return sample(made, (1, 1, 1), (128, 1, 1), arrays, names=names, dynamic=0, layout="numba")


def both(
    body: str, n: int, monkeypatch: pytest.MonkeyPatch, most: int = 4000
) -> tuple[Tally, Tally]:
    """The counts with some turns for all, and with every turn."""
    text = body.replace("{n} / 2", str(n // 2)).replace("{n}", str(n))
    found = []
    for exact in (0, 1 << 60):
        arrays = [zeros((most,), np.dtype(np.float64)) for _ in range(2)]
        arrays[0][n - 1] = 1
        found.append(counted(code(text, 2), arrays, exact, monkeypatch))
    return found[0], found[1]


def test_turns_that_are_alike_are_counted_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    some, every = both(ALIKE, 1000, monkeypatch)
    assert some.sums == every.sums
    assert some.classes == every.classes
    assert some.longest == every.longest
    assert some.bytes == pytest.approx(every.bytes, rel=0.01)


def test_some_turns_are_executed_of_many() -> None:
    text = ALIKE.replace("{n}", str(10**9))
    arrays = [zeros((10**9,), np.dtype(np.float64)), zeros((128,), np.dtype(np.float64))]
    names = ("x", "y")
    tally = sample(
        code(text, 2), (1, 1, 1), (128, 1, 1), arrays, names=names, dynamic=0, layout="numba"
    )
    assert tally.classes["load"] == pytest.approx(128e9, rel=1e-6)
    assert tally.bytes == pytest.approx(8e9, rel=0.01)


@pytest.mark.parametrize("n", [40, 101, 260])
def test_a_triangle_is_a_polynomial(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    some, every = both(TRIANGLE, n, monkeypatch)
    assert every.classes["load"] == 128 * n * (n + 1) / 2
    assert some.classes["load"] == pytest.approx(every.classes["load"], rel=1e-3)
    assert some.sums["barriers"] == every.sums["barriers"] == n
    assert some.sums["warps"] == pytest.approx(every.sums["warps"], rel=1e-3)
    assert some.bytes <= every.bytes * 1.05


@pytest.mark.parametrize("n", [160, 200, 1000])
def test_threads_that_end_one_after_another(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    some, every = both(APART, n, monkeypatch)
    assert every.classes["load"] == sum(max(n - i, 1) for i in range(128))
    assert some.classes["load"] == pytest.approx(every.classes["load"], rel=0.03)
    assert some.sums["warps"] == pytest.approx(every.sums["warps"], rel=0.08)


@pytest.mark.parametrize("body", [DOUBLED, BENT, FOUND])
def test_other_loops_are_executed(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some, every = both(body, 1000, monkeypatch)
    assert some.sums == every.sums
    assert some.classes == every.classes
