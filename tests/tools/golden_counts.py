"""What the kernels of the examples and of 36 corpus programs execute, kept under review.

    python -m tests.tools.golden_counts --write

writes `tests/golden/counts.json`: instructions, sectors, launches, allocations and bytes of one
call of each function at its usual sizes, compiled for sm_90 and executed on the PTX machine.  A
change that costs something shows there as a difference.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from porter.bench.counting import count
from porter.bench.records import FunctionCounts
from tests.corpus.convert import converted
from tests.corpus.inputs import CASES
from tests.support.paths import GOLDEN

COUNTS = GOLDEN / "counts.json"
ARCH = "sm_90"
#: seconds that a function may take, so that none is counted at smaller sizes
SECONDS = 60.0
#: a count may grow by this much without a new file
MARGIN = 1.02
#: one that cannot be counted is listed with the reason
PROGRAMS, SEED = 36, 23

Counts = dict[str, Any]


def drawn() -> list[str]:
    """The corpus programs: those of the file, so that a new program changes nothing.

    The first ones were drawn at random, and so is what takes the place of one that has gone.
    """
    keys = sorted(k for k, case in CASES.items() if not case.refused and not case.serial)
    kept = [k for k in read().get("corpus", {}) if k in keys]
    others = [k for k in keys if k not in kept]
    return sorted([*kept, *random.Random(SEED).sample(others, PROGRAMS - len(kept))])


def modules() -> list[str]:
    """The golden modules."""
    return sorted(path.name for path in GOLDEN.glob("*_cuda.py"))


def counted(path: Path) -> dict[str, Counts]:
    """The counts of a module's functions; of one that cannot be counted, why."""
    return {f.name: _record(f) for f in count(path, arch=ARCH, seconds=SECONDS)}


def counted_program(key: str) -> Counts:
    """The counts of a corpus program."""
    with tempfile.TemporaryDirectory() as folder:
        (found,) = counted(converted(key, Path(folder))).values()
    return found


def _record(f: FunctionCounts) -> Counts:
    if f.reason:
        return {"reason": f.reason}
    return {
        "size": dict(f.size),
        "launches": f.launches,
        "allocations": f.allocations,
        "bytes": round(f.bytes),
        "kernels": {
            k.name: {"instructions": round(k.instructions), "sectors": round(k.sectors)}
            for k in f.kernels
        },
    }


def grown(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What a function costs more than the file says."""
    if before.get("size") != now.get("size"):
        return [f"size: {before.get('size')} in the file, {now.get('size')} now"]
    return [f"{name}: {old:,} in the file, {new:,} now"
            for (name, old), (_, new) in zip(_totals(before), _totals(now), strict=True)
            if new > old * MARGIN]  # fmt: skip


def _totals(counts: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name in ("launches", "allocations", "bytes"):
        yield name, counts.get(name, 0)
    for name in ("instructions", "sectors"):
        yield name, sum(k[name] for k in counts.get("kernels", {}).values())


def read() -> dict[str, dict[str, Counts]]:
    """The file: by golden module and function, then by corpus program."""
    found: dict[str, dict[str, Counts]] = json.loads(COUNTS.read_text("utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    found: dict[str, dict[str, Counts]] = {}
    for name in modules():
        found[name] = counted(GOLDEN / name)
        print(name)
    found["corpus"] = {}
    for key in drawn():
        found["corpus"][key] = counted_program(key)
        print(key)
    COUNTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
