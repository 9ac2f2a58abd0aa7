"""`porter convert --check` compares with what the header says, and verifies nothing again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from porter.cli import main
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def total(x):
    return np.sum(x)


def guarded(x):
    try:
        return np.log(x)
    except ValueError:
        return x


class Model:
    def __init__(self, k):
        self.k = k

    def scaled(self, x):
        return x * self.k
"""


@pytest.fixture
def folder(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    def verify(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing is to be verified")

    monkeypatch.setattr("porter.convert.files.verify_module", verify)
    shell.write("s.py", SOURCE)
    return shell


def checked(shell: Shell, *arguments: str) -> int:
    return shell.convert("s.py", "--check", *arguments, verify=True)


def test_the_header_has_the_types(folder: Shell) -> None:
    assert folder.convert("s.py", "-f", "softmax", "--signature", "float32[:, :]") == 0
    assert checked(folder) == 0
    assert folder.out == "s_cuda.py is current\n"
    assert checked(folder, "--signature", "float64[:, :]") == 1
    assert folder.out == "s_cuda.py: stale, run `porter convert s.py`\n"


def test_functions_that_the_module_never_had_make_it_not_stale(folder: Shell) -> None:
    assert folder.convert("s.py", "-f", "total", "-f", "Model.scaled") == 0
    assert checked(folder) == 0
    assert checked(folder, "-f", "softmax") == 1


def test_a_refused_function_makes_it_not_stale(folder: Shell) -> None:
    assert folder.convert("s.py") == 1
    assert checked(folder) == 0
    assert folder.out == "s_cuda.py is current\n"


def test_a_changed_source_makes_it_stale(folder: Shell) -> None:
    assert folder.convert("s.py", "-f", "total") == 0
    folder.write("s.py", SOURCE.replace("np.sum(x)", "np.sum(x * x)"))
    assert checked(folder, "-f", "total") == 1
    assert "s_cuda.py: stale" in folder.out


def test_changed_settings_make_it_stale(folder: Shell) -> None:
    assert folder.convert("s.py", "-f", "total") == 0
    path = folder.folder / "pyproject.toml"
    path.write_text(path.read_text() + '\n[tool.porter.signatures]\ntotal = "float32[:]"\n')
    assert checked(folder) == 1


def test_types_of_a_trace_that_is_gone_are_in_the_header(folder: Shell) -> None:
    recorded = folder.folder / ".porter"
    folder.write("main.py", "import numpy as np\nimport s\ns.total(np.ones((3, 4), np.float32))\n")
    with pytest.raises(SystemExit) as done:
        main(["trace", "main.py"])
    assert done.value.code == 0
    assert folder.convert("s.py", "-f", "total") == 0
    assert "(from trace)" in (folder.folder / "s_cuda.py").read_text()
    assert checked(folder) == 0
    (recorded / "trace.json").unlink()
    assert checked(folder) == 0


def test_json_says_what_is_stale(folder: Shell) -> None:
    assert folder.convert("s.py", "-f", "total") == 0
    assert checked(folder, "--output-format", "json") == 0
    (module,) = json.loads(folder.out)["modules"]
    assert module["output"] == "s_cuda.py"
    assert [f["name"] for f in module["functions"]] == ["total"]


def test_it_is_quick(shell: Shell, tmp_path: Path) -> None:
    """Verification took half a minute for three functions; comparing takes a second or two."""
    shell.write("s.py", SOURCE)
    assert shell.convert("s.py", "-f", "softmax", "-f", "total", verify=True) == 0
    start = time.process_time()
    assert checked(shell) == 0
    assert time.process_time() - start < 5
