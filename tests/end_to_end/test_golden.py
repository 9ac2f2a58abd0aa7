"""The modules generated from `examples/`, as they are committed in `tests/golden/`.

`porter convert examples -o tests/golden` makes them anew.
"""

from __future__ import annotations

import ast
import builtins
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from porter.codegen.module.header import is_edited, parse
from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module
from tests.support.paths import EXAMPLES, GOLDEN, ROOT
from tests.support.sampling import one_in

MODULES = sorted(GOLDEN.glob("*_cuda.py"))
SOURCES = sorted(EXAMPLES.glob("*.py"))
REFUSED = "md5_blocks"
ARCHITECTURES = ["sm_75", "sm_80", "sm_90"]


def named(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def without_evidence(text: str) -> str:
    """A module's text without the header lines that depend on what is installed."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# porter: verified "))


def converted(place: Path, seed: str, every: int = 1) -> dict[str, str]:
    """What `convert` makes of examples, by file name; in a child, with its own hash seed."""
    (place / "examples").mkdir()
    for path in SOURCES[::every]:
        shutil.copy(path, place / "examples")
    (place / "tests").mkdir()
    command = [sys.executable, "-m", "porter", "convert", "examples", "--no-verify"]
    done = subprocess.run(
        [*command, "-o", "tests/golden"],
        cwd=place,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    refused = any(path.stem == REFUSED for path in SOURCES[::every])
    assert done.returncode == refused, done.stderr
    folder = place / "tests" / "golden"
    return {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return converted(tmp_path_factory.mktemp("made"), "1")


def test_every_example_but_the_refused_one_has_a_golden_module() -> None:
    expected = [f"{path.stem}_cuda" for path in SOURCES if path.stem != REFUSED]
    assert named(MODULES) == expected


@pytest.mark.parametrize("path", MODULES, ids=named(MODULES))
def test_golden_module_is_what_convert_writes(path: Path, made: dict[str, str]) -> None:
    assert without_evidence(path.read_text("utf-8")) == made[path.name]


def test_the_same_input_gives_the_same_bytes(made: dict[str, str], tmp_path: Path) -> None:
    # the golden modules had seeds of their own
    again = converted(tmp_path, "2", every=3)
    assert again == {name: made[name] for name in again} and len(again) >= 5


@pytest.mark.parametrize("path", MODULES, ids=named(MODULES))
def test_header_is_in_order(path: Path) -> None:
    text = path.read_text("utf-8")
    header = parse(text)
    assert header is not None
    assert not is_edited(text)
    assert header.source == f"../../examples/{path.stem.removesuffix('_cuda')}.py"
    for record in header.functions:
        assert record.shapes
        assert record.verified[0].startswith("simulator ")
        assert record.verified[-1].startswith("ptx sm_75 sm_80 sm_90")


def test_ruff_finds_nothing_to_format_and_no_unused_name() -> None:
    files = [str(path) for path in MODULES]
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["format", "--check"], ["check", "--select", "F"]):
        done = subprocess.run(
            [*ruff, *command, "--isolated", "--no-cache", *files], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def loaded(tree: ast.AST) -> set[str]:
    """The names that are read anywhere below a node."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)
             and isinstance(n.ctx, ast.Load)}  # fmt: skip
    return found


def unused(text: str) -> Iterator[str]:
    """Constants, helpers, parameters and locals of a module that nothing reads."""
    tree = ast.parse(text)
    used = loaded(tree)
    public = {record.name for record in header.functions} if (header := parse(text)) else set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
            yield from (n for n in names if n not in used)
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.name not in used | public:
            yield f"{node.name}()"
        inside = loaded(node)
        arguments = [*node.args.args, *node.args.kwonlyargs]
        yield from (f"{node.name}({a.arg})" for a in arguments if a.arg not in inside)
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)}  # fmt: skip
        yield from (f"{node.name}: {n}" for n in stored - inside - {"_"})


@pytest.mark.parametrize("path", MODULES, ids=named(MODULES))
def test_every_name_of_a_module_is_used(path: Path) -> None:
    assert sorted(unused(path.read_text("utf-8"))) == []


@pytest.mark.parametrize("path", MODULES, ids=named(MODULES))
def test_kernels_use_the_users_names_and_no_builtin_is_hidden(path: Path) -> None:
    text = path.read_text("utf-8")
    header = parse(text)
    assert header is not None
    source = ast.parse((GOLDEN / header.source).resolve().read_text("utf-8"))
    theirs = {n.name: n for n in source.body if isinstance(n, ast.FunctionDef)}
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    ours = {n.name: n for n in functions}
    for record in header.functions:
        wanted = [a.arg for a in theirs[record.name].args.args]
        assert [a.arg for a in ours[record.name].args.args] == wanted
        own = ["stream", *(["seed", "states"] if record.draws else [])]
        assert [a.arg for a in ours[record.name].args.kwonlyargs] == own
        assert ast.get_docstring(ours[record.name]) == ast.get_docstring(theirs[record.name])
    hidden = {a.arg for f in functions for a in f.args.args} & set(dir(builtins))
    assert hidden == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    # conversion verified them as well: one in four here, the others with -m long
    one_in(4, MODULES),
    ids=named(MODULES),
)
def test_golden_module_is_verified(path: Path) -> None:
    header = parse(path.read_text("utf-8"))
    assert header is not None
    for function in verify_module(path):
        assert function.verified, function
        record = header.function(function.name)
        check(function, draws=bool(record and record.draws))


def check(function: FunctionEvidence, *, draws: bool) -> None:
    """At least 20 cases on the simulator; PTX for three architectures, float32 clean.

    What draws Python's random numbers, which are float64, is not asked about float32.
    """
    simulator = [e for e in function.evidence if e.on == "simulator"]
    assert [e.status for e in simulator] == ["passed"]
    assert simulator[0].cases >= 20
    ptx = [e for e in function.evidence if e.on == "ptx"]
    if any(e.status == "skipped" for e in ptx):
        pytest.skip(str(ptx[0].detail))
    assert [e.status for e in ptx] == ["passed"] * len(ARCHITECTURES)
    details = [e.detail for e in ptx]
    assert [d["arch"] for d in details if isinstance(d, dict)] == ARCHITECTURES
    assert {d["f64"] for d in details if isinstance(d, dict)} == {None if draws else 0}
    assert {d["spill_bytes"] for d in details if isinstance(d, dict)} == {0}
