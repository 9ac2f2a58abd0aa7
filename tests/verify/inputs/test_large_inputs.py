"""Cases whose arrays the memory may not hold are left out, whatever makes them so large."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from porter.dtypes.signatures import parse_types
from porter.verify.inputs.arguments import MOST_GIVEN, Parameter, TooLarge, build
from porter.verify.inputs.cases import CaseSpec
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


@pytest.mark.parametrize("on", ["simulator", "emulator"])
def test_no_memory_for_a_call_is_no_difference(tmp_path: Path, on: str) -> None:
    large = "    if x.shape[0] >= 40:\n        raise MemoryError\n    on_device = _on_device(x)\n"
    path = edited(
        tmp_path,
        '(x: "float64[:]"):\n    return x + 1.5',
        [[("    on_device = _on_device(x)\n", large)]],
    )
    (proof,) = found(path, on)
    assert proof.mismatch is None, proof.mismatch
    assert proof.evidence[0].detail["sizes"]["costly"] > 0
    assert proof.verified


def test_a_call_that_never_has_memory_verifies_nothing(tmp_path: Path) -> None:
    always = "    on_device = _on_device(x)\n    if x.ndim:\n        raise MemoryError\n"
    path = edited(
        tmp_path,
        '(x: "float64[:]"):\n    return x + 1.5',
        [[("    on_device = _on_device(x)\n", always)]],
    )
    (proof,) = found(path, "simulator")
    assert not proof.verified
