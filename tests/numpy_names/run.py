"""Runs the rows of `cases/` converted, and compares them with NumPy.

    python -m tests.numpy_names.run [PATTERN ...] [--machine] [--dtypes "f4 f8"] [--every K] [--ptx]
    [--target loops]

On Numba's simulator, over every size, layout and special value; with --machine on the
reference interpreter instead, after the last pass.  --every K takes every K-th case of
those whose label contains a PATTERN.  --ptx compiles the float32 kernels too and counts
instructions in double precision.  Modules of another target run as they are.  Prints what differs;
exit code 1 if anything does.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from porter.convert.function import convert_function, front_end
from porter.convert.passes import lower
from porter.diagnostics import Refusal
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.target.registry import TARGETS
from tests.corpus.check import compare
from tests.numpy_names.case import DTYPES, Trial, table, trials
from tests.support.panels import with_small_panels

#: the limit of a trial
SECONDS = 60 if "loops" not in sys.argv else 240
#: a size-1 axis may be refused where NumPy would broadcast it, with a plain error
STRICT = re.compile(r"raises ValueError")


def original(trial: Trial) -> Any:
    """The function as NumPy runs it."""
    scope: dict[str, Any] = {}
    exec(trial.source, scope)
    return scope["f"]


def on_machine(trial: Trial) -> Any:
    """The function as the reference interpreter runs its statements after the last pass."""
    module = SourceModule(trial.source, "f.py")
    function = module.functions[0]
    types_ = next(candidates(function, ", ".join(trial.types)))
    program = build(function, types_, Globals(module))
    body, context = lower(program)
    return lambda *args: run(program, args, body, context.buffers)


def text_of(trial: Trial, target: str = "cuda") -> tuple[str, set[str]]:
    """The generated module, and the dtypes that it serves."""
    from porter.codegen.module.module import module_text

    module = SourceModule(trial.source, "f.py")
    kind, scope = TARGETS[target], Globals(module)
    scope.options.allow_serial = kind.serial
    made = convert_function(module.functions[0], ", ".join(trial.types), scope, kind)
    text = module_text(made.texts, "f.py", kind)
    text = re.sub(r"^THREADS = \d+", "THREADS = 32", text, flags=re.M)
    # what is compiled is kept beside a file, and there is none
    text = text.replace("cache=True, ", "").replace("@njit(cache=True)", "@njit")
    own = [str(t) for t in made.types]
    served = {trial.dtype}
    for short in DTYPES:
        wanted = Trial(trial.name, trial.row, trial.case, short).types
        wanted = [w.replace("bool", "boolean") for w in wanted]
        if wanted in [own, *([str(t) for t in also] for also in (s.types for s in made.siblings))]:
            served.add(short)
    return re.sub(r"^TILE = \d+", "TILE = 4", text, flags=re.M), served


def loaded(text: str, name: str) -> types.ModuleType:
    """The generated module, executed."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(with_small_panels(text), name, "exec"), module.__dict__)
    return module


def differs(trial: Trial, function: Any, quick: bool) -> str:
    """What the function does otherwise than NumPy, or an empty string."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = original(trial)
        for name, arguments in trial.variants(quick):
            found = compare(reference, function, arguments, trial.row.tolerance)
            if found and not (name.endswith("size 1") and STRICT.search(found)):
                return f"[{name}] {found}"
    return ""


@contextlib.contextmanager
def limit() -> Iterator[None]:
    """Raise TimeoutError after `SECONDS`."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def outcome(
    trial: Trial, machine: bool, made: dict[Any, str], launches: Path | None, target: str = "cuda"
) -> str:
    """`ok`, or what became of the trial otherwise."""
    try:
        with limit():
            if machine:
                return differs(trial, on_machine(trial), quick=True) or "ok"
            key = (trial.name, trial.case, trial.dtype)
            if key not in made:
                text, served = text_of(trial, target)
                made |= {(trial.name, trial.case, d): text for d in served}
            module = loaded(made[key], f"made_{len(sys.modules)}")
            if launches is not None:
                forget_launches()
            found = differs(trial, module.__dict__["f"], quick=False) or "ok"
            if launches is not None and trial.dtype == "f4":
                keep(launches, trial, made[key])
            return found
    except Refusal as error:
        return f"refused {error.diagnostic.code}: {error.diagnostic.message}"
    except Exception as error:
        return f"CRASH {type(error).__name__}: {str(error)[:200]}"


def keep(folder: Path, trial: Trial, text: str) -> None:
    """Leave a module and what it launched for `compile_ptx`."""
    from tests.corpus.simulator import LAUNCHES

    stem = f"m{len(list(folder.glob('*.py')))}"
    (folder / f"{stem}.py").write_text(text)
    found = [["float32", name, described] for _, name, described in sorted(LAUNCHES)]
    (folder / f"{stem}.json").write_text(json.dumps([trial.label, found]))


def forget_launches() -> None:
    """Launches from here on are those of the next module."""
    from tests.corpus.simulator import LAUNCHES

    LAUNCHES.clear()


def compile_ptx(folder: Path) -> int:
    """Compile what was kept; prints what does not compile or computes in float64."""
    from tests.corpus.ptx import problems, stand_in_device

    stand_in_device()
    bad = 0
    for path in sorted(folder.glob("*.py")):
        label, launches = json.loads(path.with_suffix(".json").read_text())
        found = problems(loaded(path.read_text(), path.stem), path.read_text(), launches)
        bad += bool(found)
        if found:
            print(f"{label}: {' | '.join(found)}", flush=True)
    print(f"{len(list(folder.glob('*.py')))} modules compiled, {bad} not as they should be")
    return bad


def refusal_of(trial: Trial) -> str:
    """The code with which porter refuses a trial, or an empty string."""
    module = SourceModule(trial.source, "f.py")
    try:
        front_end(module.functions[0], ", ".join(trial.types), Globals(module))
    except Refusal as error:
        return error.diagnostic.code
    return ""


def main() -> int:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--machine", action="store_true")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--ptx", action="store_true")
    parser.add_argument("--target", default="cuda", choices=list(TARGETS))
    parser.add_argument("--compile", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile:
        return int(compile_ptx(options.compile) > 0)
    if not options.machine and options.target == "cuda":
        if not os.environ.get("NUMBA_ENABLE_CUDASIM"):
            os.execve(sys.executable, [sys.executable, *sys.argv],
                      os.environ | {"NUMBA_ENABLE_CUDASIM": "1"})  # fmt: skip
        from tests.corpus.simulator import install

        install()
    chosen = [t for t in trials(table(), options.dtypes)
              if not options.patterns or any(p in t.label for p in options.patterns)]  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="numpy-")) if options.ptx else None
    made: dict[Any, str] = {}
    counts: collections.Counter[str] = collections.Counter()
    chosen = chosen[:: options.every]
    for number, trial in enumerate(chosen):
        if number % 500 == 0:
            print(f"{number} of {len(chosen)}", file=sys.stderr, flush=True)
        found = outcome(trial, options.machine, made, folder, options.target)
        counts["ok" if found == "ok" else found.split()[0] if found[0] != "[" else "WRONG"] += 1
        if found != "ok":
            print(f"{trial.label}: {found}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()))
    bad = set(counts) != {"ok"}
    if folder is not None:
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        command = [sys.executable, "-m", "tests.numpy_names.run", "--compile", str(folder)]
        bad |= subprocess.run(command, env=environment, check=False).returncode != 0
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
