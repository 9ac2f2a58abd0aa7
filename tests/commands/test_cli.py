"""The command line: exit codes, one plain line per usage error, fast and lazy imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import porter
from porter.cli import main
from tests.support.paths import EXAMPLES, ROOT

KERNEL = "from numba import cuda\n\n\n@cuda.jit\ndef k(x):\n    return x[0]\n"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    assert isinstance(done.value.code, int)
    return done.value.code


def test_help_lists_exactly_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    listed = capsys.readouterr().out.split("Commands:")[1].split("\n")
    names = [line.split()[0] for line in listed if line.strip()]
    assert names == ["analyze", "convert", "verify", "bench", "trace", "explain", "rules", "doctor"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"porter {porter.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", "a.py", "--target", "fortran"], "not something porter knows"),
        (["convert", "a.py", "--library"], "option '--library' requires an argument"),
        (["convert", "a.py", "--library", "jax"], "invalid value for '--library'"),
        (["convert"], "missing argument"),
        (["convert", "a.py", "--emit", "ptx"], "--emit"),
        (["analyze", "a.py", "--raw"], "--raw needs --compile or --run"),
        (["analyze", "--run", "src"], "--run runs scripts and notebooks, and src is neither"),
        (["analyze", "a.py", "--nonsense"], "no such option: --nonsense"),
        (["analyze", "missing.py"], "missing.py: no such file or directory"),
        (["verify", "a.py", "--cases", "none"], "--cases"),
        (["bench", "a.py", "--size", "n=many"], "`n=many` is not a size such as n=4096"),
        (["bench", "a.py", "--arch", "sm_1"], "--arch sm_1 is unknown"),
        (["bench", "a.py", "--gpu", "voodoo"], "--gpu"),
        (["bench", "missing.py"], "error: missing.py: no such file or directory"),
        (["bench", "a.py", "--against", "numpy,fortran"], "--against fortran is unknown"),
        (["frobnicate"], "no such command"),
        (["explain", "PRT399"], "no rule has the code PRT399"),
    ],
)
def test_usage_error_is_one_plain_line(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert err.splitlines() == lines
    assert len(lines) == 1
    assert said in lines[0]
    assert "Traceback" not in out + err


def test_unexpected_failure_is_one_line_that_asks_for_a_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(code: str, output_format: str) -> int:
        raise KeyError("lost\nsomething")

    monkeypatch.setattr("porter.commands.explain.run", fail)
    monkeypatch.delenv("PORTER_DEBUG", raising=False)
    assert run("explain", "PRT301") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "KeyError" in error
    assert "PORTER_DEBUG=1" in error
    monkeypatch.setenv("PORTER_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["explain", "PRT301"])


def test_explain_prints_the_page_by_code_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "PRT401") == 0
    page = capsys.readouterr().out
    assert page.startswith("# PRT401 every-thread-writes-same-element\n")
    assert run("explain", "every-thread-writes-same-element", "--output-format", "json") == 0
    assert json.loads(capsys.readouterr().out)["page"] == page


def test_rules_lists_every_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules") == 0
    text = capsys.readouterr().out
    assert [line[:6] for line in text.splitlines() if line[:3] == "PRT"] == [
        f"PRT{n}xx" for n in range(1, 10)
    ]
    assert run("rules", "--output-format", "json") == 0
    records = json.loads(capsys.readouterr().out)
    assert all(set(r) == {"code", "name", "severity", "since", "summary"} for r in records)
    assert all(r["code"] in text for r in records)


def python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={"PATH": "", "PYTHONPATH": str(ROOT), **environment},
    )


def imported(arguments: list[str]) -> list[str]:
    """The modules that a command has imported when it has done its work."""
    done = python(f"""
import sys
from porter.cli import main
try:
    main({arguments!r})
except SystemExit as done:
    assert done.code == 0, done.code
print(*sys.modules)
""")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.fixture
def array_code(tmp_path: Path) -> str:
    file = tmp_path / "a.py"
    file.write_text("import numpy as np\n\n\ndef f(x):\n    return np.sin(x) * 2.0\n")
    return str(file)


@pytest.mark.parametrize("arguments", [["--help"], ["analyze", "FILE"], ["rules"]])
def test_imports_neither_numba_nor_numpy(arguments: list[str], array_code: str) -> None:
    found = imported([array_code if a == "FILE" else a for a in arguments])
    assert not {"numba", "numpy", "rich", "click"} & set(found)


@pytest.mark.parametrize(
    "arguments", [[], ["--output-format", "json"], ["-f", "f", "--output-file", os.devnull]]
)
def test_a_short_run_imports_only_what_it_needs(arguments: list[str], array_code: str) -> None:
    found = imported(["analyze", array_code, "--no-cache", *arguments])
    # what takes long to import and serves other files, formats and commands
    assert "libcst" in found
    # the codes that a static run itself may report
    own = {f"porter.rules.converter.{m}"
           for m in ("syntax_error", "domain_comment", "unused_suppression")}  # fmt: skip
    assert not [m for m in set(found) - own
                if m.startswith(("pydantic", "jinja2", "pathspec", "porter.verify",
                                 "porter.rules.converter."))]  # fmt: skip
    assert not {"porter.codegen.host.function", "porter.source.notebook",
                "porter.numba_report.model"} & set(found)  # fmt: skip


def test_code_without_arrays_is_not_given_to_the_converter(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("def f(rows):\n    return [row.name for row in rows]\n")
    found = imported(["analyze", str(file), "--no-cache"])
    assert not [
        m for m in found if m.startswith(("libcst", "porter.lowering", "porter.transforms"))
    ]


def test_wrong_values_are_named_as_ever(
    capsys: pytest.CaptureFixture[str], array_code: str
) -> None:
    for arguments, said in (
        (["--output-format", "xml"], "invalid value for '--output-format': 'xml' is not one of"),
        (["--timeout", "soon"], "invalid value for '--timeout': "),
        (["--select"], "option '--select' requires an argument"),
    ):
        assert run("analyze", array_code, *arguments) == 2
        assert capsys.readouterr().err.startswith(f"error: {said}")
    assert run("verify", array_code, "--on", "moon") == 2
    assert "invalid value for '--on'" in capsys.readouterr().err
    assert run("analyze") == 2
    assert "missing argument 'PATH'" in capsys.readouterr().err


def test_help_costs_less_than_a_fifth_of_a_second_of_imports() -> None:
    # the processor's time: a busy machine makes everything late, not dear
    script = "import time; t = time.process_time(); import porter.cli; print(time.process_time()-t)"
    assert min(float(python(script).stdout) for _ in range(3)) < 0.2


def test_analyze_runs_nothing(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    file = tmp_path / "effects.py"
    file.write_text(
        f"import pathlib\nimport numpy as np\npathlib.Path({str(witness)!r}).touch()\n"
        "raise SystemExit(7)\n\n\ndef f(x):\n    return np.sin(x)\n"
    )
    assert run("analyze", str(file)) == 0
    assert not witness.exists()


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_color_follows_the_environment(
    environment: dict[str, str], colored: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text(KERNEL)
    done = python(f"from porter.cli import main\nmain(['analyze', {str(file)!r}])", **environment)
    assert done.returncode == 1
    assert ("\x1b[" in done.stdout) is colored


def test_standard_input_has_the_name_it_is_given() -> None:
    command = [sys.executable, "-m", "porter", "analyze", "-", "--stdin-filename", "named.py"]
    command += ["--output-format", "concise"]
    done = subprocess.run(command, input=KERNEL, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.startswith("named.py:6:5: PRT301 ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("few", "many"), [(400, 1600), pytest.param(850, 3400, marks=pytest.mark.long)]
)
def test_the_time_of_a_long_file_grows_with_its_lines(few: int, many: int, tmp_path: Path) -> None:
    body = (
        "def f{0}(rows):\n    for row in rows:\n        print(row.name)\n    return len(rows)\n\n\n"
    )

    def seconds(functions: int) -> float:
        file = tmp_path / f"long{functions}.py"
        file.write_text("import numpy as np\n\n\n" + "".join(map(body.format, range(functions))))
        start = time.process_time()
        assert run("analyze", "--no-cache", str(file)) == 0
        return time.process_time() - start

    seconds(10)  # imports
    # four times the lines take four times as long; sixteen times if something is quadratic
    assert seconds(many) < 7 * seconds(few)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_a_convert_that_is_terminated_ends_at_once_with_its_children(tmp_path: Path) -> None:
    examples = [str(EXAMPLES / f"{name}.py") for name in ("softmax", "heat", "matmul")]
    command = [sys.executable, "-m", "porter", "convert", "-o", str(tmp_path), *examples]
    done = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children: set[str] = set()
    until = time.monotonic() + 60
    while len(children) < 2 and time.monotonic() < until:
        time.sleep(0.1)
        tasks = Path(f"/proc/{done.pid}/task").glob("*/children")
        children |= {child for task in tasks for child in task.read_text().split()}
    done.terminate()
    assert done.wait(20) == 143
    assert len(children) >= 2 and not any(Path(f"/proc/{child}").exists() for child in children)
