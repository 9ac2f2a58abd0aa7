"""Integers, bools, lists and mixed floats: NumPy's values, dtypes and types, or a refusal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read

SOURCE = """import numpy as np
from numpy.typing import NDArray


def scaled(x):
    return x * 0.5


def wave(x):
    return np.sin(x) + 2.0


def norm(x):
    return np.sqrt((x * x).sum())


def softened(x):
    return np.exp(x - x.max()) / 2


def halves(x):
    return (x // 2) * 0.5


def remainder(x):
    return np.sqrt(x % 3)


def more(x):
    return x + 1


def inverse(x):
    return 1.0 / (1 - x)


def hypotenuse(x, y):
    return np.sqrt(x ** 2 + y ** 2)


def product(x, y):
    return x * y


def stepped(x, y):
    return np.floor(x * 0.3) + y


def larger(x, y):
    return np.maximum(x * 0.5, y)


def square(x):
    return x * x + 1


def cubic(x):
    return x**3 - x * 2


def hinge(x, y):
    return np.maximum(0, x - y * 2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def bump(x):
    return 1.5 / (1 + np.abs(x) * 0.5) * np.sign(x) + np.maximum(x, 2)


def shrunk(x, y):
    return (x - y) * 0.5 + x ** 2 * 0.25


def phase(x):
    return np.exp(-2j * x) + x


def angle(x, y):
    return np.arctan2(x, y), np.sqrt(x)


def modulo(x, y):
    return x % y + x // y


def raised(x, y):
    return x**y


def turned(z: NDArray[np.complex128]):
    return z * np.exp(0.5j) + 2.0


def power(z: NDArray[np.complex128]):
    return (z * np.conj(z)).real, np.abs(z) ** 0.5


def mixed(z: NDArray[np.complex128], v: NDArray[np.complex128]):
    return z + 1j * v
"""
#: of 121 or 11 calls, so many at least are accepted
ACCEPTED = {"scaled": 10, "wave": 6, "norm": 5, "softened": 6, "inverse": 6, "hypotenuse": 25,
            "product": 3, "larger": 60, "angle": 3, "more": 7,
            "square": 7, "cubic": 7, "hinge": 7, "sigmoid": 6, "bump": 7, "shrunk": 30,
            "phase": 9, "modulo": 25, "raised": 25,
            "turned": 9, "power": 2, "mixed": 30}  # fmt: skip


def _of_float32(source: str) -> str:
    """The same functions, annotated for arrays of float32."""
    return re.sub(r"\b([xy])(?=[,)].*:\n)", r"\1: NDArray[np.float32]", source)


@pytest.mark.long
@pytest.mark.parametrize("made", [str, _of_float32])
def test_mixtures_are_equal_or_refused(tmp_path: Path, made: Callable[[str], str]) -> None:
    source = tmp_path / "mixed.py"
    source.write_text(made(SOURCE))
    file = read(str(source))
    options = ConvertOptions((str(source),), verify=False)
    outcome = convert_file(file, options, Config(), tmp_path / "mixed_cuda.py", lambda _: None)
    assert outcome.text is not None and not outcome.bad
    (tmp_path / "mixed_cuda.py").write_text(outcome.text)
    child = Path(__file__).with_name("conversions_child.py")
    run = subprocess.run(
        [sys.executable, str(child), str(source), str(tmp_path / "mixed_cuda.py")],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(run.stdout)
    assert {n: f["wrong"] for n, f in found.items() if f["wrong"]} == {}
    # complex64 has kernels of its own
    accepted = ACCEPTED if made is str else ACCEPTED | {"phase": 1}
    few = {n: found[n]["counts"] for n, least in accepted.items()
           if found[n]["counts"]["equal"] < least}  # fmt: skip
    assert few == {}
