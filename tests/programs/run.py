"""The long run of random programs: the reference interpreter, and a sample on the simulator.

    python -m tests.programs.run --count 20000 --seed N [--simulator 500] [--jobs 2] [--out DIR]

With --emulator 500 the sample runs on the emulator instead, with --ranks 500 on the simulator
with other ranks, where the module takes any, with --calls 500 with other kinds of arguments:
integers, numbers, lists, axes of length 1.  A program that the interpreter is stricter with than
NumPy is run as a module: the host broadcasts.

Prints how many programs were right, refused (by code) and wrong.  Each wrong one is made
smaller by leaving out statements and written to DIR.  Exit code 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData, StopTest

from tests.programs.check import Outcome, array_program, check
from tests.programs.strategy import Program, programs

CHUNK = 500  # programs per child process


def generate(count: int, number: int) -> Iterator[Program]:
    """That many programs, each drawn from the strategy with a seed of its own.

    hypothesis's own loop would spend most of them on small changes of one another.
    """
    return (program for _, program in numbered(count, number))


def numbered(count: int, number: int) -> Iterator[tuple[int, Program]]:
    """The same, each with its seed: a few seeds give no program."""
    strategy = programs()
    for k in range(number, number + count):
        data = ConjectureData(prefix=(), random=random.Random(k))
        try:
            with BuildContext(data, is_final=False, wrapped_test=generate):
                program = data.draw(strategy)
        except (StopTest, ValueError):  # ValueError: a view whose copy has another layout
            continue
        yield k, program


def smaller(program: Program, word: str, judge: Any = check) -> Program:
    """The program without the statements that the failure does not need."""
    changed = True
    while changed:
        changed = False
        lines = program.source.splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith("def f(")) + 1
        for k in range(len(lines) - 2, first - 1, -1):
            trial = replace(program, source="\n".join(lines[:k] + lines[k + 1 :]) + "\n")
            if _still(trial, word, judge):
                program, changed = trial, True
                break
    return program


def _still(program: Program, word: str, judge: Any) -> bool:
    try:
        function = program.function()
        with np.errstate(all="ignore"):
            function(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in program.calls[0]))
    except Exception:
        return False
    try:
        return bool(judge(program).word == word)
    except Exception:
        return False


def _judges(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """What a sample of generated modules runs on, by name."""
    if options.simulator:
        from tests.programs.simulator import on_simulator

        yield "simulator", on_simulator
    elif options.ranks:
        from tests.programs.ranks import on_other_ranks

        yield "ranks", on_other_ranks
    elif options.calls:
        from tests.programs.calls import on_other_calls

        yield "calls", on_other_calls
    elif options.emulator:
        from tests.programs.emulator import on_emulator

        yield "emulator", on_emulator


def worker(options: argparse.Namespace) -> None:
    """In a child process: one JSON line per program that is not simply right, then the counts."""
    warnings.simplefilter("ignore")
    # a sixth of the time; what is never freed ends with the process
    gc.disable()
    counts: collections.Counter[str] = collections.Counter()
    count, number, out = options.count, options.seed, options.out
    sample = options.simulator or options.emulator or options.ranks or options.calls
    for seed, program in numbered(count, number):
        outcome, judge = check(program), check
        if outcome.word == "stricter":
            # the interpreter takes arguments as they are; the host may broadcast them
            outcome, judge = _as_called(program), _as_called
        counts[outcome.word] += 1
        if outcome.word in ("refused", "stricter", "unraised"):
            counts[f"{outcome.word} {_kind(outcome.detail)}"] += 1
        if outcome.word in ("wrong", "crashed"):
            report(program, outcome, out / f"{outcome.word}_{seed}.py", judge)
        elif outcome.word in ("stricter", "unraised"):
            path = out / f"{outcome.word}_{seed}.py"
            path.write_text(f"# {outcome.detail}\n{program!r}\n")
        elif outcome.word == "ok" and sample > 0:
            sample -= 1
            for name, judge in _judges(options):
                outcome = judge(program)
                counts[f"{name} {outcome.word}"] += 1
                if outcome.word in ("wrong", "crashed"):
                    report(program, outcome, out / f"{name}_{seed}.py", judge)
                elif outcome.word != "ok":
                    counts[f"{outcome.word} {_kind(outcome.detail)}"] += 1
    print(json.dumps(counts), flush=True)


def _as_called(program: Program) -> Outcome:
    from tests.programs.simulator import on_simulator

    return on_simulator(program, as_given=True)


def _kind(detail: str) -> str:
    return re.sub(r"`[^`]*`", "`..`", detail)[:90]


def report(program: Program, outcome: Outcome, path: Path, judge: Any) -> None:
    """Write the smaller program to a file."""
    small = smaller(program, outcome.word, judge)
    found = judge(small)
    path.write_text(f"# {outcome.word}: {found.detail}\n{small!r}\n")
    print(f"{path}: {found.detail[:160]}", file=sys.stderr, flush=True)


def children(options: argparse.Namespace) -> collections.Counter[str]:
    """Run all chunks, `jobs` at a time, and add up what they count."""
    total: collections.Counter[str] = collections.Counter()
    chunks = [(min(CHUNK, options.count - k), options.seed * 1_000_000 + k)
              for k in range(0, options.count, CHUNK)]  # fmt: skip
    kinds = ("simulator", "emulator", "ranks", "calls")
    sample = next((k for k in kinds if getattr(options, k)), "ranks")
    each = -(-getattr(options, sample) // max(1, len(chunks)))
    running: list[subprocess.Popen[str]] = []
    # kernels of a few threads are compiled longer than they run
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_OPT": "0"}
    while chunks or running:
        while chunks and len(running) < options.jobs:
            count, number = chunks.pop(0)
            command = [sys.executable, "-m", "tests.programs.run", "--worker"]
            command += [
                "--count",
                str(count),
                "--seed",
                str(number),
                f"--{sample}",
                str(each),
                "--out",
                str(options.out),
            ]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            running.append(child)
        done = [p for p in running if p.poll() is not None]
        for process in done:
            running.remove(process)
            text = process.stdout.read() if process.stdout else ""
            last = text.strip().splitlines()[-1:] or ["{}"]
            total.update(json.loads(last[0]) if process.returncode == 0 else {"died": 1})
            words = {
                k: n
                for k, n in total.items()
                if not k.startswith(("refused ", "stricter ", "unraised "))
            }
            print(f"so far: {words}", file=sys.stderr, flush=True)
        time.sleep(0.2)
    return total


def main() -> int:
    """Parse the arguments, run, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulator", type=int, default=0)
    parser.add_argument("--emulator", type=int, default=0, help="instead of the simulator")
    parser.add_argument("--ranks", type=int, default=0, help="as modules, with other ranks")
    parser.add_argument("--calls", type=int, default=0, help="as modules, with other arguments")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the programs of the seed")
    options = parser.parse_args()
    options.out = options.out or Path(tempfile.mkdtemp(prefix="programs-"))
    options.out.mkdir(parents=True, exist_ok=True)
    if options.show:
        for program in generate(options.count, options.seed):
            print(program, check(program), sep="\n")
        return 0
    if options.worker:
        worker(options)
        return 0
    total = children(options)
    for word, count in sorted(total.items(), key=lambda item: -item[1]):
        print(f"{count:7} {word}")
    bad = sum(n for w, n in total.items() if w.split()[-1] in ("wrong", "crashed", "died"))
    return int(bad > 0)


__all__ = ["array_program"]

if __name__ == "__main__":
    sys.exit(main())
