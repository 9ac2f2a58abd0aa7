"""Cases whose arrays the memory may not hold are left out, whatever makes them so large."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from porter.dtypes.signatures import parse_types
from porter.verify.inputs.arguments import MOST_GIVEN, Parameter, TooLarge, build
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.large import MOST_EXACT, Growth
from tests.support.hand_edited import edited, found

#: the length of each axis, the axes, the layout, and whether the arrays are too large
CASES = [
    (40_000_000, 1, "C", True),
    (5_000, 1, "C", False),
    (6_000, 2, "C", True),
    (4_000, 2, "C", False),
    (4_000, 2, "strided", True),
    (1_543, 3, "C", True),
    (300, 3, "C", False),
    (110, 4, "C", True),
    (70, 4, "F", False),
    (50, 5, "reversed", True),
]


@pytest.mark.parametrize(("size", "axes", "layout", "large"), CASES)
def test_arrays_beyond_the_memory_are_not_made(
    size: int, axes: int, layout: str, large: bool
) -> None:
    (kind,) = parse_types(f"float64[{', '.join(':' * axes)}]")
    parameters = [Parameter("x", kind, ("n",) * axes)]
    spec = CaseSpec((str(size),), layout=layout, exact=True, own=True)
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        if large:
            with pytest.raises(TooLarge):
                build(parameters, spec, {"THREADS": 8}, rng)
        else:
            assert build(parameters, spec, {"THREADS": 8}, rng).sizes["n"] == size
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (1e6 if large else 3 * MOST_GIVEN)


@pytest.mark.parametrize(("least", "verified"), [(900_000, True), (40, False)])
def test_no_memory_for_a_large_call_is_no_difference(
    tmp_path: Path, least: int, verified: bool
) -> None:
    text = f"    if x.shape[0] >= {least}:\n        raise MemoryError\n"
    path = edited(
        tmp_path,
        '(x: "float64[:]"):\n    return x + 1.5',
        [[("    on_device = _on_device(x)\n", text + "    on_device = _on_device(x)\n")]],
    )
    (proof,) = found(path, "emulator")
    assert proof.verified == verified
    if verified:
        assert proof.evidence[0].detail["sizes"]["costly"] > 0
    else:
        assert proof.mismatch is not None and "MemoryError" in proof.mismatch.message


@pytest.mark.parametrize(("power", "most"), [(1, 60_000), (2, 4_000), (3, 300), (4, 70)])
def test_what_grows_too_large_is_not_tried(power: int, most: int) -> None:
    tried: list[int] = []

    def measured(spec: CaseSpec) -> tuple[float, float]:
        longest = max(map(int, spec.sizes))
        tried.append(longest)
        return 8.0 * longest**power, 1e-9 * longest

    growth = Growth(measured)
    for size in (50, most, 61, 301, 777, 1201, 1543, 5000, 65_537, 1_000_000):
        fits = growth.fits(CaseSpec(("5", str(size)), exact=True), 1.0)
        assert fits == (8.0 * size**power <= MOST_EXACT), size
    # nothing was run to find that out that takes much more
    assert 8.0 * max(tried, default=0) ** power < 8 * MOST_EXACT
    assert len(tried) == len(set(tried)) <= 4


def test_an_original_that_raises_at_small_sizes_is_tried() -> None:
    assert Growth(lambda _: None).fits(CaseSpec(("100000",), exact=True), 1.0)
