"""How long porter itself takes, and how much memory, on its own examples.

    python benchmarks/self.py [--example NAME] [--only-one]

Works on a copy of `examples/` in a temporary folder, so nothing of the checkout is written.
Each command is one run in a new process; its peak is that of its largest process, children
included.  Exits with 1 if a command fails or a limit is exceeded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SUFFIX = "_cuda.py"
GIGABYTE = 1e9

#: what the project promises on two cores
ONE_SECONDS, ALL_SECONDS, MEMORY = 10.0, 180.0, 1.5 * GIGABYTE


@dataclass(frozen=True)
class Run:
    """One command: what it was, whether it ended as it may, and what it took."""

    name: str
    seconds: float
    memory: float
    passed: bool
    limit: float | None

    @property
    def within(self) -> bool:
        return (self.limit is None or self.seconds < self.limit) and self.memory < MEMORY

    def row(self) -> str:
        limit = "" if self.limit is None else f"< {self.limit:.0f} s"
        state = "ok" if self.passed and self.within else "OVER" if self.passed else "FAILED"
        memory = f"{self.memory / GIGABYTE:6.2f} GB < {MEMORY / GIGABYTE:.1f} GB"
        return f"{self.name:<28} {self.seconds:8.2f} s {limit:>8}   {memory}   {state}"


def measure(
    name: str,
    arguments: list[str],
    folder: Path,
    limit: float | None = None,
    codes: tuple[int, ...] = (0,),
) -> Run:
    """Run `porter` with these arguments in `folder`; `codes` are the exit codes of a good end."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "porter", *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        passed = process.returncode in codes
        if not passed:
            output.seek(0)
            print(f"{' '.join(command)}: exit code {process.returncode}", file=sys.stderr)
            print(output.read()[-2000:], file=sys.stderr)
    unit = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes there, KiB elsewhere
    return Run(name, seconds, usage.ru_maxrss * unit, passed, limit)


def start_up(folder: Path) -> Run:
    """The middle one of five: the first one reads the files from the disk."""
    runs = [measure("start-up (--help)", ["--help"], folder) for _ in range(5)]
    return sorted(runs, key=lambda run: run.seconds)[2]


def one(name: str, folder: Path) -> list[Run]:
    """The commands on one example; `convert` verifies what it writes."""
    source, module = f"{name}.py", f"{name}{SUFFIX}"
    return [
        measure(f"analyze {source}", ["analyze", source], folder, codes=(0, 1)),
        measure(f"convert {source}", ["convert", source], folder, ONE_SECONDS),
        measure(f"verify {module}", ["verify", module], folder, ONE_SECONDS),
    ]


def everything(folder: Path) -> list[Run]:
    """The commands on all examples at once, one of which has to be refused: exit code 1."""
    analyzed = measure("analyze examples/", ["analyze", "."], folder, codes=(1,))
    converted = measure("convert examples/", ["convert", "."], folder, ALL_SECONDS, codes=(1,))
    modules = sorted(path.name for path in folder.glob(f"*{SUFFIX}"))
    return [analyzed, converted, measure("verify all", ["verify", *modules], folder, ALL_SECONDS)]


def copy_examples(folder: Path) -> Path:
    """A copy of the examples without what earlier runs wrote beside them."""
    ignored = shutil.ignore_patterns(f"*{SUFFIX}", "__pycache__", ".porter")
    return Path(shutil.copytree(EXAMPLES, folder / "examples", ignore=ignored))


def main() -> None:
    """Measure, print the table, exit with 1 if anything failed or took too much."""
    parser = argparse.ArgumentParser(description="Times porter on its own examples.")
    parser.add_argument("--example", default="gaussian", help="the example measured alone")
    parser.add_argument("--only-one", action="store_true", help="leave out the run on all")
    options = parser.parse_args()
    if not (EXAMPLES / f"{options.example}.py").is_file():
        parser.error(f"there is no example {options.example}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = copy_examples(Path(temporary) / "one")
        runs = [start_up(folder), *one(options.example, folder)]
        if not options.only_one:
            runs += everything(copy_examples(Path(temporary) / "all"))
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    for run in runs:
        print(run.row())
    sys.exit(not all(run.passed and run.within for run in runs))


if __name__ == "__main__":
    main()
