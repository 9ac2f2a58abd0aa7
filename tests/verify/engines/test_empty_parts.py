"""Positions in a part of an array that is empty, or has one: nothing outside of it is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.run import verify_module
from tests.support.machine import compiler

FUNCTIONS = {
    "picked": ("x, idx", "return x[idx]", "float64[:], int64[:]"),
    "later": ("x, idx", "return x[2:][idx]", "float64[:], int64[:]"),
    "backwards": ("x, idx", "return x[::-1][idx]", "float64[:], int64[:]"),
    "strided": ("x, idx", "return x[1::2][idx]", "float64[:], int64[:]"),
    "stored": ("x, idx, v", "x[2:][idx] = v", "float64[:], int64[:], float64[:]"),
    "added": ("x, idx", "np.add.at(x[3:], idx, 1.0)", "float64[:], int64[:]"),
    "of_table": ("x, rows", "return x[1:, 1:][rows]", "float64[:, :], int64[:]"),
    "one": ("x, k", "return x[3:][k[0]] + x", "float64[:], int64[:]"),
}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them in one module, so that a child process verifies all."""
    folder = tmp_path_factory.mktemp("parts")
    source, made = folder / "parts.py", folder / "parts_cuda.py"
    signatures = {name: types for name, (_, _, types) in FUNCTIONS.items()}
    bodies = [f"def {name}({given}):\n    {body}" for name, (given, body, _) in FUNCTIONS.items()]
    source.write_text("\n\n\n".join(["import numpy as np", *bodies]) + "\n")
    options = ConvertOptions((str(source),), verify=False)
    config = Config(signatures=signatures)
    found = convert_file(read(str(source)), options, config, made, lambda _: None)
    assert found.text is not None and [f.name for f in found.functions] == [*FUNCTIONS]
    made.write_text(found.text)
    return made


def test_on_the_simulator(module: Path) -> None:
    for found in verify_module(module, on=("simulator",)):
        assert found.verified, found.mismatch


@pytest.mark.slow
@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.long)])
def test_of_compiled_kernels(module: Path, first: int) -> None:
    names = tuple(FUNCTIONS)[first::2]
    for found in verify_module(module, on=("ptx",), archs=("sm_90",), cases=8, functions=names):
        assert found.verified, found.mismatch
        assert all(e.detail["cases"] for e in found.evidence)


@pytest.mark.parametrize("on", ["simulator", "emulator"])
def test_the_spare_element_of_an_empty_array(module: Path, on: str) -> None:
    path = module
    text = path.read_text()
    spare = "    if 0 in array.shape:"
    assert spare in text
    # without one, the kernel does read what is not there
    for own, beyond in ((text, False), (text.replace(spare, "    if False:"), True)):
        (found,) = verify_module(path, text=own, on=(on,), functions=("picked",))
        assert found.verified, found.mismatch
        assert bool(found.evidence[0].detail.get("out_of_bounds")) == beyond
