"""Real arrays for complex ones: converted where NumPy makes them complex before it computes."""

from __future__ import annotations

import pytest

from porter.convert.function import Converted, convert_function
from porter.dtypes.conversions import Conversions
from porter.source.module import SourceModule

Z, ZW = "complex128[:]", "complex128[:], complex128[:]"


def converted(body: str, signature: str = Z, parameters: str = "") -> Converted:
    names = parameters or ", ".join("zwv"[: signature.count("[")])
    text = f"import numpy as np\n\ndef f({names}):\n    {body}\n"
    (function,) = SourceModule(text, "f.py").functions
    return convert_function(function, signature)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("return z * np.exp(1j)", "complex integers"),
        ("return z.real**2 + z.imag**2", "complex"),
        ("return np.abs(z)", "complex"),
        ("return np.arctan2(z.imag, z.real)", "complex"),
        ("return np.sqrt(np.real(z * np.conj(z)))", "complex exact(1, 1, 2)"),
        # results of floats, and an infinity that has no imaginary part
        ("return z * 2.0", ""),
        ("return np.exp(z)", ""),
        ("return z * z * 1j", ""),
        # the sign of a zero
        ("return np.conj(z) * 1j", ""),
        # it is given back as it came
        ("return z, z * np.exp(1j)", "complex integers"),
        # what it is, is seen
        ("z[0] = 1j", ""),
        ("return z * 1j, np.iscomplexobj(z)", ""),
    ],
)
def test_one_array(body: str, word: str) -> None:
    found = converted(body).conversions
    assert (found.word if found.complexes else "") == word
    assert Conversions.parse(found.lines()) == found


@pytest.mark.parametrize(
    ("body", "signature", "names"),
    [
        ("return z * np.conj(w)", ZW, ("z",)),
        # either of them, not both
        ("return np.sum(z * w * 1j)", ZW, ("w",)),
        ("return np.abs(z) + np.abs(w)", ZW, ("w", "z")),
        ("return z + 1j * w", ZW, ("w", "z")),
        ("return w * 1j + z", f"{Z}, float64[:]", ("z",)),
        # of floats NumPy computes floats first
        ("return (w + z) * 1j", f"{Z}, float64[:]", ()),
    ],
)
def test_several_arrays(body: str, signature: str, names: tuple[str, ...]) -> None:
    assert converted(body, signature).conversions.complexes == names


def test_a_number_that_must_be_complex_then() -> None:
    """With a float for `c` the results are floats, unless the array is complex."""
    assert not converted("return z * c", f"{Z}, complex128", "z, c").conversions
    other = converted("return z * np.exp(1j * c)", f"{Z}, complex128", "z, c")
    assert other.conversions.complexes == ("z",)


def test_the_text_says_it() -> None:
    made = converted("return z * np.exp(1j)")
    assert '"complex128", "complex integers"' in "".join(made.text.parts)
    assert "_complex128" in made.text.needs.helpers
