"""`porter doctor`: what is installed, and where modules can be verified."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

from porter import __version__
from porter.commands.options import DoctorOptions
from porter.output.color import paint, wants_color
from porter.output.records import to_json
from porter.verify.probe import probe

KINDS = ("simulator", "emulator", "ptx", "gpu")
CUDA_EXTRA = 'pip install "porter[cuda]"'
PACKAGES = ("numba", "numpy", "numba-cuda", "numba-cuda-mlir", "cupy")
#: prefixes of the wheels that hold CUDA's compilers
WHEELS = ("nvidia-", "cuda-bindings", "cuda-core", "cuda-toolkit")


def run(options: DoctorOptions) -> int:
    """Print the state of the installation; 0 when modules can at least be simulated."""
    report = inspect()
    if options.output_format == "json":
        print(to_json(report), end="")
    else:
        _print(report)
    return 0 if report["evidence"][0]["status"] == "available" else 1


def inspect() -> dict[str, Any]:
    """Versions and, per kind of evidence, whether it is available and what to install."""
    probes = {kind: probe(kind) for kind in KINDS}
    return {
        "porter": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "cuda_wheels": _wheels(),
        "gpus": probes["gpu"].get("gpus", []),
        "evidence": [_evidence(kind, found) for kind, found in probes.items()],
    }


def _evidence(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    cures = {
        "simulator": 'pip install "porter"',
        "emulator": 'pip install "porter"',
        "ptx": CUDA_EXTRA,
        "gpu": f"an NVIDIA GPU with its driver, and {CUDA_EXTRA}",
    }
    detail = str(found["detail"]).split("; install:")[0]
    status = "available" if found["ok"] else "missing"
    return {
        "on": kind,
        "status": status,
        "detail": detail,
        "install": None if found["ok"] else cures[kind],
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _wheels() -> dict[str, str]:
    found = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name.startswith(WHEELS):
            found[name] = distribution.version
    return dict(sorted(found.items()))


def _print(report: dict[str, Any]) -> None:
    color = wants_color(sys.stdout)
    print(f"porter {report['porter']}, Python {report['python']} on {report['platform']}")
    print(f"  {report['executable']}")
    print(paint("\nPackages", "bold", color))
    for name, version in report["packages"].items():
        print(f"  {name:<16} {version or 'not installed'}")
    print(f"  {'CUDA wheels':<16} {_listed(report['cuda_wheels'])}")
    print(paint("\nEvidence that `porter verify` can give here", "bold", color))
    for evidence in report["evidence"]:
        available = evidence["status"] == "available"
        mark = paint(f"{evidence['status']:<9}", "good" if available else "warning", color)
        print(f"  {evidence['on']:<10} {mark}  {evidence['detail']}".rstrip())
        if evidence["install"]:
            print(f"  {'':<10} {'':<9}  install: {evidence['install']}")


def _listed(wheels: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in wheels.items()) or "not installed"
