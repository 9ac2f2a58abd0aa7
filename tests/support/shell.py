"""What the tests of `porter convert` share: a folder, the command line in it, sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from porter.cli import main
from porter.codegen.module.header import parse
from tests.support import commands
from tests.support.paths import ROOT

GOOD = '''"""Two functions."""

import numpy as np


def double(x):
    """Twice `x`."""
    return 2.0 * np.exp(x)


def total(x):
    return np.sum(x * x)
'''
REFUSED = """import hashlib


def digest(x):
    for i in range(len(x)):
        x[i] = x[i] ** 2
    return hashlib.md5(x).digest()
"""
METHOD = """import numpy as np


class Filter:
    def apply(self, x):
        return np.tanh(x)

    @staticmethod
    def smooth(x):
        return np.tanh(x)
"""


class Shell:
    """Runs the command line in a folder; what it said is in `out` and `err`."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.out = self.err = ""
        # the nearest pyproject.toml decides the settings
        self.write("pyproject.toml", "")

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def files(self) -> list[str]:
        """Every file below the folder, those with a leading dot too."""
        found = [p for p in self.folder.rglob("*") if p.is_file()]
        return sorted(str(p.relative_to(self.folder)).replace(os.sep, "/") for p in found)

    def convert(self, *arguments: str, verify: bool = False) -> int:
        options = [] if verify else ["--no-verify"]
        with pytest.raises(SystemExit) as done:
            main(["convert", *arguments, *options])
        self.out, self.err = self.capsys.readouterr()
        assert "Traceback" not in self.out + self.err
        assert isinstance(done.value.code, int)
        return done.value.code

    def error(self) -> str:
        """The one line on stderr."""
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")


def signatures(shell: Shell, name: str = "good_cuda.py") -> dict[str, str]:
    """The functions of a written module and their argument types."""
    header = parse((shell.folder / name).read_text())
    assert header is not None
    return {f.name: f.signature for f in header.functions}


def porter(
    shell: Shell, *arguments: str, given: str | None = None, code: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, or what some code makes of it."""
    if not code:
        return commands.porter(shell.folder, *arguments, given=given or "")
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=shell.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
