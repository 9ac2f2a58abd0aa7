"""`porter doctor`: it advises only what is missing, and says of CUDA what `numba -s` says."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import pytest

from porter.commands import doctor
from porter.options import DoctorOptions
from porter.verify.compile import cuda_facts

ALL = {"numba": "0.68.1", "numpy": "2.4.6", "numba-cuda": "0.30.4", "numba-cuda-mlir": None}
NO_DRIVER = {"detail": "CUDA driver library cannot be found"}


def cuda(problem: str | None = None, driver: str | None = "13.0") -> dict[str, Any]:
    device = {"name": "NVIDIA H200", "compute_capability": "9.0"}
    memory = {"memory": 150 * 2**30, "memory_free": 149 * 2**30}
    return {
        "implementation": "NVIDIA",
        "compiler": {"cuda": "13.5", "nvvm": "2.0", "at": "/lib"},
        "driver": {"cuda": driver, "release": "580.95.05", "problem": problem},
        "devices": [] if problem else [device | memory],
    }


def test_what_is_installed_is_not_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(doctor, "_has_wheels", lambda: True)
    gpu = doctor.cure("gpu", NO_DRIVER, ALL)
    assert gpu["install"] is None and "an NVIDIA GPU with its driver" in str(gpu["help"])
    without = ALL | {"numba-cuda": None}
    assert doctor.cure("ptx", {"detail": ""}, without)["install"] == doctor.CUDA_EXTRA
    # a toolkit of the system is a compiler too
    with_toolkit = {"detail": "", "cuda": cuda("none")}
    assert doctor.cure("gpu", with_toolkit, without)["install"] is None
    assert doctor.cure("ptx", {"detail": "x"}, ALL) == {
        "install": None,
        "help": "a CUDA compiler is installed and does not work: the reason is above",
    }
    newer = {"detail": "numba-cuda cannot work with NumPy 2.5.0"}
    assert doctor.cure("ptx", newer, ALL)["install"] == 'pip install "numpy<2.5"'
    assert doctor.cure("simulator", {"detail": ""}, ALL | {"numba": None}) == {
        "install": "pip install numba",
        "help": None,
    }
    assert doctor.cure("simulator", {"detail": "x"}, ALL)["install"] is None


def test_a_platform_without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_has_wheels", lambda: False)
    found = doctor.cure("ptx", {"detail": ""}, ALL | {"numba-cuda": None})
    assert found["install"] is None and "NVIDIA has no CUDA compiler" in str(found["help"])


def test_a_gpu_that_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert "CUDA_VISIBLE_DEVICES=-1 hides" in str(doctor.cure("gpu", NO_DRIVER, ALL)["help"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    loaded = {"detail": "x", "cuda": cuda("no device")}
    assert "nvidia-smi" in str(doctor.cure("gpu", loaded, ALL)["help"])


def test_cuda_rows() -> None:
    rows = dict(doctor.cuda_rows(cuda()))
    assert rows["compiler"] == "CUDA 13.5, NVVM IR 2.0, /lib"
    assert rows["driver"] == "for CUDA 13.0, release 580.95.05"
    assert rows["GPU 0"] == ("NVIDIA H200, compute capability 9.0, 150.0 GiB (149.0 GiB free)")
    old = dict(doctor.cuda_rows(cuda(driver="12.4")))
    assert "too old for the compiler's CUDA 13.5" in old["driver"]
    none = dict(doctor.cuda_rows(cuda("CUDA driver library cannot be found")))
    assert none["GPU"] == "none" and "cannot be found" in none["driver"]
    assert "cannot be imported" in doctor.cuda_rows(None)[0][1]


def test_facts_of_a_device() -> None:
    @contextlib.contextmanager
    def nothing() -> Any:
        yield

    class Device:
        name = b"NVIDIA H200"
        compute_capability = (9, 0)

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

        def get_primary_context(self) -> Any:
            return types.SimpleNamespace(get_memory_info=lambda: (3, 4))

    class Lost(Device):
        def get_primary_context(self) -> Any:
            raise OSError("in use")

    module = types.SimpleNamespace(
        implementation="NVIDIA", is_available=lambda: True, gpus=[Device(), Lost()]
    )
    found = cuda_facts.facts(module)
    h200 = {"name": "NVIDIA H200", "compute_capability": "9.0"}
    assert found["devices"] == [
        h200 | {"memory_free": 3, "memory": 4},
        h200 | {"memory_free": None, "memory": None},
    ]
    assert found["driver"]["problem"] is None


def test_facts_without_a_driver() -> None:
    said = "\nCUDA driver library cannot be found.\nEnsure that ...\n"
    module = types.SimpleNamespace(is_available=lambda: False, cuda_error=lambda: said)
    found = cuda_facts.facts(module)
    assert found["implementation"] == "Built-in" and found["devices"] == []
    assert found["driver"]["problem"] == "CUDA driver library cannot be found"


def test_release_of_the_driver() -> None:
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
    assert cuda_facts.release(text) == "580.95.05"
    assert cuda_facts.release("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1  Wed")
    assert cuda_facts.release("") is None


def test_the_printed_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(DoctorOptions()) == 0
    said = capsys.readouterr().out
    assert "CUDA, as Numba finds it" in said and "  driver " in said
    assert "\xa0" not in said
    if "\n  GPU              none" in said:
        assert "an NVIDIA GPU with its driver" in said and "porter[cuda]" not in said
