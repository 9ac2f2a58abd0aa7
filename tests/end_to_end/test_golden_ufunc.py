"""The modules of ufuncs generated from `examples/`, as they are committed in `tests/golden/ufunc/`.

`porter convert --target ufunc -o tests/golden/ufunc` of the examples of `EXPRESSIBLE` makes them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter.codegen.module.header import is_edited, parse
from porter.verify.run import verify_module
from tests.support.paths import EXAMPLES, GOLDEN, ROOT

FOLDER = GOLDEN / "ufunc"
MODULES = sorted(FOLDER.glob("*_ufunc.py"))
EXPRESSIBLE = ("black_scholes", "gaussian", "hidden_layer", "threshold")


def own_lines(text: str) -> list[str]:
    """A module's lines without those that depend on what is installed and where it stands."""
    apart = ("# porter: verified ", "# porter: source ")
    return [line for line in text.splitlines() if not line.startswith(apart)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `convert` makes of the examples now."""
    place = tmp_path_factory.mktemp("made")
    sources = [str(EXAMPLES / f"{stem}.py") for stem in EXPRESSIBLE]
    command = [sys.executable, "-m", "porter", "convert", *sources, "--target", "ufunc"]
    done = subprocess.run(
        [*command, "--no-verify", "-o", str(place)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return place


def test_every_example_that_is_elementwise_has_a_golden_module() -> None:
    assert [p.stem for p in MODULES] == [f"{stem}_ufunc" for stem in EXPRESSIBLE]
    page = (ROOT / "docs" / "targets.md").read_text("utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|") and ".py`" in line]
    rows = [[c.strip() for c in line.split("|")] for line in lines]
    column = next(line for line in page.splitlines() if line.startswith("| example"))
    at = [c.strip() for c in column.split("|")].index("`ufunc`")
    told = {row[1].strip("`").removesuffix(".py") for row in rows if row[at] == "converted"}
    assert told == set(EXPRESSIBLE)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_golden_module_is_what_convert_writes(path: Path, made: Path) -> None:
    old, new = (own_lines(p.read_text("utf-8")) for p in (path, made / path.name))
    assert new == old
    header = parse(path.read_text("utf-8"))
    assert header is not None
    assert header.target == "ufunc"
    assert not is_edited(path.read_text("utf-8"))
    assert all("cpu 24 cases" in f.verified for f in header.functions)


def test_ruff_finds_nothing_to_format_and_no_unused_name() -> None:
    files = [str(path) for path in MODULES]
    for command in (["format", "--check"], ["check", "--select", "F"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", *files],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_golden_module_is_verified(path: Path) -> None:
    for function in verify_module(path):
        assert function.verified, function
