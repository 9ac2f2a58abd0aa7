"""What analyze says of everything that five tutorials show, rewritten in `tests/seeds`.

The expectations were decided by reading the code, not by running porter: for each function its
verdict and stage, and every finding with the line it stands at.  Functions that drive a GPU
already (they launch kernels or call CuPy) and functions that work on no arrays get no verdict.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from porter.rules.engine import Analysis, analyze
from porter.rules.fixes import apply_fixes
from porter.source.files import SourceFile
from tests.support.paths import TESTS

SEEDS = TESTS / "seeds"
KERNEL, MOVED = ("kernel", "CUDA"), ("kernel", "data movement")
REFUSED, CONVERTIBLE = ("refused", "nopython"), ("convertible", "nopython")
OBJECTS = ("refused", "object mode")
HELPER = ("device function", "nopython")
DEVICE = ("device function", "CUDA")
UFUNC = ("ufunc", "nopython")
CUDA_UFUNC = ("ufunc", "CUDA")
SQUASH = "return (exp(values) - exp(-values)) / (exp(values) + exp(-values))"


@dataclass(frozen=True)
class Expected:
    """Verdict and stage of each function; code, line and function of each finding."""

    functions: dict[str, tuple[str, str]] = field(default_factory=dict)
    findings: tuple[tuple[str, str, str], ...] = ()


EXPECTED = {
    "basics": Expected(
        {
            "bubble": OBJECTS,
            "bubble_cuda": KERNEL,
            "third": HELPER,
            "bubble_nopython": REFUSED,
            "plus": UFUNC,
            "increment": KERNEL,
            "double": KERNEL,
            "double_2d": MOVED,
            "grow": DEVICE,
            "grow_all": KERNEL,
        },
        (
            # a sort whose steps depend on each other: refused, and wrong under @cuda.jit
            ("PRT904", "a[i] = a[i + 1]", "bubble"),
            ("PRT401", "a[i] = a[i + 1]", "bubble_cuda"),
            ("PRT904", "a[i] = a[i + 1]", "bubble_nopython"),
            # 256 elements
            ("PRT705", "increment[blocks_per_grid, threads_per_block](data)", ""),
            ("PRT705", "double[blocks_per_grid, threads_per_block](data)", ""),
            # the x axis of the grid is the rows of a C-ordered array
            ("PRT604", "row, column = cuda.grid(2)", "double_2d"),
            # the planted mistake
            ("PRT601", "grow_all[threads_per_block, blocks_per_grid](a, b, grown)", ""),
        ),
    ),
    "hidden_start": Expected(
        {"scale": KERNEL, "weight": KERNEL, "squash": KERNEL},
        (
            ("PRT301", "return greys / 255.0", "scale"),
            ("PRT301", "return values * weights", "weight"),
            ("PRT301", SQUASH, "squash"),
            # numpy.exp is for the CPU, four times
            *[("PRT303", SQUASH, "squash")] * 4,
        ),
    ),
    "hidden_done": Expected({"scale": MOVED, "weight": MOVED, "squash": MOVED}),
    "intro": Expected(
        {
            "hypotenuse": HELPER,
            "estimate_pi": CONVERTIBLE,
            "lookup_jit": REFUSED,
            "lookup_nopython": REFUSED,
            "lookup_njit": REFUSED,
            "plus_ten": UFUNC,
            "plus": CUDA_UFUNC,
            "bell": CUDA_UFUNC,
            "cpu_bell": UFUNC,
            "cartesian": DEVICE,
            "distance": CUDA_UFUNC,
            "suppress": UFUNC,
            "suppress_cuda": CUDA_UFUNC,
            "add": CUDA_UFUNC,
            "pulses": CUDA_UFUNC,
            "length": CUDA_UFUNC,
        },
        (
            ("PRT103", 'lookup_jit(dict(key="value"))', ""),
            ("PRT103", 'lookup_nopython(dict(key="value"))', ""),
            ("PRT103", 'lookup_njit(dict(key="value"))', ""),
            # four elements
            ("PRT705", "plus(p, q)", ""),
            # float32 functions that compute in float64; the last operation is narrowed again
            (
                "PRT701",
                "return math.exp(-0.5 * ((x - centre) / width) ** 2) / (width * ROOT_2PI)",
                "bell",
            ),
            ("PRT701", "return ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5", "distance"),
            *[("PRT701", "return max(math.sin(i / period) - 0.3, 0.0) * amplitude", "pulses")] * 2,
            # the planted mistake: the result of one ufunc goes home before it goes to the next
            ("PRT501", "signal = add(train, noise)", ""),
        ),
    ),
    "porting": Expected(
        {
            "digest": OBJECTS,
            "squares": CONVERTIBLE,
            "digest_outlined": OBJECTS,
            "rows_by_mean": CONVERTIBLE,
            "rows_by_mean_cuda": KERNEL,
            "rows_by_mean_scalar": KERNEL,
            "increment": ("kernel", "asynchronous"),
            "pi_parts": KERNEL,
            "total": DEVICE,
            "nearest": DEVICE,
            "round_all": KERNEL,
            "add_trace": CONVERTIBLE,
            "add": MOVED,
            "add_one": MOVED,
            "fill": KERNEL,
        },
        (
            ("PRT201", "for i in range(len(x)):", "digest"),
            ("PRT101", "return hashlib.md5(x).digest()", "digest"),
            ("PRT101", "return hashlib.md5(x).digest()", "digest_outlined"),
            # no guard, but the launch has a thread for each of the 32 rows
            ("PRT302", "x[i, :] = x[i, :] / x[i, :].mean()", "rows_by_mean_cuda"),
            ("PRT705", "rows_by_mean_cuda[1, 32](x)", ""),
            # the planted mistakes: no guard, although the grid is computed; no stream
            ("PRT402", "data[i] = data[i] + by", "increment"),
            ("PRT503", "d_a.copy_to_host(a)", ""),
            # the first of two timings
            ("PRT702", "add_trace(square)", ""),
        ),
    ),
    "slides": Expected({"matmul": MOVED, "sum_of_squares": MOVED, "divide": MOVED, "blur": KERNEL}),
    "vectors": Expected({"_add_vectors": MOVED}),
}
#: each planted mistake: its file, a part of its line, and the code that must be there
PLANTED = [
    ("basics", "grow_all[threads_per_block", "PRT601"),
    ("basics", "a[i] = a[i + 1]", "PRT401"),
    ("porting", "data[i] = data[i] + by", "PRT402"),
    ("porting", "d_a.copy_to_host(a)", "PRT503"),
    ("hidden_start", "return greys / 255.0", "PRT301"),
    ("hidden_start", "return values * weights", "PRT301"),
    ("hidden_start", SQUASH, "PRT301"),
    ("intro", "signal = add(train, noise)", "PRT501"),
]


def seed(name: str) -> SourceFile:
    return SourceFile(f"{name}.py", (SEEDS / f"{name}.py").read_text("utf-8"))


def findings(source: SourceFile, analysis: Analysis) -> list[tuple[str, str, str]]:
    return [
        (d.code, source.lines[d.span.line - 1].strip(), d.function) for d in analysis.diagnostics
    ]


def test_every_seed_is_expected() -> None:
    assert {p.stem for p in SEEDS.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_verdicts(name: str) -> None:
    verdicts = {v.name: (v.verdict, v.stage) for v in analyze(seed(name)).listed}
    assert verdicts == EXPECTED[name].functions


@pytest.mark.parametrize("name", EXPECTED)
def test_findings(name: str) -> None:
    source = seed(name)
    assert sorted(findings(source, analyze(source))) == sorted(EXPECTED[name].findings)


@pytest.mark.parametrize(("name", "line", "code"), PLANTED)
def test_planted_mistakes(name: str, line: str, code: str) -> None:
    source = seed(name)
    assert any(c == code and line in text for c, text, _ in findings(source, analyze(source)))


@pytest.mark.parametrize("name", EXPECTED)
def test_fixes_are_done_once_and_keep_what_is_around(name: str) -> None:
    source = seed(name)
    text, _ = apply_fixes(source, analyze(source).diagnostics, unsafe=True)
    ast.parse(text)
    assert comments(text) == comments(source.text)
    again = SourceFile(source.path, text)
    left = {d.code for d in analyze(again).diagnostics if d.fix is not None}
    assert left == set()
    assert apply_fixes(again, analyze(again).diagnostics, unsafe=True) == (text, 0)


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


BROKEN = """\
import time

import numpy as np
from numba import cuda, float32, void


@cuda.jit(void(float32[:], float32[:]))
def halve(x, out):
    i = cuda.grid(1)  # one element each
    out[i] = max(x[i] - 1.0, 0.5) ** 2


def run(n):
    x = np.arange(n, dtype=np.float32)
    out = np.empty(n, dtype=np.float32)
    d_x = cuda.to_device(x)
    d_out = cuda.to_device(out)
    threads = 32
    blocks = (n + threads - 1) // threads
    begun = time.perf_counter()
    halve[threads, blocks](d_x, d_out)
    took = time.perf_counter() - begun
    assert took > 0
    d_out.copy_to_host(out)
    assert np.allclose(out, np.maximum(x - 1, 0.5) ** 2)


run(50)
print("right")
"""
FIXED = {"PRT402", "PRT504", "PRT601", "PRT701", "PRT703"}


def test_fixed_code_runs_right(tmp_path: Path) -> None:
    """A kernel with a mistake of each kind, repaired, gives NumPy's result on the simulator."""
    source = SourceFile("broken.py", BROKEN)
    assert {d.code for d in analyze(source).diagnostics if d.fix is not None} == FIXED
    while True:
        text, count = apply_fixes(source, analyze(source).diagnostics, unsafe=True)
        if not count:
            break
        source = SourceFile("broken.py", text)
    assert "# one element each" in source.text
    assert not FIXED & {d.code for d in analyze(source).diagnostics}
    assert simulate(tmp_path, BROKEN).returncode != 0
    done = simulate(tmp_path, source.text)
    assert (done.stdout, done.returncode) == ("right\n", 0), done.stderr


def simulate(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text, "utf-8")
    environment = {"NUMBA_ENABLE_CUDASIM": "1", "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
