"""Whose values decide what a kernel executes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.ptx import code, start

#: %a0 is the address at offset 32 of the parameters, %a1 at 88, %a2 at 144
FIRST, SECOND, THIRD = 32, 88, 144
PLACE = "mad.wide.u32 %d0, %i, 8, %a0; mad.wide.u32 %d1, %i, 8, %a1; "


@pytest.mark.parametrize(
    ("body", "deciding", "written"),
    [
        ("ld.global.u64 %d2, [%d0]; st.global.u64 [%d1], %d2;", set(), {SECOND}),
        # a branch on what was loaded
        (
            "ld.global.u64 %d2, [%d0]; setp.eq.s64 %p0, %d2, 0; @%p0 bra A;"
            " st.global.u64 [%d1], %d2; A:",
            {FIRST}, {SECOND},
        ),
        # an address made of what was loaded, by way of shared memory
        (
            ".shared .align 8 .b8 held[64]; mov.u64 %d5, held; ld.global.u64 %d2, [%d0];"
            " st.shared.u64 [%d5], %d2; ld.shared.u64 %d3, [%d5]; add.u64 %d3, %d3, %a1;"
            " st.global.u64 [%d3], 0;",
            {FIRST}, {SECOND},
        ),
        ("red.global.add.u64 [%d1], 1;", set(), {SECOND}),
        # the thread's number decides: no array does
        ("setp.gt.u32 %p0, %i, 3; @%p0 bra A; st.global.u64 [%a2], 1; A:", set(), {THIRD}),
    ],
)  # fmt: skip
def test_branches_and_addresses_come_from_arrays(
    body: str, deciding: set[int], written: set[int]
) -> None:
    made = code(PLACE + body, 3)
    places = made.program.places.parameters
    assert [places[f"p{k}_4"] for k in range(3)] == [FIRST, SECOND, THIRD]
    assert (set(made.origins.deciding), set(made.origins.written) & {FIRST, SECOND, THIRD}) == (
        deciding, written
    )  # fmt: skip


def test_last_bits_of_numbers_are_exact_where_they_may_decide() -> None:
    load = PLACE + "ld.global.f64 %g0, [%d0]; fma.rn.f64 %g1, %g0, %g0, 0dBFF0000000000000; "
    store = "st.global.f64 [%d1], %g1;"
    plain = code(load + store, 3)
    deciding = code(f"{load}setp.gt.f64 %p0, %g1, 0d0000000000000000; @%p0 bra A; {store} A:", 3)
    assert deciding.for_counts is deciding and plain.for_counts is not plain
    x = np.full(32, 1.0 + 2.0**-30)
    exact, twice, none = np.zeros((3, 32))
    start(plain, [x, exact, none], 32, 32)
    start(plain.for_counts, [x, twice, none], 32, 32)
    assert (exact[0], twice[0]) == (2.0**-29 + 2.0**-60, x[0] * x[0] - 1.0)
    assert exact[0] != twice[0]
