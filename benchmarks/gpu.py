"""Verifies the golden modules on the GPU of this machine and writes down what came of it.

    python benchmarks/gpu.py [--sanitize] [--cases 24] [--only NAME ...] [--write docs/gpu.md]

Exit code 1 if a verification fails, 2 where there is no GPU.  The times are of kernels on the small
inputs of verifications: they tell that the kernels ran, not how fast they are.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from porter.diagnostics import UsageError
from porter.verify.compile.backends import version
from porter.verify.evidence import PASSED, Evidence, FunctionEvidence
from porter.verify.run import verify_module

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numba", "numba-cuda", "numpy", "nvidia-cuda-nvcc", "nvidia-cuda-sanitizer-api")
Found = list[tuple[str, FunctionEvidence]]


def verified(options: argparse.Namespace) -> Found:
    """What came of every function of the golden modules."""
    every = sorted((ROOT / "tests" / "golden").glob("*_cuda.py"))
    chosen = [p for p in every if not options.only or any(n in p.name for n in options.only)]

    def evidence(path: Path) -> list[FunctionEvidence]:
        found = verify_module(path, on=("gpu",), cases=options.cases, sanitize=options.sanitize)
        for function in found:
            print(
                f"{path.stem}: {'; '.join(map(said, function.evidence))}", function.why, flush=True
            )
        return found

    with ThreadPoolExecutor(options.jobs) as pool:
        return [
            (path.stem.removesuffix("_cuda"), function)
            for path, functions in zip(chosen, pool.map(evidence, chosen), strict=True)
            for function in functions
        ]


def said(evidence: Evidence) -> str:
    """One verification in a cell of the table."""
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
    """Parse the arguments, verify, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitize", action="store_true", help="memcheck and racecheck, too")
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    try:
        found = verified(options)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.write:
        options.write.write_text("\n".join(page(found)) + "\n", "utf-8")
    return int(any(not function.verified for _, function in found))


if __name__ == "__main__":
    sys.exit(main())
