"""Runs the compiled kernels of the examples, the corpus and NPBench on the PTX machine, or a GPU.

    python -m benchmarks.ptx_corpus [PATTERN ...] [--every N] [--npbench DIR] [--on gpu]
    python -m benchmarks.ptx_corpus --results FILE --again      # those that did not pass, again

Every function is converted, and `porter verify --on ptx` runs it: float32 and float64 where the
function takes both, for sm_75 and sm_90.  PATTERN is a part of a name such as `stencils:`.
With `--on gpu` they run on the GPU of this machine instead.  `--results` keeps a line for each
function, and goes on where an earlier run stopped.  `--every 8` takes an eighth.  Exit code 1 when
a function is wrong, or was not executed.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import npbench
from porter.codegen.module.header import parse
from porter.diagnostics import UsageError
from porter.verify.compile.compilers import kept
from porter.verify.evidence import Evidence, FunctionEvidence
from porter.verify.run import verify_module
from tests.corpus import run as corpus
from tests.corpus.inputs import CASES
from tests.support.paths import EXAMPLES, GOLDEN

ARCHITECTURES = ("sm_75", "sm_90")
#: what became of a function, the best first
PASSED, PART, HOST, NOT_RUN, WRONG = "passed", "in part", "host", "not executed", "wrong"
WORDS = {
    PASSED: "equal to NumPy on both architectures, in every case",
    PART: "the same in the cases that the machine could run; the reason for the others is named",
    HOST: "launches no kernel",
    NOT_RUN: "the instruction that is missing, or what else kept the machine from it",
    WRONG: "differs from NumPy",
}
#: writes a module into a folder, verified or not, and gives its path and the function's name
Made = Callable[[Path, bool], tuple[Path, str]]


def examples() -> Iterator[tuple[str, Made]]:
    """The golden modules, function by function."""
    for path in sorted(GOLDEN.glob("*_cuda.py")):
        header = parse(path.read_text("utf-8"))
        assert header is not None
        for record in header.functions:
            yield f"examples/{path.stem[:-5]}:{record.name}", _copied(path, record.name)


def _copied(path: Path, name: str) -> Made:
    """A golden module beside a copy of its source, as its header says."""

    def made(folder: Path, _: bool) -> tuple[Path, str]:
        source = EXAMPLES / f"{path.stem.removesuffix('_cuda')}.py"
        (folder / source.name).write_bytes(source.read_bytes())
        copy = folder / path.name
        text = path.read_text("utf-8")
        header = parse(text)
        assert header is not None
        copy.write_text(text.replace(f"source {header.source}", f"source {source.name}"), "utf-8")
        return copy, name

    return made


def programs() -> Iterator[tuple[str, Made]]:
    """The functions of the corpus that convert."""
    for key, case in CASES.items():
        if not case.refused and not key.startswith("examples/"):
            yield key, _converted(key)


def _converted(key: str) -> Made:
    def made(folder: Path, verify: bool) -> tuple[Path, str]:
        said = corpus.convert(key, folder, verify=verify)
        if said != "converted":
            raise UsageError(said)
        return corpus.module_path(folder, key), key.partition(":")[2]

    return made


def benchmarks(checkout: Path) -> Iterator[tuple[str, Made]]:
    """The programs of NPBench that convert."""
    options = npbench.parser().parse_args(["--npbench", str(checkout), "--no-verify"])
    for program in npbench.programs(checkout):
        yield f"npbench/{program.name}", _npbench(program, options)


def _npbench(program: npbench.Program, options: argparse.Namespace) -> Made:
    def made(folder: Path, verify: bool) -> tuple[Path, str]:
        options.no_verify = not verify
        module, request = folder / f"{program.name}_cuda.py", folder / f"{program.name}.json"
        request.write_text(json.dumps(program.request(options, module)))
        types = npbench.ask("types", request, options.seconds)
        record = npbench.convert(program, types.get("signature", ""), module, options)
        if record["status"] not in ("converted", "partly"):
            raise UsageError(record["message"])
        return module, program.info["func_name"]

    return made


def outcome(evidence: FunctionEvidence, on: str = "ptx") -> tuple[str, str]:
    """The word for what a verification found, and the reason."""
    every = [e for e in evidence.evidence if e.on == on]
    if evidence.failed:
        case = "" if evidence.mismatch is None else f"case {evidence.mismatch.case}: "
        return WRONG, case + evidence.why
    reasons = [_reason(e) for e in every]
    left = next((r for r in reasons if r), "")
    if every and all(e.cases if on == "gpu" else e.detail.get("cases") for e in every):
        return (PART, left) if left else (PASSED, "")
    return (HOST if left == "no kernel was launched on the simulator" else NOT_RUN), left


def _reason(evidence: Evidence) -> str:
    detail = evidence.detail
    return str(detail.get("not_executed") or detail.get("left_out") or detail.get("reason") or "")


def row(name: str, made: Made, cases: int, on: str) -> dict[str, Any]:
    """The line of one function.

    What `convert` adds to the types that were asked for, it takes back where verification finds
    it wrong: a module that is wrong is converted again with verification, and run again.
    """
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="porter-") as folder:
        try:
            module, function = made(Path(folder), False)
        except UsageError as error:
            return {"name": name, "outcome": "", "reason": str(error)}
        run = partial(
            verify_module, on=(on,), cases=cases, functions=(function,), archs=ARCHITECTURES
        )
        (found,) = run(module)
        if found.failed:
            with contextlib.suppress(UsageError):
                (found,) = run(made(Path(folder), True)[0])
    word, reason = outcome(found, on)
    numbers = (e.cases if on == "gpu" else e.detail.get("cases", 0) for e in found.evidence)
    executed = sum(map(int, numbers))
    seconds = round(time.perf_counter() - began, 1)
    return {
        "name": name, "outcome": word, "reason": reason, "cases": executed, "seconds": seconds,
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """How many functions of each set have each outcome, then those that did not pass."""
    sets = {"examples": "examples/", "NPBench": "npbench/"}
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for each in rows:
        if each["outcome"]:
            starts = (name for name, start in sets.items() if each["name"].startswith(start))
            groups[next(starts, "corpus")].append(each)
    yield f"| functions | {' | '.join(WORDS)} | cases |"
    yield "|---" * (len(WORDS) + 2) + "|"
    for name, group in groups.items():
        counts = collections.Counter(each["outcome"] for each in group)
        numbers = " | ".join(str(counts[word] or "") for word in WORDS)
        yield f"| {name} | {numbers} | {sum(each['cases'] for each in group)} |"
    yield ""
    for each in rows:
        if each["outcome"] not in ("", PASSED, HOST):
            reason = " ".join(each["reason"].split())
            yield f"- `{each['name']}`, {each['outcome']}: {reason}"


def selected(options: argparse.Namespace) -> list[tuple[str, Made]]:
    """The functions that the command line names."""
    every = [*examples(), *programs()]
    every += [] if options.npbench is None else benchmarks(options.npbench.resolve())
    patterns = options.patterns or [""]
    return [
        (name, made)
        for name, made in every
        if any(p in name for p in patterns)
        and (options.every == 1 or zlib.crc32(name.encode()) % options.every == options.part)
    ]


def main() -> int:
    """Run, print a line for each function and the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--part", type=int, default=0, metavar="K", help="which of N parts")
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--on", choices=("ptx", "gpu"), default="ptx")
    parser.add_argument("--npbench", type=Path, metavar="DIR", help="a checkout of NPBench")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--again", action="store_true", help="what is in the results, too")
    options = parser.parse_args()
    known: dict[str, dict[str, Any]] = {}
    if options.results and options.results.exists():
        lines = map(json.loads, options.results.read_text("utf-8").splitlines())
        known = {line["name"]: line for line in lines}
    chosen = selected(options)
    todo = [
        (name, made)
        for name, made in chosen
        if name not in known or (options.again and known[name]["outcome"] != PASSED)
    ]
    with kept():
        for name, made in todo:
            each = row(name, made, options.cases, options.on)
            known[each["name"]] = each
            word = each["outcome"] or "refused"
            print(f"{each['name']:48} {word:13} {each['reason']}", flush=True)
            if options.results:
                with options.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(each) + "\n")
    names = {name for name, _ in chosen}
    rows = [each for name, each in known.items() if name in names]
    print("\n".join(table(rows)))
    return int(any(each["outcome"] in (WRONG, NOT_RUN) for each in rows))


if __name__ == "__main__":
    sys.exit(main())
