"""The packages that compile kernels: Numba's own target, numba-cuda and numba-cuda-mlir."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter.verify import report
from porter.verify.compile import backends, compilers
from porter.verify.compile.backends import BACKENDS, chosen, version
from porter.verify.evidence import Evidence, FunctionEvidence
from porter.verify.run import verify_module
from tests.support.paths import EXAMPLES, GOLDEN
from tests.support.shell import Shell

NUMBA = "from numba import config, cuda\n"
MLIR = "from numba_cuda_mlir import cuda\n"


@pytest.mark.parametrize("name", [n for n in BACKENDS if n != "numba"])
@pytest.mark.parametrize(
    "module",
    ["softmax", *(pytest.param(m, marks=pytest.mark.long) for m in ("csr_matvec", "hidden_layer"))],
)
def test_golden_kernels_compile(shell: Shell, module: str, name: str) -> None:
    """Reductions with shared memory, helpers of the device, several launches."""
    if not version(name):
        pytest.skip(f"{name} is not installed")
    path = GOLDEN / f"{module}_cuda.py"
    if name == "numba-cuda-mlir":
        # its modules have no shuffles
        shell.write(f"{module}.py", (EXAMPLES / f"{module}.py").read_text("utf-8"))
        assert shell.convert(f"{module}.py", "--backend", name) == 0
        path = shell.folder / f"{module}_cuda.py"
    found = verify_module(path, on=("ptx",), backends=(name,), archs=("sm_75", "sm_90"))
    for function in found:
        assert [e.status for e in function.evidence] == ["passed"] * 2
        for evidence in function.evidence:
            assert evidence.detail["backend"] == f"{name} {version(name)}"
            assert evidence.detail["f64"] == 0


def test_each_backend_has_a_child_of_its_own() -> None:
    """What is not installed, or finds no compiler, says what to install; the others go on."""
    path = GOLDEN / "threshold_cuda.py"
    found = verify_module(path, on=("ptx",), backends=tuple(BACKENDS), archs=("sm_90",))
    for function in found:
        assert [e.detail["backend"].split()[0] for e in function.evidence] == list(BACKENDS)
        for name, evidence in zip(BACKENDS, function.evidence, strict=True):
            if evidence.status == "skipped":
                assert BACKENDS[name] in evidence.detail["reason"]
        assert any(e.status == "passed" for e in function.evidence)
        assert function.summary() == ("ptx sm_90 48 cases",)


def test_what_the_compiler_rejects_is_told(tmp_path: Path) -> None:
    """A kernel that no package compiles fails with each."""
    text = (GOLDEN / "threshold_cuda.py").read_text()
    path = tmp_path / "threshold_cuda.py"
    source = (EXAMPLES / "threshold.py").read_text()
    (tmp_path / "threshold.py").write_text(source)
    text = text.replace("../../examples/threshold.py", "threshold.py")
    line = "        too_large = abs(x[i]) > limit\n"
    assert line in text
    path.write_text(text.replace(line, "        names = {1: 2}\n" + line, 1))
    names = tuple(n for n in BACKENDS if n != "numba" and version(n))
    found = verify_module(path, on=("ptx",), backends=names, archs=("sm_90",))
    failed = [e for f in found for e in f.evidence if e.status == "failed"]
    assert [e.detail["backend"].split()[0] for e in failed] == list(names)


def test_a_module_is_compiled_with_what_it_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice depends on the import and on what is installed."""
    have = {"numba": "1", "numba-cuda": "2", "numba-cuda-mlir": "3"}
    monkeypatch.setattr(backends, "version", have.get)
    assert chosen((), NUMBA) == ("numba-cuda",)
    assert chosen((), MLIR) == ("numba-cuda-mlir",)
    assert chosen(("all",), NUMBA) == tuple(BACKENDS)
    assert chosen(("numba", "numba"), MLIR) == ("numba",)
    del have["numba-cuda-mlir"]
    assert chosen((), MLIR) == ("numba-cuda",)
    assert chosen(("numba-cuda-mlir",), NUMBA) == ("numba-cuda-mlir",)
    del have["numba-cuda"]
    assert chosen((), NUMBA) == ("numba",)


def test_numbas_own_target_is_not_numba_cuda() -> None:
    """The redirection that numba-cuda installs is off in that child."""
    program = (
        "from porter.verify.compile.backends import OwnNumba\n"
        "print(getattr(OwnNumba().cuda, 'implementation', 'Built-in'))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.strip() == "Built-in"


def test_lines_name_the_compiler_where_it_matters() -> None:
    detail = {"arch": "sm_90", "registers": 24, "spill_bytes": 0, "f64": None}
    usual = Evidence("ptx", "passed", 1, detail | {"backend": "numba-cuda 0.30"})
    other = Evidence("ptx", "passed", 1, detail | {"backend": "numba-cuda-mlir 0.6"})
    text = "sm_90, 24 registers, no spills"
    assert list(report.lines(FunctionEvidence("f", [usual]))) == [f"compiled to PTX: {text}"]
    assert list(report.lines(FunctionEvidence("f", [other]))) == [
        f"compiled to PTX by numba-cuda-mlir 0.6: {text}"
    ]
    assert list(report.lines(FunctionEvidence("f", [usual, other]))) == [
        f"compiled to PTX by numba-cuda 0.30: {text}",
        f"compiled to PTX by numba-cuda-mlir 0.6: {text}",
    ]


def test_a_kept_child_compiles_the_next_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with the outer block, or with its process; an edited module gets one of its own."""
    path = GOLDEN / "threshold_cuda.py"
    monkeypatch.setattr(compilers, "_waiting", None)  # the tests' own
    with compilers.kept():
        first = verify_module(path, on=("ptx",), archs=("sm_90",))
        child = compilers.compiler("numba-cuda")
        again = compilers.compiler("numba-cuda")
        assert child is not again
        child.release(again=True)
        again.release(again=True)  # has compiled nothing yet: ended
        assert again.child.process.poll() is not None
        with compilers.kept():
            second = verify_module(path, on=("ptx",), archs=("sm_90",))
        assert first == second and child.modules == 2
        child.child.process.kill()
        child.child.process.wait()
        assert verify_module(path, on=("ptx",), archs=("sm_90",)) == first
        assert child.modules == 2
        last = compilers.compiler("numba-cuda")
        last.release(again=True)
        edited = path.read_text() + "\n# edited\n"
        verify_module(path, on=("ptx",), archs=("sm_90",), text=edited)
        assert last.child.process.poll() is not None
    one = compilers.compiler("numba-cuda")
    one.sound = True
    one.release(again=True)
    assert one.child.process.poll() is not None
    assert not one.folder.exists()
