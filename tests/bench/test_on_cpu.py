"""A module of compiled loops is timed on this CPU, beside NumPy and Numba."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.cli import main


def run(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    assert isinstance(done.value.code, int)
    return done.value.code


SOURCE = """
import numpy as np

def shifted(x):
    return x - helper(x)

def helper(x):
    return x.min()
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module with one function."""
    (tmp_path / "shifted.py").write_text(SOURCE)
    place = tmp_path / "shifted_loops.py"
    code = run("convert", str(tmp_path / "shifted.py"), "-f", "shifted", "--signature",
               "float64[:]", "--target", "loops", "--no-verify")  # fmt: skip
    assert code == 0
    assert place.exists()
    return place


def test_times_are_measured_in_turn(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    code = run("bench", str(module), "--size", "n=1000", "--against", "numpy,numba",
               "--output-format", "json")  # fmt: skip
    assert code == 0
    (found,) = json.loads(capsys.readouterr().out)["modules"][0]["functions"]
    assert found["size"] == {"n": 1000}
    assert found["modelled"] is None
    assert found["kernels"] == []
    assert set(found["measured"]) == {"loops", "numpy", "numba"}
    for times in found["measured"].values():
        assert times["least_ms"] <= times["ms"] <= times["most_ms"]
        assert times["on"].startswith("CPU, ")
    assert len({times["runs"] for times in found["measured"].values()}) == 1
    # what compiling takes is apart
    assert found["measured"]["loops"]["compile_ms"] > found["measured"]["numpy"]["least_ms"]


def test_the_table_says_measured(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("bench", str(module), "--size", "n=100", "--against", "numpy") == 0
    out = capsys.readouterr().out
    assert "measured with loops (CPU, " in out
    assert "times numpy, compiled in" in out
    assert "modelled" not in out
