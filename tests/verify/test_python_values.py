"""What is a number or a tuple of Python's in a call, or becomes one: verified as arrays are."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module

HEAD = "import math\nimport numpy as np\n\n"


def converted(folder: Path, text: str, signature: str) -> str:
    source = folder / "f.py"
    source.write_text(HEAD + text)
    options = ConvertOptions((str(source),), signature=signature, verify=False)
    found = convert_file(read(str(source)), options, Config(), folder / "f_cuda.py", lambda _: None)
    assert found.text is not None
    return found.text


def verified(folder: Path, text: str, cases: int = 24) -> FunctionEvidence:
    (found,) = verify_module(folder / "f_cuda.py", text=text, on=("simulator",), cases=cases)
    return found


PASSING = {
    "a tuple that the kernels are made for": (
        "def f(x, taps=(0.25, 0.5)):\n    low, high = taps\n    return low * x + high * x",
        "float64[:], omitted",
    ),
    "a 0-d array that is given back": (
        "def f(x, y):\n    return x, y + 2",
        "float64[()], float64[()]",
    ),
    "a sum that no element was added to": (
        "def f(x, t):\n    total = 0.0\n    for i in range(x.shape[0]):\n"
        "        if x[i] > t:\n            total += x[i]\n    return total",
        "float64[:], float64",
    ),
    "a power that Python makes complex": (
        "def f(x, m):\n    return x * m ** 1.5",
        "float64[:], float64",
    ),
    "a list whose items give the results their types": (
        "def f(shape):\n    if 1 in shape:\n        return np.prod(shape)\n"
        "    return 2 * shape[1] + 2 * (shape[0] - 2)",
        "float64[:]",
    ),
    "math in float32": (
        "def f(x, out):\n    for i in range(x.shape[0]):\n        v = x[i] / 255.0\n"
        "        out[i] = math.exp(v) - math.exp(-v)",
        "float32[:], float32[:]",
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_the_module_is_verified(tmp_path: Path, name: str) -> None:
    found = verified(tmp_path, converted(tmp_path, *PASSING[name]))
    assert found.verified, found.mismatch and found.mismatch.message


def test_a_complex_power_is_no_nan(tmp_path: Path) -> None:
    text = converted(tmp_path, *PASSING["a power that Python makes complex"])
    wrong = text.replace("T(m**1.5)", "T(np.float64(m) ** 1.5)")
    assert wrong != text
    mismatch = verified(tmp_path, wrong).mismatch
    assert mismatch is not None and mismatch.what == "dtype"


def test_math_in_float32_is_no_licence(tmp_path: Path) -> None:
    text = converted(tmp_path, *PASSING["math in float32"])
    wrong = text.replace("math.exp(-v)", "math.exp(-v) * T(1.00001)")
    assert wrong != text and verified(tmp_path, wrong).mismatch is not None
