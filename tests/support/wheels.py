"""porter as a user installs it: a wheel in a new environment, for the tests of packaging and docs.

Nothing is downloaded: the dependencies come from the environment that runs the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tests.support.paths import ROOT


def without_python_settings() -> dict[str, str]:
    """The environment, without what would lead a new interpreter to the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that has to succeed, without the caller's Python settings."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=without_python_settings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def new_environment(folder: Path) -> Path:
    """The interpreter of a new environment that sees our dependencies, but not our porter."""
    venv.create(folder, with_pip=False)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / scripts / ("python.exe" if os.name == "nt" else "python")
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    )
    site = Path(str(site).strip())
    # a path in a .pth file comes after the environment's own packages, and the .pth files
    # that lie in it (those of editable installs) are not read
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "zz_dependencies.pth").write_text("\n".join(sorted(ours)) + "\n", encoding="utf-8")
    return python


def with_cuda(python: Path) -> None:
    """Let an environment find NVIDIA's packages as ours does: a .pth file and a link."""
    site = next(python.parent.parent.rglob("zz_dependencies.pth")).parent
    for ours in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for redirector in Path(ours).glob("_numba_cuda_redirector.pth"):
            shutil.copy(redirector, site / f"zzz{redirector.name}")
        if (Path(ours) / "nvidia").is_dir():  # cuda.pathfinder looks for libraries there
            (site / "nvidia").symlink_to(Path(ours) / "nvidia")


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout, in `folder`."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (found,) = folder.glob("*.whl")
    return found


def install(python: Path, *what: str, cwd: Path) -> None:
    """Install with the pip of the tests' own environment: a new one would take seconds."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--no-cache-dir"]
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, *what, cwd=cwd)


def installed_porter(folder: Path) -> Path:
    """The `bin` folder of a new environment with the wheel of this checkout installed."""
    folder.mkdir(parents=True, exist_ok=True)
    python = new_environment(folder / "venv")
    with_cuda(python)
    install(python, str(build_wheel(folder)), cwd=folder)
    return python.parent
