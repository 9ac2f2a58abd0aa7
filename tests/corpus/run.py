"""Converts the whole corpus and prints what became of every function.

    python -m tests.corpus.run [PATTERN ...] [--modules DIR] [--infer] [--no-ptx] [--target NAME]

PATTERN is a part of a case's name such as `stencils:` or `softmax`.  Conversion runs in one
child process, the comparison on Numba's simulator in another for each file, so that a hang
costs one file.  With --infer no signature is given, with --no-ptx nothing is compiled.  Modules
of another target run as they are; functions that CUDA refuses may convert for it.
Exit code 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.corpus.inputs import CASES
from tests.corpus.sources import original, source_of
from tests.support.panels import with_small_panels
from tests.support.paths import ROOT

CONVERT_SECONDS, CHECK_SECONDS = (
    30,
    60 if os.environ.get("CORPUS_TARGET", "cuda") == "cuda" else 180,
)


class TooLong(Exception):
    """A step ran past its limit."""


@contextlib.contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise `TooLong` after that many seconds."""

    def stop(*_: object) -> None:
        raise TooLong(f"more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def module_path(folder: Path, key: str) -> Path:
    """Where the module generated for a case goes."""
    return folder / (re.sub(r"\W", "_", key) + f"_{target()}.py")


def target() -> str:
    """What is generated."""
    return os.environ.get("CORPUS_TARGET", "cuda")


def inferred(key: str) -> bool:
    """Whether porter must find the signature itself; the examples convert as they stand."""
    return key.startswith("examples/") or "CORPUS_INFER" in os.environ


def convert(key: str, folder: Path, *, verify: bool = False) -> str:
    """Convert one function; the table's word for what happened, `converted` if it did."""
    from porter.commands.convert import run
    from porter.diagnostics import UsageError
    from porter.options import ConvertOptions

    options = ConvertOptions(
        paths=(str(source_of(key)),),
        functions=(key.partition(":")[2],),
        signature=None if inferred(key) else CASES[key].signature,
        output=str(module_path(folder, key)),
        verify=verify,
        force=True,
        output_format="json",
        allow_serial=CASES[key].serial,
        target=target(),
    )
    out, err = io.StringIO(), io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            limit(CONVERT_SECONDS + CHECK_SECONDS * verify),
        ):
            run(options)
        (module,) = json.loads(out.getvalue())["modules"]
    except (Exception, UsageError) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"CRASH {type(error).__name__}: {str(error)[:120]} at {where} {err.getvalue()[:100]}"
    (function,) = module["functions"]
    if function["status"] == "converted":
        wanted = "".join(CASES[key].signature.split()).replace("bool", "boolean")
        found = "".join(function["signature"].split())
        return "converted" if wanted in found else f"WRONG signature: {function['signature']}"
    found = function["diagnostics"][0]
    return f"{function['status']} {found['code']} line {found['line']}: {found['message']}"


def check(key: str, folder: Path) -> str:
    """Compare the module of a case with the original on the simulator."""
    from tests.corpus.check import compare, stays_single, variants
    from tests.corpus.simulator import CONTEXT, LAUNCHES

    wrong: list[str] = []
    strict: list[str] = []
    LAUNCHES.clear()
    try:
        with limit(CHECK_SECONDS):
            path = smaller_blocks(module_path(folder, key))
            converted = _load(path, key.partition(":")[2])
            for name, arguments in variants(CASES[key]):
                CONTEXT[0] = name if stays_single(original(key), arguments) else ""
                found = compare(original(key), converted, arguments)
                if found and not (name.endswith("more") and "dimensions instead" in found):
                    (strict if refuses_odd_call(name, found) else wrong).append(f"[{name}] {found}")
    except TooLong as error:
        wrong.append(f"hangs: {error}")
    except Exception as error:
        wrong.append(f"module fails: {type(error).__name__}: {error}")
    module_path(folder, key).with_suffix(".json").write_text(json.dumps(sorted(LAUNCHES)))
    if wrong:
        return "WRONG " + " | ".join(wrong)
    return "STRICT " + " | ".join(strict) if strict else "ok"


def refuses_odd_call(variant: str, found: str) -> bool:
    """Whether a call that NumPy happens to accept is refused with a plain error."""
    if "must be contiguous" in found:
        return True
    if variant == "float32" and re.search("but the (kernels|loops) take", found):
        return True  # `new = np.zeros(n)` takes the place of an argument: another program then
    if variant.startswith("argument") and found.startswith("raises ValueError"):
        return True
    # a scalar loop that adds nothing: Python's 0.0 and its ZeroDivisionError; `bincount` of
    # nothing; slices that are all empty, whatever was cut off
    odd = ("float64 instead of float", "ZeroDiv", "of nothing with weights", "be broadcast",
           "where the loop does not run", "a list without items")  # fmt: skip
    return variant.endswith(("empty", "size 1")) and any(text in found for text in odd)


def compile_ptx(key: str, folder: Path) -> str:
    """Compile what `check` launched; `ok` when all compiles."""
    from tests.corpus.ptx import problems, stand_in_device

    stand_in_device()
    path = module_path(folder, key)
    launches = json.loads(path.with_suffix(".json").read_text())
    module = sys.modules[_load(path, key.partition(":")[2]).__module__]
    wrong = problems(module, path.read_text(), launches)
    return "ok" if not wrong else "WRONG ptx: " + " | ".join(wrong)


STEPS = {"convert": convert, "check": check, "ptx": compile_ptx}


def smaller_blocks(path: Path) -> Path:
    """The module with fewer threads in a block: quick, and small arrays fill many blocks."""
    small = path.with_name("small_" + path.name)
    text = re.sub(r"^THREADS = \d+", "THREADS = 32", path.read_text(), flags=re.M)
    text = with_small_panels(re.sub(r"^TILE = \d+", "TILE = 4", text, flags=re.M))
    small.write_text(text)
    return small


def _load(path: Path, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def worker(step: str, folder: Path, keys: list[str]) -> None:
    """In a child process: one JSON line per key."""
    warnings.simplefilter("ignore")
    if step == "check" and target() == "cuda":
        from tests.corpus.simulator import install

        install()
    for key in keys:
        outcome = STEPS[step](key, folder)
        print(json.dumps([key, outcome]), flush=True)


def in_child(step: str, folder: Path, keys: list[str]) -> dict[str, str]:
    """Outcomes from a child process; a key without a line died with it."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if step == "check":
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    command = [
        sys.executable,
        "-m",
        "tests.corpus.run",
        "--worker",
        step,
        "--modules",
        str(folder),
        *keys,
    ]
    seconds = (CHECK_SECONDS + 5) * len(keys)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        text, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        text, errors = (error.stdout or b"").decode(), "timeout"
    outcomes = dict(json.loads(line) for line in text.splitlines() if line.startswith("["))
    missing = errors.strip().splitlines()[-1:] or ["died"]
    return {key: outcomes.get(key, f"CRASH {step}: {missing[0]}") for key in keys}


def judge(key: str, outcome: str) -> str:
    """The outcome against what the case expects."""
    codes = CASES[key].refused
    if not codes or (target() != "cuda" and not outcome.startswith("refused")):
        return outcome
    if outcome.startswith("refused"):
        return "ok" if outcome.split()[1] in codes else f"WRONG code: {outcome}, expected {codes}"
    return f"WRONG: {outcome[:60]}, expected a refusal" if outcome != "CRASH" else outcome


def run_all(keys: list[str], folder: Path, ptx: bool) -> Iterator[tuple[str, str]]:
    """Convert, then check file by file; outcomes as they come."""
    groups = collections.defaultdict(list)
    for key in keys:
        groups[key.partition(":")[0]].append(key)
    for group in groups.values():
        results = in_child("convert", folder, group)
        everything = target() != "cuda"
        done = [k for k in group if results[k] == "converted"
                if everything or not CASES[k].refused]  # fmt: skip
        results |= in_child("check", folder, done) if done else {}
        compiled = in_child("ptx", folder, done) if done and ptx and not everything else {}
        for key in group:
            outcome = results[key]
            if compiled.get(key, "ok") != "ok":
                outcome = f"{compiled[key]} | {outcome}"
            yield key, judge(key, outcome)


def main() -> int:
    """Parse the arguments, run, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--modules", type=Path, default=None)
    parser.add_argument("--infer", action="store_true")
    parser.add_argument("--no-ptx", action="store_true")
    parser.add_argument("--target", default=target())
    parser.add_argument("--worker", choices=list(STEPS))
    options = parser.parse_args()
    os.environ["CORPUS_TARGET"] = options.target
    if options.infer:
        os.environ["CORPUS_INFER"] = "yes"
    folder = options.modules or Path(tempfile.mkdtemp(prefix="corpus-"))
    folder.mkdir(parents=True, exist_ok=True)
    if options.worker:
        worker(options.worker, folder, options.patterns)
        return 0
    patterns = options.patterns or [""]
    counts: collections.Counter[str] = collections.Counter()
    chosen = [k for k in CASES if any(p in k for p in patterns)]
    for key, outcome in run_all(chosen, folder, not options.no_ptx):
        print(f"{key:45} {' '.join(outcome.split())}", flush=True)
        counts[outcome.split()[0].rstrip(":")] += 1
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()))
    return int(not set(counts) <= {"ok", "STRICT"})


if __name__ == "__main__":
    sys.exit(main())
