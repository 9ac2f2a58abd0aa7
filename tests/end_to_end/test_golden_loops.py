"""The modules of loops generated from `examples/`, as they are committed in `tests/golden/loops/`.

`porter convert examples/[^m]*.py examples/ma*.py --target loops -o tests/golden/loops` makes them.
Only kernels draw random numbers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter.codegen.module.header import is_edited, parse
from porter.verify.run import verify_module
from tests.support.paths import EXAMPLES, GOLDEN, ROOT
from tests.support.sampling import one_in

FOLDER = GOLDEN / "loops"
MODULES = sorted(FOLDER.glob("*_loops.py"))
REFUSED = ("md5_blocks", "monte_carlo_pi")


def without_evidence(text: str) -> str:
    """A module's text without the header lines that depend on what is installed."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# porter: verified "))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `convert` makes of the examples now."""
    place = tmp_path_factory.mktemp("made") / "a" / "b"
    place.parent.mkdir()
    sources = [str(p) for p in sorted(EXAMPLES.glob("*.py")) if p.stem not in REFUSED]
    command = [sys.executable, "-m", "porter", "convert", *sources, "--target", "loops"]
    done = subprocess.run(
        [*command, "--no-verify", "-o", str(place)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return place


def test_every_example_but_the_refused_ones_has_a_golden_module() -> None:
    wanted = [f"{p.stem}_loops" for p in sorted(EXAMPLES.glob("*.py")) if p.stem not in REFUSED]
    assert [p.stem for p in MODULES] == wanted


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_golden_module_is_what_convert_writes(path: Path, made: Path) -> None:
    old, new = (without_evidence(p.read_text("utf-8")) for p in (path, made / path.name))
    wanted = [line for line in old.splitlines() if not line.startswith("# porter: source")]
    assert [line for line in new.splitlines() if not line.startswith("# porter: source")] == wanted
    header = parse(path.read_text("utf-8"))
    assert header is not None
    assert not is_edited(path.read_text("utf-8"))
    assert header.source == f"../../../examples/{path.stem.removesuffix('_loops')}.py"
    for f in header.functions:
        # those of the form on the host, too
        assert f.verified == (f"cpu {24 * (1 + len(f.forms))} cases",) or "where" in f.verified[0]


def test_ruff_finds_nothing_to_format_and_no_unused_name() -> None:
    files = [str(path) for path in MODULES]
    for command in (["format", "--check"], ["check", "--select", "F"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", *files],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    # conversion verified them as well: one in six here
    one_in(6, MODULES),
    ids=lambda p: p.stem,
)
def test_golden_module_is_verified(path: Path) -> None:
    for function in verify_module(path):
        assert function.verified, function
