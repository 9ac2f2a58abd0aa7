"""Random numbers of generated modules: exact distributions, independence, seeds and states."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from porter.commands.convert import run
from porter.options import ConvertOptions
from porter.verify.run import verify_module
from tests.support.commands import porter
from tests.support.paths import ROOT

SOURCE = """import random

import numpy as np


def numbers(n: int):
    rng = np.random.default_rng()
    return rng.random(n), rng.normal(1.0, 2.0, n), rng.exponential(3.0, n), rng.integers(0, 7, n)


def singles(n: int):
    rng = np.random.default_rng()
    waiting = rng.standard_exponential(n, dtype=np.float32)
    return rng.random(n, dtype=np.float32), rng.standard_normal(n, dtype=np.float32), waiting


def monte_carlo_pi(nsamples: int):
    acc = 0
    for i in range(nsamples):
        x = random.random()
        y = random.random()
        if (x**2 + y**2) < 1.0:
            acc += 1
    return 4.0 * acc / nsamples


def started(n: int, start: int):
    rng = np.random.default_rng(start)
    return rng.random(n)


def half_normal(rng, n: int):
    out = np.empty(n)
    for i in range(n):
        while True:
            x = 4.0 * rng.random()
            if rng.random() < np.exp(-0.5 * x * x):
                out[i] = x
                break
    return out


def tries(n: int, p: float, rng):
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        k = 1
        while rng.random() > p:
            k += 1
        out[i] = k
    return out


def of_either(n: int, seed=None):
    rng = np.random.default_rng(seed)
    return rng.random(n)
"""
VERIFIED = """import numpy as np


def noisy(x, rng):
    return x + 0.1 * rng.standard_normal(x.shape[0])


def reached(n: int, seed=None):
    rng = np.random.default_rng(seed)
    out = np.zeros(n)
    for i in range(n):
        s = 0.0
        while s < 1.0:
            s += rng.random()
        out[i] = s
    return out
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source and its module."""
    folder = tmp_path_factory.mktemp("random")
    source = folder / "drawn.py"
    source.write_text(SOURCE)
    assert run(ConvertOptions(paths=(str(source),), verify=False)) == 0
    return folder


def test_the_module_says_so(folder: Path) -> None:
    text = (folder / "drawn_cuda.py").read_text()
    assert "# porter: draws monte_carlo_pi: other random numbers than NumPy's" in text


def test_numbers_seeds_and_states(folder: Path) -> None:
    """Everything that needs a simulator, in one process with the emulator in its place."""
    child = Path(__file__).parent / "random_child.py"
    env = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    done = subprocess.run(
        [sys.executable, str(child)], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_verification_hands_a_generator_over(tmp_path: Path) -> None:
    """To the original another one in each run, as its numbers would be the same otherwise."""
    source = tmp_path / "verified.py"
    source.write_text(VERIFIED)
    module = tmp_path / "verified_cuda.py"
    assert run(ConvertOptions(paths=(str(source),), verify=False, output=str(module))) == 0
    assert "# porter: accepts noisy: rng: a numpy.random.Generator" in module.read_text()
    verify = ["verify", str(module), "--on", "simulator"]
    done = porter(tmp_path, *verify)
    assert done.returncode == 0, done.stdout + done.stderr
    module.write_text(module.read_text().replace("0.1 * draw", "0.11 * draw"))
    done = porter(tmp_path, *verify, "-f", "noisy")
    assert done.returncode == 1 and "is distributed otherwise" in done.stderr + done.stdout


def test_verification_finds_a_number_that_is_left_out() -> None:
    """Of thousands nobody would miss it: a few numbers tell."""
    golden = ROOT / "tests" / "golden" / "monte_carlo_pi_cuda.py"
    text = golden.read_text()
    changed = text.replace("step = cuda.grid(1)", "step = cuda.grid(1) + 1")
    assert changed != text
    (found,) = verify_module(golden, text=changed, on=("simulator",), seconds=1.0)
    assert found.mismatch is not None and found.mismatch.what == "distribution"
