"""The floors of the package: imports go down, in no circle, and late only to start sooner."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from tests.support.paths import ROOT
from tests.tools import imports
from tests.tools.deferred import CIRCLES, DEFERRED, OPEN
from tests.tools.floors_svg import BANDS, drawing, reduced

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def patterns(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if line.strip():
            importer, arrow, imported = line.split()
            assert arrow == "->"
            yield importer, imported


def matches(pattern: tuple[str, str], late: tuple[str, str]) -> bool:
    return all(fnmatchcase(name, p) for name, p in zip(late, pattern, strict=True))


def test_imports_go_down_the_floors() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[done.stdout.find("Contracts") :]


def test_no_import_is_in_a_circle() -> None:
    found = {name for circle in imports.module_circles() for name in circle}
    known = {f"porter.{name}" for name in CIRCLES.split()}
    assert found - known == set()
    assert known - found == set(), "no longer in a circle: take them off the list"


def test_imports_inside_functions_are_listed() -> None:
    allowed = [p for text in (*DEFERRED.values(), OPEN) for p in patterns(text)]
    found = sorted({(i.importer, i.imported) for i in imports.imports() if i.when == "function"})
    assert [late for late in found if not any(matches(p, late) for p in allowed)] == []
    assert [p for p in allowed if not any(matches(p, late) for late in found)] == []


def test_the_tool_counts_every_kind_of_import() -> None:
    found = {(i.importer, i.imported, i.when) for i in imports.imports()}
    assert ("porter.__main__", "porter.cli", "module") in found
    assert ("porter.cli", "porter.commands.analyze", "function") in found
    assert ("porter.trace.lookup", "porter.trace.record", "types") in found
    assert ("porter.trace.lookup", "porter.trace.record", "function") in found


def test_circles_are_found() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("e", "f")]
    assert imports.circles(imports.graph(edges)) == [{"a", "b", "c"}, {"d", "e"}]
    assert imports.circles(imports.graph([("a", "b"), ("a", "c"), ("b", "c")])) == []


def test_the_tool_prints_the_busiest_modules(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["imports"])
    assert imports.main() == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.split()[-1:][0:1] == ["porter.diagnostics"]]
    assert [int(n) for n in rows[0][:2]] == list(imports.fan()["porter.diagnostics"])


def test_the_drawing_shows_every_floor_and_is_up_to_date() -> None:
    drawn = [name for _, _, names in BANDS for name in names.split()]
    assert sorted(drawn) == sorted(name for floor in imports.floors() for name in floor)
    picture = ROOT / "docs" / "images" / "floors.svg"
    again = "run `python -m tests.tools.imports --svg docs/images/floors.svg`"
    assert picture.read_text("utf-8") == drawing(), again
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == [("a", "b"), ("b", "c")]
