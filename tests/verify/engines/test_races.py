"""Races: planted ones are found with both lines, right kernels raise no alarm."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.emulate.errors import RaceError
from porter.emulate.launch import launch
from porter.verify.run import verify_module
from tests.support import race_kernels
from tests.support.verification import copy

FUNCTIONS = {
    n: f for n, f in vars(race_kernels).items() if hasattr(f, "py_func") or hasattr(f, "fn")
}
RIGHT = sorted(name for name in FUNCTIONS if name.startswith("right_"))
RACING = sorted(set(FUNCTIONS) - set(RIGHT) - {"total"})


def marked(name: str) -> set[int]:
    """The lines of a kernel (or of the device function that it calls) that meet."""
    where = "total" if name == "scratch_used_again" else name
    function = FUNCTIONS[where]
    lines, first = inspect.getsourcelines(getattr(function, "py_func", None) or function.fn)
    return {first + k for k, line in enumerate(lines) if line.endswith("# race\n")}


def run(name: str, seed: int | None) -> Any:
    rng = np.random.default_rng(3)
    x = rng.random(2 * race_kernels.N).astype(np.float32)
    out = np.zeros(2 * race_kernels.N, np.float32)
    launch(FUNCTIONS[name], 2, race_kernels.N, (x, out), seed=seed, races=True)
    return out


def test_there_are_enough() -> None:
    assert len(RACING) >= 10 and len(RIGHT) >= 10


@pytest.mark.parametrize("name", RACING)
def test_a_race_is_found_with_both_lines(name: str) -> None:
    wanted = marked(name)
    assert 1 <= len(wanted) <= 2
    for seed in (None, 0, 1, 2):
        with pytest.raises(RaceError) as caught:
            run(name, seed)
        words = str(caught.value).split()
        said = {int(words[k + 1]) for k, word in enumerate(words) if word == "line"}
        assert said <= wanted, str(caught.value)
        assert max(wanted) in said
        # two threads on one line may also meet there
        assert said == wanted or name in ("neighbours_in_place", "no_barrier_in_the_loop")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_raises_no_alarm(name: str) -> None:
    results = [run(name, seed) for seed in (None, 0, 1, 2)]
    for result in results[1:]:
        # sums of float32 by atomics depend on the order
        assert np.allclose(result, results[0], rtol=1e-5)


def test_a_race_in_a_generated_module_is_reported(tmp_path: Path) -> None:
    """Without the last barrier of a sum the result is right on one order of the threads."""
    path = copy(tmp_path, "rows", "    cuda.syncthreads()\n    return", "    return")
    (found,) = verify_module(path, on=("emulator",), cases=6, functions=("softmax",))
    assert found.mismatch is not None and found.failed
    assert "race on" in found.mismatch.message
