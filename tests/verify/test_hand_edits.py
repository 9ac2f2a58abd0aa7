"""Golden modules edited by hand: right edits are proved, wrong ones are not, both are kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import porter
from tests.support.paths import EXAMPLES, GOLDEN, ROOT

Edits = list[tuple[str, str]]

GUARD = "    i = cuda.grid(1)\n    if 0 <= i < x.shape[0]:\n"
BODY = """        # z = (x - mean) / sigma
        z = (x[i] - mean) / sigma
        # return np.exp(-0.5 * z**2) / (sigma * SQRT_2PI)
        out[i] = math.exp(T(-0.5) * z**2) / factor
"""
EARLY = "    i = cuda.grid(1)\n    if i >= x.shape[0]:\n        return\n"
RETURN = [(GUARD, EARLY), (BODY, BODY.replace("        ", "    "))]
LIMIT = ("THREADS = 256", "MAX_BLOCKS = 65535\nTHREADS = 256")
CUT = ("[_blocks(x.shape[0], THREADS), ", "[min(_blocks(x.shape[0], THREADS), MAX_BLOCKS), ")
LEFT, RIGHT_OF = "        + u2[i + 1, j]\n", "        + u2[i + 1, j + 2]\n"
LAPLACIAN = "    laplacian = (\n"
TOTAL = "        total = T(0.0)\n"
TILES = "    ty = cuda.threadIdx.y\n"

#: what was done, to which golden module, and how
RIGHT: list[tuple[str, str, Edits]] = [
    ("another block size", "gaussian", [("THREADS = 256", "THREADS = 96")]),
    ("smaller tiles", "matmul", [("TILE = 16", "TILE = 8"), ("PADDED = 17", "PADDED = 8")]),
    ("an early return", "gaussian", RETURN),
    (
        "a loop by hand",
        "gaussian",
        [
            (GUARD, "    i = cuda.grid(1)\n    while i < x.shape[0]:\n"),
            (BODY, BODY + "        i += cuda.gridsize(1)\n"),
            LIMIT,
            CUT,
        ],
    ),
    ("a renamed variable", "softmax", [("largest", "peak")]),
    (
        "hoisted loads",
        "heat",
        [
            (LAPLACIAN, "    left, right = u2[i + 1, j], u2[i + 1, j + 2]\n" + LAPLACIAN),
            (LEFT, "        + left\n"),
            (RIGHT_OF, "        + right\n"),
        ],
    ),
]
WRONG: list[tuple[str, str, Edits]] = [
    ("the last element is left out", "gaussian", [(GUARD, GUARD.replace("0]:", "0] - 1:"))]),
    ("a grid that is cut", "gaussian", [LIMIT, CUT]),
    ("a barrier less", "softmax", [("    cuda.syncthreads()\n    width", "    width")]),
    ("scratch for half a block", "l2_norms", [("array(THREADS,", "array(THREADS // 2,")]),
    ("a wrong neighbour", "heat", [(RIGHT_OF, "        + u2[i + 1, j + 1]\n")]),
    ("an index one too large", "csr_matvec", [("k >= n:", "k > n:")]),
    ("an index one too small", "csr_matvec", [("k < -n or", "k < -n - 1 or")]),
    ("axes exchanged", "sobel", [("image[i - 1, j + 1]", "image[j - 1, i + 1]")]),
    ("hoisted too far", "matmul", [(TOTAL, ""), (TILES, TILES + "    total = T(0.0)\n")]),
    ("< for <=", "threshold", [("x[i] < t:", "x[i] <= t:")]),
]


#: those that take half a minute
LONG = (
    "< for <=",
    "a renamed variable",
    "a loop by hand",
    "an index one too large",
    "an index one too small",
    "another block size",
    "axes exchanged",
    "a barrier less",
    "hoisted loads",
    "hoisted too far",
    "one element a thread, and a grid that is cut",
    "scratch for half a block",
    "smaller tiles",
    "the last element is left out",
)


def rows(edits: list[tuple[str, str, Edits]]) -> list[Any]:
    marks = {name: [pytest.mark.long] for name in LONG}
    return [pytest.param(*row, id=row[0], marks=marks.get(row[0], [])) for row in edits]


def edited(folder: Path, name: str, edits: Edits) -> Path:
    """The golden module in a folder of its own, with its source where the header says."""
    for place in ("examples", "tests/golden"):
        (folder / place).mkdir(parents=True)
    shutil.copy(EXAMPLES / f"{name}.py", folder / "examples")
    text = (GOLDEN / f"{name}_cuda.py").read_text()
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "tests" / "golden" / f"{name}_cuda.py"
    path.write_text(text)
    return path


def verified(path: Path) -> tuple[int, dict[str, set[str]], list[Any]]:
    """The exit code of `porter verify`, what it said by kind of proof, and the differences."""
    where = ["--on", "simulator", "--on", "emulator"]
    done = porter(ROOT, "verify", str(path), *where, "--cases", "12", "--output-format", "json")
    functions = json.loads(done.stdout)["modules"][0]["functions"]
    said: dict[str, set[str]] = {}
    for evidence in (e for f in functions for e in f["evidence"]):
        said.setdefault(evidence["on"], set()).add(evidence["status"])
    return done.returncode, said, [f["mismatch"] for f in functions if f["mismatch"]]


def assert_kept(path: Path, name: str) -> None:
    """`porter convert` does not overwrite the module."""
    mine = path.read_text()
    source = path.parents[2] / "examples" / f"{name}.py"
    done = porter(ROOT, "convert", str(source), "-o", str(path), "--no-verify")
    assert done.returncode == 2
    assert "was edited by hand" in done.stderr and "--force" in done.stderr
    assert path.read_text() == mine


@pytest.mark.long
@pytest.mark.parametrize(("what", "name", "edits"), rows(RIGHT))
def test_a_right_edit_is_verified(tmp_path: Path, what: str, name: str, edits: Edits) -> None:
    path = edited(tmp_path, name, edits)
    code, said, differences = verified(path)
    assert said == {"simulator": {"passed"}, "emulator": {"passed"}}, differences
    assert code == 0 and not differences
    assert_kept(path, name)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "name", "edits"), rows(WRONG))
def test_a_wrong_edit_is_not(tmp_path: Path, what: str, name: str, edits: Edits) -> None:
    path = edited(tmp_path, name, edits)
    code, said, differences = verified(path)
    # another function of the module may be right
    assert "failed" in said["simulator"] and "failed" in said["emulator"], (what, said)
    assert code == 1 and differences
    assert_kept(path, name)


@pytest.mark.long
def test_a_kernel_that_wants_its_own_blocks_is_run_by_the_emulator(tmp_path: Path) -> None:
    """Its stride is right for blocks of 256 threads only."""
    stride = "    for i in range(cuda.grid(1), x.shape[0], 256 * cuda.gridDim.x):\n"
    path = edited(tmp_path, "gaussian", [(GUARD, stride), LIMIT, CUT])
    done = porter(ROOT, "verify", str(path), "--output-format", "json")
    (function,) = json.loads(done.stdout)["modules"][0]["functions"]
    evidence = {e["on"]: e for e in function["evidence"]}
    assert done.returncode == 0, function["mismatch"]
    assert evidence["emulator"]["status"] == evidence["simulator"]["status"] == "passed"
    assert evidence["simulator"]["detail"]["own_blocks"]
    # as it was written, the simulator suffices
    shutil.copy(GOLDEN / "gaussian_cuda.py", path)
    done = porter(ROOT, "verify", str(path), "--output-format", "json")
    (function,) = json.loads(done.stdout)["modules"][0]["functions"]
    evidence = {e["on"]: e for e in function["evidence"]}
    assert evidence.keys() == {"simulator", "emulator", "ptx"}
    assert evidence["emulator"]["detail"]["joined"]


#: a function, an edit that is right with NumPy's numbers only, and what shows it
NUMBERS = [
    # Numba's variable has 64 bits, where uint8 wraps around
    pytest.param("w: 'uint8[:, :]'", "np.dot(w, w[0]).sum()", "I(total2 + I(w[i, j] * w[0, j]))",
                 "total2 + I(w[i, j] * w[0, j])", "emulator", marks=pytest.mark.long),
    # of the least int64 and -1 Numba gives 0
    ("x: 'int64[:]', y: 'int64[:]'", "x // y", "-a if b == -1 else a // b", "a // b", "simulator"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "result", "old", "new", "shows"), NUMBERS)
def test_numbers_are_the_compilers(
    tmp_path: Path, given: str, result: str, old: str, new: str, shows: str
) -> None:
    source, path = tmp_path / "whole.py", tmp_path / "whole_cuda.py"
    source.write_text(f"import numpy as np\n\n\ndef f({given}):\n    return {result}\n")
    assert porter(ROOT, "convert", str(source)).returncode == 0
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    done = porter(ROOT, "verify", str(path), "--output-format", "json")
    (function,) = json.loads(done.stdout)["modules"][0]["functions"]
    evidence = {e["on"]: e["status"] for e in function["evidence"]}
    assert done.returncode == 1 and evidence[shows] == "failed"
    assert shows == "simulator" or evidence["simulator"] == "passed"


def test_force_overwrites_it(tmp_path: Path) -> None:
    _, name, edits = WRONG[0]
    path = edited(tmp_path, name, edits)
    source = tmp_path / "examples" / f"{name}.py"
    done = porter(ROOT, "convert", str(source), "-o", str(path), "--no-verify", "--force")
    assert done.returncode == 0, done.stderr
    assert GUARD in path.read_text()
