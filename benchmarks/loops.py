"""What `porter convert --target loops` makes of the programs of NPBench: right, and how fast.

    git clone https://github.com/spcl/npbench DIR     (and `pip install scipy`, for spmv)
    python -m benchmarks.loops --npbench DIR [--preset S|M] [--only NAME ...] [--write PAGE]

Each unmodified `*_numpy.py` is converted and verified, and its module called beside it: small
sizes in several layouts, and the preset's own.  Then both are timed, with the same source under
`numba.njit(parallel=True)` as a third, in turn in one process: medians of seconds, and medians of
the ratios in each turn.  The first call of what is compiled is apart.  Exits with 1 when a
program is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.npbench import LATE, STAYS, Program, ask, child, programs
from benchmarks.pages import put

CHILD = Path(__file__).with_name("loops_child.py")


@dataclass(frozen=True)
class Row:
    """One program: what became of it, and seconds where it is right."""

    name: str
    word: str
    detail: str = ""
    numpy: float = math.nan
    loops: float = math.nan
    numba: float = math.nan
    first: float = math.nan
    said: str = ""
    gain: float = math.nan  # times NumPy
    over_numba: float = math.nan

    def cells(self) -> list[str]:
        """The columns of the table."""
        shown = [f"{1e3 * s:.3g}" if s == s else "" for s in (self.numpy, self.loops, self.numba)]
        gains = [f"{g:.2f}" if g == g else "" for g in (self.gain, self.over_numba)]
        first = f"{self.first:.1f}" if self.first == self.first else ""
        return [self.name, self.word, *shown, *gains, first, self.detail or self.said]


def answer(step: str, request: Path, seconds: float) -> dict[str, Any]:
    """What a child says, or what went wrong with it."""
    code, out, said = child([sys.executable, str(CHILD), step, str(request)], seconds)
    if code != 0:
        return {"wrong": [said or f"exit code {code}"], "late": code == LATE}
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def convert(
    program: Program, signature: str, module: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """The record that `porter convert` prints of the function."""
    command = [sys.executable, "-m", "porter", "convert", str(program.source)]
    command += ["-f", program.info["func_name"], "--signature", signature, "--target", "loops"]
    command += ["-o", str(module), "--output-format", "json", "--force"]
    command += ["--no-verify"] if options.no_verify else []
    code, out, said = child(command, options.seconds)
    try:
        record: dict[str, Any] = json.loads(out)["modules"][0]["functions"][0]
    except (ValueError, LookupError):
        return {"status": "crashed", "message": said or f"exit code {code}"}
    problems = record["diagnostics"]
    if record["status"] == "converted" and any(d["code"] == STAYS for d in problems):
        record["status"] = "partly"
    record["message"] = f"{problems[0]['code']}: {problems[0]['message']}" if problems else ""
    return record


def row(program: Program, options: argparse.Namespace, folder: Path) -> Row:
    """Convert a program, compare it, and time it."""
    module = folder / f"{program.name}_loops.py"
    request = folder / f"{program.name}.json"
    asked = program.request(options, module)
    request.write_text(json.dumps(asked | {"runs": options.runs}))
    made = ask("types", request, options.seconds)
    if "signature" not in made:
        return Row(program.name, "crashed", f"initialize: {made['wrong'][0]}")
    record = convert(program, made["signature"], module, options)
    word, detail = record["status"], " ".join(record["message"].split())
    if word not in ("converted", "partly"):
        return Row(program.name, "wrong" if word == "failed" else word, detail)
    preset = program.info["parameters"][options.preset]
    request.write_text(json.dumps(asked | {"parameters": preset, "runs": options.runs}))
    found = answer("right", request, options.seconds)
    if found["wrong"]:
        return Row(program.name, "late" if found.get("late") else "wrong", found["wrong"][0])
    times = {} if options.no_times else answer("time", request, options.seconds)
    if "loops" not in times:
        said = "" if options.no_times else f"not timed: {times['wrong'][0]}"
        return Row(program.name, word, detail, said=said)
    return Row(
        program.name, word, detail, times["numpy"], times["loops"], times.get("numba", math.nan),
        times["first"]["loops"] - times["loops"],
        f"Numba: {times['numba_error']}" if "numba_error" in times else "",
        times["ratios"]["numpy"], times["ratios"].get("numba", math.nan),
    )  # fmt: skip


def rows(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """The rows, in the order of the programs."""
    for program in programs(options.npbench):
        if not options.only or any(name in program.name for name in options.only):
            yield row(program, options, folder)


def mean(values: Sequence[float]) -> float:
    """The geometric mean of those that are numbers."""
    known = [v for v in values if v == v]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan


def totals(found: Sequence[Row]) -> str:
    """How many are right, and how fast they are."""
    good = [r for r in found if r.word in ("converted", "partly")]
    slow = [r.name for r in good if r.gain < 0.9]
    compared = sum(r.over_numba == r.over_numba for r in good)
    text = f"{len(good)} of {len(found)} right; {mean([r.gain for r in good]):.2f} times NumPy, "
    text += f"{mean([r.over_numba for r in good]):.2f} times Numba over the {compared} programs "
    text += "that it compiles and gets right (geometric means)"
    return text + (f"; below 0.9 of NumPy: {', '.join(slow)}" if slow else "")


TITLES = ["program", "outcome", "NumPy ms", "loops ms", "Numba ms", "NumPy / loops",
          "Numba / loops", "compiled in s", "note"]  # fmt: skip


#: between them, the page has the table
MARK, END = "<!-- loops -->", "<!-- end of loops -->"


def section(found: Sequence[Row], options: argparse.Namespace) -> str:
    """The table, and how it was measured."""
    versions = ", ".join(f"{n} {importlib.metadata.version(n)}" for n in ("numpy", "numba"))
    lines = [
        f"Measured on {datetime.datetime.now(datetime.UTC).date()}, preset {options.preset}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {versions}. "
        f"{options.note}".rstrip(),
        "",
        f"**{totals(found)}.**",
        "",
        f"| {' | '.join(TITLES)} |",
        f"|---|---|{'---:|' * 6}---|",
    ]
    for r in found:
        lines.append(f"| {' | '.join(c.replace('|', chr(92) + '|') for c in r.cells())} |")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Runs the loops target over a checkout of NPBench.")
    made.add_argument("--npbench", type=Path, required=True, metavar="DIR", help="the checkout")
    made.add_argument("--preset", choices=("S", "M"), default="S")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="part of a name")
    made.add_argument("--write", type=Path, metavar="PAGE", help="a page with marks for it")
    made.add_argument("--note", default="", help="what the page says of the machine")
    made.add_argument("--modules", type=Path, metavar="DIR", help="keep the modules there")
    made.add_argument("--no-verify", action="store_true", help="quicker: porter verifies nothing")
    made.add_argument("--no-times", action="store_true", help="whether they are right, only")
    made.add_argument("--runs", type=int, default=11, help="calls of each at most")
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
    found = []
    with tempfile.TemporaryDirectory(prefix="loops-") as temporary:
        folder = (options.modules or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for each in rows(options, folder):
            found.append(each)
            print(" | ".join(each.cells()), flush=True)
    print(totals(found))
    if options.write:
        put(options.write, MARK, END, section(found, options))
    bad = ("wrong", "crashed", "late")
    return int(not found or any(r.word in bad for r in found))


if __name__ == "__main__":
    sys.exit(main())
