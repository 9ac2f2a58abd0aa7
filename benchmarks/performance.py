"""What the kernels of many programs take by the model, beside CuPy's way and the least possible.

    python benchmarks/performance.py [--npbench DIR] [--only NAME ...] [--jobs N] [--write PAGE]

The programs are those of `benchmarks/sizes.toml` (examples, and functions of the test corpus) at
the sizes that it gives, and with a checkout of NPBench all of its programs at its sizes `paper`.
Each is converted and counted by `porter bench`, which needs no GPU.  All times are modelled.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.npbench import ROOT, child, programs
from benchmarks.pages import put

CHILD = Path(__file__).with_name("performance_child.py")
SIZES = Path(__file__).with_name("sizes.toml")
#: where the tables begin and end in the page
MARK, END = "<!-- modelled -->", "<!-- end of modelled -->"
#: milliseconds that only loops over elements would take
ABSURD = 60_000.0
#: launches that only a loop makes
MANY = 100
_SHAPE = re.compile(r"(\w+)\[([^\]]*)\]")
_DIM = re.compile(r"([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+))?$")


@dataclass(frozen=True)
class Task:
    """A function, its types if they must be said, and the sizes of a call."""

    name: str
    source: Path
    function: str
    signature: str = ""
    sizes: str = ""
    npbench: str = ""  # the folder of the checkout's file, where its initializer gives the sizes


@dataclass(frozen=True)
class Row:
    """A program's figures, times in milliseconds; or why there are none."""

    name: str
    sizes: str = ""
    launches: int = 0
    porter: float = 0.0
    cupy: float | None = None
    least: float = 0.0
    bytes: float = 0.0
    least_bytes: float = 0.0
    bound: str = ""
    why: str = ""

    @property
    def faster(self) -> float | None:
        """How many times faster than operation by operation; None for loops over elements.

        There each element would be launches of its own, which nobody would run.
        """
        return None if self.cupy is None or self.cupy > ABSURD else self.cupy / self.porter

    def line(self) -> str:
        """The row of the table."""
        if self.why:
            return f"| {self.name} | {self.sizes} | | | | | | | {self.why} |"
        cupy = "" if self.faster is None else f"{self.cupy:.3g}"
        faster = "" if self.faster is None else f"{self.faster:.2f}"
        times = f"{self.porter:.3g} | {cupy} | {self.least:.3g} | {faster}"
        moved = self.bytes / max(self.least_bytes, 1.0)
        figures = f"{self.launches:,} | {times} | {moved:.2f} | {self.bound}"
        return f"| {self.name} | {self.sizes} | {figures} |"


def listed() -> Iterator[Task]:
    """The programs of the file of sizes."""
    for folder, entries in tomllib.loads(SIZES.read_text()).items():
        place = ROOT / "examples" if folder == "examples" else ROOT / "tests/corpus/programs"
        for name, entry in entries.items():
            file, _, function = name.partition(":")
            yield Task(
                name, place / f"{file}.py", function or file, entry.get("types", ""), entry["sizes"]
            )


def of_npbench(checkout: Path) -> Iterator[Task]:
    """The programs of a checkout."""
    for p in programs(checkout):
        yield Task(p.name, p.source, p.info["func_name"], npbench=p.name)


def sizes_of(module: Path, function: str, values: list[list[int] | int | None]) -> str:
    """The sizes of a call by the names of the module's header.

    `values` has an array's shape, an integer, or None for each argument.
    """
    found: dict[str, int] = {}
    line = next(
        (
            x
            for x in module.read_text().splitlines()
            if x.startswith(f"# porter: shapes {function}:")
        ),
        "",
    )
    parameters = _SHAPE.findall(line.partition(f"{function}:")[2])
    for (name, dims), value in zip(parameters, values, strict=False):
        if isinstance(value, int):
            found[name] = value
            continue
        for axis, (text, n) in enumerate(zip(dims.split(", "), value or (), strict=False)):
            # the counts call an extent that the header has no name for by the array's
            match = _DIM.match(f"{name}_{axis}" if text == "*" else text)
            if match and match[1] not in found:
                shift = int(match[3] or 0) * (-1 if match[2] == "-" else 1)
                found[match[1]] = n - shift
    return ",".join(f"{k}={v}" for k, v in found.items())


def measured(task: Task, options: argparse.Namespace, folder: Path) -> Row:
    """Convert a program and count one call."""
    stem = f"npbench_{task.name}" if task.npbench else task.name.replace(":", "_")
    module = folder / f"{stem}_cuda.py"
    signature, sizes = task.signature, task.sizes
    answer: dict[str, Any] = {}
    if task.npbench:
        request = folder / f"{task.npbench}.json"
        (program,) = (p for p in programs(options.npbench) if p.name == task.npbench)
        initializer = str(program.folder / f"{program.info['module_name']}.py")
        request.write_text(json.dumps({"info": program.info, "initializer": initializer}))
        code, out, said = child([sys.executable, str(CHILD), str(request)], options.seconds)
        if code:
            return Row(task.name, why=f"initialize: {said}")
        answer = json.loads(out.splitlines()[-1])
        signature = answer["signature"]
    command = [sys.executable, "-m", "porter", "convert", str(task.source), "-f", task.function]
    command += ["--signature", signature] if signature else []
    command += ["--library", options.library] if options.library else []
    command += ["-o", str(module), "--output-format", "json", "--force", "--no-verify"]
    code, out, said = child(command, options.seconds)
    if not module.exists():
        return Row(task.name, why=refusal(out, said))
    if answer:
        sizes = sizes_of(module, task.function, answer["values"])
    command = [sys.executable, "-m", "porter", "bench", str(module), "-f", task.function]
    command += ["--size", sizes, "--output-format", "json"]
    command += ["--seconds", str(options.seconds / 12)]
    code, out, said = child(command, options.seconds)
    module.with_suffix(".json").write_text(out, "utf-8")
    try:
        return row(task.name, sizes, json.loads(out)["modules"][0]["functions"][0])
    except (ValueError, LookupError):
        return Row(task.name, sizes, why=f"not counted: {said}")


def refusal(out: str, said: str) -> str:
    """Why porter makes no module."""
    try:
        problem = json.loads(out)["modules"][0]["functions"][0]["diagnostics"][0]
    except (ValueError, LookupError):
        return said
    return f"{problem['code']}: {problem['message']}"


def row(name: str, sizes: str, found: dict[str, Any]) -> Row:
    """The figures of a function that was counted."""
    modelled = found["modelled"]
    if modelled is None:
        return Row(name, sizes, why=f"not counted: {found.get('reason', '')}")
    shown = ", ".join(f"{k}={v:,}" for k, v in found["size"].items()) or sizes
    times = (modelled[key] for key in ("ms", "cupy_ms", "least_ms"))
    moved = found["bytes"], found["least_bytes"]
    return Row(name, shown, found["launches"], *times, *moved, modelled["bound_by"])


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def summary(rows: Sequence[Row]) -> str:
    """What the rows come to."""
    faster = [r.faster for r in rows if r.faster]
    near = [r for r in rows if not r.why and r.bound == "memory" and r.least]
    # the least of a loop of launches is that of one pass, whatever its turns have to read
    once, turns = (
        [r.porter / r.least for r in near if (r.launches < MANY) == one] for one in (True, False)
    )
    slower, middle = sum(x < 1 for x in faster), median(faster) if faster else math.nan
    return (
        f"{len(faster)} of {len(rows)} programs compared: {mean(faster):.2f} times the speed of "
        f"operation by operation in the geometric mean, {middle:.2f} in the median, "
        f"slower on {slower}; "
        f"{len(once)} bound by memory take {mean(once):.2f} times the least possible time, "
        f"and {len(turns)} that loop over launches {mean(turns):,.0f} times that of one pass."
    )


def page(tables: dict[str, list[Row]]) -> str:
    """The tables as a part of a page."""
    lines = [
        f"Modelled for an H200 on {datetime.datetime.now(datetime.UTC).date()}, in milliseconds.",
        "*Moved* is the bytes that launches touch over the least bytes. Where the original loops",
        "over elements, operation by operation is left out: each element would be a launch.",
        "",
    ]
    for title, rows in tables.items():
        lines += [f"### {title}", "", summary(rows), ""]
        lines.append(
            "| program | sizes | launches | porter | operation by operation | least "
            "| times faster | moved | bound by |"
        )
        lines.append("|---|---|--:|--:|--:|--:|--:|--:|---|")
        lines += [*(r.line() for r in rows), ""]
    return "\n".join(lines)


def main() -> int:
    """Count, print, write the page."""
    made = argparse.ArgumentParser(description="Models the speed of many programs.")
    made.add_argument("--npbench", type=Path, metavar="DIR", help="a checkout of NPBench")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="part of a name")
    made.add_argument("--library", metavar="NAME", help="what `porter convert --library` gets")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    made.add_argument("--seconds", type=float, default=240.0, help="time limit of each step")
    made.add_argument("--write", type=Path, metavar="PAGE", help="replace the tables in it")
    made.add_argument("--keep", type=Path, metavar="DIR", help="leave modules and figures there")
    options = made.parse_args()
    groups = {"Examples and programs of the test corpus": list(listed())}
    if options.npbench:
        groups["NPBench, sizes `paper`"] = list(of_npbench(options.npbench))
    tables: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as made_here, ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or made_here
        Path(folder).mkdir(parents=True, exist_ok=True)
        for title, tasks in groups.items():
            chosen = [
                t for t in tasks if not options.only or any(n in t.name for n in options.only)
            ]
            tables[title] = []
            for found in pool.map(lambda t: measured(t, options, Path(folder)), chosen):
                print(found.line(), flush=True)
                tables[title].append(found)
            print(title, summary(tables[title]), sep=": ", flush=True)
            if options.write:
                put(options.write, MARK, END, page(tables).rstrip("\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
