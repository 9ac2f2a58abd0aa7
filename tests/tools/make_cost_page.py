"""Writes into docs/cost.md how far the plan's estimate is off.

    python -m tests.tools.make_cost_page

The machine's counts are those of `tests/golden/counts.json`: the examples and 36 corpus programs,
at the sizes that stand there.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.codegen.module.header import FunctionRecord, parse
from porter.convert.function import front_end
from porter.cost.advice import sizes_of
from porter.cost.amounts import SizeUnknown, total
from porter.cost.estimate import instructions
from porter.cost.work import work_of
from porter.dtypes.signatures import parse_types
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.verify.inputs.shapes import evaluate, parse_shapes
from tests.corpus.convert import converted
from tests.corpus.inputs import CASES
from tests.corpus.sources import source_of
from tests.support.paths import GOLDEN, ROOT
from tests.tools.golden_counts import read

PAGE = ROOT / "docs" / "cost.md"
MARK = "<!-- errors -->\n"


@dataclass(frozen=True)
class Row:
    """A function's launches, bytes and instructions: by the plan, and on the machine."""

    key: str
    plan: tuple[float, float, float]
    machine: tuple[float, float, float]

    @property
    def ratios(self) -> tuple[float, float]:
        """How many times as much the plan has, of bytes and of instructions."""
        pairs = zip(self.plan[1:], self.machine[1:], strict=True)
        bytes_, number = (p / m if m else 1.0 for p, m in pairs)
        return bytes_, number


def counted() -> Iterator[tuple[str, dict[str, Any]]]:
    """The functions of the file that have counts."""
    found = read()
    for name, functions in found.items():
        stem = f"examples/{name.removesuffix('_cuda.py')}:"
        for function, counts in functions.items():
            key = function if name == "corpus" else stem + function
            if "reason" not in counts and key in CASES:
                yield key, counts


def rows(start: str = "") -> Iterator[Row]:
    """A row for each function whose amounts follow from its sizes, and whose key starts so."""
    with tempfile.TemporaryDirectory() as folder:
        for key, counts in counted():
            if not key.startswith(start):
                continue
            plan = _planned(key, counts["size"], Path(folder))
            number = sum(k["instructions"] for k in counts["kernels"].values())
            if plan is not None:
                yield Row(key, plan, (counts["launches"], counts["bytes"], number))


def table(found: list[Row]) -> str:
    """The page's part: in words, then function by function."""
    moved, number = ([r.ratios[k] for r in found] for k in (0, 1))
    same = sum(r.plan[0] == r.machine[0] for r in found)
    lines = [
        f"{len(found)} functions: as many launches for {same} of them.",
        f"Bytes are {_spread(moved)}.",
        f"Instructions are {_spread(number)}.",
        "",
        "| function | launches | bytes | instructions | of the plan, bytes | instructions |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [shown(r) for r in sorted(found, key=lambda r: r.key)]
    return "\n".join(lines) + "\n"


def shown(r: Row) -> str:
    """A row of the table."""
    launches = f"{r.machine[0]:,.0f}"
    if r.plan[0] != r.machine[0]:
        launches += f" (plan {r.plan[0]:,.0f})"
    counts = f"{launches} | {_short(r.machine[1])} | {_short(r.machine[2])}"
    return f"| `{r.key}` | {counts} | {r.ratios[0]:.2f} x | {r.ratios[1]:.2f} x |"


def _spread(ratios: list[float]) -> str:
    """How many are within 10 %, and within a factor of two, and the median of the errors."""
    near = sum(0.9 <= r <= 1.1 for r in ratios)
    twice = sum(0.5 <= r <= 2 for r in ratios)
    off = statistics.median(abs(math.log(r)) for r in ratios if r)
    return (
        f"within 10 % for {near}, within a factor of two for {twice}, off by"
        f" {100 * (math.exp(off) - 1):.0f} % in the median"
    )


def _short(number: float) -> str:
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def page(found: list[Row]) -> str:
    """The page with these rows between its marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(MARK)
    _, _, after = rest.partition(MARK)
    return f"{before}{MARK}\n{table(found)}\n{MARK}{after}"


def _planned(key: str, size: Mapping[str, int], folder: Path) -> tuple[float, float, float] | None:
    path, name = source_of(key), key.partition(":")[2]
    module = SourceModule(path.read_text("utf-8"), str(path))
    scope = Globals(module)
    record = _record(key, folder)
    plan = front_end(module.by_name[name], record.signature, scope)[2]
    sizes = sizes_of(plan, _arguments(record, [p.name for p in plan.parameters], size))
    work = work_of(plan)
    try:
        assert sizes is not None
        launches, moved = (total(a, sizes) for a in (work.launches, work.per_launch("traffic")))
        return launches, moved, instructions(work, sizes)
    except SizeUnknown:
        return None


def _record(key: str, folder: Path) -> FunctionRecord:
    if key.startswith("examples/"):
        text = (GOLDEN / f"{source_of(key).stem}_cuda.py").read_text("utf-8")
    else:
        text = converted(key, folder).read_text("utf-8")
    header = parse(text)
    assert header is not None
    record = header.function(key.partition(":")[2])
    assert record is not None
    return record


def _arguments(record: FunctionRecord, names: list[str], size: Mapping[str, int]) -> dict[str, Any]:
    """The shapes of arrays, and the numbers that the counts were made for."""
    shapes = parse_shapes(record.shapes)
    found: dict[str, Any] = {}
    for name, kind in zip(names, parse_types(record.signature), strict=False):
        if kind.kind == "array":
            found[name] = tuple(evaluate(e, size) for e in shapes[name])
        else:
            found[name] = size.get(name)
    return found


if __name__ == "__main__":
    PAGE.write_text(page(list(rows())), "utf-8")
