"""What porter makes of the programs of NPBench, and whether the kernels are right.

    git clone https://github.com/spcl/npbench DIR     (and `pip install scipy`, for spmv)
    python benchmarks/npbench.py --npbench DIR [--only NAME ...] [--jobs N] [--write PAGE]

Takes each unmodified `*_numpy.py`, with the argument types that the program's own `initialize`
makes for preset S lowered to sizes that Numba's simulator can do.  The module is run against
the original on the initializer's values and on random ones of several sizes and layouts, and
everything is compared: results, every array argument, dtypes, shapes, aliasing.  NPBench's own
check would accept kernels that do nothing on some programs, so it is not used.

Exits with 1 when a program is wrong or not finished, or porter crashed.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CHILD = Path(__file__).with_name("npbench_child.py")
#: what makes the exit code 1; a program whose comparison took too long is not proved wrong
BAD = ("wrong", "crashed", "unfinished")
#: the exit code of a child that was ended
LATE = -1
#: the code of the advice that a statement stays on the host
STAYS = "PRT912"
ORDER = ("converted", "partly", "refused", *BAD)


@dataclass(frozen=True)
class Program:
    """One benchmark of the checkout: what `bench_info` says of it and where its files are."""

    name: str
    info: dict[str, Any]
    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / f"{self.info['module_name']}_numpy.py"

    def request(self, options: argparse.Namespace, module: Path) -> dict[str, Any]:
        """What the child needs to know."""
        return {
            "source": str(self.source),
            "function": self.info["func_name"],
            "initializer": str(self.folder / f"{self.info['module_name']}.py"),
            "init": self.info.get("init"),
            "parameters": self.info["parameters"]["S"],
            "input_args": self.info["input_args"],
            "module": str(module),
            "seed": options.seed,
            "seeds": options.seeds,
            "budget": options.seconds / 6,
        }


@dataclass(frozen=True)
class Outcome:
    """One row of the table."""

    name: str
    word: str
    detail: str = ""
    kernels: int = 0
    launches: int = 0
    variants: int = 0
    seconds: float = 0.0
    signature: str = field(default="", compare=False)

    def row(self) -> str:
        numbers = f"{self.kernels or '':>8} {self.launches or '':>9}"
        return f"{self.name:26} {self.word:10}{numbers} {self.seconds:7.0f} s  {self.detail}"


def programs(checkout: Path) -> list[Program]:
    """All programs of a checkout, by the name of their `bench_info` file."""
    found = []
    for path in sorted((checkout / "bench_info").glob("*.json")):
        info = json.loads(path.read_text())["benchmark"]
        folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
        found.append(Program(path.stem, info, folder))
    return found


def child(command: list[str], seconds: float, **more: str) -> tuple[int, str, str]:
    """Exit code, output and the last line of the errors; the code is LATE after the time limit."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, **more}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return LATE, "", f"takes more than {seconds:.0f} s"
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[-1]


def ask(step: str, request: Path, seconds: float) -> dict[str, Any]:
    """The answer of a child, or what went wrong with it."""
    command = [sys.executable, str(CHILD), step, str(request)]
    code, out, said = child(command, seconds, NUMBA_ENABLE_CUDASIM="1")
    if code != 0:
        return {"wrong": [said or f"exit code {code}"], "unfinished": code == LATE}
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    return answer


def convert(
    program: Program, signature: str, module: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """The record that `porter convert` prints of the function, or its crash."""
    command = [sys.executable, "-m", "porter", "convert", str(program.source)]
    command += ["-f", program.info["func_name"], "--signature", signature]
    command += ["-o", str(module), "--output-format", "json", "--force"]
    command += ["--no-verify"] if options.no_verify else []
    code, out, said = child(command, options.seconds)
    try:
        (found,) = json.loads(out)["modules"]
        record: dict[str, Any] = found["functions"][0]
    except (ValueError, LookupError):
        return {"status": "crashed", "message": said or f"exit code {code}"}
    problems = record["diagnostics"]
    if record["status"] == "converted" and any(d["code"] == STAYS for d in problems):
        record["status"] = "partly"
    place = f"{problems[0]['code']} line {problems[0]['line']}: " if problems else ""
    record["message"] = place + problems[0]["message"] if problems else ""
    return record


def run(program: Program, options: argparse.Namespace, folder: Path) -> Outcome:
    """Convert a program and compare."""
    start = time.perf_counter()
    module = folder / f"{program.name}_cuda.py"
    request = folder / f"{program.name}.json"
    request.write_text(json.dumps(program.request(options, module)))
    made = ask("types", request, options.seconds)
    if "signature" not in made:
        return Outcome(program.name, "crashed", f"initialize: {made['wrong'][0]}")
    record = convert(program, made["signature"], module, options)
    word, detail = record["status"], " ".join(record["message"].split())
    answer: dict[str, Any] = {}
    if word in ("converted", "partly"):
        answer = ask("compare", request, options.seconds)
        if answer["wrong"]:
            word = "unfinished" if answer.get("unfinished") else "wrong"
            detail = " ".join(" | ".join(answer["wrong"]).split())
        elif answer.get("stricter"):
            detail = f"stricter: {' '.join(answer['stricter'][0].split())} {detail}".strip()
    elif word == "failed":
        word, detail = "wrong", f"not verified: {detail}"
    return Outcome(
        program.name,
        word,
        detail,
        len(record.get("kernels", ())),
        answer.get("launches", 0),
        answer.get("variants", 0),
        time.perf_counter() - start,
        made["signature"],
    )


def outcomes(options: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """The rows, in the order of the programs."""
    chosen = [
        p
        for p in programs(options.npbench)
        if not options.only or any(name in p.name for name in options.only)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(lambda p: run(p, options, folder), chosen)


def totals(rows: list[Outcome]) -> str:
    """How many programs have each outcome."""
    counts = collections.Counter(row.word for row in rows)
    return ", ".join(f"{counts[word]} {word}" for word in ORDER) + f" of {len(rows)}"


def page(rows: list[Outcome], options: argparse.Namespace) -> str:
    """The table as a page of the documentation."""
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "numba")
    )
    command = ["git", "-C", str(options.npbench), "rev-parse", "--short", "HEAD"]
    code, commit, _ = child(command, 20)
    of = f" (commit {commit.strip()})" if code == 0 else ""
    verified = " and verified" if not options.no_verify else ""
    flags = f"--seconds {options.seconds:g}" + " --no-verify" * options.no_verify
    lines = [
        "# NPBench",
        "",
        f"What `porter convert` makes of the {len(rows)} programs of",
        f"[NPBench](https://github.com/spcl/npbench){of}, unmodified, and whether the modules are",
        "right. This page is generated by",
        "",
        "```",
        f"python benchmarks/npbench.py --npbench DIR --write docs/npbench.md {flags}",
        "```",
        "",
        f"on {datetime.datetime.now(datetime.UTC).date()} with Python {platform.python_version()}, "
        f"{versions}, on Numba's simulator.",
        "",
        f"**{totals(rows)}.**",
        "",
        "| outcome | meaning |",
        "|---|---|",
        f"| converted | converted{verified} as a whole for the argument types of the program's own "
        "`initialize`, and equal to the original: results, every array argument, dtypes, shapes "
        "and aliasing, on the initializer's values and on random ones of several sizes and "
        "layouts (preset S, lowered until the simulator can run it) |",
        "| partly | some statements stay on the host |",
        "| refused | no module is written, for the reason given |",
        "| wrong | not equal to the original, or the module rejects a call with the initializer's "
        "own sizes, which the reason then says |",
        "| unfinished | not compared within `--seconds` |",
        "",
        "*Launches* are those of one call at the lowered size; where the original has a loop over",
        "time, they grow with its steps. *stricter* names a call with other sizes that raises",
        "ValueError where NumPy goes on.",
        "",
        "| program | outcome | kernels | launches | compared | reason |",
        "|---|---|---:|---:|---:|---|",
    ]
    for r in rows:
        detail = r.detail.replace("|", "\\|")
        numbers = f"{r.kernels or ''} | {r.launches or ''} | {r.variants or ''}"
        lines.append(f"| {r.name} | {r.word} | {numbers} | {detail} |")
    return "\n".join(lines) + "\n"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Runs porter over a checkout of NPBench.")
    made.add_argument("--npbench", type=Path, required=True, metavar="DIR", help="the checkout")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="part of a name")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    made.add_argument("--write", type=Path, metavar="PAGE", help="write the table there")
    made.add_argument("--modules", type=Path, metavar="DIR", help="keep the modules there")
    made.add_argument("--no-verify", action="store_true", help="quicker: porter proves nothing")
    made.add_argument("--seeds", type=int, default=2, help="random inputs of the first size")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--seconds", type=float, default=240.0, help="time limit of each step")
    return made


def main() -> int:
    """Run, print the table, write the page."""
    command_line = parser()
    options = command_line.parse_args()
    if not (options.npbench / "bench_info").is_dir():
        command_line.error(f"{options.npbench} is no checkout of NPBench: it has no bench_info/")
    rows = []
    with tempfile.TemporaryDirectory(prefix="npbench-") as temporary:
        folder = (options.modules or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'program':26} {'outcome':10}{'kernels':>8} {'launches':>9}")
        for row in outcomes(options, folder):
            rows.append(row)
            print(row.row(), flush=True)
    print(totals(rows))
    if options.write:
        options.write.write_text(page(rows, options))
    return int(not rows or any(row.word in BAD for row in rows))


if __name__ == "__main__":
    sys.exit(main())
