"""Sizes that a module's own text names: read from it, and tried on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.verify.inputs.cases import FIRST
from porter.verify.inputs.thresholds import MOST, Threshold, extra_specs, size_specs, thresholds
from tests.support.hand_edited import assert_all, edited, found

#: an expression in a kernel, and the numbers that it depends on
TEXTS = [
    ("i < 300", [300]),
    ("x.shape[0] >= 1 << 12", [4096]),
    ("i % 512 == 7", [7, 512]),
    ("i // 1000 > 0", [1000]),
    ("x.size > 2 ** 16", [65536]),
    ("n * 4 <= 64 * 1024", [4, 65536]),
    ("i >= LIMIT", [777]),
    ("i >= TABLE[1]", [40, 900]),
    ("helper(i)", [555]),
    ("x.flags.f_contiguous and n >= 40", [40]),
    ("i < np.int64(2048)", [2048]),
    ("n >> 9", [9, 512]),
    ("n > 1e4", [10000]),
    ("min(n, 333) > i", [333]),
    ("i < 0 or n == 1 or i != -2", []),
    ("x[i] > 0.5 and i < MAX_BLOCKS", []),
    (f"i < {MOST + 1}", []),
]


@pytest.mark.parametrize(("expression", "numbers"), TEXTS, ids=[t for t, _ in TEXTS])
def test_numbers_are_read(expression: str, numbers: list[int]) -> None:
    text = (
        "LIMIT = 700 + 77\nTABLE = (40, 900)\nMAX_BLOCKS = 65535\n\n\n"
        "def helper(i):\n    return i > 555\n\n\ndef unused(i):\n    return i > 123\n\n\n"
        f"@cuda.jit\ndef k(x, out, n):\n    i = cuda.grid(1)\n    if {expression}:\n"
        "        out[i] = x[i]\n\n\ndef f(x):\n    k[1, 1](x, x, 1)\n"
    )
    assert sorted({t.size for t in thresholds(text, "f")}) == numbers


@pytest.mark.parametrize(
    "condition", ["cuda.blockIdx.x > 70", "cuda.gridDim.y < 70", "b == 70", "blocks <= 70"]
)
def test_a_number_of_blocks_is_a_size_in_blocks_too(condition: str) -> None:
    text = f"def f(x, blocks):\n    b = cuda.blockIdx.x\n    if {condition}:\n        pass\n"
    assert thresholds(text, "f") == [Threshold(70), Threshold(70, True)]
    first, rows = size_specs([Threshold(70, True)], 1, 1, 32)
    assert not first and [row.sizes for row in rows] == [("2240",), ("2241",)]


def test_a_number_is_tried_on_both_sides_along_each_axis() -> None:
    first, rest = size_specs([Threshold(300)], 2, 2, 256)
    rows = [*first, *rest]
    for axis in range(2):
        lengths = {int(r.sizes[axis]) for r in rows}
        assert {299, 300, 301, 601} <= lengths
        above = [r for r in rows if r.sizes[axis] == "301" and r.sizes[1 - axis] == "5"]
        assert {r.variant for r in above} == {0, 1}
        assert {("F", "device"), ("strided", "host")} <= {(r.layout, r.form) for r in above}
    assert all(r.own and r.exact for r in rows)


def test_each_number_has_its_turn_and_then_the_smallest_come_first() -> None:
    numbers = [Threshold(n) for n in (40, 300, 65536, 2_000_000)]
    rows = extra_specs(numbers, 2, 2, 256)
    assert [r.number for r in rows] == list(range(FIRST, FIRST + len(rows)))
    first, rest = size_specs(numbers, 2, 2, 256)
    # along each axis; those that make few elements together
    for axis in range(2):
        assert {"41", "301", "65537", "2000001"} <= {r.sizes[axis] for r in first}
    assert ("301", "41") in {r.sizes for r in first}
    assert {(r.layout, r.variant) for r in first} == {("C", 0), ("C", 1), ("F", 0)}
    others = [max(int(n) for n in r.sizes) for r in rest]
    assert max(others[:20]) < 1000 and max(others[-5:]) > 1_000_000
    assert len({*first, *rest}) == len(first) + len(rest)


def test_each_choice_of_kernels_has_all_cases() -> None:
    rows = extra_specs([Threshold(300)], 2, 2, 256, choices=2)
    found = [
        [(*r.sizes, r.layout, r.variant, r.form, r.event) for r in rows if r.choice((1, 2)) == c]
        for c in (None, 1, 2)
    ]
    assert found[0] == found[1] == found[2] and len(found[0]) * 3 == len(rows)
    # the number and the states by turns
    early = [row[:2] for row in found[0][:12]]
    assert sum("301" in sizes for sizes in early) == 6
    assert len({r.number for r in rows}) == len(rows)


STORE = "out[i, j] = x[i, j] * T(2.0) + x[i, 0]"
#: each is right up to some size
WRONG = [
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if i < 300 else 1]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if x.shape[1] <= 512 else 1]",
    "if j < 1024:\n                out[i, j] = x[i, j] * T(2.0) + x[i, 0]",
    "if i < 1 << 12:\n                out[i, j] = x[i, j] * T(2.0) + x[i, 0]",
    "if x.shape[0] <= 65536:\n                out[i, j] = x[i, j] * T(2.0) + x[i, 0]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, j % 700 // 699]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, min(j // 900, 1)]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if x.size < 5000 else 1]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if cuda.blockIdx.y < 33 else 1]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if x.itemsize == 8 or i < 150 else 1]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, 0 if x.strides[0] >= 8 * 40 or i < 40 else 1]",
]
#: each has a path of its own for larger arrays, which is right
RIGHT = [
    "out[i, j] = x[i, 0] + x[i, j] * T(2.0) if x.shape[0] > 1000 else x[i, j] * T(2.0) + x[i, 0]",
    "if j < 512:\n        out[i, j] = x[i, j] * T(2.0) + x[i, 0]\n    else:\n"
    "        out[i, j] = x[i, 0] + T(2.0) * x[i, j]",
    "out[i, j] = x[i, j] * T(2.0) + x[i, j // 4096 * 0]",
]
MATRIX = '(x: "float64[:, :]"):\n    return x * 2.0 + x[:, :1]'


@pytest.mark.long
def test_what_is_right_up_to_a_size_is_caught(tmp_path: Path) -> None:
    path = edited(tmp_path, MATRIX, [[(STORE, new)] for new in WRONG])
    assert_all(found(path, "emulator"), WRONG, caught=True)


@pytest.mark.long
def test_a_right_path_of_its_own_is_not(tmp_path: Path) -> None:
    path = edited(tmp_path, MATRIX, [[(STORE, new)] for new in RIGHT])
    proofs = found(path, "emulator")
    assert_all(proofs, RIGHT, caught=False)
    for proof in proofs:
        assert proof.evidence[0].detail["sizes"]["largest"] > 1000
