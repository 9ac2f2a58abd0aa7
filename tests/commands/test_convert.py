"""`porter convert` on the command line: names, rules of writing, formats, exit codes."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from porter.codegen.module.header import is_edited, parse
from tests.support.paths import ROOT
from tests.support.shell import GOOD, METHOD, REFUSED, Shell, porter

# -- where the module goes ---------------------------------------------------------------------


def test_module_goes_beside_the_source(shell: Shell) -> None:
    shell.write("pack/good.py", GOOD)
    assert shell.convert("pack/good.py") == 0
    assert shell.files() == ["pack/good.py", "pack/good_cuda.py", "pyproject.toml"]
    header = parse((shell.folder / "pack/good_cuda.py").read_text())
    assert header is not None
    assert header.source == "good.py"
    assert [f.name for f in header.functions] == ["double", "total"]
    assert "pack/good_cuda.py written" in shell.out.replace(os.sep, "/")
    assert shell.err == ""


def test_o_names_a_file(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-o", "deep/kernels.py") == 0
    assert shell.files() == ["deep/kernels.py", "good.py", "pyproject.toml"]
    header = parse((shell.folder / "deep/kernels.py").read_text())
    assert header is not None
    assert header.source == "../good.py"


@pytest.mark.parametrize("exists", [True, False])
def test_o_names_a_directory(shell: Shell, exists: bool) -> None:
    shell.write("src/good.py", GOOD)
    shell.write("src/other.py", GOOD)
    if exists:
        (shell.folder / "out").mkdir()
    done = porter(shell, "convert", "src", "-o", "out", "--no-verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [f for f in shell.files() if f.startswith("out")] == [
        "out/good_cuda.py",
        "out/other_cuda.py",
    ]


def test_o_minus_prints_the_module_and_nothing_else_on_stdout(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-o", "-") == 0
    assert parse(shell.out) is not None
    assert not is_edited(shell.out)
    compile(shell.out, "stdout", "exec")
    assert "converted double" in shell.err
    assert shell.files() == ["good.py", "pyproject.toml"]


def test_one_file_for_several_sources_is_refused(shell: Shell) -> None:
    shell.write("a.py", GOOD)
    shell.write("b.py", GOOD)
    assert shell.convert("a.py", "b.py", "-o", "c.py") == 2
    assert shell.error() == "-o c.py names one file for 2 sources: give a directory"


def test_a_stem_that_is_no_identifier_gives_a_module_that_can_be_imported(shell: Shell) -> None:
    shell.write("my-file.v2.py", GOOD)
    assert shell.convert("my-file.v2.py") == 0
    assert "my_file_v2_cuda.py" in shell.files()


@pytest.mark.parametrize("options", [[], ["--stdin-filename", "src/x.py"]])
def test_stdin_goes_to_stdout(shell: Shell, options: list[str]) -> None:
    done = porter(shell, "convert", "-", "--no-verify", *options, given=GOOD)
    assert done.returncode == 0, done.stderr
    assert parse(done.stdout) is not None, done.stdout
    assert shell.files() == ["pyproject.toml"]


def test_stdin_goes_where_o_says(shell: Shell) -> None:
    arguments = ["convert", "-", "--no-verify", "--stdin-filename", "src/x.py", "-o", "out"]
    done = porter(shell, *arguments, given=GOOD)
    assert done.returncode == 0, done.stderr
    assert shell.files() == ["out/x_cuda.py", "pyproject.toml"]


def test_a_module_that_cannot_be_written_is_one_line(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    shell.write("file", "text")
    assert shell.convert("good.py", "-o", "file/kernels.py") == 2
    assert "file/kernels.py" in shell.error().replace(os.sep, "/")
    (shell.folder / "good_cuda.py").mkdir()
    assert shell.convert("good.py") == 2
    assert shell.error() == "good_cuda.py is a directory"


def test_generated_modules_are_not_converted_again(shell: Shell) -> None:
    shell.write("src/good.py", GOOD)
    assert shell.convert("src") == 0
    before = shell.files()
    assert shell.convert("src") == 0
    assert shell.files() == before


# -- what is never overwritten -------------------------------------------------------------------


def test_a_current_module_may_be_replaced(shell: Shell) -> None:
    source = shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    source.write_text(GOOD.replace("2.0", "3.0"))
    assert shell.convert("good.py") == 0
    assert "T(3.0)" in (shell.folder / "good_cuda.py").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: "print('mine')\n", "was not written by porter"),
        (lambda text: text.replace("T(2.0)", "T(2.5)"), "was edited by hand"),
    ],
)
def test_the_users_work_is_overwritten_by_force_only(shell: Shell, change: Any, said: str) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    module = shell.folder / "good_cuda.py"
    first = module.read_text()
    mine = change(first)
    assert mine != first
    module.write_text(mine)
    assert shell.convert("good.py") == 2
    assert said in shell.error()
    assert "--force" in shell.error()
    assert module.read_text() == mine
    assert shell.convert("good.py", "--force") == 0
    assert module.read_text() == first


def test_the_source_itself_is_never_overwritten(shell: Shell) -> None:
    source = shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-o", "good.py") == 2
    assert shell.convert("good.py", "-o", "good.py", "--force") == 2
    assert source.read_text() == GOOD


def test_what_is_not_text_is_not_overwritten(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    shell.write("good_cuda.py", b"\xff\xfe\0")
    assert shell.convert("good.py") == 2
    assert (shell.folder / "good_cuda.py").read_bytes() == b"\xff\xfe\0"


def test_file_mode_is_kept_and_no_temporary_file_is_left(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    module = shell.folder / "good_cuda.py"
    module.chmod(0o600)
    assert shell.convert("good.py") == 0
    assert module.stat().st_mode & 0o777 == 0o600
    assert shell.files() == ["good.py", "good_cuda.py", "pyproject.toml"]


def test_no_temporary_file_is_left_when_writing_fails(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    shell.write("good.py", GOOD)
    monkeypatch.setattr(os, "replace", broken)
    assert shell.convert("good.py") == 2
    assert shell.error() == "good_cuda.py: no space left on device"
    assert shell.files() == ["good.py", "pyproject.toml"]


# -- --diff and --check --------------------------------------------------------------------------


def test_diff_prints_and_writes_nothing(shell: Shell) -> None:
    source = shell.write("good.py", GOOD)
    assert shell.convert("good.py", "--diff") == 0
    assert shell.out.startswith("--- ")
    assert "+def double(x, *, stream=None):" in shell.out.splitlines()
    assert shell.files() == ["good.py", "pyproject.toml"]
    assert shell.convert("good.py") == 0
    assert shell.convert("good.py", "--diff") == 0
    assert shell.out == ""
    source.write_text(GOOD.replace("2.0", "3.0"))
    assert shell.convert("good.py", "--diff") == 0
    changed = [line for line in shell.out.splitlines() if "T(" in line and line[0] in "+-"]
    assert [line[0] for line in changed] == ["-", "+"]
    assert "T(2.0)" in (shell.folder / "good_cuda.py").read_text()


def test_check_tells_missing_current_and_stale_apart(shell: Shell) -> None:
    source = shell.write("good.py", GOOD)
    assert shell.convert("good.py", "--check") == 1
    assert "good_cuda.py: missing" in shell.out
    assert shell.files() == ["good.py", "pyproject.toml"]
    assert shell.convert("good.py") == 0
    assert shell.convert("good.py", "--check") == 0
    assert "good_cuda.py is current" in shell.out
    source.write_text(GOOD.replace("2.0", "3.0"))
    before = (shell.folder / "good_cuda.py").read_text()
    assert shell.convert("good.py", "--check") == 1
    assert "good_cuda.py: stale" in shell.out
    assert (shell.folder / "good_cuda.py").read_text() == before


def test_check_sees_an_edited_module_as_stale(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    module = shell.folder / "good_cuda.py"
    module.write_text(module.read_text().replace("T(2.0)", "T(2.5)"))
    assert shell.convert("good.py", "--check") == 1


# -- proof ---------------------------------------------------------------------------------------


def test_evidence_is_in_the_header_and_in_the_report(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-f", "double", verify=True) == 0
    header = parse((shell.folder / "good_cuda.py").read_text())
    assert header is not None
    (record,) = header.functions
    assert record.verified[0].startswith("simulator ")
    assert "verified on the simulator" in shell.out
    # the evidence depends on what is installed, so it makes no module stale
    assert shell.convert("good.py", "-f", "double", "--check") == 0


def test_without_verification_the_header_claims_none(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    assert "# porter: verified" not in (shell.folder / "good_cuda.py").read_text()
    assert "not verified: --no-verify was given" in shell.out


def test_kernels_that_fail_verification_are_not_written(shell: Shell) -> None:
    """A template that computes something else stands for a mistake of porter's own."""
    shell.write("good.py", GOOD)
    text = (ROOT / "templates" / "helpers_host.py.j2").read_text()
    broken = text.replace("host = array.copy_to_host(", "host = 2 * array.copy_to_host(")
    assert broken != text
    shell.write("templates/helpers_host.py.j2", broken)
    assert shell.convert("good.py", "--templates", "templates", verify=True) == 1
    assert shell.out.count("PRT911") == 2
    assert shell.files() == ["good.py", "pyproject.toml", "templates/helpers_host.py.j2"]


@pytest.mark.long
def test_a_failed_verification_names_a_numpy_number(shell: Shell) -> None:
    """The module's own is Python's, and so returned: that is no mistake to report."""
    shell.write("a.py", "def both(x, y):\n    return -x, y * 2\n")
    assert shell.convert("a.py", "--signature=complex64, float64[:]", verify=True) == 1
    assert "`x` is a NumPy number of complex64: give it as complex128" in shell.out
    for given in ("complex128", "uint8", "int32"):
        assert shell.convert("a.py", f"--signature={given}, float64[:]", verify=True) == 0


# -- inner stages --------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["array", "loops", "plan"])
def test_emit_prints_a_stage_of_each_function(shell: Shell, stage: str) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "--emit", stage) == 0
    assert "double" in shell.out
    assert "total" in shell.out
    assert shell.files() == ["good.py", "pyproject.toml"]
    assert shell.convert("good.py", "--emit", stage, "-f", "total") == 0
    assert "double" not in shell.out


def test_emit_of_a_refused_function_says_why(shell: Shell) -> None:
    shell.write("bad.py", REFUSED)
    assert shell.convert("bad.py", "--emit", "array") == 1
    assert shell.out == ""
    assert "PRT901" in shell.err


# -- formats -------------------------------------------------------------------------------------

FUNCTION_KEYS = {"name", "status", "signature", "assumed", "kernels", "diagnostics", "evidence"}
DIAGNOSTIC_KEYS = {
    "code", "name", "severity", "message", "help", "path", "line", "column", "end_line",
    "end_column", "function", "fix", "url",
}  # fmt: skip


def test_json_has_exactly_the_keys_of_the_contract(shell: Shell) -> None:
    shell.write("good.py", GOOD + REFUSED.replace("import hashlib", "", 1))
    assert shell.convert("good.py", "--output-format", "json", verify=True) == 1
    report = json.loads(shell.out)
    assert set(report) == {"modules"}
    (module,) = report["modules"]
    assert set(module) == {"source", "output", "functions"}
    assert (module["source"], module["output"]) == ("good.py", "good_cuda.py")
    double, total, digest = module["functions"]
    assert {frozenset(f) for f in module["functions"]} == {frozenset(FUNCTION_KEYS)}
    assert [f["status"] for f in module["functions"]] == ["converted", "converted", "refused"]
    assert double["signature"] == total["signature"] == "float64[:]"
    assert double["assumed"] == ["x is a 1-D array of float64"]
    assert double["kernels"] == ["double_kernel"]
    assert {frozenset(e) for e in double["evidence"]} == {
        frozenset({"on", "status", "cases", "detail"})
    }
    assert (digest["evidence"], digest["kernels"]) == ([], [])
    assert {frozenset(d) for d in digest["diagnostics"]} == {frozenset(DIAGNOSTIC_KEYS)}
    assert {d["function"] for d in digest["diagnostics"]} == {"digest"}


def test_json_stays_json_whatever_happens(shell: Shell) -> None:
    shell.write("broken.py", "def f(:\n")
    shell.write("good.py", GOOD)
    assert shell.convert("broken.py", "good.py", "--output-format", "json") == 1
    modules = json.loads(shell.out)["modules"]
    assert [m["output"] for m in modules] == [None, "good_cuda.py"]
    assert shell.convert("good.py", "--output-format", "json", "--check") == 0
    assert json.loads(shell.out)["modules"][0]["output"] == "good_cuda.py"


def test_concise_gives_a_line_for_each_diagnostic(shell: Shell) -> None:
    shell.write("bad.py", REFUSED)
    assert shell.convert("bad.py", "--output-format", "concise") == 1
    lines = [line for line in shell.out.splitlines() if "PRT901" in line]
    assert len(lines) == 1
    assert lines[0].startswith("bad.py:7:12: PRT901 ")


# -- which functions -----------------------------------------------------------------------------


def test_f_picks_functions(shell: Shell) -> None:
    shell.write("good.py", GOOD + REFUSED)
    assert shell.convert("good.py", "-f", "total") == 0
    header = parse((shell.folder / "good_cuda.py").read_text())
    assert header is not None
    assert [f.name for f in header.functions] == ["total"]
    assert shell.convert("good.py", "-f", "total", "-f", "double") == 0
    assert shell.convert("good.py", "-f", "digest") == 1


def test_unknown_function_is_a_usage_error(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-f", "missing") == 2
    assert shell.error() == "no function `missing` in good.py"
    assert shell.files() == ["good.py", "pyproject.toml"]


def test_methods_are_converted_by_name_only(shell: Shell) -> None:
    shell.write("m.py", METHOD)
    assert shell.convert("m.py") == 0
    assert "Filter.smooth is a method: name it with -f to convert it" in shell.out
    assert shell.files() == ["m.py", "pyproject.toml"]
    assert shell.convert("m.py", "-f", "Filter.apply") in (0, 1)
    assert "Filter.apply" in shell.out
    assert shell.convert("m.py", "-f", "Filter.smooth", "-f", "Filter.nothing") == 2
    assert "no function `Filter.nothing`" in shell.err


def test_kernels_and_functions_without_arrays_are_left_alone(shell: Shell) -> None:
    shell.write(
        "mixed.py",
        "from numba import cuda\nimport numpy as np\n\n\n@cuda.jit\ndef k(x):\n    x[0] = 1\n\n\n"
        "def area(r: float) -> float:\n    return 3.14 * r * r\n\n\n"
        "def double(x):\n    return np.exp(x) * 2\n",
    )
    assert shell.convert("mixed.py") == 0
    assert "k is a kernel or ufunc already: not converted" in shell.out
    assert "area does not compute with arrays: not converted" in shell.out
    assert "converted double" in shell.out


def test_refused_function_is_named_with_its_liftable_loop(shell: Shell) -> None:
    shell.write("bad.py", REFUSED)
    assert shell.convert("bad.py") == 1
    assert "error[PRT901]: `hashlib.md5` cannot be converted to a kernel" in shell.out
    assert "--> bad.py:7:12" in shell.out
    assert "advice[PRT201]: loop over `i`" in shell.out
    assert "--> bad.py:5:5" in shell.out
    assert "refused digest" in shell.out
    assert shell.files() == ["bad.py", "pyproject.toml"]


def test_a_refused_function_does_not_keep_the_others_back(shell: Shell) -> None:
    shell.write("good.py", GOOD + REFUSED)
    assert shell.convert("good.py") == 1
    header = parse((shell.folder / "good_cuda.py").read_text())
    assert header is not None
    assert [f.name for f in header.functions] == ["double", "total"]
    assert "digest" not in (shell.folder / "good_cuda.py").read_text()


# -- processes -----------------------------------------------------------------------------------


IMPORTED = """
import sys
from porter.cli import main
try:
    main(["convert", *sys.argv[1:]])
finally:
    loaded = {m.split(".")[0] for m in sys.modules} & {"numba", "numba_cuda", "click"}
    print("loaded:", sorted(loaded), file=sys.stderr)
"""


def test_numba_is_imported_in_child_processes_only(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    done = porter(shell, "good.py", code=IMPORTED)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "loaded: []"
    assert "verified on the simulator" in done.stdout


def test_the_users_file_is_not_run_by_the_conversion(shell: Shell) -> None:
    shell.write("good.py", "open('ran', 'w').close()\n" + GOOD)
    assert shell.convert("good.py", "-f", "double", verify=True) == 0
    assert "ran" not in shell.files()


def test_progress_and_results_are_on_different_streams(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    done = porter(shell, "convert", "good.py", "--no-verify", "-o", "-")
    assert done.returncode == 0
    compile(done.stdout, "stdout", "exec")
    assert "\x1b" not in done.stdout + done.stderr
