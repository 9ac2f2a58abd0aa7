"""Does a change of porter change what it writes?  Hashes of every module text and every plan.

    python tests/tools/freeze.py --write before.json      # before a refactoring
    python tests/tools/freeze.py --compare before.json    # after it: what differs, exit code 1

The functions are those of the corpus, of the examples, and random programs of fixed seeds
(`--programs 500`).  A refactoring shows no difference; an intended one is a commit of its own.
`--every 8` looks at an eighth of them: a first answer while one works.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from porter.convert.function import convert_function
from porter.diagnostics import Refusal, UsageError
from porter.schedule.printer import plan_text
from porter.source.module import FunctionSource, SourceModule
from tests.corpus.inputs import CASES
from tests.programs.run import generate
from tests.support.paths import CORPUS, EXAMPLES

#: random programs that one process works on
CHUNK = 50
Hashes = dict[str, list[str]]


def frozen(function: FunctionSource, signature: str | None) -> list[str]:
    """The hashes of a function's text and of its plan, or why it is refused."""
    try:
        c = convert_function(function, signature)
    except Refusal as refusal:
        return [refusal.diagnostic.code, refusal.diagnostic.message]
    except UsageError as error:
        return ["usage", str(error)]
    return [digest("\n".join(c.text.parts)), digest(plan_text(c.plan))]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sampled(name: str, every: int) -> bool:
    """Whether a function is in the sample of one in `every`: the same ones in each run."""
    return zlib.crc32(name.encode()) % every == 0


def of_file(path: Path, every: int) -> Hashes:
    """Each function of a file of the corpus with its signature, or of the examples without."""
    module = SourceModule(path.read_text("utf-8"), path.name)
    folder = "corpus" if path.parent == CORPUS else path.parent.name
    found: Hashes = {}
    for f in module.functions:
        case = CASES.get(f"{path.stem}:{f.name}")
        name = f"{folder}/{path.stem}:{f.name}"
        if sampled(name, every):
            found[name] = frozen(f, None if case is None else case.signature)
    return found


def of_programs(first: int, count: int, every: int) -> Hashes:
    """Random programs of these seeds."""
    found: Hashes = {}
    warnings.simplefilter("ignore")
    for number, program in enumerate(generate(count, first), first):
        if not sampled(f"program:{number}", every):
            continue
        module = SourceModule(program.source, "program.py")
        (function,) = (f for f in module.functions if f.name == "f")
        found[f"program:{number}"] = frozen(function, program.signature)
    return found


def work(item: Path | tuple[int, int], every: int) -> Hashes:
    return of_file(item, every) if isinstance(item, Path) else of_programs(*item, every)


def everything(programs: int, jobs: int, every: int) -> Hashes:
    """The hashes by function, of all of them or of a sample."""
    sources = [p for folder in (CORPUS, EXAMPLES) for p in folder.glob("*.py")]
    items: list[Path | tuple[int, int]] = [
        p for p in sorted(sources) if not p.stem.endswith("_cuda")
    ]
    items += [(k, min(CHUNK, programs - k)) for k in range(0, programs, CHUNK)]
    found: Hashes = {}
    with ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(partial(work, every=every), items):
            found |= part
    return found


def differences(before: Hashes, now: Hashes) -> Iterator[str]:
    """A line for each function that is written in another way."""
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if old is None or new is None:
            yield f"{name}: {'new' if old is None else 'gone'}"
        elif old[0].startswith("PRT") or new[0].startswith("PRT"):
            yield f"{name}: {' '.join(old)} -> {' '.join(new)}"
        else:
            both = zip(("text", "plan"), old, new, strict=True)
            yield f"{name}: {' and '.join(part for part, a, b in both if a != b)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: one in N")
    options = parser.parse_args()
    now = everything(options.programs, options.jobs, options.every)
    print(f"{len(now):,} functions")
    if options.write:
        options.write.write_text(json.dumps(now, indent=0, sort_keys=True), "utf-8")
    if not options.compare:
        return 0
    before = json.loads(options.compare.read_text("utf-8"))
    before = {name: h for name, h in before.items() if sampled(name, options.every)}
    found = list(differences(before, now))
    print("\n".join(found) or "no difference")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
