"""`w[i % 3]` in a short loop reads no more elements than `w[i]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.run import verify_module

#: parameters, types, body, and whether the host has to test the length of `w`
FUNCTIONS = {
    "own": ("w", "float64[:]", "for i in range(w.shape[0]):\n        w[i % 3] += 1.0", False),
    "given": ("w, n", "float64[:], int64", "for i in range(n):\n        w[i % 3] += 1.0", True),
    "later": ("w, n", "float64[:], int64", "for i in range(2, n):\n        w[i % 4] += 1.0", True),
    "nested": (
        "w, s",
        "float64[:], float64[:, :]",
        "for i in range(s.shape[0]):\n        for j in range(s.shape[1]):\n"
        "            s[i, j] += w[(i + j) % 4]",
        True,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_loops(tmp_path: Path, name: str) -> None:
    parameters, types, body, tested = FUNCTIONS[name]
    source, path = tmp_path / f"{name}.py", tmp_path / f"{name}_cuda.py"
    source.write_text(f"def {name}({parameters}):\n    {body}\n")
    options = ConvertOptions((str(source),), signature=types, verify=False)
    made = convert_file(read(str(source)), options, Config(), path, lambda _: None)
    assert made.text is not None
    assert ("index is out of bounds for axis 0" in made.text) == tested
    (found,) = verify_module(path, text=made.text, on=("simulator",))
    assert found.verified, found.mismatch
