"""Random programs in CI: NumPy and the reference interpreter agree, before and after all passes."""

from __future__ import annotations

import collections
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.programs import emulated_child, loops, statements
from tests.programs.check import check
from tests.programs.excused import verdict
from tests.programs.strategy import Program, programs
from tests.support.paths import ROOT

OUTCOMES: collections.Counter[str] = collections.Counter()


@pytest.mark.slow
@settings(max_examples=80, derandomize=True, deadline=None, database=None,
          phases=[Phase.generate], suppress_health_check=list(HealthCheck))  # fmt: skip
@given(programs())
def test_random_programs_do_what_numpy_does(program: Program) -> None:
    """A refusal is no failure, nor is a plain error where arrays of size 1 would broadcast."""
    outcome = check(program)
    OUTCOMES[outcome.word] += 1
    assert outcome.word in ("ok", "refused", "stricter", "unraised"), outcome.detail


def test_most_random_programs_convert() -> None:
    """A strategy that porter mostly refuses would prove nothing."""
    if OUTCOMES:
        assert OUTCOMES["ok"] >= 0.6 * OUTCOMES.total(), OUTCOMES


@pytest.mark.parametrize("every", [36, pytest.param(1, marks=pytest.mark.long)])
def test_what_only_the_emulator_showed(every: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.emulated_child", str(every)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_OPT": "0"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_axes_of_size_1_broadcast(tmp_path: Path) -> None:
    """What the interpreter is stricter with runs as a module; few of these raise."""
    command = [sys.executable, "-m", "tests.programs.run", "--worker", "--count", "40"]
    done = subprocess.run(
        [*command, "--seed", "704000600", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_OPT": "0"},
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["ok"] >= 24, counts
    assert counts.get("stricter", 0) <= 1, counts
    assert not counts.keys() & {"wrong", "crashed"}, counts


def test_other_kinds_of_arguments(tmp_path: Path) -> None:
    """Integers, numbers, lists and axes of length 1: refused, or what NumPy gives."""
    command = [sys.executable, "-m", "tests.programs.run", "--worker", "--count", "12"]
    done = subprocess.run(
        [*command, "--seed", "8001000000", "--calls", "8", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_OPT": "0"},
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts.get("calls ok", 0) + counts.get("calls stricter", 0) >= 6, counts
    assert "calls wrong" not in counts, done.stderr


def test_every_kind_of_statement_is_drawn() -> None:
    """A kind that nobody lists would prove nothing, quietly."""
    for module, listed in (
        (statements, statements.STATEMENTS),
        (loops, loops.LOOPS),
    ):
        kinds = {
            name
            for name, f in inspect.getmembers(module, inspect.isfunction)
            if str(inspect.signature(f)) == "(w: 'Writer') -> 'None'"
        }
        assert kinds == {f.__name__ for f, _ in listed}


@pytest.mark.parametrize(
    ("kernel", "word"),
    [("np.einsum('ij,kj->ik', z, y.repeat(3, 1))", "ok"), ("np.zeros((1, 4))", "wrong")],
)
def test_einsum_multiplies_a_sum_by_what_broadcasts(kernel: str, word: str) -> None:
    """NumPy adds first, so infinities of both signs never meet; a wrong result stays wrong."""
    y = np.array([[0.0], [np.inf], [np.nan], [np.inf]])
    z = np.array([[-1.25, 2.0, 2.0]], np.float32)
    program = emulated_child.program("np.einsum('ij,kj->ik', x, y)", (z, y))

    def made(z: Any, y: Any) -> Any:
        return eval(kernel, {"np": np, "y": y, "z": z})

    assert verdict(program, made, (z, y))[0] == word


@pytest.mark.parametrize(
    ("kernel", "word"), [("1 / np.sum(x * y)", "ok"), ("np.float64(np.nan)", "wrong")]
)
def test_the_product_of_one_element_and_one_has_no_sum(kernel: str, word: str) -> None:
    """`np.dot` multiplies them, with the sign of zero that a sum from 0.0 does not keep."""
    x, y = np.array([0.0]), np.array([-2.0])
    program = emulated_child.program("1 / np.dot(x, y)", (x, y))

    def made(x: Any, y: Any) -> Any:
        return eval(kernel, {"np": np, "x": x, "y": y})

    assert verdict(program, made, (x, y))[0] == word
