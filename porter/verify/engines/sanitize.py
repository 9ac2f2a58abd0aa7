"""NVIDIA's compute-sanitizer around the GPU's child: wild accesses, and races in shared memory.

Its options and output: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from porter.diagnostics import UsageError

TOOLS = ("memcheck", "racecheck")
#: kernels run many times slower under it
MOST_CASES = 8
_NAME = "compute-sanitizer"
_MARK = "========="
#: lines that are no errors
_QUIET = ("COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Warning")


def program() -> str:
    """Its path: on PATH, in a CUDA toolkit or in NVIDIA's wheel; raises `UsageError`."""
    found = next(_places(), None)
    if found is None:
        raise UsageError(f"--sanitize needs {_NAME}, which is not installed; "
                         "help: pip install nvidia-cuda-sanitizer-api")  # fmt: skip
    return found


def _places() -> Iterator[str]:
    if on_path := shutil.which(_NAME):
        yield on_path
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(name):
            if inside := shutil.which(_NAME, path=str(Path(home, "bin"))):
                yield inside
    wheels = find_spec("nvidia")
    for folder in wheels.submodule_search_locations or () if wheels else ():
        for path in sorted(Path(folder).rglob(_NAME)):
            if path.is_file() and os.access(path, os.X_OK):
                yield str(path)


def command(tool: str, log: Path) -> list[str]:
    """What is written before the child's own command; `log` gets what the tool finds."""
    return [program(), "--tool", tool, "--report-api-errors", "no", "--log-file", str(log)]


def first_error(log: str) -> str:
    """The first error of a log with where it is, '' if there is none."""
    lines = [line[len(_MARK) :] for line in log.splitlines() if line.startswith(_MARK)]
    for k, line in enumerate(lines):
        text = line.strip()
        if not text or line.startswith("  ") or text.startswith(_QUIET):
            continue
        where = []
        for detail in lines[k + 1 :]:
            if not detail.startswith("  ") or not detail.strip():
                break
            where.append(detail.strip())
        return "; ".join([text, *where[:2]])
    return ""
