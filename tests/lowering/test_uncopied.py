"""`copy=False`: the array itself, or ValueError as in NumPy 2; sizes of transforms as arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.cli import main
from porter.verify.run import verify_module

SOURCE = """
import numpy as np


def itself(x: "float64[:]"):
    y = np.array(x, dtype=np.float64, copy=False)
    y[0] = 7.0
    return y


def of_integers(x: "int64[:]"):
    return np.array(x, dtype=np.float64, copy=False) + 1.0


def also_asarray(x: "float32[:]"):
    return np.asarray(x, dtype=np.float64, copy=False) + 1.0


def padded(x: "float64[:]", n: int):
    return np.abs(np.fft.fft(x, n)) * 2.0
"""


def converted(tmp_path: Path, *words: str) -> tuple[Path, int]:
    source, module = tmp_path / "f.py", tmp_path / "f_cuda.py"
    source.write_text(SOURCE)
    with pytest.raises(SystemExit) as done:
        main(["convert", str(source), "-o", str(module), "--no-verify", *words])
    assert isinstance(done.value.code, int)
    return module, done.value.code


def test_they_do_what_numpy_does(tmp_path: Path) -> None:
    module, code = converted(tmp_path, "-f", "itself", "-f", "padded")
    assert code == 0
    found = {
        f.name: f.evidence[0].status for f in verify_module(module, on=("simulator",), cases=8)
    }
    assert found == {"itself": "passed", "padded": "passed"}
    text = module.read_text()
    assert "np.fft.fft(_host_copy(x, stream), np.int64(n), 0)" in text
    # no list, and no other dtype: NumPy raises, too
    assert "not (isinstance(x, np.ndarray) or _on_device(x))" in text
    assert "porter: converts itself" not in text


def test_a_copy_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-f", "of_integers", "-f", "also_asarray", "--output-format", "json"]
    assert converted(tmp_path, *words)[1] == 1
    functions = json.loads(capsys.readouterr().out)["modules"][0]["functions"]
    assert [d["code"] for f in functions for d in f["diagnostics"]] == ["PRT907", "PRT907"]
