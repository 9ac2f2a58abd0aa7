"""What `porter analyze` writes for other programs: GitHub's workflow commands and SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from porter.cli import main
from porter.diagnostics import Diagnostic, Note, Severity, Span
from porter.output.github import as_github
from porter.output.sarif import as_sarif
from porter.rules.engine import Analysis, analyze
from porter.source.files import SourceFile, read

SCHEMA = json.loads(
    (Path(__file__).parent / "schemas" / "sarif-schema-2.1.0.json").read_text("utf-8")
)
KERNEL = """\
from numba import cuda


@cuda.jit
def weigh(values, weights):
    return values * weights


def run(x, d, stream):
    scale[32, 1024, stream](x, d)
    return d.copy_to_host()
"""
#: as Jupyter writes it (lines of a cell are items of a list), a cell as one string, and an
#: output that repeats the source
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Kernels\n", "ümlaut"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"output_type": "stream", "text": ["from numba import cuda"]}],
            "source": ["from numba import cuda"],
        },
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["@cuda.jit\n", 'def f(x, y="é"):\n', "    return x * 2"],
        },
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": "def g(:\n    pass"},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, and a folder of it that we work in."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(["analyze", *arguments])
    assert isinstance(done.value.code, int)
    return done.value.code


def finding(**changes: Any) -> Analysis:
    text = "a = 1\nb = 2\nc = 3\n"
    given: dict[str, Any] = {
        "code": "PRT301",
        "name": "kernel-returns-value",
        "message": "kernel `f` returns a value",
        "span": Span(1, 1, 1, 6),
        "path": "a.py",
        **changes,
    }
    return Analysis(SourceFile(given["path"], text), (Diagnostic(**given),))


# -- GitHub -----------------------------------------------------------------------------------


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner reads it: it undoes the escapes."""
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert match is not None
    pairs = (p.split("=", 1) for p in match[2].split(","))
    return match[1], {k: unquote(v) for k, v in pairs}, unquote(match[3])


def test_github_says_where_and_what(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(KERNEL)
    assert run("a.py", "--output-format", "github", "--select", "PRT301") == 1
    (line,) = capsys.readouterr().out.splitlines()
    command, fields, message = parsed(line)
    assert command == "error"
    assert fields == {
        "title": "porter (PRT301)",
        "file": "src/a.py",
        "line": "6",
        "col": "5",
        "endLine": "6",
        "endColumn": "28",
    }
    assert message.startswith("a.py:6:5: PRT301 kernel `weigh` returns a value\nhelp: ")


def test_github_escapes_what_would_end_a_command(repo: Path) -> None:
    hostile = finding(path="a,b:c%.py", message="100 % of\r\nx::error::y", help="::stop")
    (line,) = as_github([hostile]).splitlines()
    _, fields, message = parsed(line)
    assert fields["file"] == "src/a,b:c%.py"
    assert "file=src/a%2Cb%3Ac%25.py," in line
    assert message == "a,b:c%.py:1:1: PRT301 100 % of\r\nx::error::y\nhelp: ::stop"


def test_github_has_a_command_for_each_severity(repo: Path) -> None:
    text = as_github([finding(severity=s) for s in Severity])
    assert [line.split()[0] for line in text.splitlines()] == ["::error", "::warning", "::notice"]


def test_github_takes_no_columns_of_several_lines(repo: Path) -> None:
    _, fields, _ = parsed(as_github([finding(span=Span(1, 3, 3, 2))]).strip())
    assert (fields["line"], fields["endLine"]) == ("1", "3")
    assert "col" not in fields and "endColumn" not in fields


def test_a_file_outside_of_the_repository_has_its_full_path(repo: Path) -> None:
    _, fields, _ = parsed(as_github([finding(path="../../else/a.py")]).strip())
    assert fields["file"] == str(repo.parent / "else" / "a.py")


# -- SARIF ------------------------------------------------------------------------------------


def sarif(*analyses: Analysis) -> dict[str, Any]:
    """The only run of a log that is valid."""
    log = json.loads(as_sarif(analyses))
    validator = jsonschema.Draft4Validator(
        SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    )
    validator.validate(log)
    (only,) = log["runs"]
    assert isinstance(only, dict)
    return only


def test_sarif_is_valid_and_complete(repo: Path) -> None:
    Path("a.py").write_text(KERNEL)
    found = analyze(read("a.py"))
    assert {d.code for d in found.diagnostics} >= {"PRT301"}
    log = sarif(found)
    assert len(log["results"]) == len(found.diagnostics)
    assert log["originalUriBaseIds"]["SRCROOT"]["uri"] == repo.as_uri() + "/"
    result = next(r for r in log["results"] if r["ruleId"] == "PRT301")
    rule = log["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == "PRT301" and rule["name"] == "KernelReturnsValue"
    assert rule["help"]["markdown"].startswith("## What it does")
    assert rule["help"]["text"].startswith("What it does")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 6, "startColumn": 5, "endLine": 6, "endColumn": 28},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "weigh"


def test_sarif_on_the_command_line(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(KERNEL)
    assert run("a.py", "--output-format", "sarif", "--output-file", "log.sarif") == 1
    assert capsys.readouterr().out == ""
    jsonschema.validate(json.loads(Path("log.sarif").read_text("utf-8")), SCHEMA)


def test_sarif_without_findings_is_valid(repo: Path) -> None:
    log = sarif(analyze(SourceFile("a.py", "x = 1\n")))
    assert log["results"] == [] and log["tool"]["driver"]["rules"] == []


def test_sarif_says_that_porter_failed(repo: Path) -> None:
    log = sarif(Analysis(SourceFile("a.py", ""), problems=("a.py:1: porter failed on `f`",)))
    (invocation,) = log["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith("a.py:1: ")


def fingerprints(text: str) -> dict[str, list[str]]:
    results = sarif(analyze(SourceFile("a.py", text)))["results"]
    known: dict[str, list[str]] = {}
    for r in results:
        known.setdefault(r["ruleId"], []).append(r["partialFingerprints"]["porter/v1"])
    return known


def test_fingerprints_stay_when_lines_move(repo: Path) -> None:
    before = fingerprints(KERNEL)
    moved = KERNEL.replace("def weigh", "# a new line\ndef weigh").replace(
        "    return values * weights", "\n    return values  *  weights"
    )
    assert before and fingerprints("import os\n\n\n" + moved) == before
    assert fingerprints(KERNEL.replace("values * weights", "weights"))["PRT301"] != before["PRT301"]


def test_equal_findings_have_different_fingerprints(repo: Path) -> None:
    twice = KERNEL + KERNEL.partition("\n\n\n")[2]
    (first, second), before = fingerprints(twice)["PRT301"], fingerprints(KERNEL)["PRT301"]
    assert [first] == before and second != first


def test_notes_are_related_locations(repo: Path) -> None:
    log = sarif(finding(notes=(Note(Span(2, 1, 2, 2), "read here"),)))
    (note,) = log["results"][0]["relatedLocations"]
    assert note["message"]["text"] == "read here"
    assert note["physicalLocation"]["region"]["startLine"] == 2


def test_levels(repo: Path) -> None:
    log = sarif(*(finding(severity=s, path=f"{s.value}.py") for s in Severity))
    assert [r["level"] for r in log["results"]] == ["error", "warning", "note"]


def test_paths_are_uris(repo: Path) -> None:
    inside, outside = sarif(finding(path="ä b#.py"), finding(path="../../x y.py"))["artifacts"]
    assert inside["location"] == {"uri": "src/%C3%A4%20b%23.py", "uriBaseId": "SRCROOT"}
    assert outside["location"] == {"uri": (repo.parent / "x y.py").as_uri()}


def test_a_fix_gives_the_text_that_fix_writes(repo: Path) -> None:
    swapped = (
        "from numba import cuda\n\n\n@cuda.jit\ndef f(x):\n    i = cuda.grid(1)\n"
        "    if i < x.size:\n        x[i] = 1\n\n\ndef run(x, threads, blocks):\n"
        "    f[threads, blocks](x)\n"
    )
    Path("a.py").write_text(swapped)
    (result,) = (r for r in sarif(analyze(read("a.py")))["results"] if "fixes" in r)
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    lines = swapped.splitlines(keepends=True)
    where = replacement["deletedRegion"]
    assert where["startLine"] == where["endLine"]
    line = lines[where["startLine"] - 1]
    lines[where["startLine"] - 1] = (
        line[: where["startColumn"] - 1]
        + replacement["insertedContent"]["text"]
        + line[where["endColumn"] - 1 :]
    )
    assert run("a.py", "--fix", "--unsafe-fixes", "--select", "PRT601") == 0
    assert Path("a.py").read_text() == "".join(lines) != swapped


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("ascii", [True, False])
def test_notebooks_have_the_lines_of_their_file(
    repo: Path, indent: int | None, ascii: bool
) -> None:
    text = json.dumps(NOTEBOOK, indent=indent, ensure_ascii=ascii)
    # a file of its own for each form, since what was read of a file is remembered
    path = Path(f"n{indent}{ascii}.ipynb")
    path.write_text(text, "utf-8")
    results = {r["ruleId"]: r for r in sarif(analyze(read(str(path))))["results"]}
    returns, broken = results["PRT301"], results["PRT900"]
    rows = text.splitlines()
    for result, said in ((returns, "return x * 2"), (broken, "def g(:")):
        place = result["locations"][0]["physicalLocation"]
        assert said in rows[place["region"]["startLine"] - 1]
        assert "startColumn" not in place["region"]
    names = [x["name"] for x in returns["locations"][0]["logicalLocations"]]
    assert names == ["cell 2, line 3", "f"]
