"""The verifier itself: right modules pass, every kind of wrong one fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest

from porter.diagnostics import UsageError
from porter.verify.compile.occupancy import ARCHITECTURES, occupancy
from porter.verify.evidence import FunctionEvidence
from porter.verify.kernels import kernels_of
from porter.verify.run import verify_module
from tests.support.paths import VERIFY_MODULES
from tests.support.verification import copy, prove

#: module, function, text of the right module, text of the wrong one
Mutant = tuple[str, str, str, str]
MUTANTS: list[Mutant] = [
    ("maps", "density", "cuda.grid(1), x.shape[0], step", "cuda.grid(1), THREADS, step"),
    ("maps", "density", "step = cuda.gridsize(1)", "step = x.shape[0]"),
    ("maps", "density", "T(-0.5) * z", "T(0.5) * z"),
    ("maps", "density", "T(-0.5) * z * z", "T(-0.500001) * z * z"),
    ("maps", "density", "device_array(n, x.dtype, s", "device_array(n, np.float64, s"),
    ("maps", "density", "T = x.dtype.type\n    step", "T = np.float32\n    step"),
    ("maps", "density", "(x[i] - mean) / sigma", "np.float32(x[i] - mean) / sigma"),
    ("maps", "difference", "if i < out.shape[0]:", "if i < out.shape[0] - 1:"),
    ("maps", "difference", "if i < out.shape[0]:", "if i <= out.shape[0]:"),
    ("maps", "difference", "grid = (n + THREADS - 1) //", "grid = max(1, n // THREADS) or"),
    ("maps", "difference", "x[i + 1] - x[i]", "x[i] - x[i - 1]"),
    ("maps", "difference", "max(x.shape[0] - 1, 0)", "x.shape[0]"),
    ("maps", "difference", "np.ascontiguousarray(x)", "np.sort(x)"),
    ("maps", "grow", "return given", "return x.copy()"),
    ("maps", "grow", "x[:] = inner.copy_to_host(stream=stream)", "pass"),
    ("maps", "grow", "amount * SCALE)", "amount)"),
    ("maps", "grow", "    if n:\n        inner", "    if True:\n        inner"),
    ("maps", "threshold", "x[i] > T(1)", "x[i] >= T(1)"),
    ("maps", "threshold", "3 if mask else 0", "3 if mask else count[i]"),
    ("maps", "threshold", "if mask else y[i]", "if mask else x[i]"),
    ("maps", "threshold", "np.int32", "np.int64"),
    ("maps", "threshold", "        return count, chosen", "        return chosen, count"),
    ("maps", "threshold", "if y.shape[0] != n:", "if y.shape[0] < n:"),
    ("rows", "softmax", "    cuda.syncthreads()\n    width = THREADS", "    width = THREADS"),
    ("rows", "softmax", "    cuda.syncthreads()\n    return", "    return"),
    ("rows", "softmax", "largest = T(-math.inf)", "largest = T(0)"),
    ("rows", "softmax", "total = T(0)\n    for j in range(t", "total = T(1)\n    for j in range(t"),
    ("rows", "softmax", "range(t, m, THREADS)", "range(t, min(m, THREADS), THREADS)"),
    ("rows", "softmax", "x[i, j] - largest", "x[i, j]"),
    ("rows", "softmax", "if x.shape[1] == 0:", "if x.shape[1] < 0:"),
    ("rows", "softmax", "if t < width:", "if t <= width:"),
    ("rows", "product", "(a.shape[1] + TILE - 1) // TILE", "a.shape[1] // TILE"),
    ("rows", "product", "left[y, s] * right[s, x]", "left[y, s] * right[x, s]"),
    ("rows", "product", "        cuda.syncthreads()\n        for s", "        for s"),
    ("rows", "product", "s, x]\n        cuda.syncthreads()", "s, x]"),
    ("rows", "product", "i < out.shape[0] and j < out.shape[1]", "i < out.shape[0]"),
    ("rows", "product", "grid = (m + TILE - 1)", "grid = (n + TILE - 1)"),
    ("rows", "product", "    for tile", "    if i >= a.shape[0]: return\n    for tile"),
    ("rows", "row_total", "indptr[i + 1]):", "indptr[i + 1] - 1):"),
    ("rows", "smooth", "device_array(n, u.dtype, stream=stream)\n    grid", "u\n    grid"),
    ("rows", "smooth", "new = cuda.device_array(n, u.dtype, stream=stream)", "new = inner"),
    ("rows", "smooth", "i < u.shape[0] - 1", "i < u.shape[0] - 2"),
]  # fmt: skip


@pytest.mark.parametrize("stem", ["maps", "rows"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_right_modules_pass(tmp_path: Path, stem: str, seed: int) -> None:
    for found in verify_module(copy(tmp_path, stem), on=("simulator",), seed=seed):
        (evidence,) = found.evidence
        assert found.mismatch is None, found.mismatch
        assert (evidence.status, evidence.cases) == ("passed", 24)
        assert evidence.detail["values"] >= 20 and evidence.detail["launches"] >= 20
        assert "source" not in evidence.detail
        # the budget is never needed in full
        assert 0 <= evidence.detail["worst_share"]["share"] < 0.8


def is_apart(mutant: Mutant) -> bool:
    """Whether a change is in a function's own kernel or host function alone."""
    stem, name, old, _ = mutant
    parts = (VERIFY_MODULES / f"{stem}_cuda.py").read_text().split("\n\n\n")
    return all(f"def {name}(" in p or f"def {name}_kernel(" in p for p in parts if old in p)


def batches() -> Iterator[list[Mutant]]:
    """The mutants by module: one of each function, where they have nothing to do with another."""
    apart: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in MUTANTS:
        if is_apart(mutant):
            apart.setdefault(mutant[:2], []).append(mutant)
        else:
            yield [mutant]
    for stem in ("maps", "rows"):
        own = [mutants for key, mutants in apart.items() if key[0] == stem]
        yield from ([m for m in batch if m] for batch in zip_longest(*own))


@pytest.fixture(scope="module")
def of_mutants(tmp_path_factory: pytest.TempPathFactory) -> dict[Mutant, FunctionEvidence]:
    """What the simulator found of each; a child process verifies those of a module."""
    found: dict[Mutant, FunctionEvidence] = {}
    for batch in batches():
        first, *more = [(old, new) for _, _, old, new in batch]
        path = copy(tmp_path_factory.mktemp("mutants"), batch[0][0], *first, *more)
        names = tuple(name for _, name, _, _ in batch)
        by_name = {f.name: f for f in verify_module(path, on=("simulator",), functions=names)}
        found |= {mutant: by_name[mutant[1]] for mutant in batch}
    return found


@pytest.mark.parametrize("mutant", MUTANTS)
def test_wrong_modules_fail(mutant: Mutant, of_mutants: dict[Mutant, FunctionEvidence]) -> None:
    found = of_mutants[mutant]
    assert found.failed and found.mismatch is not None
    assert found.evidence[0].status == "failed"
    assert found.mismatch.message and found.mismatch.command.startswith("porter verify ")


def test_a_mismatch_tells_where_and_how_to_repeat_it(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "3 if mask else 0", "4 if mask else 0")
    mismatch = prove(path, "threshold", seed=5, cases=20).mismatch
    assert mismatch is not None and mismatch.what == "value"
    assert (mismatch.expected, mismatch.actual) == ("3", "4")
    assert mismatch.index is not None and len(mismatch.index) == 1
    assert mismatch.place == "result[0]" and any("float64" in line for line in mismatch.inputs)
    assert mismatch.command.endswith(f"-f threshold --seed 5 --cases 20 --case {mismatch.case}")
    assert prove(path, "threshold", seed=5, cases=20).mismatch == mismatch
    alone = prove(path, "threshold", seed=5, cases=20, case=mismatch.case)
    assert alone.mismatch == mismatch and alone.evidence[0].cases == 0
    none = prove(path, "threshold", seed=5, cases=20, case=9999)
    assert not none.verified and "case 9999" in none.evidence[0].detail["reason"]


@pytest.mark.parametrize(
    ("stem", "name", "old", "new", "inputs"),
    [
        ("maps", "difference", "x[i + 1] - x[i]", "x[i] - x[i - 1]", ("x: float64 2 = [0., 2.]",)),
        ("maps", "grow", "amount * SCALE)", "amount)", ("x: float64 1 = [0.]", "amount = 1.0")),
        (
            "maps", "threshold", "x[i] > T(1)", "x[i] >= T(1)",
            ("x: float64 1 = [1.]", "y: float64 1 = [0.]"),
        ),
        ("rows", "softmax", "largest = T(-math.inf)", "largest = T(0)", ("x: float64 1x1 = [[-",)),
    ],
)  # fmt: skip
def test_the_first_difference_is_made_smaller(
    tmp_path: Path, stem: str, name: str, old: str, new: str, inputs: tuple[str, ...]
) -> None:
    path = copy(tmp_path, stem, old, new)
    mismatch = prove(path, name).mismatch
    assert mismatch is not None and mismatch.shrunk
    assert all(a.startswith(b) for a, b in zip(mismatch.inputs, inputs, strict=False))
    assert prove(path, name, case=mismatch.case).mismatch == mismatch


def test_a_smaller_input_may_make_a_kernel_loop(tmp_path: Path) -> None:
    # wrong everywhere, and without an end where there is a zero
    new = "        while x[i] == 0: pass\n        x[i] += amount + 1\n"
    path = copy(tmp_path, "maps", "        x[i] += amount\n", new)
    found = prove(path, "grow", timeout=8)
    assert found.mismatch is not None and found.mismatch.what == "value"


def test_ptx_for_three_architectures(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    found = verify_module(copy(tmp_path, "rows"), functions=("softmax",))[0]
    compiled = [e for e in found.evidence if e.on == "ptx"]
    assert [e.detail["arch"] for e in compiled] == ["sm_75", "sm_80", "sm_90"]
    assert all(e.status == "passed" and e.detail["f64"] == 0 for e in compiled)
    assert all(e.detail["registers"] > 8 and e.detail["spill_bytes"] == 0 for e in compiled)
    assert all(e.detail["shared_bytes"] >= 1024 for e in compiled)
    assert found.summary() == ("simulator 24 cases", "ptx sm_75 sm_80 sm_90 8 cases")
    # blocks of 256 threads, though most cases had blocks of eight
    for e in compiled:
        one = occupancy(e.detail["arch"], 256, e.detail["registers"], e.detail["shared_bytes"])
        assert 0 < e.detail["occupancy"] == one <= 1


@pytest.mark.long
def test_ptx_for_other_architectures(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    path = copy(tmp_path, "rows")
    found = verify_module(path, on=("ptx",), functions=("softmax",), archs=("all",))[0]
    archs = [e.detail["arch"] for e in found.evidence]
    assert archs == list(ARCHITECTURES) and found.verified
    # an older or newer compiler may not know some of them
    assert {e.status for e in found.evidence} <= {"passed", "skipped"}
    with pytest.raises(UsageError, match="--arch sm_33 is unknown"):
        verify_module(path, on=("ptx",), archs=("sm_33",))


def test_ptx_sees_float64_and_what_does_not_compile(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    path = copy(tmp_path, "maps", "T(-0.5) * z * z)", "-0.5 * z * z)")
    found = verify_module(path, on=("ptx",), functions=("density",))[0]
    assert [e.on for e in found.evidence] == ["ptx"] * 3
    assert all(e.status == "passed" and e.detail["f64"] > 0 for e in found.evidence)
    path = copy(tmp_path, "maps", "T(1)\n", "T(np.sort(x)[i])\n")
    found = verify_module(path, on=("ptx",), functions=("threshold",))[0]
    assert {e.status for e in found.evidence} == {"failed"}
    assert "threshold_kernel" in found.evidence[0].detail["error"]


def test_a_kernel_edited_by_hand_may_keep_its_block_size(tmp_path: Path) -> None:
    # 256 is written out: with blocks of 8 threads, which the verifier likes, this is wrong
    old = "step = cuda.gridsize(1)"
    right = copy(tmp_path, "maps", old, "step = cuda.gridDim.x * 256", edited=True)
    assert prove(right, "density").verified
    assert not prove(copy(tmp_path, "maps", old, "step = 999"), "density").verified
    assert not prove(
        copy(tmp_path, "maps", "grid(1), x", "grid(1) + 1, x", edited=True), "density"
    ).verified


def test_only_definitions_of_the_source_run(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    marker = tmp_path / "ran"
    lines = f"import missing_package\nopen({str(marker)!r}, 'w').close()\nBAD = missing_package.x\n"
    needy = "def threshold(x, y):\n    return missing_package.f(x, y)\n"
    source.write_text(source.read_text() + lines)
    assert prove(path, "grow").verified and not marker.exists()
    source.write_text(source.read_text() + needy)
    found = prove(path, "threshold")
    assert not found.verified and not marker.exists()
    assert "missing_package" in str(found.evidence[0].detail)


def test_a_changed_source_is_reported(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    source.write_text(source.read_text() + "# a new comment\n")
    (evidence,) = prove(path, "grow").evidence
    assert evidence.status == "passed" and "changed" in evidence.detail["source"]


def test_a_kernel_that_does_not_end(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "mask = x[i]", "while i >= 0: pass\n        mask = x[i]")
    found = verify_module(path, on=("simulator",), functions=("threshold", "grow"), timeout=8)
    status = {f.name: f.evidence[0].status for f in found}
    assert status == {"threshold": "failed", "grow": "passed"}
    mismatch = found[1].mismatch
    assert mismatch is not None and mismatch.what == "hang" and mismatch.inputs


def test_a_process_that_dies_costs_only_its_function(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "    given = x\n", "    import os; os._exit(3)\n")
    found = {f.name: f for f in verify_module(path, on=("simulator",))}
    assert found["grow"].failed and found["threshold"].verified and found["density"].verified


def test_no_usable_input(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    never = "def threshold(x, y):\n    raise ValueError('never')\n"
    source.write_text(source.read_text() + never)
    mismatch = prove(path, "threshold").mismatch
    assert mismatch is not None and "original raises ValueError" in mismatch.message


def test_evidence_without_a_launch_verifies_nothing(tmp_path: Path) -> None:
    # the edited host function computes with NumPy: right, but not the kernel
    old = "    if n:\n        inner = _to"
    new = (
        "    if n and on_device:\n        host = x.copy_to_host(stream=stream)\n"
        "        x.copy_to_device(host + amount * SCALE, stream=stream)\n"
        "    elif n:\n        x += amount * SCALE\n    if False:\n        inner = _to"
    )
    found = prove(copy(tmp_path, "maps", old, new), "grow")
    assert not found.verified and not found.failed
    (evidence,) = found.evidence
    assert evidence.status == "skipped" and evidence.detail["launches"] == 0
    assert evidence.detail["reason"].startswith("no case ran `grow_kernel`")
    assert evidence.cases >= 24 and found.summary() == ()


def test_kernels_of_a_host_function() -> None:
    text = (VERIFY_MODULES / "maps_cuda.py").read_text() + (
        "@cuda.jit(device=True)\ndef grow_twice(x):\n    return x\n"
        "@cuda.jit(fastmath=True)\ndef far(x):\n    return x\n"
        "def inner(x):\n    far[1, 1](x)\n"
        "def outer(x):\n    return inner(x)\n"
    )
    assert kernels_of(text, "grow") == ["grow_kernel"]
    assert kernels_of(text, "outer") == ["far"]
    assert kernels_of("def f(x):\n    return x\n", "f") == []


def test_a_module_that_cannot_be_loaded(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "THREADS = 256", "THREADS = missing_name")
    mismatch = prove(path, "grow").mismatch
    assert mismatch is not None and "missing_name" in mismatch.message


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "no such file"), ("x = 1\n", "no header"), ("\0", "no header")],
)
def test_usage_errors(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "module.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=said):
        verify_module(path)


def test_usage_errors_of_a_real_module(tmp_path: Path) -> None:
    path = copy(tmp_path, "rows")
    with pytest.raises(UsageError, match="no function `missing`"):
        verify_module(path, functions=("missing",))
    (tmp_path / "rows.py").unlink()
    with pytest.raises(UsageError, match=r"rows\.py"):
        verify_module(path)


def test_nothing_heavy_is_imported_here(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    code = (
        "import sys; from pathlib import Path; from porter.verify.run import verify_module;"
        f"verify_module(Path({str(path)!r}), on=('simulator',), functions=('grow',), cases=2);"
        "print([m for m in ('numba', 'numpy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_evidence_is_json(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "3 if mask", "4 if mask")
    data = json.loads(json.dumps(prove(path, "threshold").to_json()))
    assert set(data) == {"name", "evidence", "mismatch"}
    assert set(data["evidence"][0]) == {"on", "status", "cases", "detail"}


def test_files_of_the_user_hide_nothing(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    for name in ("numpy", "types", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(1)\n")
    assert prove(path, "grow", cases=4).evidence[0].status == "passed"
    shutil.rmtree(tmp_path)
