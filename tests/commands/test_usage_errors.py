"""What is said of names, codes, folders and paths that do not exist: the cure, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cli import main
from porter.support.nearest import suggestion

SOURCE = """\
import numpy as np


def activate(x):
    return np.maximum(x, 0.0)


class Model:
    def scaled(self, x):
        return x * 2.0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(SOURCE)
    return tmp_path


def porter(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main([*arguments])
    assert isinstance(done.value.code, int)
    return done.value.code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("convert", "-f", "actvate", "s.py"),
         "no function `actvate` in s.py; did you mean activate?"),
        (("analyze", "-f", "actvate", "s.py"),
         "no function `actvate` in s.py; did you mean activate?"),
        (("convert", "-f", "scaled", "s.py"),
         "no function `scaled` in s.py; did you mean Model.scaled?"),
        (("convert", "-f", "unlike", "s.py"), "no function `unlike` in s.py"),
        (("analyze", "--select", "402", "s.py"),
         "no rule has a code that starts with 402; did you mean PRT402?"),
        (("analyze", "--ignore", "prt904", "s.py"),
         "no rule has a code that starts with prt904; did you mean PRT904?"),
        (("analyze", "--select", "XYZ", "s.py"),
         "no rule has a code that starts with XYZ; see `porter rules`"),
        (("explain", "402"), "no rule has the code 402; did you mean PRT402?"),
        (("analyze", "nope.py"), "nope.py: no such file or directory"),
        (("convert", "nope.py"), "nope.py: no such file or directory"),
        (("convert", "-o", "no/where/", "s.py"), "-o no/where/: no such directory: no"),
        (("convert", "-o", "no/where/s_cuda.py", "s.py"),
         "-o no/where/s_cuda.py: no such directory: no"),
    ],
)  # fmt: skip
def test_one_line_says_it(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: tuple[str, ...], error: str
) -> None:
    assert porter(capsys, *arguments) == (2, "", f"error: {error}\n")
    assert sorted(p.name for p in folder.iterdir() if not p.name.startswith(".")) == ["s.py"]


def test_verify_suggests_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert porter(capsys, "convert", "--no-verify", "s.py")[0] == 0
    code, _, error = porter(capsys, "verify", "-f", "actvate", "s_cuda.py")
    assert (code, error.count("\n")) == (2, 1)
    assert error.endswith("no function `actvate` in this module; did you mean activate?\n")


def test_a_folder_is_made_where_its_parent_exists(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert porter(capsys, "convert", "--no-verify", "-o", "build/", "s.py")[0] == 0
    assert (folder / "build" / "s_cuda.py").exists()


def test_a_wrong_path_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = porter(capsys, "analyze", "nope.py", "s.py")
    assert (code, error) == (2, "error: nope.py: no such file or directory\n")
    assert "2 functions: 2 judged" in out


def test_suggestions() -> None:
    assert suggestion("Sofmax", ["softmax", "total"]) == "; did you mean softmax?"
    assert suggestion("softmax", []) == ""
    assert suggestion("PRT4", ["PRT401"]) == "; did you mean PRT401?"
