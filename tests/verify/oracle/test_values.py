"""`--trace-values`: the source line whose value a kernel gets wrong is the one that is named."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import pytest

from porter.codegen.module.header import parse
from porter.commands.verify import run as verify
from porter.options import VerifyOptions
from porter.verify.evidence import Mismatch
from porter.verify.oracle.values import Values, first_difference, watch_kernels
from porter.verify.run import verify_module
from tests.support.paths import GOLDEN


def copied(folder: Path, stem: str, lines: list[str]) -> Path:
    """A module of tests/golden with other lines, its source where it was."""
    text = "\n".join(lines) + "\n"
    header = parse(text)
    assert header is not None
    path = folder / f"{stem}_cuda.py"
    path.write_text(text.replace(header.source, str((GOLDEN / header.source).resolve())))
    return path


def mismatch(folder: Path, stem: str, old: str, new: str, on: str = "simulator") -> Mismatch:
    """What is said of a golden module with one change in its code, not in its comments."""
    lines = (GOLDEN / f"{stem}_cuda.py").read_text().splitlines()
    changed = [x if x.strip().startswith("#") else x.replace(old, new) for x in lines]
    assert changed != lines
    path = copied(folder, stem, changed)
    found = verify_module(path, on=(on,), functions=(stem,), values=True)[0].mismatch
    assert found is not None
    return found


@pytest.mark.parametrize("on", ["simulator", "emulator"])
def test_the_line_that_is_wrong(tmp_path: Path, on: str) -> None:
    found = mismatch(tmp_path, "black_scholes", "d2 = d1 - spread", "d2 = d1 + spread", on)
    assert found.values == (
        "line 32: d2 = d1 - spread",
        "  original: d2 = -0.5",
        "  kernel:   d2 = 1.5",
    )


def test_an_element_that_is_another(tmp_path: Path) -> None:
    found = mismatch(tmp_path, "mandelbrot", "a = re[j]", "a = re[0]")
    assert found.values[0].startswith("no value differs, but the kernels never have some")
    assert found.values[1].startswith("line 14: a = re[col]")


def test_no_value_has_a_name(tmp_path: Path) -> None:
    found = mismatch(tmp_path, "softmax", "largest = row_max(largest, scratch)", "pass")
    assert found.values == ("the kernels have no variable for any value of the source",)


def test_values_are_shown_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (GOLDEN / "mandelbrot_cuda.py").read_text().splitlines()
    changed = [x.replace("n += 1", "n += 2") if "#" not in x else x for x in lines]
    path = str(copied(tmp_path, "mandelbrot", changed))
    for asked in (False, True):
        options = VerifyOptions((path,), on=("simulator",), cases=4, trace_values=asked)
        assert verify(options) == 1
        said = capsys.readouterr().out
        assert ("the first value that differs:" in said) is asked
        assert ("kernel:   n = 2" in said) is asked


def test_rounding_is_no_difference() -> None:
    original, kernel = Values(), Values()
    original(2, "x", [1.0, float("nan"), 1e9])
    kernel(2, "x", 1.0000001)
    kernel(2, "x", float("nan"))
    kernel(2, "x", 1e-3)
    source = "def f(x):\n    x = g(x)\n    return x\n"
    assert first_difference(original, kernel, source, "f")[0].startswith("no value differs")
    kernel(2, "x", 2e3)
    assert first_difference(original, kernel, source, "f")[2] == "  kernel:   x = 2000.0"


def broken_lines() -> Iterator[tuple[str, str, int, list[str]]]:
    """Golden modules with one named value doubled and moved: stem, function, source line."""
    for path in sorted(GOLDEN.glob("*_cuda.py")):
        text = path.read_text()
        header = parse(text)
        assert header is not None
        tree = ast.parse(text)
        watch_kernels(text, (GOLDEN / header.source).read_text())(tree)
        for kernel in tree.body:
            if not isinstance(kernel, ast.FunctionDef):
                continue
            hosts = [r.name for r in header.functions if kernel.name.startswith(f"{r.name}_")]
            for node, hook in hooked(kernel):
                lines = text.splitlines()
                new = f"{' ' * node.col_offset}{ast.unparse(node.targets[0])} = "
                new += f"({ast.unparse(node.value)}) * 2 + 1"
                lines[node.lineno - 1 : node.end_lineno] = [new]
                line = ast.literal_eval(hook.args[0])
                yield path.stem.removesuffix("_cuda"), max(hosts, key=len), line, lines


def hooked(kernel: ast.FunctionDef) -> Iterator[tuple[ast.Assign, ast.Call]]:
    for owner in ast.walk(kernel):
        body = getattr(owner, "body", None)
        for before, after in pairwise(body) if isinstance(body, list) else ():
            call = after.value if isinstance(after, ast.Expr) else None
            if isinstance(before, ast.Assign) and isinstance(call, ast.Call):
                if getattr(call.func, "id", "") == "_porter_value":
                    yield before, call


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_every_named_value_of_the_golden_kernels(tmp_path: Path, every: int) -> None:
    wrong, count = [], 0
    for stem, name, line, lines in islice(broken_lines(), 0, None, every):
        path = copied(tmp_path, stem, lines)
        found = verify_module(path, on=("simulator",), functions=(name,), values=True)[0]
        count += 1
        if found.mismatch is None or not found.mismatch.values[0].startswith(f"line {line}:"):
            wrong.append((stem, line, found.mismatch))
    assert wrong == [] and count >= 20 // every
