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
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, made = tmp_path_factory.mktemp("parts"), {}
    for name, (parameters, body, types) in FUNCTIONS.items():
        source, made[name] = folder / f"{name}.py", folder / f"{name}_cuda.py"
        source.write_text(f"import numpy as np\n\n\ndef {name}({parameters}):\n    {body}\n")
        options = ConvertOptions((str(source),), signature=types, verify=False)
        found = convert_file(read(str(source)), options, Config(), made[name], lambda _: None)
        assert found.text is not None, name
        made[name].write_text(found.text)
    return made


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_the_simulator(modules: dict[str, Path], name: str) -> None:
    (found,) = verify_module(modules[name], on=("simulator",))
    assert found.verified, found.mismatch


@pytest.mark.slow
@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(
    "name",
    [pytest.param(k, marks=[pytest.mark.long] if n % 2 else []) for n, k in enumerate(FUNCTIONS)],
)
def test_of_compiled_kernels(modules: dict[str, Path], name: str) -> None:
    (found,) = verify_module(modules[name], on=("ptx",), archs=("sm_90",), cases=8)
    assert found.verified, found.mismatch
    assert all(e.detail["cases"] for e in found.evidence)


@pytest.mark.parametrize("on", ["simulator", "emulator"])
def test_the_spare_element_of_an_empty_array(modules: dict[str, Path], on: str) -> None:
    path = modules["picked"]
    text = path.read_text()
    spare = "    if 0 in array.shape:"
    assert spare in text
    # without one, the kernel does read what is not there
    for own, beyond in ((text, False), (text.replace(spare, "    if False:"), True)):
        (found,) = verify_module(path, text=own, on=(on,))
        assert found.verified, found.mismatch
        assert bool(found.evidence[0].detail.get("out_of_bounds")) == beyond
