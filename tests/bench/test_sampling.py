"""The counts made for sampled blocks: the same as one by one, and those of all blocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from porter.bench.child.sampling import Marked, groups, sample
from porter.bench.child.virtual import aligned, stretched, zeros
from porter.ptx.machine.counts import Counts
from porter.ptx.machine.memory import Memory
from tests.support.ptx import code

COPY = """
mul.wide.u32 %d0, %i, 8;
add.u64 %d1, %a0, %d0;
add.u64 %d2, %a1, %d0;
ld.global.f64 %g0, [%d1];
st.global.f64 [%d2], %g0;
"""


@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_sectors_and_requests(size: int) -> None:
    """Those of sets of (warp, sector) and (warp, address), one by one."""
    rng = np.random.default_rng(size)
    array = zeros((1 << 16,), np.dtype(np.uint8))
    memory = Memory([("x", array)])
    plain, marked = Counts(), Marked()
    site: Any = SimpleNamespace(size=size, writes=False)
    sectors, requests, ideal, touched = 0, 0, 0, set()
    for _ in range(20):
        warps = np.sort(rng.integers(0, 7, 200))
        places = rng.integers(0, (1 << 16) // size, 200) * size
        addresses = array.ctypes.data + places
        for counts in (plain, marked):
            counts.access(site, addresses, warps, memory)
        pairs = set(zip(warps.tolist(), addresses.tolist(), strict=True))
        sectors += len({(w, a // 32) for w, a in pairs})
        of_warps = [sum(v == w for v, _ in pairs) for w in {w for w, _ in pairs}]
        requests += len(of_warps)
        ideal += sum(-(-n * size // 32) for n in of_warps)
        touched |= {a for _, a in pairs}
    for counts in (plain, marked):
        assert (counts.sectors, counts.requests, counts.ideal) == (sectors, requests, ideal)
    assert plain.unique_bytes(False) == size * len(touched)
    assert marked.touched[(array.ctypes.data, False)] == len({a // 32 for a in touched})


@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_bank_conflicts(size: int) -> None:
    """What is served at once takes as many passes as its fullest bank has words."""
    rng = np.random.default_rng(size)
    counts, conflicts, requests = Counts(), 0, 0
    words = max(1, size // 4)
    for stride in (1, 2, 3, 31, 32, 33):
        threads = np.arange(128)
        for chosen in (threads, np.sort(rng.choice(threads, 50, replace=False))):
            counts.shared(size, chosen * stride * size, chosen // 32, chosen % 32)
            banks: dict[tuple[int, int, int], set[int]] = {}
            for t in chosen.tolist():
                for k in range(words):
                    word = t * stride * size // 4 + k
                    key = (t // 32, t % 32 // (32 // words), word % 32)
                    banks.setdefault(key, set()).add(word)
            parts = {key[:2] for key in banks}
            fullest = [max(len(w) for key, w in banks.items() if key[:2] == p) for p in parts]
            conflicts += sum(fullest) - len(parts)
            requests += len(set((chosen // 32).tolist()))
    assert conflicts > 0
    assert (counts.conflicts, counts.shared_requests) == (conflicts, requests)


@pytest.mark.parametrize("total", [1, 8, 9, 10, 1000, 10**6])
def test_the_sampled_blocks_stand_for_all(total: int) -> None:
    found = list(groups(total))
    assert sum(weight * len(blocks) for blocks, weight in found) == pytest.approx(total)
    blocks = [b for each, _ in found for b in each]
    assert len(set(blocks)) == len(blocks)
    assert {0, total - 1} <= set(blocks)
    assert all(0 <= b < total for b in blocks)


def test_a_sampled_launch_has_the_counts_of_the_whole_one() -> None:
    n = 128 * 100
    x, out = zeros((n,), np.dtype(np.float64)), zeros((n,), np.dtype(np.float64))
    tally = sample(
        code(COPY, 2), (100, 1, 1), (128, 1, 1), (x, out), names=(), dynamic=0, layout="numba"
    )
    assert tally.sampled
    assert tally.sums["sectors"] == tally.sums["ideal_sectors"] == pytest.approx(2 * n * 8 / 32)
    assert tally.bytes == pytest.approx(2 * n * 8)
    assert tally.classes["load"] == tally.classes["store"] == pytest.approx(n)
    assert tally.waits == 2


def test_blocks_that_share_what_they_read_do_not_read_more_than_there_is() -> None:
    x, out = zeros((128,), np.dtype(np.float64)), zeros((12800,), np.dtype(np.float64))
    body = COPY.replace("mul.wide.u32 %d0, %i, 8;", "mul.wide.u32 %d0, %r17, 8;", 1).replace(
        "add.u64 %d2, %a1, %d0;", "mul.wide.u32 %d0, %i, 8;\nadd.u64 %d2, %a1, %d0;"
    )
    tally = sample(
        code(body, 2), (100, 1, 1), (128, 1, 1), (x, out), names=(), dynamic=0, layout="numba"
    )
    assert tally.bytes == pytest.approx(128 * 8 + 12800 * 8)


def test_arrays_of_any_size_take_memory_only_where_they_are_touched() -> None:
    large = zeros((1 << 20, 1 << 16), np.dtype(np.float64))
    large[-1, -1] = 1
    assert large.shape == (1 << 20, 1 << 16) and large[0, 0] == 0
    assert large.ctypes.data % 256 == 0
    values = aligned(np.arange(10.0))
    assert values.ctypes.data % 256 == 0
    found = stretched(values, (1 << 30,))
    assert found[:10].tolist() == found[-10:].tolist() == values.tolist()
