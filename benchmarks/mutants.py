"""Breaks the kernels of the golden modules, and counts which mistakes `porter verify` finds.

    python benchmarks/mutants.py --sample 200 --seed 1 --results FILE [--write docs/mutants.md]
    python benchmarks/mutants.py --only "guard dropped" --module matmul
    python benchmarks/mutants.py --kinds "threshold,stream" --sample 40   (or new, or old)
    python benchmarks/mutants.py --sample 60 --on ptx      # one engine alone
    python benchmarks/mutants.py --unharmed 50 [--module matmul]

Mutants are made of `tests/golden/*_cuda.py` and of what `porter convert` makes of
`benchmarks/mutant_sources.py` (see `mutations.py` and `mutations_state.py` for the kinds).  Each
is judged by what the default `porter verify` does, the simulator, what the emulator adds and the
compiler, for the functions that the mistake can reach; `--long` adds the emulator with 96 cases.
Survivors that are right, because the edit changes nothing that matters, are listed with the reason
in `mutants_reviewed.py`.
`--results` keeps the verdicts, so that a run can be continued; with `--again --long` what was
missed goes through the long mode.  `--unharmed N` proves the modules
as they are with N seeds: whatever fails is a false alarm (with `--long` on the emulator).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from mutants_reviewed import equivalent
from mutations import KINDS, Module, Mutant, mutants
from mutations_state import STATE_KINDS

from porter.codegen.module.header import parse
from porter.verify.evidence import FAILED, FunctionEvidence
from porter.verify.job import needs_emulator
from porter.verify.run import verify_module

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
SOURCES = ROOT / "benchmarks" / "mutant_sources.py"
#: seconds after which a mutant counts as one that does not end
LIMIT = 90.0
#: cases on the emulator with `--long`
LONG = 96
_MARK = "<!-- measured -->\n"


@dataclass
class Verdict:
    """What became of one mutant: by what it was caught (simulator, ptx, emulator), or '' ."""

    key: tuple[str, ...]
    line: int
    caught: str
    message: str
    doubles: bool
    seconds: float

    @property
    def reason(self) -> str:
        """Why a survivor is right; '' if it is not, or if nobody has read it."""
        return "" if self.caught else equivalent(*self.key, doubles=self.doubles)

    @property
    def class_(self) -> str:
        return "caught" if self.caught else "equivalent" if self.reason else "missed"


def modules(folder: Path, only: str = "") -> Iterator[tuple[Path, Module]]:
    """The golden modules, and the one of `mutant_sources.py`, which is made in `folder`."""
    for path in sorted(GOLDEN.glob("*_cuda.py")):
        if only in ("", path.stem.removesuffix("_cuda")):
            yield path, Module(path.stem.removesuffix("_cuda"), path.read_text("utf-8"))
    if only in ("", SOURCES.stem):
        made = folder / f"{SOURCES.stem}_cuda.py"
        command = [sys.executable, "-m", "porter", "convert", "--no-verify", "-o", str(made)]
        subprocess.run([*command, str(SOURCES)], check=True, capture_output=True)
        yield made, Module(SOURCES.stem, made.read_text("utf-8"))


def sample(found: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, in turn of every kind, as long as there are any."""
    rng = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        by_kind[mutant.kind].append(mutant)
    for group in by_kind.values():
        rng.shuffle(group)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(by_kind.values()):
        drawn += [group.pop() for group in by_kind.values() if group]
    return drawn[:count]


def judge(
    path: Path, mutant: Mutant, *, long: bool = False, seed: int = 0, only: str = ""
) -> Verdict:
    """Prove a mutant as the default `porter verify` does; what the simulator finds suffices.

    `only` is one engine that is asked instead.
    """
    started = time.perf_counter()
    caught, message, doubles = "", "", False
    kinds = ["simulator", "joined", "ptx", *(["emulator"] if long else [])]
    kinds = [only] if only else kinds
    for kind in kinds:
        on = "emulator" if kind == "joined" else kind
        found = verify_module(
            path, on=(on,), text=mutant.text, functions=mutant.proves, timeout=LIMIT, seed=seed,
            cases=LONG if long and kind == "emulator" else 24, joined=kind == "joined",
        )  # fmt: skip
        # what the default proof does by itself
        if kind == "simulator" and not long and not only and _emulated(mutant, found):
            kinds.append("emulator")
        failed = [(f, e) for f in found for e in f.evidence if e.status == FAILED]
        doubles |= any(e.detail.get("f64") for f in found for e in f.evidence)
        if failed:
            function, evidence = failed[0]
            said = function.mismatch.message if function.mismatch else evidence.detail.get("error")
            caught, message = on, str(said)
            break
    seconds = round(time.perf_counter() - started, 1)
    return Verdict(mutant.key, mutant.line, caught, message, doubles, seconds)


def _emulated(mutant: Mutant, found: list[FunctionEvidence]) -> bool:
    """Whether the default proof would go on with the emulator."""
    header = parse(mutant.text)
    assert header is not None
    records = {record.name: record for record in header.functions}
    return any(needs_emulator(records[f.name], e.status, e.detail)
               for f in found for e in f.evidence)  # fmt: skip


def run(options: argparse.Namespace) -> list[Verdict]:
    """Judge the mutants that were drawn and have no verdict yet."""
    verdicts = read(options.results)
    with tempfile.TemporaryDirectory() as folder:
        made = dict(modules(Path(folder), options.module))
        places = {module.name: path for path, module in made.items()}
        drawn = [m for module in made.values() for m in mutants(module)]
        wanted = chosen_kinds(options)
        drawn = [m for m in drawn if m.kind in wanted]
        drawn = sample(drawn, options.sample or len(drawn), options.seed)
        new = [m for m in drawn if _is_open(verdicts.get(m.key), options)]
        print(f"{len(drawn)} mutants, {len(drawn) - len(new)} of them judged before", flush=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            judged = pool.map(partial(_judged, places, options), new)
            for verdict in judged:
                verdicts[verdict.key] = verdict
                tell(verdict)
                if options.results:
                    with options.results.open("a") as file:
                        file.write(json.dumps(asdict(verdict)) + "\n")
    return [verdicts[m.key] for m in drawn]


def _judged(places: dict[str, Path], options: argparse.Namespace, mutant: Mutant) -> Verdict:
    return judge(places[mutant.module], mutant, long=options.long, only=options.on)


def chosen_kinds(options: argparse.Namespace) -> set[str]:
    """The kinds that `--only` and `--kinds` ask for."""
    if options.only:
        return {options.only}
    named = {"new": set(STATE_KINDS), "old": set(KINDS) - set(STATE_KINDS), "": set(KINDS)}
    chosen: set[str] = set()
    for word in options.kinds.split(","):
        chosen |= named.get(word.strip(), {word.strip()})
    if chosen - KINDS.keys():
        raise SystemExit(f"no kind {sorted(chosen - KINDS.keys())[0]!r}: {', '.join(KINDS)}")
    return chosen


def _is_open(known: Verdict | None, options: argparse.Namespace) -> bool:
    return known is None or (options.again and known.class_ == "missed")


def read(path: Path | None) -> dict[tuple[str, ...], Verdict]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    found = [Verdict(**{**line, "key": tuple(line["key"])}) for line in lines]
    return {verdict.key: verdict for verdict in found}


def tell(verdict: Verdict) -> None:
    module, kind, before, after = verdict.key
    if verdict.caught:
        print(
            f"{verdict.caught:9} {module}:{verdict.line} {kind}: {verdict.message[:90]}", flush=True
        )
        return
    print(
        f"{verdict.class_:9} {module}:{verdict.line} {kind}\n    - {before}\n    + {after}",
        flush=True,
    )


def unharmed(options: argparse.Namespace) -> int:
    """Prove the modules as they are, with several seeds; the number of false alarms."""
    alarms = count = 0
    wheres = ("emulator",) if options.long else ("simulator", "joined")
    with tempfile.TemporaryDirectory() as folder:
        made = list(modules(Path(folder), options.module))
        for seed in range(options.seed, options.seed + options.unharmed):
            for (path, module), where in itertools.product(made, wheres):
                on = "emulator" if where == "joined" else where
                seconds = options.seconds
                given = {"on": (on,), "joined": where == "joined", "seconds": seconds}
                for function in verify_module(path, text=module.text, seed=seed, **given):  # type: ignore[arg-type]
                    count += 1
                    if not function.verified:
                        alarms += 1
                        print(f"seed {seed}, {module.name}, {where}: {function}", flush=True)
            print(f"seed {seed}: {count} proofs, {alarms} false alarms so far", flush=True)
    return alarms


def page(verdicts: list[Verdict], options: argparse.Namespace, total: int) -> str:
    """The tables of docs/mutants.md."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        counts[verdict.key[1]][verdict.class_] += 1
    whole = sum(counts.values(), Counter())
    wrong = whole["caught"] + whole["missed"]
    share = 100 * whole["caught"] / max(1, wrong)
    seconds = sum(v.seconds for v in verdicts) / max(1, len(verdicts))
    long = " `--long`" if options.long else ""
    drawn = f"`--sample {options.sample} --seed {options.seed}`" if options.sample else "all"
    lines = [
        f"{time.strftime('%Y-%m-%d')}, {drawn}{long}: {len(verdicts):,} of {total:,} mutants. Of"
        f" the {wrong:,} that are wrong, {whole['caught']:,} are caught: {share:.1f} %."
        f" {whole['equivalent']:,} are equivalent. A verdict took {seconds:.1f} seconds"
        f" (load {os.getloadavg()[0]:.1f}).",
        "", "| kind | caught | equivalent | missed |", "|---|--:|--:|--:|",
    ]  # fmt: skip
    for kind in KINDS:
        c = counts[kind]
        lines.append(f"| {kind} | {c['caught']} | {c['equivalent']} | {c['missed']} |")
    lines.append(f"| all | {whole['caught']} | {whole['equivalent']} | {whole['missed']} |")
    for class_ in ("missed", "equivalent"):
        lines += ["", f"## Survivors: {class_}", ""]
        chosen = sorted((v for v in verdicts if v.class_ == class_), key=lambda v: v.key)
        lines += [row for v in chosen for row in survivor(v)] or ["None."]
    return "\n".join(lines) + "\n"


def survivor(verdict: Verdict) -> list[str]:
    module, kind, before, after = verdict.key
    function, _, text = before.partition(": ")
    rows = [
        f"- {kind}, `{module}`, `{function}`" + (f": {verdict.reason}" if verdict.reason else "")
    ]
    return [*rows, "", "  ```diff", f"  - {text}", f"  + {after}", "  ```"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="how many (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", choices=["", *KINDS])
    parser.add_argument("--kinds", default="", help="several, or new, or old")
    parser.add_argument("--module", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--on", default="", help="one engine alone, such as ptx")
    parser.add_argument("--long", action="store_true", help="with the emulator")
    parser.add_argument("--again", action="store_true", help="judge what was missed once more")
    parser.add_argument("--results", type=Path, help="verdicts, kept from run to run")
    parser.add_argument("--unharmed", type=int, default=0, metavar="SEEDS")
    parser.add_argument(
        "--seconds",
        type=float,
        help="with --unharmed: as for `porter verify`",
    )
    parser.add_argument("--write", type=Path)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.unharmed:
        raise SystemExit(unharmed(options) > 0)
    verdicts = run(options)
    print(Counter(v.class_ for v in verdicts))
    if options.write:
        with tempfile.TemporaryDirectory() as folder:
            total = sum(1 for _, m in modules(Path(folder)) for _ in mutants(m))
        before = options.write.read_text("utf-8").split(_MARK)[0] if options.write.exists() else ""
        options.write.write_text(f"{before}{_MARK}\n{page(verdicts, options, total)}", "utf-8")


if __name__ == "__main__":
    main()
