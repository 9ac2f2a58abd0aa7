"""`--pipeline`: which functions run in chunks, and that chunks keep their order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from porter.convert.function import convert_function
from porter.schedule.chunked.rows import Rows, rows_of
from porter.source.module import SourceModule
from tests.support import commands
from tests.support.paths import ROOT
from tests.support.shell import Shell, porter

HEAD = "import numpy as np\n\n\n"
SOURCE = f"""{HEAD}def scaled(x, a):
    return a * np.tanh(x) + 1.0


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def shares(x):
    return x / np.abs(x).sum(axis=-1, keepdims=True)


def product(x, w):
    return np.maximum(x @ w, 0.0)


def pair(x, y):
    return x - y, x * y


def steps(x, count):
    y = np.zeros_like(x)
    for _ in range(count):
        y = 0.5 * y + x
    return y


def differences(x):
    return x[:, 1:] - x[:, :-1]
"""
SIGNATURES = {
    "scaled": "float64[:], float64",
    "softmax": "float64[:, :]",
    "shares": "float64[:, :]",
    "product": "float64[:, :], float64[:, :]",
    "pair": "float64[:, :], float64[:, :]",
    "steps": "float64[:, :], int64",
    "differences": "float64[:, :]",
}
ONE, TWO = "float64[:]", "float64[:], float64[:]"
TABLE, TABLES = "float64[:, :]", "float64[:, :], float64[:, :]"


def rows(body: str, signature: str) -> Rows | str:
    """What is said of a function of x and y."""
    lines = "\n".join(f"    {line}" for line in body.split("; "))
    names = "xy"[: signature.count("[")]
    source = f"{HEAD}def f({', '.join(names)}):\n{lines}\n"
    function = SourceModule(source, "f.py").functions[0]
    return rows_of(convert_function(function, signature).plan)


@pytest.mark.parametrize(
    ("body", "signature", "arrays"),
    [
        ("return np.sqrt(x) + 1", ONE, "x"),
        ("return x / x.sum(axis=1, keepdims=True)", TABLE, "x"),
        ("return np.cumsum(x, axis=1)", TABLE, "x"),
        ("return x @ y", TABLES, "x"),
        ("return x - y.mean()", TABLES, "x"),
        ("return x[:, ::-1] * 2", TABLE, "x"),
        ("return x + y", TWO, "xy"),
        ("return np.take_along_axis(x, y, axis=1)", "float64[:, :], int64[:, :]", "xy"),
        ("return x[y]", "float64[:], int64[:]", "y"),
    ],
)
def test_rows_of_their_own(body: str, signature: str, arrays: str) -> None:
    assert rows(body, signature) == Rows(tuple(arrays))


@pytest.mark.parametrize(
    ("body", "signature", "why"),
    [
        ("return x[1:] - x[:-1]", ONE, "axis 0 of the results is not axis 0 of an argument"),
        ("return x - x.mean()", ONE, "axis 0 of `x` is needed whole"),
        ("return x[::-1] * 2", ONE, "axis 0 of `x`"),
        ("return np.cumsum(x)", ONE, "axis 0"),
        ("return x.sum()", ONE, "a result is no array"),
        ("return np.roll(x, 1)", ONE, "axis 0 of `x`"),
        ("return x + np.arange(x.shape[0])", ONE, "positions along axis 0"),
        ("return x / x.shape[0]", ONE, "positions along axis 0"),
        ("return x + y / y.shape[0]", TWO, "axis 0"),
        ("return x / len(x)", TABLE, "positions along axis 0"),
        ("return x.T * 2", TABLE, "axis 0"),
        ("return x @ x.T", TABLE, "axis 1 of `out` depends on how long axis 0 is"),
        ("return np.cumsum(x, axis=0)", TABLE, "axis 0"),
        ("return x / x.max(axis=0)", TABLE, "axis 0"),
        ("out = np.zeros_like(x); out[1:] = x[:-1]; return out", TABLE, "axis 0"),
        ("out = np.zeros_like(x); out[0] = 1.0; return out + x", TABLE, "axis 0"),
        ("return np.random.rand(x.shape[0]) + x", ONE, "random"),
        ("x *= 2", TABLE, "stores into its argument"),
        ("x *= 2; return x", TABLE, "`x` is an argument and a result"),
        ("return np.bincount(y)[y] + x", "float64[:], int64[:]", ""),
        ("assert x.shape[0] > 3; return x * 2", TABLE, "runs on the host"),
    ],
)
def test_what_needs_all_rows_says_which_axis(body: str, signature: str, why: str) -> None:
    found = rows(body, signature)
    assert isinstance(found, str)
    assert why in found


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source and its module in a folder."""
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "functions.py").write_text(SOURCE)
    types = "".join(f'{n} = "{s}"\n' for n, s in SIGNATURES.items())
    (folder / "pyproject.toml").write_text(f"[tool.porter.signatures]\n{types}")
    done = commands.porter(folder, "convert", "functions.py", "--pipeline", "3", "--no-verify")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("large calls run in chunks of axis 0 on 3 streams") == len(SIGNATURES)
    return folder


def wrong(folder: Path, *names: str) -> str:
    """What the recorder says of the module in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.streams.pipeline_child", str(folder), *names], cwd=ROOT,
        capture_output=True, text=True, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_chunks_keep_their_order_and_overlap(converted: Path) -> None:
    """Sizes that are no multiple of anything, and fewer rows than streams."""
    assert wrong(converted) == ""


BROKEN = [
    # a buffer is filled, or results are read, before the work with it is done
    ("        finished[k].synchronize()\n", ""),
    # a chunk is copied, computed or fetched beside its own stream
    ("stream=streams[k], to=device", "stream=streams[0], to=device"),
    ("stream=streams[k], **keywords", "stream=streams[-1], **keywords"),
    ("stream=streams[k])\n            finished", "stream=streams[0])\n            finished"),
    # the wait is for something else
    ("finished[k].record(streams[k])", "finished[k].record(streams[0])"),
    # one chunk after the other
    (
        "finished[k].record(streams[k])",
        "finished[k].record(streams[k])\n            streams[k].synchronize()",
    ),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_the_recorder_notices_what_is_out_of_order(
    converted: Path, tmp_path: Path, number: int
) -> None:
    old, new = BROKEN[number]
    text = (converted / "functions_cuda.py").read_text()
    assert text.count(old) == 1
    (tmp_path / "functions.py").write_text(SOURCE)
    (tmp_path / "functions_cuda.py").write_text(text.replace(old, new))
    assert wrong(tmp_path, "pair")


def test_verification_takes_the_chunks(shell: Shell) -> None:
    """Small arrays are in chunks in some cases, so a mistake there is found."""
    shell.write("f.py", f"{HEAD}def f(x):\n    return np.tanh(x)\n")
    assert shell.convert("f.py", "--pipeline", "4", "--signature", "float64[:]", verify=True) == 0
    module = shell.folder / "f_cuda.py"
    text = module.read_text()
    assert text.count("= array[start:stop]") == 1
    module.write_text(text.replace("= array[start:stop]", "= array[: stop - start]"))
    assert porter(shell, "verify", "f_cuda.py", "--on", "simulator").returncode == 1


def test_chunks_would_wait_for_indices_that_are_tested(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x[y]\n")
    types = "float64[:], int64[:]"
    assert shell.convert("f.py", "--pipeline", "4", "--signature", types) == 0
    assert "runs whole, not in chunks: the host waits for what each launch reports" in shell.out


def test_what_runs_whole_is_said(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x):\n    return x - x.mean()\n")
    assert shell.convert("f.py", "--pipeline", "4", "--signature", "float64[:]") == 0
    assert "note: runs whole, not in chunks: axis 0 of `x` is needed whole" in shell.out
    assert "_pipelined" not in (shell.folder / "f_cuda.py").read_text()
