"""The modules of other targets generated from `examples/`, as they are in `tests/golden/`.

`porter convert --target ufunc -o tests/golden/ufunc`, and so on, of the examples of `EXPRESSIBLE`
makes them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter.codegen.module.header import is_edited, parse
from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.run import verify_module
from tests.support.paths import EXAMPLES, GOLDEN, ROOT

EXPRESSIBLE = {
    "ufunc": ("black_scholes", "gaussian", "hidden_layer", "threshold"),
    "gufunc": ("black_scholes", "gaussian", "hidden_layer", "l2_norms", "mandelbrot", "matmul",
               "pairwise", "row_normalize", "softmax", "threshold", "zscores"),
    "cupy": ("black_scholes", "csr_matvec", "gaussian", "heat", "hidden_layer", "l2_norms",
             "mandelbrot", "matmul", "pairwise", "row_normalize", "sobel", "softmax",
             "threshold", "zscores"),
    "dask": ("black_scholes", "gaussian", "heat", "hidden_layer", "l2_norms", "mandelbrot",
             "matmul", "pairwise", "sobel", "softmax", "zscores"),
}  # fmt: skip
MODULES = [p for name in EXPRESSIBLE for p in sorted((GOLDEN / name).glob("*.py"))]


def own_lines(text: str) -> list[str]:
    """A module's lines without those that depend on what is installed and where it stands."""
    apart = ("# porter: verified ", "# porter: source ")
    return [line for line in text.splitlines() if not line.startswith(apart)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `convert` makes of the examples now."""
    place = tmp_path_factory.mktemp("made")
    for name, stems in EXPRESSIBLE.items():
        for stem in stems:
            file = EXAMPLES / f"{stem}.py"
            options = ConvertOptions((str(file),), target=name, verify=False)
            own = place / f"{stem}_{name}.py"
            made = convert_file(
                SourceFile(str(file), file.read_text()), options, Config(), own, lambda _: None
            )
            assert not made.bad, made.diagnostics
            own.write_text(made.text or "")
    return place


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_every_example_that_it_expresses_has_a_golden_module(name: str) -> None:
    own = [p.stem for p in MODULES if p.parent.name == name]
    assert own == [f"{stem}_{name}" for stem in EXPRESSIBLE[name]]
    page = (ROOT / "docs" / "targets.md").read_text("utf-8").splitlines()
    rows = [[c.strip() for c in line.split("|")] for line in page if line.startswith("|")]
    column = next(row for row in rows if row[1] == "example").index(f"`{name}`")
    cells: dict[str, set[str]] = {}
    for row in rows:
        if row[1].endswith(".py`"):
            cells.setdefault(row[1].strip("`").removesuffix(".py"), set()).add(row[column])
    told = [stem for stem, found in cells.items() if found == {"converted"}]
    assert told == [*EXPRESSIBLE[name]]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_golden_module_is_what_convert_writes(path: Path, made: Path) -> None:
    old, new = (own_lines(p.read_text("utf-8")) for p in (path, made / path.name))
    assert new == old
    header = parse(path.read_text("utf-8"))
    assert header is not None
    assert header.target == path.parent.name
    assert not is_edited(path.read_text("utf-8"))
    said = "simulator 24 cases" if header.target == "cupy" else "cpu 24 cases"
    assert all(said in f.verified for f in header.functions)


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
    # conversion verified them as well: one in twenty here, which compiles quickly
    [
        pytest.param(p, marks=[pytest.mark.long] if k % 20 != 3 else [])
        for k, p in enumerate(MODULES)
    ],
    ids=lambda p: p.stem,
)
def test_golden_module_is_verified(path: Path) -> None:
    for function in verify_module(path):
        assert function.verified, function
