"""Calls that the header says the host function converts: `verify` finds those that it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert import accepting as converting
from porter.convert.files import convert_file
from porter.convert.served.promotion import Question
from porter.dtypes.conversions import Conversions, Integers
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module

SOURCE = """import numpy as np

def root(x):
    return np.sqrt(x) + 2.0

def shifted(x, k=1):
    return x * 0.5 + k
"""


def converted(folder: Path, text: str = SOURCE, verify: bool = False) -> tuple[str, list[str]]:
    source = folder / "f.py"
    source.write_text(text)
    options = ConvertOptions((str(source),), verify=verify)
    found = convert_file(read(str(source)), options, Config(), folder / "f_cuda.py", lambda _: None)
    assert found.text is not None
    return found.text, [n for f in found.functions for n in f.notes]


def verified(folder: Path, text: str) -> dict[str, FunctionEvidence]:
    found = verify_module(folder / "f_cuda.py", text=text, on=("simulator",))
    return {f.name: f for f in found}


def test_a_conversion_that_numpy_does_not_make(tmp_path: Path) -> None:
    text, _ = converted(tmp_path)
    assert "x: integers of 32 and 64 bits become" in text and '64", "wide")' in text
    wrong = text.replace("integers of 32 and 64 bits", "integers and bools")
    wrong = wrong.replace('64", "wide")', '64", "integers")')
    found = verified(tmp_path, wrong)
    assert found["shifted"].verified
    mismatch = found["root"].mismatch
    assert mismatch is not None and mismatch.message.startswith("uint8 for x: result has dtype")


def test_a_conversion_beside_kernels_for_float32(tmp_path: Path) -> None:
    """They take float64, as which integers are computed in."""
    source = SOURCE.replace("root(x)", "root(x: NDArray[np.float32])")
    text, _ = converted(tmp_path, f"from numpy.typing import NDArray\n{source}")
    assert "float32" in text and "x: integers of 32 and 64 bits become" in text
    wrong = text.replace("integers of 32 and 64 bits", "integers and bools")
    wrong = wrong.replace('64", "wide")', '64", "integers")')
    mismatch = verified(tmp_path, wrong)["root"].mismatch
    assert mismatch is not None and mismatch.message.startswith("uint8 for x: result has dtype")


def test_a_narrow_array_that_numpy_does_not_compute_in_float64(tmp_path: Path) -> None:
    text, _ = converted(
        tmp_path,
        "import numpy as np\n\ndef polar(r, a):\n    return r * np.cos(a), np.sin(a)\n",
    )
    kinds = "int8, int16, uint8, uint16 and bool beside float64 alone"
    assert f"converts polar: r: {kinds} become" in text and 'lone="r:iub")' in text
    assert verified(tmp_path, text)["polar"].verified
    refused = verified(tmp_path, text.replace(f"r: {kinds}", f"a: {kinds}"))["polar"].mismatch
    assert refused and refused.message.startswith("int16 for a, else float64: raises TypeError")
    wrong = text.replace(f"r: {kinds}", f"a: {kinds}").replace("r:iub", "a:iub")
    mismatch = verified(tmp_path, wrong)["polar"].mismatch
    assert mismatch is not None and "for a, else float64: " in mismatch.message


def test_a_conversion_that_is_refused(tmp_path: Path) -> None:
    text, _ = converted(tmp_path)
    wrong = text.replace("integers of 32 and 64 bits", "integers and bools")
    found = verified(tmp_path, wrong)
    mismatch = found["root"].mismatch
    assert mismatch is not None and mismatch.message.startswith("uint8 for x: raises TypeError")


def test_what_fails_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_them(question: Question, groups: object) -> Conversions:
        return Conversions(("x",), Integers("integers"))

    monkeypatch.setattr(converting, "conversions", all_of_them)
    text, notes = converted(tmp_path, SOURCE.replace("x * 0.5", "x * 2"), verify=True)
    assert "converts" not in text.split("import")[0] and '"integers")' not in text
    assert any(n.startswith("conversion to float64 is not supported: ") for n in notes)


def test_narrow_integers_that_wrap(tmp_path: Path) -> None:
    """`x - 3` of uint8 is 254 for a 1: the header must not say that it is converted."""
    source = "def shrunk(x):\n    return (x - 3) * 0.5\n"
    text, _ = converted(tmp_path, source)
    signed = "signed integers whose largest value n keeps"
    assert signed in text and '64", "exact(4, 4, 1)+i")' in text
    assert verified(tmp_path, text)["shrunk"].verified
    more = "signed integers, and unsigned ones of 8 and 16 bits whose largest value n keeps"
    wrong = text.replace(signed, more).replace("1)+i", "1)+iu")
    mismatch = verified(tmp_path, wrong)["shrunk"].mismatch
    assert mismatch is not None and mismatch.message.startswith("uint8 for x: ")


def test_a_real_array_that_numpy_does_not_make_complex(tmp_path: Path) -> None:
    source = """import numpy as np
from numpy.typing import NDArray

def part(z: NDArray[np.complex128]):
    return z.real * 0.5 + z.imag
"""
    text, _ = converted(tmp_path, source)
    assert "form part(float64[:])" in text
    assert verified(tmp_path, text)["part"].verified
    wrong = text.replace('"float32 float64")', '"float32")')
    assert wrong != text
    mismatch = verified(tmp_path, wrong)["part"].mismatch
    assert mismatch is not None and "raises TypeError" in mismatch.message


def test_integers_beside_one_array_of_floats(tmp_path: Path) -> None:
    text, _ = converted(tmp_path, "def modulo(x, y):\n    return x % y\n")
    said = "integers and bools beside one of them of floats become float64"
    assert f"x, y: {said}" in text and '"x y beside : integers mixed"' in text
    assert verified(tmp_path, text)["modulo"].verified
    wrong = verified(tmp_path, text.replace(" beside : integers", " beside : wide"))
    mismatch = wrong["modulo"].mismatch
    assert mismatch is not None and "for y: raises TypeError" in mismatch.message


FORMS = """import numpy as np

def scaled(x, out=None):
    \"\"\"Half of it.

    Parameters
    ----------
    x : (n,) float
    out : (n,) float, optional
    \"\"\"
    if out is None:
        return x * 0.5
    out[:] = (x // 2) * 0.5
    return out
"""


def test_each_form_converts_what_it_can(tmp_path: Path) -> None:
    text, _ = converted(tmp_path, FORMS)
    head = text.partition("import math")[0]
    assert "converts scaled: x: integers and bools become float64" in head
    assert "form scaled(float64[:], float64[:])" in head and "converts scaled: nothing" in head
    assert verified(tmp_path, text)["scaled"].verified
    wrong = text.replace(
        "converts scaled: nothing",
        "converts scaled: x: integers and bools become float64 (a pass over the array)",
    )
    mismatch = verified(tmp_path, wrong)["scaled"].mismatch
    assert mismatch is not None and "for x: raises TypeError" in mismatch.message
