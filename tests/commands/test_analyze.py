"""`porter analyze` as users run it: findings, verdicts, suppression, settings, outputs."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

import porter
from porter.cli import main
from porter.diagnostics import Diagnostic, Note, Span
from porter.output.frames import frame
from porter.source.files import SourceFile

SWAPPED = """\
from numba import cuda


@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a


def run(x, threads, blocks):
    scale[threads, blocks](x, 2)
"""
RETURNS = """\
from numba import cuda


@cuda.jit
def weigh(values, weights):
    return values * weights
"""


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded

    @property
    def codes(self) -> list[str]:
        return [d["code"] for d in self.json["diagnostics"]]


class Project:
    """A folder of files, and `porter analyze` run in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def write(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(textwrap.dedent(text), "utf-8")
        return self.folder / name

    def analyze(self, *arguments: str) -> Result:
        with pytest.raises(SystemExit) as done:
            main(["analyze", *arguments])
        assert isinstance(done.value.code, int)
        return Result(done.value.code, *self.capsys.readouterr())

    def codes(self, text: str, *arguments: str) -> list[str]:
        self.write("a.py", text)
        return self.analyze("a.py", "--output-format", "json", *arguments).codes


@pytest.fixture
def project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


def test_json_is_the_contract(project: Project) -> None:
    project.write("a.py", RETURNS)
    result = project.analyze("a.py", "--output-format", "json")
    assert result.code == 1
    assert set(result.json) == {"porter", "diagnostics", "functions"}
    assert result.json["porter"] == porter.__version__
    (found,) = result.json["diagnostics"]
    assert found == {
        "code": "PRT301",
        "name": "kernel-returns-value",
        "severity": "error",
        "message": "kernel `weigh` returns a value",
        "help": found["help"],
        "path": "a.py",
        "line": 6,
        "column": 5,
        "end_line": 6,
        "end_column": 28,
        "function": "weigh",
        "fix": None,
        "url": "docs/rules/PRT301.md",
    }
    (function,) = result.json["functions"]
    assert function == {
        "path": "a.py",
        "name": "weigh",
        "line": 5,
        "end_line": 6,
        "verdict": "kernel",
        "stage": "CUDA",
        "reasons": ["PRT301"],
        "signature": "",
        "effort": "medium",
        "places": [{"code": "PRT301", "line": 6}],
        "cost": None,
    }


def test_full_output_shows_the_source(project: Project) -> None:
    project.write("a.py", RETURNS)
    lines = project.analyze("a.py").out.splitlines()
    assert lines[:5] == [
        "error[PRT301]: kernel `weigh` returns a value",
        " --> a.py:6:5",
        "  |",
        "6 |     return values * weights",
        "  |     ^^^^^^^^^^^^^^^^^^^^^^^",
    ]
    assert lines[5].startswith("help: ")
    assert lines[-1] == "1 error; 1 function: 1 judged (1 kernel)"


def test_notes_stand_under_what_they_speak_of() -> None:
    text = "\n".join(
        ["def f(out, a):", *["    pass"] * 8, "    out[i - 1] = a * out[i]", "    x = y"]
    )
    diagnostic = Diagnostic(
        code="PRT904",
        name="loop-carried-dependence",
        message="loop over `i` writes `out[i - 1]` and reads `out[i]`",
        span=Span(10, 5, 10, 15),
        path="heat.py",
        help="write into a second array and swap",
        notes=(Note(Span(10, 22, 10, 28), "read here"), Note(Span(1, 5, 1, 6), "in this")),
    )
    assert frame(diagnostic, SourceFile("heat.py", text)).splitlines() == [
        "error[PRT904]: loop over `i` writes `out[i - 1]` and reads `out[i]`",
        "  --> heat.py:10:5",
        "   |",
        " 1 | def f(out, a):",
        "   |     - in this",
        "...",
        "10 |     out[i - 1] = a * out[i]",
        "   |     ^^^^^^^^^^       ------ read here",
        "help: write into a second array and swap",
    ]


def test_marks_line_up_under_wide_characters_and_tabs() -> None:
    diagnostic = Diagnostic("PRT301", "n", "m", Span(1, 7, 1, 8), "a.py")
    lines = frame(diagnostic, SourceFile("a.py", "\ts='数'+x")).splitlines()
    assert lines[-1] == "  | \t" + " " * 6 + "^"


def test_concise_output_is_a_line_for_each(project: Project) -> None:
    project.write("a.py", RETURNS)
    assert project.analyze("a.py", "--output-format", "concise").out.splitlines() == [
        "a.py:6:5: PRT301 kernel `weigh` returns a value",
        "a.py:5: weigh is kernel (stage: CUDA)",
    ]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", 0, "no findings; no functions"),
        ("# only a comment\n", 0, "no findings; no functions"),
        ("def f(x:\n    pass\n", 1, "a.py:1:6"),
        ("x = '\n", 1, "error[PRT900]"),
        ("if x:\npass\n", 1, "a.py:2:1"),
        ("(" * 2000 + ")" * 2000, 1, "error[PRT900]"),
    ],
)
def test_empty_and_broken_files(project: Project, text: str, code: int, said: str) -> None:
    project.write("a.py", text)
    result = project.analyze("a.py")
    assert result.code == code
    assert said in result.out
    assert result.err == ""


def test_what_cannot_be_read_exits_2_and_the_rest_is_reported(project: Project) -> None:
    project.write("a.py", RETURNS)
    (project.folder / "b.py").write_bytes(b"\0\1")
    (project.folder / "empty").mkdir()
    result = project.analyze("a.py", "b.py", "c.py", "empty")
    assert result.code == 2
    assert "PRT301" in result.out
    assert result.err.splitlines() == [
        "error: b.py: a binary file, not Python source",
        "error: c.py: no such file or directory",
        "error: empty: no Python files in this directory",
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "return x  # porter: ignore[PRT301]",
        "return x  # porter: ignore",
        "return x  # porter: ignore[PRT3]",
        "return x  # porter: ignore[PRT301, PRT301]",
        "return x  # noqa: PRT301",
        "return x  # noqa: E501, PRT301 because",
        "# porter: ignore[PRT301]\n    return x",
        "# porter: ignore[PRT301]\n\n    # more\n    return x",
        "return (\n        x\n    )  # porter: ignore[PRT301]",
    ],
)
def test_suppressed(project: Project, comment: str) -> None:
    text = f"from numba import cuda\n\n\n@cuda.jit\ndef k(x):\n    {comment}\n"
    assert project.codes(text) == []


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("return x  # porter: ignore[PRT401]", ["PRT301", "PRT910"]),
        ("return x  # noqa: PRT401", ["PRT301"]),
        ("return x  # noqa", ["PRT301"]),
        ("return x, '# porter: ignore[PRT301]'", ["PRT301"]),
        ("# porter: ignore[PRT301]\n    x = 1\n    return x", ["PRT910", "PRT301"]),
        ("return x  # porter: ignore[PRT301, PRT777]", ["PRT910"]),
    ],
)
def test_not_suppressed(project: Project, comment: str, codes: list[str]) -> None:
    text = f"from numba import cuda\n\n\n@cuda.jit\ndef k(x):\n    {comment}\n"
    assert project.codes(text) == codes


def test_a_comment_above_a_decorator_speaks_of_the_function(project: Project) -> None:
    text = """
    from numba import vectorize

    # porter: ignore[PRT801]
    @vectorize(target="cuda")
    def f(x):
        return x
    """
    assert project.codes(text) == []


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["--select", "PRT6"], ["PRT601"]),
        (["--select", "PRT3,PRT6"], ["PRT301", "PRT601"]),
        (["--ignore", "PRT601"], ["PRT301"]),
        (["--select", "PRT3", "--select", "PRT6", "--ignore", "PRT301"], ["PRT601"]),
        (["-f", "weigh"], ["PRT301"]),
        (["-f", "run"], ["PRT601"]),
    ],
)
def test_selection(project: Project, arguments: list[str], codes: list[str]) -> None:
    text = RETURNS + SWAPPED.removeprefix("from numba import cuda\n")
    assert project.codes(text, *arguments) == codes


def test_a_function_that_is_not_there_is_a_usage_error(project: Project) -> None:
    project.write("a.py", RETURNS)
    result = project.analyze("a.py", "-f", "wiegh")
    said = "error: no function `wiegh` in a.py; did you mean weigh?\n"
    assert (result.code, result.err) == (2, said)


def test_settings_come_from_pyproject(project: Project) -> None:
    text = RETURNS + SWAPPED.removeprefix("from numba import cuda\n")
    project.write("pyproject.toml", '[tool.porter]\nignore = ["PRT6"]\n')
    assert project.codes(text) == ["PRT301"]
    project.write("pyproject.toml", '[tool.porter]\nselect = ["PRT6"]\nexclude = ["gone/"]\n')
    assert project.codes(text) == ["PRT601"]
    assert project.codes(text, "--select", "PRT3") == ["PRT301"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[tool.porter]\nselct = []\n", "[tool.porter] has no setting `selct`"),
        ("[tool.porter]\nselect = 'PRT1'\n", "`select` in [tool.porter] must be a list of strings"),
        ("[tool.porter]\nsignatures = [1]\n", "must be a table of strings"),
        ("[tool.porter\n", "cannot be read as TOML"),
    ],
)
def test_wrong_settings_are_usage_errors(project: Project, table: str, said: str) -> None:
    project.write("pyproject.toml", table)
    project.write("a.py", "x = 1\n")
    result = project.analyze("a.py")
    assert result.code == 2
    assert said in result.err


def test_codes_that_do_not_exist_are_usage_errors(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    result = project.analyze("a.py", "--select", "PRT1,PRT777")
    assert result.code == 2
    assert "no rule has a code that starts with PRT777" in result.err


def test_exit_zero_and_statistics(project: Project) -> None:
    project.write("a.py", RETURNS + "    return values\n")
    result = project.analyze("a.py", "--exit-zero", "--statistics")
    assert (result.code, result.out) == (0, "     2  PRT301  kernel-returns-value\n")


def test_output_file(project: Project) -> None:
    project.write("a.py", RETURNS)
    result = project.analyze("a.py", "--output-file", "found.txt")
    assert (result.code, result.out) == (1, "")
    assert "PRT301" in (project.folder / "found.txt").read_text()
    assert project.analyze("a.py", "--output-file", "no/found.txt").code == 2


def test_baseline_hides_what_was_there_before(project: Project) -> None:
    project.write("a.py", RETURNS)
    assert project.analyze("a.py", "--baseline", "base.json").code == 0
    project.write("a.py", "# moved down\n" + RETURNS + SWAPPED)
    result = project.analyze("a.py", "--baseline", "base.json", "--output-format", "json")
    assert (result.code, result.codes) == (1, ["PRT601"])
    project.write("base.json", "{")
    assert project.analyze("a.py", "--baseline", "base.json").code == 2


def test_diff_shows_unsafe_fixes_only_when_asked(project: Project) -> None:
    file = project.write("a.py", SWAPPED)
    assert project.analyze("a.py", "--diff").out == ""
    result = project.analyze("a.py", "--diff", "--unsafe-fixes")
    assert result.code == 1
    assert "-    scale[threads, blocks](x, 2)\n+    scale[blocks, threads](x, 2)\n" in result.out
    assert file.read_text() == SWAPPED


def test_fix_writes_the_file_and_reports_the_rest(project: Project) -> None:
    file = project.write("a.py", SWAPPED.replace("\n", "\r\n"))
    file.write_bytes(SWAPPED.replace("\n", "\r\n").encode())
    assert project.analyze("a.py", "--fix").code == 1
    result = project.analyze("a.py", "--fix", "--unsafe-fixes")
    assert (result.code, result.err) == (0, "a.py: 1 fixed\n")
    fixed = SWAPPED.replace("[threads, blocks]", "[blocks, threads]").replace("\n", "\r\n")
    assert file.read_bytes() == fixed.encode()


def test_notebook_findings_name_the_cell(project: Project) -> None:
    cells = ["%matplotlib inline\nfrom numba import cuda", "\n".join(RETURNS.splitlines()[3:])]
    data = {"cells": [{"cell_type": "code", "source": c} for c in [*cells, "b = = 1"]]}
    project.write("n.ipynb", json.dumps(data))
    assert project.analyze("n.ipynb", "--output-format", "concise").out.splitlines() == [
        "n.ipynb:cell 2:3:5: PRT301 kernel `weigh` returns a value",
        "n.ipynb:cell 3:1:5: PRT900 invalid syntax",
        "n.ipynb:cell 2:2: weigh is kernel (stage: CUDA)",
    ]
    records = project.analyze("n.ipynb", "--output-format", "json").json["diagnostics"]
    assert [(r["cell"], r["line"]) for r in records] == [(2, 3), (3, 1)]


STAGES = """
import numpy as np
from numba import cuda, njit


def plain(x):
    return np.sin(x) * 2.0


@njit
def compiled(x):
    return np.sin(x) * 2.0


def not_about_arrays(name):
    return name.upper()


def drives_the_gpu(x):
    return cuda.to_device(np.sin(x))


@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 1


@cuda.jit
def moved(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 1


@cuda.jit
def streamed(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 1


def run(n, blocks, threads, stream):
    d = cuda.device_array(n)
    moved[blocks, threads](d)
    streamed[blocks, threads, stream](d)
"""


def test_verdicts_and_stages(project: Project) -> None:
    project.write("a.py", STAGES)
    functions = project.analyze("a.py", "--output-format", "json").json["functions"]
    assert {f["name"]: (f["verdict"], f["stage"]) for f in functions} == {
        "plain": ("convertible", "object mode"),
        "compiled": ("convertible", "nopython"),
        "kernel": ("kernel", "CUDA"),
        "moved": ("kernel", "data movement"),
        "streamed": ("kernel", "asynchronous"),
    }


def test_refused_function_names_the_call_and_the_loop_that_could_be_lifted(
    project: Project,
) -> None:
    text = """
    import hashlib


    def hash_computation(x):
        for i in range(len(x)):
            x[i] = x[i] ** 2
        return hashlib.md5(x).digest()
    """
    project.write("a.py", text)
    result = project.analyze("a.py", "--output-format", "json")
    (function,) = result.json["functions"]
    assert (function["verdict"], function["reasons"]) == ("refused", ["PRT901"])
    assert {(d["code"], d["line"]) for d in result.json["diagnostics"]} == {
        ("PRT201", 6),
        ("PRT901", 8),
    }


def test_signature_of_the_settings_reaches_the_converter(project: Project) -> None:
    project.write("pyproject.toml", '[tool.porter.signatures]\nf = "float32[:, :]"\n')
    project.write("a.py", "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n")
    (function,) = project.analyze("a.py", "--output-format", "json").json["functions"]
    assert function["signature"] == "float32[:, :]"


def test_generated_modules_are_kernels_and_nothing_else(project: Project) -> None:
    text = "# Generated by porter 0.1.0 from a.py: edit it freely.\n" + STAGES.strip() + "\n"
    project.write("a_cuda.py", text)
    functions = project.analyze("a_cuda.py", "--output-format", "json").json["functions"]
    assert {f["verdict"] for f in functions} == {"kernel"}


def test_a_mistake_of_ours_in_one_function_does_not_hide_the_rest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("porter.convert.check.check_function", fail)
    monkeypatch.delenv("PORTER_DEBUG", raising=False)
    project.write(
        "a.py", RETURNS + "\n\ndef f(x):\n    for i in range(len(x)):\n        x[i] += 1\n"
    )
    result = project.analyze("a.py", "--output-format", "json")
    assert (result.code, result.codes, result.err) == (1, ["PRT301", "PRT917"], "")
    own = result.json["diagnostics"][1]
    assert (own["line"], own["function"]) == (9, "f")
    assert "KeyError: 'lost'" in own["help"]
