"""`porter doctor`: what is installed, and where modules can be verified."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from porter import __version__
from porter.options import DoctorOptions
from porter.output.color import paint, wants_color
from porter.output.records import to_json
from porter.verify.compile.backends import version
from porter.verify.probe import probe

KINDS = ("simulator", "emulator", "ptx", "gpu")
CUDA_EXTRA = 'pip install "porter[cuda]"'
PACKAGES = ("numba", "numpy", "numba-cuda", "numba-cuda-mlir", "cupy")
#: prefixes of the wheels that hold CUDA's compilers
WHEELS = ("nvidia-", "cuda-bindings", "cuda-core", "cuda-toolkit")
_WIDTH = 100
#: a space at which no line is broken
_JOINED = "\xa0"


def run(options: DoctorOptions) -> int:
    """Print the state of the installation; 0 when modules can at least be simulated."""
    report = inspect()
    if options.output_format == "json":
        print(to_json(report), end="")
    else:
        _print(report)
    return 0 if report["evidence"][0]["status"] == "available" else 1


def inspect() -> dict[str, Any]:
    """Versions, CUDA, and per kind of evidence whether it is available and what it takes."""
    probes = {kind: probe(kind) for kind in KINDS}
    packages = {name: version(name) for name in PACKAGES}
    return {
        "porter": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "packages": packages,
        "cuda_wheels": _wheels(),
        "cuda": probes["gpu"].get("cuda"),
        "gpus": probes["gpu"].get("gpus", []),
        "evidence": [
            {
                "on": kind,
                "status": "available" if found["ok"] else "missing",
                "detail": str(found["detail"]).split("; install:")[0],
                **({"install": None, "help": None} if found["ok"] else cure(kind, found, packages)),
            }
            for kind, found in probes.items()
        ],
    }


def cure(
    kind: str, found: Mapping[str, Any], packages: Mapping[str, str | None]
) -> dict[str, str | None]:
    """What makes evidence available: a command that installs what is missing, or advice.

    Only what is not there is to be installed: `install` is None where nothing is.
    """
    missing = [name for name in ("numba", "numpy") if packages.get(name) is None]
    if missing:
        return {"install": f"pip install {' '.join(missing)}", "help": None}
    if kind in ("simulator", "emulator"):
        said = "Numba and NumPy are installed and do not work together: the reason is above"
        return {"install": None, "help": said}
    if "cannot work with NumPy" in str(found["detail"]):
        return {"install": 'pip install "numpy<2.5"', "help": None}
    compiler = packages.get("numba-cuda") is not None or _toolkit(found) is not None
    install = CUDA_EXTRA if not compiler and _has_wheels() else None
    if kind == "gpu":
        return {"install": install, "help": _gpu_help(found)}
    if compiler:
        said = "a CUDA compiler is installed and does not work: the reason is above"
    else:
        said = f"NVIDIA has no CUDA compiler for {sys.platform} on {platform.machine()}"
    return {"install": install, "help": None if install else said}


def _has_wheels() -> bool:
    """Whether the extra `cuda` brings a compiler for this platform."""
    machines = {"linux": ("x86_64", "aarch64"), "win32": ("AMD64",)}
    return platform.machine() in machines.get(sys.platform, ())


def _toolkit(found: Mapping[str, Any]) -> Any:
    return ((found.get("cuda") or {}).get("compiler") or {}).get("cuda")


def _gpu_help(found: Mapping[str, Any]) -> str:
    """What a GPU takes, by what hides it."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not visible.strip("-1 "):
        return f"CUDA_VISIBLE_DEVICES={visible} hides every GPU: unset it"
    if ((found.get("cuda") or {}).get("driver") or {}).get("release"):
        return "the driver is loaded and Numba cannot use it: see whether nvidia-smi lists a GPU"
    return "it takes an NVIDIA GPU with its driver; nothing else needs one"


def _wheels() -> dict[str, str]:
    found = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name.startswith(WHEELS):
            found[name] = distribution.version
    return dict(sorted(found.items()))


# -- as text ----------------------------------------------------------------------------------


def _print(report: dict[str, Any]) -> None:
    color = wants_color(sys.stdout)
    print(f"porter {report['porter']}, Python {report['python']} on {report['platform']}")
    print(f"  {report['executable']}")
    print(paint("\nPackages", "bold", color))
    for name, found in report["packages"].items():
        _row(name, found or "not installed")
    _row("CUDA wheels", _listed(report["cuda_wheels"]))
    print(paint("\nCUDA, as Numba finds it", "bold", color))
    for name, text in cuda_rows(report["cuda"]):
        _row(name, text)
    print(paint("\nEvidence that `porter verify` can give here", "bold", color))
    for evidence in report["evidence"]:
        available = evidence["status"] == "available"
        mark = paint(f"{evidence['status']:<9}", "good" if available else "warning", color)
        print(f"  {evidence['on']:<10} {mark}  {evidence['detail']}".rstrip())
        for word in ("install", "help"):
            if evidence[word]:
                print(f"  {'':<10} {'':<9}  {word}: {evidence[word]}")


def cuda_rows(cuda: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What `numba -s` says of CUDA, as far as anything depends on it: names and texts."""
    if cuda is None:
        return [("", "not known: `numba.cuda` cannot be imported")]
    compiler, driver, devices = cuda["compiler"], cuda["driver"], cuda["devices"]
    origin = "NVIDIA's numba-cuda" if cuda["implementation"] == "NVIDIA" else "built into Numba"
    rows = [("target", origin)]
    if compiler["cuda"] or compiler["nvvm"]:
        version = f"CUDA {compiler['cuda']}" if compiler["cuda"] else "CUDA of unknown version"
        ir = f", NVVM IR {compiler['nvvm']}" if compiler["nvvm"] else ""
        rows.append(("compiler", f"{version}{ir}" + (f", {compiler['at']}" * bool(compiler["at"]))))
    else:
        rows.append(("compiler", "none found"))
    release = f"release {driver['release']}" if driver["release"] else ""
    if driver["problem"]:
        said = "; ".join(x for x in (release or "none", driver["problem"]) if x)
    else:
        said = ", ".join(x for x in (f"for CUDA {driver['cuda'] or '?'}", release) if x)
        said += _older(driver["cuda"], compiler["cuda"])
    rows.append(("driver", said))
    rows += [(f"GPU {n}", _device(d)) for n, d in enumerate(devices)]
    return rows if devices else [*rows, ("GPU", "none")]


def _older(driver: str | None, compiler: str | None) -> str:
    """What follows where the compiler is of a later CUDA than the driver's, if it is."""
    if not driver or not compiler or int(driver.split(".")[0]) >= int(compiler.split(".")[0]):
        return ""
    return f"; too old for the compiler's CUDA {compiler}: update it"


def _device(device: Mapping[str, Any]) -> str:
    text = f"{device['name']}, compute capability {device['compute_capability']}"
    if device["memory"] is None:
        return text
    total, free = (device[k] / 2**30 for k in ("memory", "memory_free"))
    return f"{text}, {total:.1f} GiB ({free:.1f} GiB free)"


def _row(name: str, text: str) -> None:
    indent = " " * 19
    # a path or a name with its version stays in one piece
    lines = textwrap.wrap(
        text, _WIDTH, initial_indent=f"  {name:<16} ", subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    print("\n".join(lines).replace(_JOINED, " "))


def _listed(wheels: dict[str, str]) -> str:
    return ", ".join(f"{n}{_JOINED}{v}" for n, v in wheels.items()) or "not installed"
