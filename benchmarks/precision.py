"""What `porter analyze` says of code nobody here wrote, and a random sample of it to be read.

    python benchmarks/precision.py --seed 1 FOLDER...

Prints, for each folder, the files and the findings by code, every crash, the slowest files, and
then the sample with the source around each finding.  docs/precision.md holds what came out of it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
import traceback
from collections import Counter
from dataclasses import dataclass

from porter.diagnostics import Diagnostic, UsageError
from porter.rules.engine import analyze
from porter.source.files import find, read


@dataclass(frozen=True)
class Outcome:
    """What came of one file: its findings, or why there are none."""

    folder: str
    path: str
    seconds: float = 0.0
    findings: tuple[Diagnostic, ...] = ()
    excerpts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    crash: str = ""


def main() -> None:
    """Analyze every file of the folders and print the counts and the sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--code", default="", help="sample only codes that start with this")
    parser.add_argument("--context", type=int, default=6, help="lines around a finding")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = [(d, path, options.context) for d in options.folders for path in find(d)]
    with multiprocessing.Pool(options.jobs) as pool:
        outcomes = pool.map(outcome, work, chunksize=4)
    for folder in options.folders:
        print_counts(folder, [o for o in outcomes if o.folder == folder])
    print_counts("all", outcomes)
    print_trouble(outcomes)
    print_sample(outcomes, options.seed, options.sample, options.code)


def outcome(work: tuple[str, str, int]) -> Outcome:
    """Analyze one file as the command does."""
    folder, path, context = work
    start = time.perf_counter()
    try:
        source = read(path)
    except UsageError as error:
        return Outcome(folder, path, problems=(str(error),))
    try:
        result = analyze(source)
    except Exception:
        return Outcome(folder, path, crash=traceback.format_exc())
    took = time.perf_counter() - start
    excerpts = tuple(excerpt(source.lines, d, context) for d in result.diagnostics)
    return Outcome(folder, path, took, result.diagnostics, excerpts, result.problems)


def excerpt(lines: list[str], finding: Diagnostic, context: int) -> str:
    """The source around a finding, its own line marked."""
    at = finding.span.line
    first, last = max(1, at - context), min(len(lines), at + context)
    return "\n".join(
        f"{'>' if n == at else ' '}{n:5d} {lines[n - 1]}" for n in range(first, last + 1)
    )


def print_counts(name: str, outcomes: list[Outcome]) -> None:
    """One line for a folder: its files and its findings by code."""
    codes = Counter(d.code for o in outcomes for d in o.findings)
    by_code = ", ".join(f"{code} {n}" for code, n in sorted(codes.items()))
    seconds = sum(o.seconds for o in outcomes)
    print(f"{name}: {len(outcomes)} files, {codes.total()} findings, {seconds:.0f} s: {by_code}")


def print_trouble(outcomes: list[Outcome]) -> None:
    """Every crash and every file that could not be judged, and the slowest files."""
    for o in outcomes:
        if o.crash:
            print(f"CRASH {o.path}\n{o.crash}")
        for problem in o.problems:
            print(f"PROBLEM {problem}")
    for o in sorted(outcomes, key=lambda o: -o.seconds)[:5]:
        print(f"slowest: {o.seconds:.2f} s {o.path}")


def print_sample(outcomes: list[Outcome], seed: int, size: int, code: str) -> None:
    """The findings that the seed picks, each with its source."""
    found = [
        (o.path, d, text)
        for o in outcomes
        for d, text in zip(o.findings, o.excerpts, strict=True)
        if d.code.startswith(code)
    ]
    found.sort(key=lambda f: (f[0], f[1].span, f[1].code, f[1].message))
    sample = random.Random(seed).sample(found, min(size, len(found)))
    for n, (path, d, text) in enumerate(sorted(sample, key=lambda f: f[1].code), 1):
        print(f"\n[{n}] {path}:{d.span.line}:{d.span.column} {d.code} {d.message}\n{text}")


if __name__ == "__main__":
    main()
