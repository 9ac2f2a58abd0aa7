"""Proves the golden modules on the GPU of this machine and writes down what came of it.

    python benchmarks/gpu.py [--sanitize] [--cases 24] [--write docs/gpu.md]

Exit code 1 if a proof fails, 2 where there is no GPU.  The times are of kernels on the small
inputs of proofs: they tell that the kernels ran, not how fast they are.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from porter.diagnostics import UsageError
from porter.verify.compile.backends import version
from porter.verify.evidence import PASSED, Evidence, FunctionEvidence
from porter.verify.run import verify_module

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numba", "numba-cuda", "numpy", "nvidia-cuda-nvcc", "nvidia-cuda-sanitizer-api")
Found = list[tuple[str, FunctionEvidence]]


def prove(cases: int, sanitize: bool) -> Found:
    """What came of every function of the golden modules."""
    found: Found = []
    for path in sorted((ROOT / "tests" / "golden").glob("*_cuda.py")):
        for function in verify_module(path, on=("gpu",), cases=cases, sanitize=sanitize):
            found.append((path.stem.removesuffix("_cuda"), function))
            print(f"{path.stem}: {'; '.join(map(said, function.evidence))}", flush=True)
    return found


def said(evidence: Evidence) -> str:
    """One proof in a cell of the table."""
    text = f"{evidence.cases} cases" if evidence.status == PASSED else evidence.status
    reason = evidence.detail.get("reason", "")
    return f"{text}: {reason}" if reason else text


def driver() -> str:
    """The driver's version, as nvidia-smi tells it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "unknown"
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def page(found: Found) -> Iterator[str]:
    """docs/gpu.md, line by line."""
    first = found[0][1].evidence[0].detail
    packages = ", ".join(f"{name} {v}" for name in PACKAGES if (v := version(name)))
    tools = [e.detail["sanitizer"] for e in found[0][1].evidence if "sanitizer" in e.detail]
    yield "# The golden modules on a GPU"
    yield ""
    yield f"{time.strftime('%Y-%m-%d')}, {first.get('gpu')} (compute capability"
    yield f"{first.get('capability')}), driver {driver()}, Python {platform.python_version()},"
    yield f"{packages}: `python {' '.join(sys.argv)}`."
    yield ""
    yield "| " + " | ".join(["module", "function", "GPU", *tools, "launches", "kernels, ms"]) + " |"
    yield "|---|---|---|" + "---|" * len(tools) + "--:|--:|"
    for module, function in found:
        detail = function.evidence[0].detail
        numbers = [detail.get("launches", 0), detail.get("kernel_milliseconds", "")]
        cells = [module, f"`{function.name}`", *map(said, function.evidence), *map(str, numbers)]
        yield "| " + " | ".join(cells) + " |"


def main() -> int:
    """Parse the arguments, prove, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitize", action="store_true", help="memcheck and racecheck, too")
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    try:
        found = prove(options.cases, options.sanitize)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.write:
        options.write.write_text("\n".join(page(found)) + "\n", "utf-8")
    return int(any(not function.verified for _, function in found))


if __name__ == "__main__":
    sys.exit(main())
