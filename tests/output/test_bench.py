"""The table and the picture of `porter bench`."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from porter.bench.gpus import GPUS
from porter.bench.model import modelled
from porter.bench.records import FunctionCounts, KernelCounts, Step
from porter.output.bench import Row, lines, record, scaled, shown_ms
from porter.output.roofline_svg import roofline

KERNEL = KernelCounts(
    "a_kernel_with_a_long_name", 3, 4096, 256, {"integer": 9e8, "f64": 1e8}, 4e7, 1e6, 5e7, 1e6,
    2e6, 1e6, 12, 34, 60, 3, 0.75, 40, 0, 2048, True,
)  # fmt: skip
COUNTS = FunctionCounts(
    "f", "float64[:]", {"n": 1_000_000}, 3, 2, 1, 16e6, (KERNEL,), ("something was done",),
    steps=(Step("add", 2, 1e9),), measured={"numpy": {"error": "too long"}},
)  # fmt: skip


def row(counts: FunctionCounts) -> Row:
    times = None if counts.reason else modelled(counts, GPUS["h200"], "sm_90")
    return Row(counts, "sm_90", times)


def text(counts: FunctionCounts, color: bool = False) -> str:
    return "\n".join(lines("m.py", [row(counts)], color))


def test_every_figure_is_modelled_or_measured_or_counted() -> None:
    found = text(COUNTS)
    assert "f(float64[:])  n=1,000,000" in found
    assert "modelled on H200 SXM, sm_90: " in found
    assert "operation by operation, as CuPy: 0.238 ms, 2 launches" in found
    assert "measured with numpy: no time: too long" in found
    assert "note: something was done" in found and "counted on sampled blocks" in found
    assert "2.00 x" in found and "75 % of lanes active" in found
    assert max(map(len, found.splitlines())) <= 100


def test_where_operations_are_faster_it_is_said_in_a_colour() -> None:
    fast = replace(COUNTS, steps=(Step("matmul", 1, 1e6),))
    assert re.search(r"as CuPy: 18 us, 1 launch, \S+ times shorter than the kernels", text(fast))
    assert "\x1b" not in text(fast)
    assert re.search("\x1b\\[1;33m\\S+ times shorter", text(fast, color=True))


def test_what_was_not_counted_says_why() -> None:
    found = text(FunctionCounts("f", reason="no CUDA compiler found"))
    assert "not counted: no CUDA compiler found" in found
    assert record(row(FunctionCounts("f", reason="x")))["modelled"] is None


@pytest.mark.parametrize(
    ("ms", "said"),
    [(0.0051, "5.1 us"), (0.25, "0.25 ms"), (2345.0, "2.35 s"), (1e9, "1,000,000 s")],
)
def test_times_have_a_fitting_unit(ms: float, said: str) -> None:
    assert shown_ms(ms) == said


def test_numbers_have_three_digits() -> None:
    assert [scaled(n) for n in (0, 999, 1234, 5e6, 7.5e9, 2e12)] == [
        "0", "999", "1.23 k", "5 M", "7.5 G", "2 T"
    ]  # fmt: skip


def test_the_picture_shows_each_kernel_once_and_no_number_hides_another() -> None:
    kernels = tuple(replace(KERNEL, name=f"k{k}<&>") for k in range(6))
    picture = roofline([row(replace(COUNTS, kernels=kernels))])
    root = ElementTree.fromstring(picture)
    tag = "{http://www.w3.org/2000/svg}"
    texts = [t.text for t in root.iter(f"{tag}text")]
    assert [t for t in texts if t and t.startswith("k")] == [k.name for k in kernels]
    circles = [g.findall(f"{tag}circle")[1] for g in root.iter(f"{tag}g")]
    places = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in circles]
    assert len(places) == 6
    assert all(abs(a[1] - b[1]) > 18 for a in places for b in places if a is not b)
    # all the dots are under the roof
    assert "H200 SXM" in picture and "all lanes busy" in picture


def test_without_a_kernel_there_is_no_picture() -> None:
    assert roofline([row(FunctionCounts("f", reason="x"))]) == ""
