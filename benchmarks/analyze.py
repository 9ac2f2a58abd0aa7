"""How fast `porter analyze` is beside `fixit lint` on a tree, and `numba --annotate` on a file.

    python benchmarks/analyze.py --tree DIR [--name NAME] [--fixit EXE] [--rounds 3] [--write]

A round runs, one after the other: porter on the tree with an empty cache, porter on the unchanged
tree, `fixit lint` with its default rules; then porter on one file with an empty cache, and
`numba --annotate` on it.  Ratios are taken within a round, so that a machine that is busy with
something else slows both sides.  porter is compiled to bytecode first, as pip has done with numba
and fixit.  Memory is the largest sum of the resident sizes of a command and all its
descendants, looked at every 20 ms (Linux only).  --write keeps the result in docs/performance.md.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
MEGA = 1 << 20
FILE = """\
import numpy as np
from numba import jit


@jit
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


print(go_fast(np.arange(100.0).reshape(10, 10)))
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of the clock and of the processors, and the most memory at any time, in MiB."""

    wall: float
    cpu: float
    memory: float


def descendants(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                text = Path(f"/proc/{one}/task/{task}/children").read_text()
                todo += [int(child) for child in text.split()]
        except OSError:
            pass
    return found


def resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGA


def run(command: list[str], folder: Path, cache: Path | None = None) -> Cost:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        env["PORTER_CACHE_DIR"] = str(cache)
    before = os.times()
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)  # fmt: skip
    peak = [0.0]
    watcher = threading.Thread(target=watch, args=(child, peak), daemon=True)
    watcher.start()
    error = child.communicate()[1]
    wall = time.perf_counter() - start
    watcher.join()
    after = os.times()
    failed = error.count(b"porter failed on")
    if failed:
        print(f"porter failed on {failed} functions", flush=True)
    elif child.returncode not in (0, 1) and "fixit" not in command[0]:
        raise SystemExit(f"{' '.join(command)}: exit {child.returncode}\n{error.decode()[-2000:]}")
    cpu = (after.children_user + after.children_system
           - before.children_user - before.children_system)  # fmt: skip
    return Cost(wall, cpu, peak[0])


def watch(child: subprocess.Popen[bytes], peak: list[float]) -> None:
    while child.poll() is None:
        peak[0] = max(peak[0], sum(resident(p) for p in descendants(child.pid)))
        time.sleep(0.02)


def rounds(tree: Path, fixit: str | None, file: Path, count: int) -> dict[str, list[Cost]]:
    porter = [sys.executable, "-m", "porter", "analyze"]
    numba = [shutil.which("numba") or "numba", "--annotate", str(file)]
    found: dict[str, list[Cost]] = {}
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            steps = {
                "porter, cold": ([*porter, "."], cache),
                "porter, unchanged": ([*porter, "."], cache),
                "fixit lint": ([str(fixit), "lint", "."], None),
                "porter, one file": ([*porter, str(file)], cache),
                "porter, the file unchanged": ([*porter, str(file)], cache),
                "numba --annotate": (numba, None),
            }
            for name, (command, kept) in steps.items():
                if name == "fixit lint" and not fixit:
                    continue
                cost = run(command, tree, kept)
                found.setdefault(name, []).append(cost)
                print(f"{name:<28} {cost.wall:8.2f} s {cost.cpu:8.2f} s of processors "
                      f"{cost.memory:6.0f} MiB", flush=True)  # fmt: skip
    return found


RATIOS = (("fixit lint", "porter, cold"), ("fixit lint", "porter, unchanged"),
          ("numba --annotate", "porter, one file"),
          ("numba --annotate", "porter, the file unchanged"))  # fmt: skip


def page(found: dict[str, list[Cost]], about: list[str]) -> str:
    lines = [
        "| | seconds: least | median | processor seconds | MiB at most |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, costs in found.items():
        walls = [c.wall for c in costs]
        lines.append(f"| {name} | {min(walls):.2f} | {statistics.median(walls):.2f} "
                     f"| {statistics.median(c.cpu for c in costs):.2f} "
                     f"| {max(c.memory for c in costs):.0f} |")  # fmt: skip
    lines += ["", "| times faster | least | median | by processor seconds |", "|---|--:|--:|--:|"]
    for slow, fast in RATIOS:
        if slow in found:
            pairs = list(zip(found[slow], found[fast], strict=True))
            walls = [s.wall / f.wall for s, f in pairs]
            cpus = statistics.median(s.cpu / f.cpu for s, f in pairs)
            lines.append(f"| {fast}, beside {slow} | {min(walls):.1f} "
                         f"| {statistics.median(walls):.1f} | {cpus:.1f} |")  # fmt: skip
    return "\n".join([*lines, "", *about]) + "\n"


def facts(tree: Path, name: str, fixit: str | None) -> list[str]:
    files = [p for p in tree.rglob("*.py")]
    count = sum(len(p.read_bytes().splitlines()) for p in files)
    told = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in told if line.startswith("model name")]
    model = names[0] if names else platform.processor()
    versions = ", ".join(f"{n} {metadata.version(n)}" for n in ("porter", "numba", "libcst"))
    if fixit:
        answer = subprocess.run([fixit, "--version"], capture_output=True, text=True)
        versions += f", {answer.stdout.strip().replace(', version', '')}"
    cores = len(os.sched_getaffinity(0))
    return [
        f"Tree: {name}, {len(files)} files, {count:,} lines. "
        f"Load of the machine at the end: {os.getloadavg()[0]:.1f}.",
        f"{cores} cores ({model}), Python {platform.python_version()}, {versions}.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--name", help="what the tree is, with its version")
    parser.add_argument("--fixit")
    parser.add_argument("--file", type=Path, help="a script that numba --annotate can run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep the result in docs/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "go_fast.py"
        file.write_text(FILE)
        tree = options.tree.resolve()
        compileall.compile_dir(ROOT / "porter", quiet=1)
        found = rounds(tree, options.fixit, options.file or file, options.rounds)
    text = page(found, facts(tree, options.name or tree.name, options.fixit))
    print(f"\n{text}")
    if options.write:
        before = PAGE.read_text("utf-8").partition("<!-- measured -->")[0]
        PAGE.write_text(f"{before}<!-- measured -->\n\n{text}", "utf-8")


if __name__ == "__main__":
    main()
