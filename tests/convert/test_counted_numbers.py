"""A number that a loop makes of arrays and numbers is NumPy's where one of these numbers is."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.run import verify_module

#: what is added to what, and whether it is Python's number whatever `k` is
ADDED = {
    ("0", "k"): False,
    ("0.0", "k / 2"): False,
    ("0", "abs(k) + min(k, 3)"): False,
    ("0", "(k if i else 1)"): False,
    ("0", "1"): True,
    ("0", "int(k)"): True,
    ("0.0", "float(k)"): True,
    ("0.0", "math.sqrt(k)"): True,
    ("0", "(1 if k > 2 else 0)"): True,
}
LOOP = """import math


def counted(x, k):
    total, n = {first}, 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            total += {added}
            n += 1
    return total, n
"""


@pytest.mark.parametrize(("first", "added"), ADDED)
def test_numbers_of_numpy(tmp_path: Path, first: str, added: str) -> None:
    source, path = tmp_path / "f.py", tmp_path / "f_cuda.py"
    source.write_text(LOOP.format(first=first, added=added))
    options = ConvertOptions((str(source),), signature="float64[:], int64", verify=False)
    made = convert_file(read(str(source)), options, Config(), path, lambda _: None)
    assert made.text is not None
    assert ("plain = _plain(k)" not in made.text) == ADDED[first, added]
    (found,) = verify_module(path, text=made.text, on=("simulator",), cases=12)
    assert found.verified, found.mismatch
