"""Whether modules made without a signature accept the calls that the authors make.

    python benchmarks/acceptance.py --repos DIR [--only NAME ...] [--jobs N] [--write PAGE]

DIR has checkouts of the research repositories that `acceptance_pool.json` lists.  Each function
drawn from them is converted without a signature and called as `acceptance_calls.json` says: as
its docstring, its tests or its callers show.  Each call is compared with the original: result,
dtypes, shapes, Python types, views, the arguments afterwards, exceptions.

Exits with 1 when a call is wrong or not finished.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shlex
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
CHILD = Path(__file__).with_name("acceptance_child.py")
WORDS = ("equal", "refused", "wrong", "slow", "unrunnable")
#: what makes the exit code 1
BAD = ("wrong", "slow", "unrunnable")
#: where a call is from, if a line shows it
#: the signature in the command that a refusal ends with
SIGNATURE = re.compile(r"run `porter convert (?P<options>.*--signature .*)`")
LINE = re.compile(r"^(docstring|source), line \d+|^\S+:\d+")


@dataclass(frozen=True)
class Drawn:
    """One function and its calls, each with where it is from."""

    name: str
    calls: list[tuple[str, str]]

    @property
    def source(self) -> str:
        """The file, below the folder of the checkouts."""
        return self.name.partition(":")[0]

    @property
    def function(self) -> str:
        """The function's own name."""
        return self.name.partition(":")[2]


@dataclass(frozen=True)
class Outcome:
    """One row of the table: what porter made of a function and what each call did."""

    drawn: Drawn
    status: str
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, word: str) -> int:
        """How many of the calls have this outcome."""
        return sum(v["word"] == word for v in self.verdicts)

    def reasons(self) -> list[str]:
        """What the calls that are not equal said, each once."""
        texts = (
            f"{v['word']}: {v['text']}{_after(v)}" for v in self.verdicts if v["word"] != "equal"
        )
        return list(dict.fromkeys(texts))

    def row(self) -> str:
        """One line for the terminal."""
        numbers = f"{len(self.verdicts):3} calls {self.count('equal'):3} equal"
        first = "; ".join(self.reasons())[:300]
        return f"{self.drawn.name:95} {self.status:9} {numbers} {self.seconds:5.0f} s  {first}"


def _after(verdict: dict[str, Any]) -> str:
    """What came of the command that a refusal names."""
    if "after" not in verdict:
        return ""
    after = verdict["after"]
    return f" (then: {after['word']}{': ' if after['text'] else ''}{after['text']})"


def drawn_functions(calls: Path) -> list[Drawn]:
    """The functions of a file of calls."""
    listed = json.loads(calls.read_text())
    return [Drawn(name, [(c["call"], c["from"]) for c in made]) for name, made in listed.items()]


def child(command: list[str], seconds: float, **more: str) -> tuple[int | None, str, str]:
    """Exit code (None after the time limit), output and the last line of the errors."""
    own = [os.environ.get("PYTHONPATH"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, own)), **more}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None, "", f"takes more than {seconds:.0f} s"
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[-1]


def convert(
    drawn: Drawn, module: Path, options: argparse.Namespace, signature: str = ""
) -> tuple[str, str]:
    """The status, and why the function is not converted."""
    source = options.repos / drawn.source
    command = [sys.executable, "-m", "porter", "convert", str(source), "-f", drawn.function]
    command += ["--no-verify", "--force", "-o", str(module), "--output-format", "json"]
    command += ["--signature", signature] if signature else []
    code, out, said = child(command, options.seconds)
    try:
        (found,) = json.loads(out)["modules"]
        record = found["functions"][0]
    except (ValueError, LookupError):
        return "crashed", f"porter convert: {said or f'exit code {code}'}"
    if record["status"] == "converted":
        return "converted", ""
    problems = record["diagnostics"] or [{"code": "", "line": 0, "message": "no diagnostic"}]
    first = problems[0]
    return record["status"], f"{first['code']} line {first['line']}: {first['message']}"


@dataclass(frozen=True)
class Conversion:
    """What porter made of a function."""

    drawn: Drawn
    module: Path
    status: str
    refused: str
    seconds: float

    def asked(self, repos: Path) -> dict[str, Any]:
        """What the child needs to know."""
        return {
            "source": str(repos / self.drawn.source),
            "function": self.drawn.function,
            "module": str(self.module),
            "refused": self.refused,
            "calls": [call for call, _ in self.drawn.calls],
        }


def stem(drawn: Drawn) -> str:
    """The start of the names of a function's modules."""
    return drawn.name.replace("/", "_").replace(":", "_").replace(".", "_")


def converted(drawn: Drawn, options: argparse.Namespace, folder: Path) -> Conversion:
    """The function's module, and how long it took."""
    start = time.perf_counter()
    module = folder / f"{stem(drawn)}_cuda.py"
    status, refused = convert(drawn, module, options)
    return Conversion(drawn, module, status, refused, time.perf_counter() - start)


def called(made: list[Conversion], options: argparse.Namespace, folder: Path) -> list[Outcome]:
    """Make the calls of the functions of one repository."""
    seconds = options.seconds / 2
    calls = sum(len(c.drawn.calls) for c in made)
    request = folder / f"{made[0].drawn.name.partition('/')[0]}.json"
    asked = [c.asked(options.repos) for c in made]
    request.write_text(json.dumps({"functions": asked, "seconds": seconds}))
    command = [sys.executable, str(CHILD), str(request)]
    code, out, said = child(command, seconds * (10 + calls), NUMBA_ENABLE_CUDASIM="1")
    if code == 0:
        answers = json.loads(out.splitlines()[-1])
    else:
        lost = {"word": "slow" if code is None else "wrong", "text": said or f"exit code {code}"}
        answers = [[{**lost, "named": False, "cured": False}] * len(c.drawn.calls) for c in made]
    pairs = zip(made, answers, strict=True)
    return [Outcome(c.drawn, c.status, verdicts, c.seconds) for c, verdicts in pairs]


def cured(rows: list[Outcome], options: argparse.Namespace, folder: Path) -> list[Outcome]:
    """The rows, with what the same call does (`after`) when the command of a refusal has run."""
    for row in rows:
        for k, (call, verdict) in enumerate(zip(row.drawn.calls, row.verdicts, strict=True)):
            found = SIGNATURE.search(verdict["text"]) if verdict["word"] == "refused" else None
            if found is None or row.status != "converted":
                continue
            alone = Drawn(row.drawn.name, [call])
            module = folder / f"{stem(row.drawn)}_{k}_cuda.py"
            signature = shlex.split(found["options"])[-1]
            status, refused = convert(alone, module, options, signature)
            made = Conversion(alone, module, status, refused, 0.0)
            verdict["after"] = called([made], options, folder)[0].verdicts[0]
    return rows


def outcomes(options: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """The rows, in the order of the file of calls."""
    groups = collections.defaultdict(list)
    for drawn in drawn_functions(options.calls):
        if not options.only or any(part in drawn.name for part in options.only):
            groups[drawn.name.partition("/")[0]].append(drawn)

    def row(group: list[Drawn]) -> list[Outcome]:
        rows = called([converted(d, options, folder) for d in group], options, folder)
        return cured(rows, options, folder)

    with ThreadPoolExecutor(options.jobs) as pool:
        for rows in pool.map(row, groups.values()):
            yield from rows


def totals(rows: list[Outcome]) -> str:
    """How many calls have each outcome."""
    counts = {word: sum(row.count(word) for row in rows) for word in WORDS}
    calls = sum(len(row.verdicts) for row in rows)
    share = f"{100 * counts['equal'] / calls:.0f} %" if calls else "none"
    said = ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word] or word != WORDS[4])
    return f"{said} of {calls} calls of {len(rows)} functions ({share} equal)"


def refusals(rows: list[Outcome]) -> str:
    """How good the messages are of modules that refuse a call."""
    made = [v for row in rows if row.status == "converted" for v in row.verdicts]
    said = [v for v in made if v["word"] == "refused"]
    named = sum(v["named"] for v in said)
    after = [v["after"]["word"] for v in said if "after" in v]
    return (
        f"{len(said)} calls refused by a module: {named} name the argument, {len(after)} a "
        f"command, after which {after.count('equal')} calls are equal"
    )


def causes(rows: list[Outcome]) -> list[str]:
    """The texts of calls that are not equal, most frequent first."""
    counts: collections.Counter[str] = collections.Counter()
    where = collections.defaultdict(set)
    for row in rows:
        for v in row.verdicts:
            if v["word"] != "equal":
                counts[f"{v['word']}: {v['text']}"] += 1
                where[f"{v['word']}: {v['text']}"].add(row.drawn.function)
    return [
        f"{n:3}  {text}  [{', '.join(sorted(where[text]))}]" for text, n in counts.most_common()
    ]


def shown(rows: list[Outcome]) -> str:
    """How many calls a line of the repository shows."""
    origins = [origin for row in rows for _, origin in row.drawn.calls]
    lines = sum(bool(LINE.search(origin)) for origin in origins)
    return (
        f"{lines} are at a line of a docstring, a test or a caller, {len(origins) - lines} are "
        "written from the description of the parameters"
    )


def sources(pool: dict[str, Any]) -> list[str]:
    """The table of the repositories."""
    lines = [
        "| repository | commit | functions | convertible | partly | pool | refused, by code |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for name, r in pool["repositories"].items():
        verdicts = r["verdicts"]
        codes = ", ".join(f"{code} {n}" for code, n in r["refusals"].items())
        numbers = (
            f"{r['functions']} | {verdicts.get('convertible', 0)} | {verdicts.get('partly', 0)}"
        )
        lines.append(f"| {name} | `{r['commit'][:10]}` | {numbers} | {r['pool']} | {codes} |")
    return lines


def page(rows: list[Outcome], options: argparse.Namespace) -> str:
    """The table as a page of the documentation."""
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "numba")
    )
    pool = json.loads(options.pool.read_text())
    lines = [
        "# Calls that modules accept",
        "",
        f"{len(rows)} functions of research repositories, drawn with the seed {pool['seed']}, are",
        "converted without a signature. Each is called as its docstring, its tests or its callers",
        "show, and each call is compared with the original: result, dtypes, shapes, Python types,",
        "views, the arguments afterwards, and exceptions. This page is generated by",
        "",
        "```",
        "python benchmarks/acceptance.py --repos DIR --write docs/acceptance.md",
        "```",
        "",
        f"on {datetime.datetime.now(datetime.UTC).date()} with Python {platform.python_version()}, "
        f"{versions}, on Numba's simulator.",
        "",
        f"**{totals(rows)}.** {refusals(rows)}.",
        "",
        "| outcome | meaning |",
        "|---|---|",
        "| equal | the module does what the original does; where the original raises, so does it |",
        "| refused | the module raises TypeError or ValueError, or porter makes no module, for the "
        "reason given |",
        "| wrong | a result, a dtype, a type or an argument afterwards differs, or the module "
        "fails in another way |",
        "| slow | not finished within the time limit |",
        "",
        "## Repositories",
        "",
        "The pool is all plain top-level functions that `porter analyze` judges *convertible* or",
        "*partly*, outside of tests, and whose files can be imported with NumPy, SciPy and this",
        "Python. `python benchmarks/acceptance_draw.py --repos DIR` draws from the repositories in",
        f"turn. The calls are in `benchmarks/acceptance_calls.json`: {shown(rows)}.",
        "Long arrays are shortened for the simulator. Conversions are made with `--no-verify`:",
        "verification refuses some of the modules that are wrong here.",
        "",
        *(f"Left out: `{name}` {why}.\n" for name, why in pool.get("unsuited", {}).items()),
        *sources(pool),
        "",
        "## Functions",
        "",
        "| function | calls | equal | refused | wrong | seconds to convert | why |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for r in rows:
        why = "; ".join(r.reasons()).replace("|", "\\|").replace("<", "&lt;")
        bad = sum(r.count(word) for word in BAD)
        numbers = f"{len(r.verdicts)} | {r.count('equal')} | {r.count('refused')} | {bad}"
        lines.append(f"| {r.drawn.name} | {numbers} | {r.seconds:.1f} | {why} |")
    return "\n".join(lines) + "\n"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Makes the calls that research code makes.")
    made.add_argument("--repos", type=Path, required=True, metavar="DIR", help="the checkouts")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="part of a name")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    made.add_argument("--write", type=Path, metavar="PAGE", help="write the table there")
    made.add_argument("--modules", type=Path, metavar="DIR", help="keep the modules there")
    made.add_argument("--seconds", type=float, default=120.0, help="time limit of a conversion")
    made.add_argument("--calls", type=Path, default=CHILD.with_name("acceptance_calls.json"))
    made.add_argument("--pool", type=Path, default=CHILD.with_name("acceptance_pool.json"))
    return made


def main() -> int:
    """Run, print the table, write the page."""
    command_line = parser()
    options = command_line.parse_args()
    missing = [d for d in drawn_functions(options.calls) if not (options.repos / d.source).exists()]
    if missing:
        command_line.error(f"{options.repos} has no {missing[0].source}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="acceptance-") as temporary:
        folder = (options.modules or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for row in outcomes(options, folder):
            rows.append(row)
            print(row.row(), flush=True)
    print("", *causes(rows), "", sep="\n")
    print(totals(rows))
    print(refusals(rows))
    if options.write:
        options.write.write_text(page(rows, options))
    return int(not rows or any(row.count(word) for row in rows for word in BAD))


if __name__ == "__main__":
    sys.exit(main())
